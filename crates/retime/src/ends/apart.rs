//! Operations that end too far apart for chance.
//!
//! The spread of ends does not change by a few that are off, so it says nothing of these. That they are is said
//! apart, with where they are:
//!
//! ```text
//!   off      x                      the first is off by 5 ms
//!                 . . . . . . . .   all others by 0.2
//!      ---------------------------> t
//! ```
//!
//! In the midst of others an operation is off by itself, as where a kernel was held up. The first or the last few
//! can also be those that a clock saw before it was set, or after: too few for a [step](super::jump).

use serde::{Deserialize, Serialize};

use super::jump::BY_FAR;
use super::observed::{Observed, ObservedEnds};

/// Operations whose ends lie many [spreads](super::EndsEvidence::spread) apart, which outliers do not change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndsApart {
    /// How many.
    pub operations: usize,
    /// The most ticks that one ends earlier or later on a clock than on the others.
    pub by: f64,
    /// The place of these operations among all.
    pub place: ApartPlace,
}

/// Where operations that end far apart are among all that tell of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApartPlace {
    /// Before all others, as where a clock was set behind them.
    First,
    /// After all others, as where a clock was set before them.
    Last,
    /// Among the others.
    Among,
}

/// Operations that end ten spreads apart or more; given by how much each end is off the others of its
/// operation, and the spread of each set of clocks.
pub(super) fn apart(ends: &ObservedEnds, off: &[f64], spreads: &[f64]) -> Option<EndsApart> {
    let furthest = |it: &Observed| {
        let own = off[ObservedEnds::places(it)].iter();
        own.map(|it| it.abs()).fold(0.0, f64::max)
    };
    let is_apart = |it: &&Observed| furthest(it) > BY_FAR * spreads[it.of];
    let (apart, others): (Vec<&Observed>, Vec<&Observed>) =
        ends.operations.iter().partition(is_apart);
    let by = apart.iter().map(|it| furthest(it)).reduce(f64::max)?;
    let shares = |all: &[&Observed]| -> Vec<f64> {
        let first = all.iter().filter_map(|it| ends.of(it).first());
        first.map(|end| end.share).collect()
    };
    let (own, others) = (shares(&apart), shares(&others));
    let is_before = |a: &[f64], b: &[f64]| {
        let last = a.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        b.iter().all(|it| last < *it)
    };
    let place = if is_before(&own, &others) {
        ApartPlace::First
    } else if is_before(&others, &own) {
        ApartPlace::Last
    } else {
        ApartPlace::Among
    };
    Some(EndsApart {
        operations: apart.len(),
        by,
        place,
    })
}

#[cfg(test)]
mod tests {
    use retime_model::ClockId;

    use super::super::observed::OperationEnd;
    use super::*;

    #[test]
    fn operations_that_end_far_apart_are_counted_and_placed() {
        let found = |set: &[usize]| {
            let end = |clock, share| OperationEnd {
                clock: ClockId(clock),
                at: 0.0,
                share,
            };
            let operations = (0..10).map(|at| f64::from(at) / 10.0);
            let operations = operations.map(|share| vec![end(0, share), end(1, share)]);
            let of = |at: usize| if set.contains(&at) { 5_000.0 } else { 40.0 };
            let off: Vec<f64> = (0..10).flat_map(|at| [-of(at), of(at)]).collect();
            let apart = apart(&ObservedEnds::new(operations), &off, &[50.0])?;
            assert!((apart.by - 5_000.0).abs() < 1e-9, "{apart:?}");
            Some((apart.operations, apart.place))
        };
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[0]), Some((1, ApartPlace::First)));
        assert_eq!(found(&[8, 9]), Some((2, ApartPlace::Last)));
        assert_eq!(found(&[4]), Some((1, ApartPlace::Among)));
    }
}
