//! Which locations are shown.
//!
//! More than some dozens cannot be told apart on a screen. Of more, those are shown
//! that take part in most reversed dependencies, and then the first that communicate.

use retime::{Clocks, LocationIndex, TraceInfo};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::Subject;

/// So many at most: 64 rows of 12 pixels fill a screen.
const MOST: usize = 64;

/// The locations that are shown, in their order in the trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lanes {
    /// Those shown.
    pub shown: Vec<Lane>,
    /// How many locations with events are not.
    pub left_out: usize,
    #[serde(skip)]
    by_location: FxHashMap<LocationIndex, usize>,
}

/// A location that is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lane {
    /// Its place in the trace.
    #[serde(skip)]
    pub location: LocationIndex,
    /// Its id, as reports call it.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The name of its process.
    pub process: String,
    /// The name of the node it ran on, if that is known.
    pub node: Option<String>,
    /// The number of its clock.
    pub clock: u32,
}

impl Lanes {
    pub(crate) fn of(subject: &Subject<'_>) -> Self {
        let nodes = subject.nodes();
        let speaks = |it: &usize| nodes.event_count(*it) > 0;
        let mut all: Vec<usize> = (0..subject.info.locations.len()).filter(speaks).collect();
        let known = all.len();
        if known > MOST {
            let mut reversed: FxHashMap<usize, u64> = FxHashMap::default();
            for (&(from, to), tally) in &subject.recorded.pairs {
                for end in [from, to] {
                    *reversed.entry(end.as_usize()).or_default() += tally.violated;
                }
            }
            let of = |it: &usize| reversed.get(it).copied().unwrap_or_default();
            all.sort_by_key(|it| (std::cmp::Reverse(of(it)), nodes.count(*it) == 0, *it));
            all.truncate(MOST);
            all.sort_unstable();
        }
        let locations = all.into_iter().map(|it| LocationIndex(it as u32));
        let shown: Vec<Lane> = locations
            .filter_map(|it| Lane::of(it, subject.info, subject.clocks))
            .collect();
        let by_location = shown.iter().enumerate();
        Self {
            left_out: known - shown.len(),
            by_location: by_location.map(|(at, it)| (it.location, at)).collect(),
            shown,
        }
    }

    /// The number of the lane that shows a location.
    pub(crate) fn lane_of(&self, location: LocationIndex) -> Option<usize> {
        self.by_location.get(&location).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }
}

impl Lane {
    /// The name of the lane where there is little room: that of its process, if it has one.
    pub(crate) fn short(&self) -> &str {
        if self.process.is_empty() {
            &self.name
        } else {
            &self.process
        }
    }

    fn of(location: LocationIndex, info: &TraceInfo, clocks: &Clocks) -> Option<Self> {
        let it = info.locations.get(location.as_usize())?;
        let process = info.processes.get(it.process);
        let node = process.and_then(|process| info.nodes.get(process.node?));
        Some(Self {
            location,
            id: it.id,
            name: short(&it.name),
            process: process.map(|it| short(&it.name)).unwrap_or_default(),
            node: node.map(|it| short(it)),
            clock: clocks.of(location).0,
        })
    }
}

/// A name, or how a very long one begins.
pub(crate) fn short(name: &str) -> String {
    const MOST: usize = 160;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}
