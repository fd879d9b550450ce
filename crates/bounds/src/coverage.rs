//! The share of events with the truth inside the bounds, where the truth is known.
//!
//! Bounds are relative to the reference, whose clock is wrong too. So the true
//! offset of an event is what the reference would have shown at that true time,
//! interpolated between its own events, minus what the event's clock showed. Where
//! the reference was set, it is taken to go on as fast as before.

use serde::Serialize;

use super::offset_bounds::{ClockBounds, OffsetBounds};
use crate::accuracy::TruthError;
use retime_causality::Causality;
use retime_model::Clocks;
use retime_model::Timestamp;

/// How many events with edges have their true time inside the bounds. Those of
/// the reference and of clocks without bounds do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// Events that count.
    pub events: u64,
    /// Events inside their bounds, give or take what the reference is too coarse to show.
    pub inside: u64,
    /// The furthest outside, in ticks beyond the bound.
    pub worst: f64,
    /// Events that count and those inside, by clock.
    pub clocks: Vec<(u64, u64)>,
}

impl Coverage {
    /// The share of events inside; 1 without events.
    pub fn share(&self) -> f64 {
        if self.events == 0 {
            return 1.0;
        }
        self.inside as f64 / self.events as f64
    }
}

/// Compares bounds with the true times of all nodes.
pub fn coverage(
    bounds: &OffsetBounds,
    causality: &Causality,
    clocks: &Clocks,
    truth: &[Timestamp],
) -> Result<Coverage, TruthError> {
    let nodes = causality.nodes();
    TruthError::check(nodes.len(), nodes.len(), truth.len())?;
    let shown = TrueReference::of(bounds, causality, clocks, truth);
    let mut coverage = Coverage::default();
    for (clock, of) in clocks.iter().zip(&bounds.clocks) {
        let (mut events, mut inside) = (0, 0);
        let counts = clock != bounds.reference && !shown.points.is_empty();
        for &location in clocks.locations(clock).iter().filter(|_| counts) {
            let Some(of) = of else { break };
            for node in nodes.of(location.as_usize()) {
                let raw = nodes.time(node).0;
                let offset = shown.at(truth[node.index()]) - raw as f64;
                let (low, high) = of.at(raw);
                let outside = (low - offset).max(offset - high) - shown.tick;
                coverage.worst = coverage.worst.max(outside);
                events += 1;
                inside += u64::from(outside <= 0.0);
            }
        }
        coverage.events += events;
        coverage.inside += inside;
        coverage.clocks.push((events, inside));
    }
    Ok(coverage)
}

/// The stamps of the reference over true time.
struct TrueReference {
    /// True time and stamp relative to the base, by true time.
    points: Vec<(u64, i64)>,
    /// How coarse it is.
    tick: f64,
}

impl TrueReference {
    fn of(
        bounds: &OffsetBounds,
        causality: &Causality,
        clocks: &Clocks,
        truth: &[Timestamp],
    ) -> Self {
        let nodes = causality.nodes();
        let all = clocks.iter().filter(|&clock| clock == bounds.reference);
        let locations = all.flat_map(|clock| clocks.locations(clock));
        let own = locations.flat_map(|location| nodes.of(location.as_usize()));
        let mut points: Vec<(u64, i64)> = own
            .map(|node| (truth[node.index()].0, nodes.time(node).0))
            .collect();
        points.sort_unstable();
        points.dedup_by_key(|point| point.0);
        let own = bounds.clocks.get(bounds.reference.as_usize());
        let own = own.and_then(Option::as_ref);
        if let Some(own) = own {
            for point in &mut points {
                point.1 = own.time(point.1);
            }
        }
        let steps = own.map_or(&[][..], ClockBounds::steps);
        let mut taken_out = 0;
        for &(after, until) in steps {
            let [after, until] = [after, until].map(|it| it.saturating_add(taken_out));
            taken_out += undo(&mut points, after, until);
        }
        let tick = own.map_or(1.0, |own| own.tick.max(1.0));
        Self { points, tick }
    }

    /// Beyond the first and last event as between those two.
    fn at(&self, truth: Timestamp) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= truth.0);
        let last = self.points.len().saturating_sub(1);
        let (from, to) = if after == 0 || after > last {
            (0, last)
        } else {
            (after - 1, after)
        };
        let (start, end) = (self.points[from], self.points[to]);
        let anchor = if after > last { end } else { start };
        let since = truth.0.wrapping_sub(anchor.0) as i64 as f64;
        let run = end.0.saturating_sub(start.0) as f64;
        let rate = if run > 0.0 {
            (end.1 - start.1) as f64 / run
        } else {
            1.0
        };
        anchor.1 as f64 + since * rate
    }
}

/// Takes a step between two stamps out of what a clock shows, which runs evenly up to there; what it shows in
/// between is left out. Gives the ticks that were added to all later stamps.
fn undo(points: &mut Vec<(u64, i64)>, after: i64, until: i64) -> i64 {
    points.retain(|it| it.1 <= after || it.1 >= until);
    let set = points.partition_point(|it| it.1 <= after);
    let (even, later) = points.split_at_mut(set);
    let ([first, .., last] | [first @ last], Some(&(time, shown))) = (&*even, later.first()) else {
        return 0;
    };
    let rate = match last.0 - first.0 {
        0 => 1.0,
        run => (last.1 - first.1) as f64 / run as f64,
    };
    let expected = last.1 + ((time - last.0) as f64 * rate).round() as i64;
    let added = expected.saturating_sub(shown);
    for point in later {
        point.1 = point.1.saturating_add(added);
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock gains 1000 while it is 5000, in which it was heard of twice: as if it were set twice.
    #[test]
    fn steps_are_undone_by_the_rate_of_all_that_was_before() {
        let shown = |time: i64| time + (time - 5_000).clamp(0, 5_000) / 5;
        let heard = |time: &i64| *time <= 5_000 || *time >= 10_000 || [7_000, 7_010].contains(time);
        let times = (0..2_000).map(|it| 10 * it).filter(heard);
        let mut points: Vec<(u64, i64)> = times.map(|it| (it as u64, shown(it))).collect();
        let first = undo(&mut points, shown(5_000), shown(7_000));
        assert_eq!(first, -400);
        let second = undo(&mut points, shown(7_010) + first, shown(10_000) + first);
        // The clock gained 2 between both stamps.
        assert!((-600..=-595).contains(&second), "{second}");
        assert!(
            points.iter().all(|it| it.0.abs_diff(it.1 as u64) <= 5),
            "{points:?}"
        );
    }
}
