//! The events of each track as they stand in a list.
//!
//! The first list that is asked for reads all files again, for the names of events: five
//! bytes of each event are kept, and each name once.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use retime_model::FileMap;
use retime_model::Timestamp;
use retime_model::format::{EventRow, EventRows, FormatError, Passage};

use crate::document::Document;
use crate::error::first_error;
use crate::order::{Boundary, Order, Side, boundaries};
use crate::profile::FileRead;

/// The names of all events of a run.
pub(crate) struct Table {
    files: Vec<Named>,
    regions: Vec<String>,
}

/// The names and types of the events of a file that have a time.
#[derive(Default)]
struct Named {
    names: Vec<u32>,
    types: Vec<u8>,
    regions: Vec<String>,
}

impl Named {
    fn read(document: &dyn Document, path: &Path) -> Result<Self, FormatError> {
        let mut named = Self::default();
        let mut known: FileMap<Box<[u8]>, u32> = FileMap::default();
        document.names(path, &mut |name, kind| {
            let next = known.len() as u32;
            let number = known.get(name).copied().unwrap_or(next);
            if number == next {
                known.insert(name.into(), next);
                named
                    .regions
                    .push(String::from_utf8_lossy(name).into_owned());
            }
            named.names.push(number);
            named.types.push(kind);
            Ok(())
        })?;
        Ok(named)
    }
}

impl Table {
    pub(crate) fn read(document: &dyn Document, paths: &[PathBuf]) -> Result<Self, FormatError> {
        let files = paths.par_iter().map(|path| Named::read(document, path));
        let mut files: Vec<Named> = first_error(files)?;
        // The same name in several files is one region.
        let mut known: FileMap<String, u32> = FileMap::default();
        let mut regions = Vec::new();
        for file in &mut files {
            let numbers = std::mem::take(&mut file.regions).into_iter().map(|name| {
                *known.entry(name).or_insert_with_key(|name| {
                    regions.push(name.clone());
                    regions.len() as u32 - 1
                })
            });
            let numbers: Vec<u32> = numbers.collect();
            for name in &mut file.names {
                *name = numbers.get(*name as usize).copied().unwrap_or_default();
            }
        }
        Ok(Self { files, regions })
    }

    pub(crate) fn region(&self, id: u32) -> Option<&str> {
        self.regions.get(id as usize).map(String::as_str)
    }

    /// The events of a track of a file.
    pub(crate) fn rows<'a>(
        &'a self,
        number: usize,
        file: &'a FileRead,
        track: usize,
    ) -> impl EventRows + 'a {
        let order = Order::of(&file.columns, file.tracks.len());
        let events = boundaries(&file.columns, order.of_track(track)).collect::<Vec<_>>();
        Rows {
            named: self.files.get(number),
            events: events.into_iter(),
            open: Vec::new(),
        }
    }
}

struct Rows<'a> {
    named: Option<&'a Named>,
    events: std::vec::IntoIter<Boundary>,
    /// The entries that were entered and not left, with their regions.
    open: Vec<(Option<u32>, u32)>,
}

impl Rows<'_> {
    /// The region in which an event of type `E` is, which only says that it is left.
    fn left(&mut self) -> Option<u32> {
        let last = self.open.pop_if(|it| it.0.is_none());
        last.map(|(_, region)| region)
    }

    fn row(&mut self, event: Boundary) -> EventRow {
        let named = |column: &dyn Fn(&Named) -> Option<u32>| self.named.and_then(column);
        let region = named(&|it| it.names.get(event.entry as usize).copied());
        let kind = named(&|it| it.types.get(event.entry as usize).copied().map(u32::from));
        let letter = kind.and_then(|it| u8::try_from(it).ok()).unwrap_or(b'?');
        let (kind, region, passage) = match (event.side, letter) {
            (Side::Begin, _) => {
                self.open
                    .push((Some(event.entry), region.unwrap_or_default()));
                ("begin", region, Some(Passage::Enter))
            }
            (Side::End, _) => {
                // Leaving a stay leaves all that was entered since; a stay that crosses the
                // end of another was left with that.
                let own = self.open.iter().rposition(|it| it.0 == Some(event.entry));
                let passage = own.map(|at| {
                    self.open.truncate(at);
                    Passage::Leave
                });
                ("end", region, passage)
            }
            (Side::Moment, b'B') => {
                self.open.push((None, region.unwrap_or_default()));
                ("begin", region, Some(Passage::Enter))
            }
            (Side::Moment, b'E') => {
                let left = self.left();
                ("end", left.or(region), left.map(|_| Passage::Leave))
            }
            (Side::Moment, b's') => ("arrow start", region, None),
            (Side::Moment, b't') => ("arrow step", region, None),
            (Side::Moment, b'f') => ("arrow end", region, None),
            (Side::Moment, b'C') => ("counter", region, None),
            (Side::Moment, b'b') => ("asynchronous begin", region, None),
            (Side::Moment, b'e') => ("asynchronous end", region, None),
            (Side::Moment, _) => ("instant", region, None),
        };
        EventRow {
            time: Timestamp(event.time),
            kind,
            region,
            passage,
            ..EventRow::default()
        }
    }
}

impl EventRows for Rows<'_> {
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError> {
        let next = self.events.next();
        Ok(next.map(|it| self.row(it)))
    }
}
