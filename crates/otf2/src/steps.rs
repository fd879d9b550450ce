//! From event to event, as fast as bytes allow.
//!
//! Scanning, verifying and rewriting a trace all walk over every event and
//! look into few. So this walker takes an event in one step: its time record,
//! if it has one, and the record itself.
//!
//! ```text
//! 05 tttttttttttttttt   0c  01  03        one step: raw time, code, payload
//! |  raw time           |   |   payload
//! stamp                 |   length, or size byte of a singleton
//!                       code
//! ```
//!
//! Nearly all events fit that picture, and their extent follows from one byte
//! behind the code: it is `code + 2 + byte` for short records with a length
//! and for singletons alike. One table look-up says for which values of that
//! byte this holds; everything else (attribute lists, long records, ends,
//! damage) goes through the general [`Walker`], with the same result.
//!
//! Positions are those of the chunk buffer, which the caller may change
//! between steps: a rewriter puts new times where the old ones were.

use crate::chunk::{CHUNK_HEADER, ChunkHeader, FileKind};
use crate::error::{Reason, WireError};
use crate::framing::{ATTRIBUTE_LIST, CHUNK_CODE, Record, SINGLETONS, TIMESTAMP, Walker};

/// Bytes that decide about a step: a time record, a code and the byte after.
const WINDOW: usize = 11;
/// Bytes of a time record.
pub(crate) const STAMP: usize = 9;

/// Largest value of the byte behind the code with which a step is simple;
/// negative where it never is.
type Limits = [i16; 256];

static EVENTS: Limits = limits(&SINGLETONS);
static SNAPSHOTS: Limits = limits(&[]);

const fn limits(singletons: &[u8]) -> Limits {
    let mut limits = [0xFE; 256];
    let mut internal = 0;
    while internal <= CHUNK_CODE {
        limits[internal as usize] = -1;
        internal += 1;
    }
    limits[TIMESTAMP as usize] = -1;
    limits[ATTRIBUTE_LIST as usize] = -1;
    let mut i = 0;
    while i < singletons.len() {
        limits[singletons[i] as usize] = 8;
        i += 1;
    }
    limits
}

/// An event and what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The record.
    pub(crate) record: Record,
    /// Its time as written, in its own or an earlier time record.
    pub(crate) raw: u64,
    /// Position of the first byte that belongs to the event.
    pub(crate) first: u32,
    /// Number of its time records: 0 or 1; more in files that libotf2 wrote
    /// with events at time 0.
    pub(crate) stamps: u32,
    /// Number of its attribute lists.
    pub(crate) lists: u32,
}

/// Walks the events of one file, chunk by chunk.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    limits: &'static Limits,
    kind: FileKind,
    header: ChunkHeader,
    pos: usize,
    raw: u64,
    /// True if there was a time record at all.
    timed: bool,
    ended_file: bool,
}

/// Any step, and the walker after it: not as a result, in which the bytes of an error would
/// share their place with those of the position, which then is not kept in a register.
struct General {
    steps: Steps,
    step: Option<Step>,
    error: Option<WireError>,
}

impl Steps {
    /// At the first event of the first chunk of a file with times.
    pub(crate) const fn new(kind: FileKind, header: ChunkHeader) -> Self {
        Self {
            limits: match kind {
                FileKind::Snapshots => &SNAPSHOTS,
                _ => &EVENTS,
            },
            kind,
            header,
            pos: CHUNK_HEADER,
            raw: 0,
            timed: false,
            ended_file: false,
        }
    }

    /// Goes on in the next chunk. The time survives the end of a chunk.
    pub(crate) const fn enter(&mut self, header: ChunkHeader) {
        self.header = header;
        self.pos = CHUNK_HEADER;
    }

    /// The header of the chunk.
    pub(crate) const fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// Position of the next event, or of the mark that ended the chunk.
    pub(crate) const fn position(&self) -> usize {
        self.pos
    }

    /// True if the end-of-file mark was reached.
    pub(crate) const fn ended_file(&self) -> bool {
        self.ended_file
    }

    /// The next event, `None` at the end of the chunk.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "keeps the position in a register")]
    pub(crate) fn step(&mut self, bytes: &[u8]) -> Result<Option<Step>, WireError> {
        if let Some(step) = self.simple(bytes) {
            return Ok(Some(step));
        }
        let General { steps, step, error } = self.general(bytes);
        *self = steps;
        error.map_or(Ok(step), Err)
    }

    /// The step if it is a simple one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `step`")]
    fn simple(&mut self, bytes: &[u8]) -> Option<Step> {
        let window: &[u8; WINDOW] = bytes.get(self.pos..)?.first_chunk()?;
        let stamped = window[0] == TIMESTAMP;
        let (code, size, start, raw) = if stamped {
            let [_, time @ .., code, size] = *window;
            let raw = self.header.endian.u64(time);
            (code, size, self.pos + STAMP, raw)
        } else if self.timed {
            (window[0], window[1], self.pos, self.raw)
        } else {
            return None;
        };
        let limit = self.limits[usize::from(code)];
        let end = start + 2 + usize::from(size);
        if i16::from(size) > limit || end >= bytes.len() {
            return None;
        }
        let first = self.pos as u32;
        self.pos = end;
        self.raw = raw;
        self.timed = true;
        Some(Step {
            record: Record {
                code,
                start: start as u32,
                payload: start as u32 + if limit == 8 { 1 } else { 2 },
                end: end as u32,
            },
            raw,
            first,
            stamps: u32::from(stamped),
            lists: 0,
        })
    }

    #[cold]
    fn general(mut self, bytes: &[u8]) -> General {
        let step = self.any(bytes);
        General {
            steps: self,
            step: step.ok().flatten(),
            error: step.err(),
        }
    }

    /// Any step.
    fn any(&mut self, bytes: &[u8]) -> Result<Option<Step>, WireError> {
        let first = self.pos as u32;
        let mut walker = Walker::at(self.kind, &self.header, self.pos);
        let (mut stamps, mut lists) = (0, 0);
        while let Some(record) = walker.step(bytes)? {
            match record.code {
                TIMESTAMP => {
                    stamps += 1;
                    self.raw = read_time(bytes, record, &self.header)?;
                    self.timed = true;
                }
                ATTRIBUTE_LIST => lists += 1,
                _ if self.timed => {
                    self.pos = walker.position();
                    let step = Step {
                        record,
                        raw: self.raw,
                        first,
                        stamps,
                        lists,
                    };
                    return Ok(Some(step));
                }
                _ => return Err(WireError::new(record.start as usize, Reason::NoTimestamp)),
            }
        }
        if stamps + lists > 0 {
            return Err(WireError::new(first as usize, Reason::Dangling));
        }
        self.ended_file = walker.ended_file();
        Ok(None)
    }
}

/// The full-width time at the start of a payload: that of a time record, or
/// the end of a flush.
#[inline]
pub(crate) fn read_time(
    bytes: &[u8],
    record: Record,
    header: &ChunkHeader,
) -> Result<u64, WireError> {
    let payload = bytes.get(record.payload_range()).unwrap_or_default();
    match payload.first_chunk() {
        Some(time) => Ok(header.endian.u64(*time)),
        None => Err(WireError::new(record.payload as usize, Reason::PastEnd)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::Endian;

    /// Bytes that look like events, mostly.
    fn chunk() -> impl Strategy<Value = Vec<u8>> {
        let time = any::<u64>().prop_map(|time| [&[5][..], &time.to_le_bytes()].concat());
        let singleton = (0..SINGLETONS.len(), 0_usize..9).prop_map(|(code, size)| {
            let value = vec![7; size];
            [&[SINGLETONS[code], size as u8][..], &value].concat()
        });
        let record = (6_u8.., 0_usize..300).prop_map(|(code, size)| {
            let payload = vec![3; size];
            let length = match u8::try_from(size) {
                Ok(length) if length < 0xFF => vec![length],
                _ => [&[0xFF][..], &(size as u64).to_le_bytes()].concat(),
            };
            [&[code][..], &length, &payload].concat()
        });
        let undefined = (0..SINGLETONS.len()).prop_map(|code| vec![SINGLETONS[code], 0xFF]);
        let noise = proptest::collection::vec(any::<u8>(), 1..4);
        let piece = prop_oneof![
            40 => time, 30 => singleton, 30 => record, 5 => undefined, 1 => noise,
        ];
        let pieces = proptest::collection::vec(piece, 0..40);
        let end = prop_oneof![Just(vec![2_u8, 1]), Just(vec![0, 0]), Just(vec![])];
        (pieces, end)
            .prop_map(|(pieces, end)| [&[0; CHUNK_HEADER][..], &pieces.concat(), &end].concat())
    }

    proptest! {
        #[test]
        fn fast_and_general_steps_agree(
            bytes in chunk(),
            snapshots: bool,
            big: bool,
            last_in_file: bool,
        ) {
            let header = ChunkHeader {
                offset: 0,
                endian: if big { Endian::Big } else { Endian::Little },
                first_event: 1,
                last_event: 0,
                last_in_file,
            };
            let kind = if snapshots { FileKind::Snapshots } else { FileKind::Events };
            let mut fast = Steps::new(kind, header);
            let mut general = fast;
            loop {
                let expected = general.any(&bytes);
                let step = fast.step(&bytes);
                let expected = match expected {
                    Ok(expected) => expected,
                    Err(error) => {
                        prop_assert_eq!(step, Err(error));
                        break;
                    }
                };
                prop_assert_eq!(step, Ok(expected));
                prop_assert_eq!(fast.position(), general.position());
                prop_assert_eq!(fast.ended_file(), general.ended_file());
                if expected.is_none() {
                    break;
                }
            }
        }
    }
}
