//! Two runs of one program are told apart by how many events each location has recorded,
//! and from when to when.
//!
//! Clocks go on from one run to the next, or begin anew; programs take a little longer or
//! shorter each time. So of two runs not even the same number of events lies between the
//! same two stamps. A trace of the same run from which events were left out has fewer of
//! them, and all where the others were:
//!
//! ```text
//! recorded       |-----------------------|    5,000 events   what a correction was made for
//! filtered         |-------------------|      3,000 events   can be a part of it
//! another run    |-------------------|        5,000 events   as many, not the same: cannot
//! another run                   |----------|  3,000 events   beyond its end: cannot
//! ```
//!
//! It works both ways: what a correction was made for may be the part. Of locations without
//! events nothing is known. What cannot be told is a shorter run that lies within the times
//! of a longer one at every location.

use std::collections::HashMap;

use retime::causality::Nodes;
use retime::format::Timeline;
use retime::{LocationIndex, Timestamp, TraceInfo, group_digits, plural};
use serde::{Deserialize, Serialize};

/// The events and the extent of a location, as `[id, events, first stamp, last stamp]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 4]", into = "[u64; 4]")]
pub(crate) struct Recorded {
    id: u64,
    events: u64,
    first: u64,
    last: u64,
}

impl From<[u64; 4]> for Recorded {
    fn from([id, events, first, last]: [u64; 4]) -> Self {
        Self {
            id,
            events,
            first,
            last,
        }
    }
}

impl From<Recorded> for [u64; 4] {
    fn from(it: Recorded) -> Self {
        [it.id, it.events, it.first, it.last]
    }
}

impl Recorded {
    /// One for each location with events, as an analysis knows them.
    pub(crate) fn of_nodes(nodes: &Nodes, info: &TraceInfo) -> Vec<Self> {
        let ranges = (0..info.locations.len()).map(|it| {
            let extent = nodes.extent(it)?;
            Some((nodes.event_count(it), (extent.first, extent.last)))
        });
        Self::all(info, ranges)
    }

    /// One for each location with events, as they were read.
    pub(crate) fn of_timelines(timelines: &[Timeline], info: &TraceInfo) -> Vec<Self> {
        Self::all(
            info,
            timelines.iter().map(|it| Some((it.events, it.range?))),
        )
    }

    fn all(
        info: &TraceInfo,
        ranges: impl Iterator<Item = Option<(u64, (Timestamp, Timestamp))>>,
    ) -> Vec<Self> {
        let both = info.locations.iter().zip(ranges);
        let recorded = both.filter_map(|(location, range)| {
            let (events, (first, last)) = range?;
            Some([location.id, events, first.0, last.0].into())
        });
        recorded.collect()
    }

    /// True if both can be of one run: equal, or one a part of the other.
    fn can_be_of_one_run(self, other: Self) -> bool {
        let (fewer, more) = if self.events <= other.events {
            (self, other)
        } else {
            (other, self)
        };
        let same = (fewer.first, fewer.last) == (more.first, more.last);
        let within = more.first <= fewer.first && fewer.last <= more.last;
        same || (within && fewer.events < more.events)
    }

    /// In words; times count from `zero`.
    fn describe(self, zero: Timestamp) -> String {
        let events = plural(self.events, "event");
        let [first, last] = [self.first, self.last].map(|it| {
            let time = Timestamp(it).after(zero);
            let sign = if time < 0 { "-" } else { "" };
            let size = u64::try_from(time.unsigned_abs()).unwrap_or(u64::MAX);
            format!("{sign}{}", group_digits(size))
        });
        format!("{events} between {first} and {last}")
    }
}

/// Why two recordings of the same locations are not of one run; `None` if nothing speaks
/// against it. Times are told from `zero`.
pub(crate) fn differ(
    made: &[Recorded],
    here: &[Recorded],
    info: &TraceInfo,
    zero: Timestamp,
) -> Option<String> {
    let made: HashMap<u64, Recorded> = made.iter().map(|it| (it.id, *it)).collect();
    let places = info.locations.iter().zip((0..).map(LocationIndex));
    let places: HashMap<u64, LocationIndex> = places.map(|(it, index)| (it.id, index)).collect();
    here.iter().find_map(|&here| {
        let (made, &index) = (*made.get(&here.id)?, places.get(&here.id)?);
        (!made.can_be_of_one_run(here)).then(|| {
            format!(
                "there {} recorded {}, here {}, and neither can be a part of the other",
                info.describe(index),
                made.describe(zero),
                here.describe(zero)
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_run_are_parts_and_wholes() {
        let whole = Recorded::from([0, 5_000, 100, 900]);
        for (other, can) in [
            ([0, 5_000, 100, 900], true),
            ([0, 3_000, 100, 900], true),
            ([0, 3_000, 200, 800], true),
            ([0, 5_000, 100, 800], false),
            ([0, 5_000, 1_100, 1_900], false),
            ([0, 3_000, 200, 901], false),
            ([0, 6_000, 100, 900], true),
            ([0, 6_000, 99, 900], true),
            ([0, 6_000, 101, 900], false),
        ] {
            let other = Recorded::from(other);
            assert_eq!(whole.can_be_of_one_run(other), can, "{other:?}");
            assert_eq!(other.can_be_of_one_run(whole), can, "{other:?}");
        }
    }
}
