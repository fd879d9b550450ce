//! The locations of a file, as they are met.

use std::collections::{BTreeMap, HashSet};

use retime_model::{Location, LocationIndex, Process, TickRate, TraceInfo};

use crate::id::{Id, IdMap};
use crate::line::Header;

/// All locations met so far: first those of the header, then others as lines first
/// name them, be it as the other end of a message.
pub(crate) struct Places {
    index: IdMap<LocationIndex>,
    met: Vec<Met>,
    rate: TickRate,
}

struct Met {
    name: String,
    /// The name, if it is a whole number.
    number: Option<u64>,
    /// The number of its clock, if the header says.
    clock: Option<u32>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            index: IdMap::default(),
            met: Vec::new(),
            rate: TickRate::NANOSECONDS,
        }
    }
}

impl Places {
    /// Takes over what the header says.
    pub(crate) fn declare(&mut self, header: &Header<'_>) -> Result<(), String> {
        if let Some(ticks) = header.ticks_per_second {
            let rate = TickRate::per_second(ticks);
            self.rate = rate.ok_or("there are no 0 ticks per second")?;
        }
        for (&id, &clock) in header.locations.iter().zip(&header.clocks) {
            self.meet(id, Some(clock));
        }
        Ok(())
    }

    /// The location of that name, new if it is the first time.
    #[inline]
    pub(crate) fn index(&mut self, id: Id<'_>) -> LocationIndex {
        match self.index.get(id) {
            Some(&index) => index,
            None => self.meet(id, None),
        }
    }

    fn meet(&mut self, id: Id<'_>, clock: Option<u32>) -> LocationIndex {
        let index = LocationIndex(self.met.len() as u32);
        self.index.insert(id, index);
        self.met.push(Met {
            name: name(id),
            number: match id {
                Id::Number(number) => Some(number),
                Id::Text(_) => None,
            },
            clock,
        });
        index
    }

    pub(crate) fn len(&self) -> usize {
        self.met.len()
    }

    /// The id of each location: the number that it is called by, or else the
    /// smallest that none is called by and none before it has.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let taken: HashSet<u64> = self.met.iter().filter_map(|it| it.number).collect();
        let mut free = (0..).filter(|number| !taken.contains(number));
        let id = |it: &Met| it.number.or_else(|| free.next()).unwrap_or(u64::MAX);
        self.met.iter().map(id).collect()
    }

    /// Describes the trace: the locations met so far, and the clocks that they share.
    pub(crate) fn info(&self) -> TraceInfo {
        // Locations with one clock share a process, which is what holds them
        // together when clocks are grouped.
        let mut process_of = BTreeMap::new();
        let mut processes = Vec::new();
        let mut locations = Vec::new();
        for ((met, id), index) in self.met.iter().zip(self.ids()).zip(0..) {
            let new = processes.len();
            let process = match met.clock {
                Some(clock) => *process_of.entry(clock).or_insert(new),
                None => new,
            };
            if process == new {
                processes.push(Process {
                    name: String::new(),
                    node: None,
                    creator: None,
                });
            }
            locations.push(Location {
                id,
                name: met.name.clone(),
                process,
                endpoint: LocationIndex(index),
            });
        }
        TraceInfo {
            rate: self.rate,
            locations,
            processes,
            nodes: Vec::new(),
            communicators: Vec::new(),
            streams: Vec::new(),
            set_back: Vec::new(),
        }
    }
}

/// The name of a location in reports: without quotes, unless that would make it look like a number,
/// and without escapes, as writers of JSON have them for all but ASCII.
fn name(id: Id<'_>) -> String {
    match id.string() {
        Some(string) if !string.starts_with(|it: char| it.is_ascii_digit()) => {
            serde_json::from_str(&id.to_string()).unwrap_or_else(|_| string.to_owned())
        }
        _ => id.to_string(),
    }
}
