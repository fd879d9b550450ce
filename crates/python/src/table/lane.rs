//! One location on its way through its events.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use retime::format::{CorrectedEvent, CorrectedEvents, FormatError, Passage, Trace};
use retime::{Correction, LocationIndex};
use retime_cli::library::Failure;

use super::columns::{ROWS, too_large};
use super::names::Regions;

/// Which columns are wanted, so that others are not filled.
#[derive(Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is about a column by itself"
)]
pub(super) struct Filled {
    pub(super) event: bool,
    pub(super) time: bool,
    pub(super) corrected: bool,
    pub(super) kind: bool,
    pub(super) region: bool,
    pub(super) passage: bool,
    pub(super) peer: bool,
}

/// Some events of one location, as columns.
pub(super) struct Chunk {
    pub(super) location: LocationIndex,
    pub(super) rows: usize,
    pub(super) event: Vec<u64>,
    pub(super) time: Vec<u64>,
    pub(super) corrected: Vec<u64>,
    /// Positions in `kinds`.
    pub(super) kind: Vec<i16>,
    pub(super) kinds: Vec<&'static str>,
    /// Numbers of regions; -1 for none, and below that positions in `strange`, counted
    /// from -2 down.
    pub(super) region: Vec<i32>,
    /// Ids of regions that had no number.
    pub(super) strange: Vec<u32>,
    /// 0 entered, 1 left, -1 neither.
    pub(super) passage: Vec<i32>,
    pub(super) peer: Vec<u64>,
    pub(super) has_peer: BooleanBuffer,
}

/// A location.
pub(super) struct Lane<'a> {
    location: LocationIndex,
    /// The id of the location in the trace.
    id: u64,
    events: CorrectedEvents<'a>,
    pub(super) is_over: bool,
}

impl<'a> Lane<'a> {
    pub(super) fn open(
        trace: &'a dyn Trace,
        location: LocationIndex,
        id: u64,
        correction: Option<&'a Correction>,
    ) -> Result<Self, FormatError> {
        Ok(Self {
            location,
            id,
            events: CorrectedEvents::open(trace, location, correction)?,
            is_over: false,
        })
    }

    /// The next events, as many as a batch has, of those in the stretch of time.
    pub(super) fn fill(
        &mut self,
        filled: Filled,
        regions: &Regions,
        window: Option<(u64, u64)>,
    ) -> Result<Chunk, Failure> {
        let mut chunk = Filling::new(self.location, filled);
        while chunk.rows < ROWS {
            let Some(event) = self.events.read()? else {
                self.is_over = true;
                break;
            };
            if let Some((from, to)) = window {
                // Events stamped before their predecessors stand where these do.
                let moment = event.corrected.unwrap_or(event.latest);
                if moment.0 > to {
                    self.is_over = true;
                    break;
                }
                if moment.0 < from {
                    continue;
                }
            }
            if filled.time || filled.corrected {
                self.check(&event)?;
            }
            chunk.add(&event, regions);
        }
        Ok(chunk.finish())
    }

    /// Refuses a stamp that a column cannot hold.
    #[inline]
    fn check(&self, event: &CorrectedEvent) -> Result<(), Failure> {
        let recorded = event.row.time;
        let stamp = event.corrected.map_or(recorded, |it| it.max(recorded));
        if i64::try_from(stamp.0).is_ok() {
            return Ok(());
        }
        let (event, stamp, id) = (event.number, stamp.0, self.id);
        let what = format!("the time stamp {stamp} of event {event} of location {id}");
        Err(too_large(&what))
    }
}

/// A chunk that is being filled.
struct Filling {
    filled: Filled,
    rows: usize,
    chunk: Chunk,
    has_peer: BooleanBufferBuilder,
    /// The kind of the last event, which the next one often has.
    last: (*const u8, i16),
}

impl Filling {
    fn new(location: LocationIndex, filled: Filled) -> Self {
        let room = |is_wanted: bool| if is_wanted { ROWS } else { 0 };
        Self {
            filled,
            rows: 0,
            chunk: Chunk {
                location,
                rows: 0,
                event: Vec::with_capacity(room(filled.event)),
                time: Vec::with_capacity(room(filled.time)),
                corrected: Vec::with_capacity(room(filled.corrected)),
                kind: Vec::with_capacity(room(filled.kind)),
                kinds: Vec::new(),
                region: Vec::with_capacity(room(filled.region)),
                strange: Vec::new(),
                passage: Vec::with_capacity(room(filled.passage)),
                peer: Vec::with_capacity(room(filled.peer)),
                has_peer: BooleanBuffer::new_unset(0),
            },
            has_peer: BooleanBufferBuilder::new(room(filled.peer)),
            last: (std::ptr::null(), 0),
        }
    }

    #[inline]
    fn add(&mut self, event: &CorrectedEvent, regions: &Regions) {
        self.rows += 1;
        let row = &event.row;
        let (filled, chunk) = (self.filled, &mut self.chunk);
        if filled.event {
            chunk.event.push(event.number);
        }
        if filled.time {
            chunk.time.push(row.time.0);
        }
        if filled.corrected {
            chunk.corrected.push(event.corrected.unwrap_or(row.time).0);
        }
        if filled.kind {
            if row.kind.as_ptr() != self.last.0 {
                self.last = (row.kind.as_ptr(), kind(&mut chunk.kinds, row.kind));
            }
            chunk.kind.push(self.last.1);
        }
        if filled.region {
            let number = row.region.map_or(-1, |id| {
                let known = regions.known(id);
                known.unwrap_or_else(|| strange(&mut chunk.strange, id))
            });
            chunk.region.push(number);
        }
        if filled.passage {
            chunk.passage.push(match row.passage {
                Some(Passage::Enter) => 0,
                Some(Passage::Leave) => 1,
                None => -1,
            });
        }
        if filled.peer {
            chunk.peer.push(row.peer.unwrap_or_default());
            self.has_peer.append(row.peer.is_some());
        }
    }

    fn finish(mut self) -> Chunk {
        self.chunk.rows = self.rows;
        self.chunk.has_peer = self.has_peer.finish();
        self.chunk
    }
}

/// The position of a kind among those of a chunk. A format has few.
fn kind(kinds: &mut Vec<&'static str>, kind: &'static str) -> i16 {
    let found = kinds
        .iter()
        .position(|it| std::ptr::eq(it.as_ptr(), kind.as_ptr()) || *it == kind);
    found.unwrap_or_else(|| {
        kinds.push(kind);
        kinds.len() - 1
    }) as i16
}

/// The code of a region that has no number yet: -2 and below, by its position in `ids`.
fn strange(ids: &mut Vec<u32>, id: u32) -> i32 {
    let found = ids.iter().position(|&it| it == id);
    let at = found.unwrap_or_else(|| {
        ids.push(id);
        ids.len() - 1
    });
    -2 - at as i32
}
