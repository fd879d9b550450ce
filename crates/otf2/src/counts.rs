//! How many events of which kind: what a correction must not change.

use std::fmt;
use std::ops::Range;

use crate::chunk::{ChunkHeader, FileKind};
use crate::fields::Attributes;
use crate::framing::Walker;
use crate::steps::{STAMP, Step};

/// The events of a location by their codes, and the bytes they take.
///
/// Time records are left out, of the counts and of the bytes: a corrected
/// file may need more of them. Everything else must be equal before and after
/// a correction, so this is compared with `==`.
#[derive(Clone)]
pub struct EventCounts {
    codes: [u64; 256],
    attribute_lists: u64,
    bytes: u64,
    misnumbered_chunks: u64,
    unreadable_lists: u64,
}

impl PartialEq for EventCounts {
    /// Compares what events say; damage of a file is left out, as a correction may cut chunks anew.
    fn eq(&self, other: &Self) -> bool {
        self.codes == other.codes
            && self.attribute_lists == other.attribute_lists
            && self.bytes == other.bytes
    }
}

impl Eq for EventCounts {}

impl Default for EventCounts {
    fn default() -> Self {
        Self {
            codes: [0; 256],
            attribute_lists: 0,
            bytes: 0,
            misnumbered_chunks: 0,
            unreadable_lists: 0,
        }
    }
}

impl EventCounts {
    #[inline]
    pub(crate) fn add(&mut self, step: &Step) {
        self.codes[usize::from(step.record.code)] += 1;
        // `chunk` adds all bytes between its ends, those of time records too.
        let stamps = STAMP as u64 * u64::from(step.stamps);
        self.bytes = self.bytes.wrapping_sub(stamps);
    }

    /// Counts what stands in a chunk besides time records, and compares what it says of
    /// its events with those that are in it.
    pub(crate) const fn chunk(
        &mut self,
        header: &ChunkHeader,
        events: Range<u64>,
        bytes: Range<usize>,
    ) {
        self.bytes = self.bytes.wrapping_add((bytes.end - bytes.start) as u64);
        // They are numbered from 1, and none are 1 to 0.
        let right = header.first_event == events.start + 1 && header.last_event == events.end;
        self.misnumbered_chunks += !right as u64;
    }

    /// Looks into the attribute lists of an event, `number` of them, which lie there in the
    /// chunk.
    #[cold]
    #[inline(never)]
    pub(crate) fn lists(
        &mut self,
        number: u32,
        bytes: &[u8],
        header: &ChunkHeader,
        within: Range<u32>,
    ) {
        self.attribute_lists += u64::from(number);
        let lists = Walker::at(FileKind::Events, header, within.start as usize);
        let end = within.end as usize;
        let mut attributes = Attributes::new(bytes, lists, end, None);
        self.unreadable_lists += u64::from(attributes.any(|it| it.is_err()));
    }

    /// How many events have attributes that cannot be read.
    pub const fn unreadable_lists(&self) -> u64 {
        self.unreadable_lists
    }

    /// How many chunks say that they hold other events than they do.
    pub const fn misnumbered_chunks(&self) -> u64 {
        self.misnumbered_chunks
    }

    /// The number of all events.
    pub fn total(&self) -> u64 {
        self.codes.iter().sum()
    }

    /// The number of events with a code, as in [`crate::schema`].
    pub fn of(&self, code: u8) -> u64 {
        self.codes[usize::from(code)]
    }

    /// Codes that occur, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u64)> {
        (0..=u8::MAX)
            .zip(self.codes)
            .filter(|&(_, count)| count > 0)
    }

    /// The number of attribute lists.
    pub const fn attribute_lists(&self) -> u64 {
        self.attribute_lists
    }

    /// The bytes of all events and attribute lists.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Debug for EventCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventCounts")
            .field("codes", &self.iter().collect::<Vec<_>>())
            .field("attribute_lists", &self.attribute_lists)
            .field("bytes", &self.bytes)
            .field("misnumbered_chunks", &self.misnumbered_chunks)
            .field("unreadable_lists", &self.unreadable_lists)
            .finish()
    }
}
