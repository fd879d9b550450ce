//! The effect of a correction on local intervals and displacements.
//!
//! A correction should move events, not stretch what one process measured by
//! itself. For successive events with edges of one location, `d` apart before
//! and `d'` after, the relative change is `|d' - d| / d`. Stamps are whole
//! ticks, so a change of one tick counts as small whatever its ratio.
//!
//! Source: Rabenseifner 2000, figure 6.3.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::causality::{Causality, EventNode, Place};
use crate::pace::Pace;
use retime_model::{Cancelled, Clocks, LocationIndex, Monitor, Ticks, Timestamp};

/// Changes up to this share count as small.
const SMALL: f64 = 1e-3;

/// Change of local intervals and displacement of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distortion {
    /// Intervals between successive events with edges of one location.
    pub intervals: u64,
    /// Not changed at all.
    pub unchanged: u64,
    /// Changed by one tick or by at most 0.1 %.
    pub small: u64,
    /// Mean and largest relative change of those.
    pub small_change: MeanAndMost,
    /// Changed by more.
    pub large: u64,
    /// Mean and largest relative change of those.
    pub large_change: MeanAndMost,
    /// Shortest recorded interval above zero.
    pub shortest_interval: Option<Ticks>,
    /// Mean relative change.
    pub mean: f64,
    /// Largest relative change of more than one tick.
    pub largest: f64,
    /// Where it is: the event at the end of the interval.
    #[serde(skip)]
    pub largest_at: Option<Place>,
    /// Share of local time during which corrections grow.
    pub growing_share: f64,
    /// Events with edges that have another stamp than before.
    pub moved: u64,
    /// Largest displacement of an event, to later or (negative) to earlier.
    pub largest_displacement: Ticks,
    /// Mean size of displacements over all events with edges, in ticks.
    pub mean_displacement: f64,
}

/// Mean and largest of relative changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanAndMost {
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub most: f64,
}

impl MeanAndMost {
    /// One more; `mean` holds the sum until [`Self::divide`].
    fn add(&mut self, change: f64) {
        self.mean += change;
        self.most = self.most.max(change);
    }

    fn merge(&mut self, other: Self) {
        self.mean += other.mean;
        self.most = self.most.max(other.most);
    }

    fn divide(&mut self, count: u64) {
        self.mean = ratio(self.mean, count as f64);
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct ChangeSums {
    out: Distortion,
    change: f64,
    growing: f64,
    time: f64,
    displacement: f64,
    nodes: u64,
}

impl Distortion {
    /// Compares the stamps of all nodes before and after. Fails only if `monitor` says to
    /// give up.
    pub fn measure(
        causality: &Causality,
        after: &[Timestamp],
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let locations = (0..causality.nodes().locations()).into_par_iter();
        let parts: Result<Vec<ChangeSums>, Cancelled> = locations
            .map(|location| ChangeSums::of_location(causality, after, location, monitor))
            .collect();
        // Reports leave out where the largest is.
        let sent = parts?
            .into_iter()
            .map(|it| (it.out.largest_at, it))
            .collect();
        let parts = causality.whole().by_location(sent).into_iter();
        let parts = parts.map(|(largest_at, mut it): (Option<Place>, ChangeSums)| {
            it.out.largest_at = largest_at;
            it
        });
        // In order of locations, so that sums of floats do not depend on threads.
        let mut sums = parts.fold(ChangeSums::default(), ChangeSums::merge);
        sums.out.mean = ratio(sums.change, sums.out.intervals as f64);
        sums.out.small_change.divide(sums.out.small);
        sums.out.large_change.divide(sums.out.large);
        sums.out.growing_share = ratio(sums.growing, sums.time);
        sums.out.mean_displacement = ratio(sums.displacement, sums.nodes as f64);
        Ok(sums.out)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl ChangeSums {
    fn of_location(
        causality: &Causality,
        after: &[Timestamp],
        location: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let nodes = causality.nodes();
        let mut sums = Self::default();
        let mut previous: Option<EventNode> = None;
        let mut pace = Pace::of(monitor);
        for node in nodes.of(location) {
            pace.event()?;
            let moved = after[node.index()].0.wrapping_sub(nodes.timestamp(node).0) as i64;
            sums.nodes += 1;
            sums.out.moved += u64::from(moved != 0);
            sums.displacement += moved.unsigned_abs() as f64;
            if moved.unsigned_abs() > sums.out.largest_displacement.0.unsigned_abs() {
                sums.out.largest_displacement = Ticks(moved);
            }
            if let Some(previous) = previous {
                let before = nodes.time(node).0 - nodes.time(previous).0;
                let now = after[node.index()]
                    .0
                    .wrapping_sub(after[previous.index()].0) as i64;
                let place = Place {
                    location: LocationIndex(location as u32),
                    event: nodes.event(node),
                };
                sums.interval(before, now, place);
            }
            previous = Some(node);
        }
        Ok(sums)
    }

    fn interval(&mut self, before: i64, now: i64, place: Place) {
        let change = now.saturating_sub(before);
        self.out.intervals += 1;
        if before > 0 {
            let shortest = self
                .out
                .shortest_interval
                .map_or(before, |it| it.0.min(before));
            self.out.shortest_interval = Some(Ticks(shortest));
        }
        self.time += before as f64;
        if change == 0 {
            self.out.unchanged += 1;
            return;
        }
        let relative = change.unsigned_abs() as f64 / before.max(1) as f64;
        self.change += relative;
        if change > 1 {
            self.growing += before as f64;
        }
        if change.unsigned_abs() <= 1 || relative <= SMALL {
            self.out.small += 1;
            self.out.small_change.add(relative);
        } else {
            self.out.large += 1;
            self.out.large_change.add(relative);
        }
        if change.unsigned_abs() > 1 && relative > self.out.largest {
            self.out.largest = relative;
            self.out.largest_at = Some(place);
        }
    }

    fn merge(mut self, other: Self) -> Self {
        let (own, its) = (&mut self.out, other.out);
        own.intervals += its.intervals;
        own.unchanged += its.unchanged;
        own.small += its.small;
        own.large += its.large;
        own.small_change.merge(its.small_change);
        own.large_change.merge(its.large_change);
        own.shortest_interval = own
            .shortest_interval
            .into_iter()
            .chain(its.shortest_interval)
            .min();
        own.moved += its.moved;
        if its.largest > own.largest {
            own.largest = its.largest;
            own.largest_at = its.largest_at;
        }
        if its.largest_displacement.0.unsigned_abs() > own.largest_displacement.0.unsigned_abs() {
            own.largest_displacement = its.largest_displacement;
        }
        self.change += other.change;
        self.growing += other.growing;
        self.time += other.time;
        self.displacement += other.displacement;
        self.nodes += other.nodes;
        self
    }
}

/// How far each clock is ahead of its recorded time at its last event with an
/// edge; `None` for a clock without any.
pub fn final_advance(
    causality: &Causality,
    clocks: &Clocks,
    after: &[Timestamp],
) -> Vec<Option<Ticks>> {
    let nodes = causality.nodes();
    let of_clock = |clock| {
        let locations = clocks
            .locations(clock)
            .iter()
            .map(|location| nodes.of(location.as_usize()));
        let last = locations
            .filter_map(|range| range.clone().next_back())
            .max_by_key(|&node| nodes.time(node))?;
        Some(Ticks(
            after[last.index()].0.wrapping_sub(nodes.timestamp(last).0) as i64,
        ))
    };
    let own = clocks.iter().map(of_clock).collect();
    nodes.by_clock(own, clocks)
}
