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
/// So many at most of which a reader chooses some: their names take some 2 MB.
const MOST_TO_CHOOSE_FROM: usize = 1 << 14;

/// The locations that are shown, in their order in the trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lanes {
    /// The lanes that are shown.
    pub shown: Vec<Lane>,
    /// How many locations with events are not.
    pub left_out: usize,
    /// How many locations have no events.
    pub empty: usize,
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
    /// The lanes of as many locations as can be told apart on a screen.
    pub(crate) fn of(subject: &Subject<'_>) -> Self {
        Self::at_most(MOST, subject)
    }

    /// All, of which a reader chooses some.
    pub(crate) fn all(subject: &Subject<'_>) -> Self {
        Self::at_most(MOST_TO_CHOOSE_FROM, subject)
    }

    /// Some of these, which keep their numbers.
    pub(crate) fn only(&self, numbers: &[usize]) -> Self {
        let some = numbers.iter().filter_map(|&number| {
            let lane = self.shown.get(number)?;
            Some((number, lane.clone()))
        });
        let some: Vec<(usize, Lane)> = some.collect();
        Self {
            left_out: self.left_out + self.shown.len() - some.len(),
            empty: self.empty,
            by_location: some
                .iter()
                .map(|(number, it)| (it.location, *number))
                .collect(),
            shown: some.into_iter().map(|it| it.1).collect(),
        }
    }

    fn at_most(most: usize, subject: &Subject<'_>) -> Self {
        let nodes = subject.nodes();
        let speaks = |it: &usize| nodes.event_count(*it) > 0;
        let mut all: Vec<usize> = (0..subject.info.locations.len()).filter(speaks).collect();
        let known = all.len();
        if known > most {
            let mut reversed: FxHashMap<usize, u64> = FxHashMap::default();
            for (&(from, to), tally) in &subject.recorded.pairs {
                for end in [from, to] {
                    *reversed.entry(end.as_usize()).or_default() += tally.violated;
                }
            }
            let of = |it: &usize| reversed.get(it).copied().unwrap_or_default();
            all.sort_by_key(|it| (std::cmp::Reverse(of(it)), nodes.count(*it) == 0, *it));
            all.truncate(most);
            all.sort_unstable();
        }
        let locations = all.into_iter().map(|it| LocationIndex(it as u32));
        let shown: Vec<Lane> = locations
            .filter_map(|it| Lane::of(it, subject.info, subject.clocks))
            .collect();
        let by_location = shown.iter().enumerate();
        Self {
            left_out: known - shown.len(),
            empty: subject.info.locations.len() - known,
            by_location: by_location.map(|(at, it)| (it.location, at)).collect(),
            shown,
        }
    }

    /// The numbers of lanes that show what others do.
    pub(crate) fn numbers_of(&self, others: &Self) -> Vec<usize> {
        let all = others.shown.iter();
        all.filter_map(|it| self.lane_of(it.location)).collect()
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
