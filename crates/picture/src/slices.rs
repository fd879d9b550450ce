//! The calls of a stretch of time, one by one.
//!
//! Of each lane the longest are kept, so that what is left out is what would be seen
//! least; how many that are is said.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::Lane;
use crate::call::Call;
use crate::places::Place;
use crate::regions::Regions;

/// Calls of all lanes in all places together: at some 36 bytes each these are 540 kB.
const TOGETHER: usize = 15_000;
/// Calls of one lane in one place: no screen shows more side by side.
const MOST: usize = 2_000;

/// The calls of one lane in a stretch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaneSlices {
    /// How many shorter ones are left out.
    pub left_out: u64,
    /// Eight numbers for each call: begin, as recorded, since the begin of the view; length; number
    /// of the region; how many calls it is in; what was added to its begin; how much more was added
    /// to its end; the number of the event that entered it, and how many events later it was left.
    /// Calls stand by their begin, outer ones first.
    pub calls: Vec<i64>,
}

/// Collects the calls of a place.
pub(crate) struct Collector {
    from: i64,
    to: i64,
    most: usize,
    left_out: u64,
    /// Shortest first; of equal ones the later is left out.
    kept: BinaryHeap<Reverse<(i64, Reverse<u64>, KeptCall)>>,
    offered: u64,
}

/// A call, ordered by nothing of its own.
#[derive(Clone, Copy, Debug)]
struct KeptCall(Call);

impl PartialEq for KeptCall {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for KeptCall {}

impl PartialOrd for KeptCall {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KeptCall {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Collector {
    /// One for each place, for one of the lanes. Places have equal shares of the room; half
    /// of that of a place is for the two lanes whose dependency it shows.
    pub(crate) fn of_places(places: &[Place], lane: &Lane, lanes: usize) -> Vec<Self> {
        let share = TOGETHER / places.len().max(1);
        let collector = |place: &Place| {
            let shown = place.dependency.iter().flatten();
            let room = match place.dependency {
                Some(_) if shown.clone().any(|&(id, _)| id == lane.id) => share / 4,
                Some(_) => share / 2 / lanes.max(1),
                None => share / lanes.max(1),
            };
            Self::new(place, room.clamp(8, MOST))
        };
        places.iter().map(collector).collect()
    }

    /// One for the calls of a place, the longest so many.
    pub(crate) fn new(place: &Place, most: usize) -> Self {
        Self {
            from: place.from,
            to: place.to,
            most,
            left_out: 0,
            kept: BinaryHeap::new(),
            offered: 0,
        }
    }

    /// Takes up a call if it is in the place, by recorded or by corrected times.
    pub(crate) fn offer(&mut self, call: Call) {
        let (begin, end) = (call.begin, call.end);
        let meets = |begin: i64, end: i64| begin <= self.to && end >= self.from;
        if !meets(begin.recorded, end.recorded) && !meets(begin.corrected(), end.corrected()) {
            return;
        }
        self.offered += 1;
        let length = end.recorded - begin.recorded;
        // Most calls of a long place are shorter than all that are kept.
        let shortest = self.kept.peek().map(|it| it.0.0);
        if self.kept.len() == self.most && shortest.is_some_and(|it| length <= it) {
            self.left_out += 1;
            return;
        }
        let order = Reverse(self.offered);
        self.kept.push(Reverse((length, order, KeptCall(call))));
        if self.kept.len() > self.most {
            self.kept.pop();
            self.left_out += 1;
        }
    }

    /// How many shorter ones there was no room for.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(crate) fn slices(&self, regions: &Regions) -> LaneSlices {
        let mut calls: Vec<Call> = self.kept.iter().map(|it| it.0.2.0).collect();
        calls.sort_by_key(|it| (it.begin.recorded, it.depth, it.end.recorded, it.region));
        let slice = |it: &Call| {
            [
                it.begin.recorded - self.from,
                it.end.recorded - it.begin.recorded,
                i64::from(regions.number(it.region)),
                i64::from(it.depth),
                it.begin.added,
                it.end.added - it.begin.added,
                i64::from(it.first),
                i64::from(it.last) - i64::from(it.first),
            ]
        };
        LaneSlices {
            left_out: self.left_out,
            calls: calls.iter().flat_map(slice).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Moment;

    fn call(begin: i64, end: i64) -> Call {
        let at = |recorded| Moment { recorded, added: 5 };
        Call {
            region: 3,
            begin: at(begin),
            end: at(end),
            first: 7,
            last: 9,
            depth: 1,
        }
    }

    #[test]
    fn the_longest_of_those_that_meet_the_place_are_kept() {
        let place = Place {
            title: String::new(),
            from: 10,
            to: 30,
            pair: None,
            dependency: None,
        };
        let lane = Lane {
            location: retime::LocationIndex(0),
            id: 7,
            name: String::new(),
            process: String::new(),
            node: None,
            clock: 0,
        };
        let mut collector = Collector::of_places(&[place], &lane, 1).remove(0);
        collector.most = 2;
        // The second is inside as corrected, the last not at all.
        for (begin, end) in [(12, 14), (1, 6), (20, 29), (13, 14), (31, 40)] {
            collector.offer(call(begin, end));
        }
        let slices = collector.slices(&Regions::numbered([3].into_iter()));
        assert_eq!(slices.left_out, 2);
        assert_eq!(
            slices.calls,
            [-9, 5, 0, 1, 5, 0, 7, 2, 10, 9, 0, 1, 5, 0, 7, 2]
        );
    }
}
