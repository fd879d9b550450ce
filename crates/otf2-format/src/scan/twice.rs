//! Facts that a recording states twice, summed up while it is read.
//!
//! A byte that is wrong mostly leaves a file that can be read. But much of what it says
//! is said again, and where both do not agree something is damaged:
//!
//! | said by | and again by |
//! |---|---|
//! | the region of an enter | that of its leave |
//! | the lengths of messages that leave | those of messages that arrive |
//! | what members give to collective operations | what members get from them |
//! | one member: whether an operation has a root | all operations of its class |
//! | the sends that are started | those that are complete |
//! | the head of a chunk: which events are in it | the events |
//! | the definitions: when the trace begins and ends | the times |
//!
//! Sums are kept and not pairs: they cost next to nothing for each event, and one wrong
//! byte always changes its sum. So they tell that something is wrong, not where.
//!
//! ```text
//! enter 3   enter 5   leave 5   leave 3        +4 +6 -6 -4 =  0
//! enter 3   enter 4   leave 5   leave 3        +4 +5 -6 -4 = -1
//! ```

use retime_otf2::definitions::ClockProperties;
use retime_otf2::{CollectiveOp, CollectiveRoot, EventCounts};

/// The sums of one location, or with [`add`](Self::add) of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Twice {
    /// Regions entered less regions left, each counted by its number and one.
    pub(crate) regions: u64,
    /// Messages that left, and their bytes.
    pub(crate) sends: u64,
    pub(crate) bytes_sent: u64,
    /// Messages that arrived, and their bytes.
    pub(crate) receives: u64,
    pub(crate) bytes_received: u64,
    /// Bytes that collective operations got from members, and members from them.
    pub(crate) given: u64,
    pub(crate) got: u64,
    /// Calls of operations that have a root, and how many of them name none.
    pub(crate) rooted: u64,
    pub(crate) without_root: u64,
    /// Calls of operations that have no root, and how many of them name one.
    pub(crate) rootless: u64,
    pub(crate) with_root: u64,
    /// Sends that were started and never complete.
    pub(crate) open_sends: u64,
    /// Events with fields or attributes that cannot be read.
    pub(crate) unreadable: u64,
    /// Chunks that hold other events than they say.
    pub(crate) misnumbered: u64,
    /// 1 if the first or last event lies outside of the stretch that the definitions give the
    /// trace, else 0; summed up over locations.
    pub(crate) outside: u64,
}

/// The record of a member that leaves a collective operation.
#[derive(Clone, Copy)]
pub(super) struct CollectiveRecord {
    pub(super) operation: CollectiveOp,
    pub(super) root: CollectiveRoot,
    /// Bytes that the member gave to the operation, and got from it.
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl Twice {
    /// How many numbers a location has.
    pub(crate) const NUMBERS: usize = 15;

    /// A region is entered, or left.
    #[inline]
    pub(super) fn passed(&mut self, region: u32, is_left: bool) {
        let region = u64::from(region) + 1;
        // One addition for both, since this is done for most events of a trace.
        let signed = if is_left {
            region.wrapping_neg()
        } else {
            region
        };
        self.regions = self.regions.wrapping_add(signed);
    }

    /// A message of so many bytes leaves.
    #[inline]
    pub(super) fn sent(&mut self, bytes: u64) {
        self.sends += 1;
        self.bytes_sent = self.bytes_sent.wrapping_add(bytes);
    }

    /// A message of so many bytes has arrived.
    #[inline]
    pub(super) fn received(&mut self, bytes: u64) {
        self.receives += 1;
        self.bytes_received = self.bytes_received.wrapping_add(bytes);
    }

    /// A collective operation is left.
    pub(super) fn collective(&mut self, record: CollectiveRecord) {
        self.given = self.given.wrapping_add(record.sent);
        self.got = self.got.wrapping_add(record.received);
        let has_root = record.root != CollectiveRoot::None;
        if needs_root(record.operation) {
            self.rooted += 1;
            self.without_root += u64::from(!has_root);
        } else {
            self.rootless += 1;
            self.with_root += u64::from(has_root);
        }
    }

    /// Adds what shows at the end of a file: its chunks and attributes, and its first and last time
    /// beside those of the trace.
    pub(super) fn finish(
        &mut self,
        counts: &EventCounts,
        first: u64,
        last: u64,
        clock: Option<&ClockProperties>,
    ) {
        self.misnumbered = counts.misnumbered_chunks();
        self.unreadable += counts.unreadable_lists();
        if let Some(clock) = clock.filter(|_| counts.total() > 0) {
            let end = clock.global_offset.saturating_add(clock.trace_length);
            self.outside = u64::from(first < clock.global_offset || last > end);
        }
    }

    /// The counts as numbers, for whoever does not know this type.
    pub(crate) fn numbers(&self) -> [u64; Self::NUMBERS] {
        [
            self.regions,
            self.sends,
            self.bytes_sent,
            self.receives,
            self.bytes_received,
            self.given,
            self.got,
            self.rooted,
            self.without_root,
            self.rootless,
            self.with_root,
            self.open_sends,
            self.unreadable,
            self.misnumbered,
            self.outside,
        ]
    }

    /// From [`numbers`](Self::numbers); none if there are not as many.
    pub(crate) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let &[
            regions,
            sends,
            bytes_sent,
            receives,
            bytes_received,
            given,
            got,
            rooted,
            without_root,
            rootless,
            with_root,
            open_sends,
            unreadable,
            misnumbered,
            outside,
        ] = numbers
        else {
            return None;
        };
        Some(Self {
            regions,
            sends,
            bytes_sent,
            receives,
            bytes_received,
            given,
            got,
            rooted,
            without_root,
            rootless,
            with_root,
            open_sends,
            unreadable,
            misnumbered,
            outside,
        })
    }

    /// Both together; of [`regions`](Self::regions) and [`outside`](Self::outside) how
    /// many locations they concern.
    pub(crate) fn add(self, location: &Self) -> Self {
        let mut sums = self.numbers();
        let mut more = location.numbers();
        more[0] = u64::from(location.regions != 0);
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = sum.wrapping_add(more);
        }
        Self::from_numbers(&sums).unwrap_or(self)
    }
}

/// True if one member of the operation is another than the rest.
const fn needs_root(operation: CollectiveOp) -> bool {
    matches!(
        operation,
        CollectiveOp::BCAST
            | CollectiveOp::GATHER
            | CollectiveOp::GATHERV
            | CollectiveOp::SCATTER
            | CollectiveOp::SCATTERV
            | CollectiveOp::REDUCE
    )
}
