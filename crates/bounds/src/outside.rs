//! How many events a correction puts where the truth cannot be.
//!
//! Bounds say what the reference showed at each event: the stamp `s` of the event
//! and between `low(s)` and `high(s)` more. A correction says it as well: if it moves
//! the event to `x`, the reference showed then what the correction moves to `x`.
//!
//! ```text
//! shown   = M^-1(x)                 M: the map of the reference
//! outside = max(s + low(s) - shown, shown - s - high(s))
//! ```
//!
//! Nothing in this depends on whose time a correction takes for the common one and
//! how fast that runs, so it may be asked of the result of any method. (Before the
//! first and after the last event of the reference its map only shifts: there the rate
//! of the common time counts.)
//!
//! ```
//! use retime_bounds::Outside;
//! // The reference showed 40 to 50 more than the stamp; three corrections say 45,
//! // 52 and 20.
//! let events = [45.0, 52.0, 20.0].map(|shown| (shown, shown));
//! let events = events.map(|shown| (shown, (40.0, 50.0)));
//! let found = Outside::of(events.into_iter(), 0.0);
//! assert_eq!((found.events, found.outside, found.furthest), (3, 2, 20.0));
//! // Further than by 5:
//! assert_eq!(Outside::of(events.into_iter(), 5.0).outside, 1);
//! ```

use serde::{Deserialize, Serialize};

use super::offset_bounds::{BoundCursor, OffsetBounds};
use retime_causality::Nodes;
use retime_causality::merge::Merge;
use retime_model::{ClockId, Clocks, Ticks, Timestamp};
use retime_model::{ClockMap, Correction};
use retime_numerics::parallel;

/// So many events of a location are looked at, evenly spread: what is wrong with more
/// than a few of all shows in these.
const LOOKS: usize = 1 << 14;

/// Events that a correction puts where the truth cannot be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outside {
    /// Events that were looked at: of other clocks than the reference, as far as
    /// they have bounds.
    pub events: u64,
    /// Events outside their bounds, further than was asked for.
    pub outside: u64,
    /// The most ticks by which any is outside.
    pub furthest: f64,
}

impl Outside {
    /// Counts events that are outside by more than `beyond`. Each comes with what a
    /// correction says that the reference showed, and with the bounds of that: from
    /// and to.
    pub fn of(events: impl Iterator<Item = ((f64, f64), (f64, f64))>, beyond: f64) -> Self {
        let mut found = Self::default();
        for (shown, (low, high)) in events {
            let by = (low - shown.1).max(shown.0 - high);
            found.events += 1;
            found.outside += u64::from(by > beyond);
            found.furthest = found.furthest.max(by);
        }
        found
    }

    /// The share of events outside; 0 without events.
    pub fn share(&self) -> f64 {
        self.outside as f64 / self.events.max(1) as f64
    }

    fn with(self, other: Self) -> Self {
        Self {
            events: self.events + other.events,
            outside: self.outside + other.outside,
            furthest: self.furthest.max(other.furthest),
        }
    }
}

impl Merge for Outside {
    fn merge(&mut self, other: Self) {
        *self = self.with(other);
    }
}

/// Counts events that a correction puts outside of bounds by more than `beyond` ticks;
/// `times` are the corrected times of all nodes.
pub fn outside(
    bounds: &OffsetBounds,
    correction: &Correction,
    nodes: &Nodes,
    clocks: &Clocks,
    times: &[Timestamp],
    beyond: f64,
) -> Outside {
    let map = shared_map(correction, bounds.reference, nodes);
    let reference = CorrectedReference {
        map: &map,
        bounds,
        nodes,
    };
    let others: Vec<ClockId> = clocks.iter().filter(|&it| it != bounds.reference).collect();
    let one = |&clock: &ClockId| {
        let of = bounds.clocks.get(clock.as_usize()).and_then(Option::as_ref);
        let locations = clocks.locations(clock).iter();
        let found = locations.filter_map(|location| {
            let (of, own) = (of?, nodes.of(location.as_usize()));
            let every = own.len().div_ceil(LOOKS).max(1);
            let (mut bounds, mut shown) = (of.cursor(), reference.cursor());
            let events = own.step_by(every).filter_map(|node| {
                let stamp = nodes.time(node).0;
                let (from, to) = shown.at(*times.get(node.index())?)?;
                // The event was at any moment until its clock showed the next tick.
                let (from, to) = (from - of.tick, to + of.tick);
                Some(((from - stamp as f64, to - stamp as f64), bounds.at(stamp)))
            });
            Some(Outside::of(events, beyond))
        });
        found.fold(Outside::default(), Outside::with)
    };
    let found: Vec<Outside> = parallel::map(&others, one);
    let own = found.into_iter().fold(Outside::default(), Outside::with);
    nodes.whole().all_reduce(own)
}

/// The map of a clock as the part of the trace has it that holds the clock.
fn shared_map(correction: &Correction, clock: ClockId, nodes: &Nodes) -> ClockMap {
    let map = correction.map(clock);
    let is_own = nodes.has_clock(correction.clocks(), clock);
    let own = is_own.then(|| (map.knots().to_vec(), map.steps().to_vec()));
    let known = nodes.whole().known(own);
    let sent = known.and_then(|(knots, steps)| ClockMap::new(knots, steps).ok());
    sent.unwrap_or_else(|| map.clone())
}

/// The stamps of the reference at corrected times.
struct CorrectedReference<'a> {
    map: &'a ClockMap,
    bounds: &'a OffsetBounds,
    nodes: &'a Nodes,
}

/// The stamps of the reference, time by time: quick where these rise.
struct ReferenceCursor<'a> {
    reference: &'a CorrectedReference<'a>,
    /// The bounds of the reference at the first stamp of a time, and at the last.
    bounds: Option<[BoundCursor<'a>; 2]>,
}

impl ReferenceCursor<'_> {
    /// From and to, in ticks since the base: a map that is rounded down gives several
    /// stamps one time. Where the reference was set, what it would show if not.
    fn at(&mut self, corrected: Timestamp) -> Option<(f64, f64)> {
        let first = self.reference.stamp(corrected)?;
        let last = Timestamp(corrected.0.checked_add(1)?);
        let last = self.reference.stamp(last)?;
        let Some([at_first, at_last]) = &mut self.bounds else {
            return Some((first as f64, last as f64));
        };
        let (low, high) = (at_first.at(first).0, at_last.at(last).1);
        Some((first as f64 + low, last as f64 + high))
    }
}

impl CorrectedReference<'_> {
    fn cursor(&self) -> ReferenceCursor<'_> {
        let own = self.bounds.clocks.get(self.bounds.reference.as_usize());
        let own = own.and_then(Option::as_ref);
        ReferenceCursor {
            reference: self,
            bounds: own.map(|it| [it.cursor(), it.cursor()]),
        }
    }

    fn stamp(&self, corrected: Timestamp) -> Option<i64> {
        let Ticks(stamp) = self.nodes.relative(self.map.invert(corrected)?);
        Some(stamp)
    }
}
