//! The facts that files state about events that communicate, for whoever asks about an arrow.
//!
//! ```text
//! a page       those of the events that its arrows begin and end with, in memory
//! retime view  those of all events that communicate, 24 bytes each in a temporary file, by
//!              the number of the event in the analysis
//! ```

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use retime::causality::{EventNode, Ids};
use retime::format::EventRow;
use rustc_hash::FxHashMap;

use crate::call::Open;

/// The facts about an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) bytes: Option<u64>,
    pub(crate) tag: Option<u32>,
    pub(crate) communicator: Option<u32>,
    /// The region of the innermost call in which it happens.
    pub(crate) region: Option<u32>,
}

/// Bytes of the facts about an event in a file.
const BYTES: usize = 24;
/// Events whose facts are written at once.
const BLOCK: usize = 4096;

impl Facts {
    fn of(row: &EventRow, stack: &[Open]) -> Self {
        Self {
            bytes: row.bytes,
            tag: row.tag,
            communicator: row.communicator,
            region: stack.last().map(|it| it.region),
        }
    }

    fn encoded(self) -> [u8; BYTES] {
        let small = [self.tag, self.communicator, self.region];
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.bytes.unwrap_or_default().to_le_bytes());
        for (number, value) in small.into_iter().enumerate() {
            let at = 8 + 4 * number;
            bytes[at..at + 4].copy_from_slice(&value.unwrap_or_default().to_le_bytes());
        }
        let known = [
            self.bytes.is_some(),
            small[0].is_some(),
            small[1].is_some(),
            small[2].is_some(),
        ];
        for (number, is_known) in known.into_iter().enumerate() {
            bytes[20 + number] = u8::from(is_known);
        }
        bytes
    }

    fn decoded(bytes: &[u8; BYTES]) -> Self {
        let (large, _) = bytes.as_chunks::<8>();
        let (small, _) = bytes.as_chunks::<4>();
        let is_known = |number: usize| bytes[20 + number] == 1;
        let value = |number: usize| {
            let value = u32::from_le_bytes(small[2 + number]);
            is_known(1 + number).then_some(value)
        };
        Self {
            bytes: is_known(0).then(|| u64::from_le_bytes(large[0])),
            tag: value(0),
            communicator: value(1),
            region: value(2),
        }
    }
}

/// The facts about all events that communicate, in a file.
pub(crate) struct FactsFile(Mutex<File>);

impl FactsFile {
    pub(crate) fn new(file: File) -> Self {
        Self(Mutex::new(file))
    }

    fn write(&self, first: usize, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start((first * BYTES) as u64))?;
        file.write_all(bytes)
    }

    fn read(&self, node: EventNode) -> io::Result<Facts> {
        let mut bytes = [0; BYTES];
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start((node.index() * BYTES) as u64))?;
        file.read_exact(&mut bytes)?;
        Ok(Facts::decoded(&bytes))
    }
}

/// The events whose facts are wanted.
pub(crate) enum FactsWanted {
    /// These, in order.
    Some(Vec<EventNode>),
    /// All, into this file.
    All(FactsFile),
}

/// The facts that were wanted.
pub(crate) enum FactsFound {
    Some(FxHashMap<EventNode, Facts>),
    All(FactsFile),
}

impl FactsFound {
    /// All that was found, of what was wanted and noted at each location.
    pub(crate) fn of(wanted: FactsWanted, noted: impl Iterator<Item = NotedFacts>) -> Self {
        match wanted {
            FactsWanted::Some(_) => Self::Some(noted.flatten().collect()),
            FactsWanted::All(file) => Self::All(file),
        }
    }

    pub(crate) fn about(&self, node: EventNode) -> io::Result<Facts> {
        match self {
            Self::Some(all) => Ok(all.get(&node).copied().unwrap_or_default()),
            Self::All(file) => file.read(node),
        }
    }
}

/// Facts in memory.
pub(crate) type NotedFacts = Vec<(EventNode, Facts)>;

/// The facts about the events of a location, while these are read.
pub(crate) struct LocationFacts<'a> {
    /// The numbers of its events that communicate.
    events: &'a [u32],
    own: Ids<EventNode>,
    /// How many of them were met.
    met: usize,
    kept: Kept<'a>,
}

enum Kept<'a> {
    Some {
        wanted: &'a [EventNode],
        noted: NotedFacts,
    },
    All {
        file: &'a FactsFile,
        waiting: Vec<u8>,
    },
}

impl<'a> LocationFacts<'a> {
    pub(crate) fn new(events: &'a [u32], own: Ids<EventNode>, wanted: &'a FactsWanted) -> Self {
        let kept = match wanted {
            FactsWanted::Some(wanted) => {
                let range = own.range();
                let from = wanted.partition_point(|it| it.index() < range.start);
                let to = wanted.partition_point(|it| it.index() < range.end);
                Kept::Some {
                    wanted: &wanted[from..to],
                    noted: Vec::new(),
                }
            }
            FactsWanted::All(file) => Kept::All {
                file,
                waiting: Vec::with_capacity(BLOCK * BYTES),
            },
        };
        Self {
            events,
            own,
            met: 0,
            kept,
        }
    }

    /// Takes up an event that happens in the innermost of these calls.
    pub(crate) fn event(&mut self, event: u64, row: &EventRow, stack: &[Open]) -> io::Result<()> {
        if self.events.get(self.met).map(|&it| u64::from(it)) != Some(event) {
            return Ok(());
        }
        let Some(node) = self.own.get(self.met) else {
            return Ok(());
        };
        self.met += 1;
        match &mut self.kept {
            Kept::Some { wanted, noted } => {
                if wanted.first() == Some(&node) {
                    noted.push((node, Facts::of(row, stack)));
                    *wanted = &wanted[1..];
                }
                return Ok(());
            }
            Kept::All { waiting, .. } => waiting.extend(Facts::of(row, stack).encoded()),
        }
        if self.met.is_multiple_of(BLOCK) {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Kept::All { file, waiting } = &mut self.kept {
            let first = self.own.range().start + self.met - waiting.len() / BYTES;
            file.write(first, waiting)?;
            waiting.clear();
        }
        Ok(())
    }

    /// The facts that are kept in memory.
    pub(crate) fn finish(mut self) -> io::Result<NotedFacts> {
        self.flush()?;
        Ok(match self.kept {
            Kept::Some { noted, .. } => noted,
            Kept::All { .. } => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn facts_are_what_was_written(
            bytes in proptest::option::of(any::<u64>()),
            small in proptest::array::uniform3(proptest::option::of(any::<u32>())),
        ) {
            let [tag, communicator, region] = small;
            let facts = Facts { bytes, tag, communicator, region };
            prop_assert_eq!(Facts::decoded(&facts.encoded()), facts);
        }
    }
}
