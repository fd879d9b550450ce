//! The events of each location as they stand in a list.
//!
//! The lines of all locations are mixed, so the first list that is asked for reads
//! the whole file once and keeps 32 bytes of each event, and the name of each region
//! once, for the others.

use std::path::Path;

use retime_model::FileMap;
use retime_model::format::{EventRow, EventRows, FormatError, Passage};
use retime_model::{Length, Timestamp};

use crate::line::{Kind, Partner, What, place};
use crate::pass::Pass;

/// Stands for no region and no peer.
const NONE: u32 = u32::MAX;

/// All events of a file.
pub(crate) struct Table {
    /// The events of each location, in the order of their lines.
    events: Vec<Vec<Compact>>,
    regions: Vec<Box<str>>,
    /// The id of each location.
    ids: Vec<u64>,
}

struct Compact {
    time: u64,
    region: u32,
    passage: Option<Passage>,
    /// Position of the location it speaks to or hears from.
    peer: u32,
    /// The channel of a message that names its peer.
    tag: u32,
    communicator: u32,
    /// The length of the message.
    length: Length,
    kind: Kind,
}

impl Table {
    pub(crate) fn read(path: &Path) -> Result<Self, FormatError> {
        let mut pass = Pass::open(path, &())?;
        let mut events: Vec<Vec<Compact>> = Vec::new();
        let mut known: FileMap<Box<str>, u32> = FileMap::default();
        let mut regions = Vec::new();
        while let Some(entry) = pass.next()? {
            let Some(said) = entry.said else {
                continue;
            };
            let (Some(kind), Some(stamp)) = (said.what.kind(), said.stamp) else {
                continue;
            };
            let (region, passage) = place(said.text);
            let region = region.map_or(NONE, |name| {
                known.get(&*name).copied().unwrap_or_else(|| {
                    let number = regions.len() as u32;
                    known.insert((&*name).into(), number);
                    regions.push(name.into());
                    number
                })
            });
            let transfer = match said.what {
                What::Send(transfer) | What::Receive(transfer) => Some(transfer),
                _ => None,
            };
            let message = match transfer.map(|it| it.partner) {
                Some(Partner::Channel(message)) => Some(message),
                _ => None,
            };
            let location = said.location.as_usize();
            if events.len() <= location {
                events.resize_with(location + 1, Vec::new);
            }
            if let Some(own) = events.get_mut(location) {
                own.push(Compact {
                    time: stamp.time,
                    region,
                    passage,
                    peer: message.map_or(NONE, |it| it.peer.0),
                    tag: message.map_or(0, |it| it.tag),
                    communicator: message.map_or(0, |it| it.communicator),
                    length: transfer.map_or(Length::UNKNOWN, |it| it.length),
                    kind,
                });
            }
        }
        Ok(Self {
            events,
            regions,
            ids: pass.places.ids(),
        })
    }

    pub(crate) fn rows(&self, location: usize) -> impl EventRows + '_ {
        let events = self.events.get(location).map_or(&[][..], Vec::as_slice);
        Rows {
            table: self,
            events: events.iter(),
        }
    }

    pub(crate) fn region(&self, id: u32) -> Option<&str> {
        self.regions.get(id as usize).map(|name| &**name)
    }
}

struct Rows<'a> {
    table: &'a Table,
    events: std::slice::Iter<'a, Compact>,
}

impl EventRows for Rows<'_> {
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError> {
        let row = |event: &Compact| {
            let peer = self.table.ids.get(event.peer as usize).copied();
            EventRow {
                time: Timestamp(event.time),
                kind: event.kind.name(),
                region: (event.region != NONE).then_some(event.region),
                passage: event.passage,
                peer,
                tag: peer.map(|_| event.tag),
                communicator: peer.map(|_| event.communicator),
                bytes: event.length.bytes(),
            }
        };
        Ok(self.events.next().map(row))
    }
}
