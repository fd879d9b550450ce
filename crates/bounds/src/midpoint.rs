//! The correction in the middle of its bounds.
//!
//! Constraints on differences are convex: where the least and the greatest
//! solution satisfy them, so does the middle between them. No correction has a
//! smaller worst case, for the truth may be anything between the bounds and the
//! middle is at most half of them away. Where messages go one way only there is
//! one bound; the correction follows it, as if the fastest of them had taken no
//! longer than the minimal delay.
//!
//! ```
//! use retime_causality::{Edge, Edges};
//! use retime_model::ClockId;
//! use retime_clocks::estimate::{Estimate, Offset};
//! use retime_bounds::{BoundOptions, midpoint, offset_bounds};
//! let (a, b) = (ClockId(0), ClockId(1));
//! let edges = vec![Edge::message(a, 1_000, b, 960), Edge::message(b, 1_000, a, 1_050)];
//! let edges = Edges::new(edges, vec![Some((0, 1_000)), Some((0, 1_000))]);
//! let base = Estimate { offsets: vec![Some(Offset::constant(0.0)); 2], reference: a };
//! let options = BoundOptions { drift: 0.0, most_difference: 0.0, tick_slack: false, ..BoundOptions::default() };
//! let bounds = offset_bounds(&edges, |_| 0, &base, &options, &())?;
//! // Between 40 and 50 has to be added to b.
//! let estimate = midpoint(&bounds);
//! assert_eq!(estimate.offsets[1].as_ref().unwrap().at(500), 45.0);
//! # Ok::<(), retime_model::Cancelled>(())
//! ```

use super::offset_bounds::{ClockBounds, OffsetBounds};
use retime_clocks::estimate::{Estimate, Offset};

/// The middle between the bounds of each clock.
pub fn midpoint(bounds: &OffsetBounds) -> Estimate {
    let middle = |clock: &Option<ClockBounds>| clock.as_ref().map(ClockBounds::middle);
    let mut offsets: Vec<Option<Offset>> = bounds.clocks.iter().map(middle).collect();
    let reference = bounds.reference.as_usize();
    let set = bounds.clocks.get(reference).and_then(Option::as_ref);
    if let Some(reference) = offsets.get_mut(reference) {
        let kept = set.filter(|it| !it.steps().is_empty());
        *reference = Some(kept.map_or(Offset::constant(0.0), ClockBounds::undone));
    }
    Estimate {
        offsets,
        reference: bounds.reference,
    }
}

impl ClockBounds {
    /// The offset that takes the steps of the reference out, and leaves it as it is before.
    fn undone(&self) -> Offset {
        let middle = self.middle();
        let knots = middle.knots().iter();
        Offset::through(
            knots
                .map(|&(at, add)| (at, add - self.tick / 2.0))
                .collect(),
        )
    }

    /// Halfway between the bounds, or the only one.
    fn middle(&self) -> Offset {
        let at = |stamp: i64| {
            let (low, high) = self.at(stamp);
            match (low.is_finite(), high.is_finite()) {
                (true, true) => Some((stamp, f64::midpoint(low, high))),
                (true, false) => Some((stamp, low)),
                (false, true) => Some((stamp, high)),
                (false, false) => None,
            }
        };
        // Where a clock stepped, bounds are wide; it is led across on a line.
        let inside = |stamp: i64| {
            let time = self.time(stamp);
            let before = self.steps().partition_point(|&(_, end)| end <= time);
            let step = self.steps().get(before);
            step.is_some_and(|&(start, _)| start < time)
        };
        let stamps = self.stamps().into_iter();
        Offset::through(stamps.filter(|&it| !inside(it)).filter_map(at).collect())
    }
}
