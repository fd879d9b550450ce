//! A bound over time: straight pieces between knots, opening at both ends.

use retime_model::{packed, partition_point_near};
use serde::{Deserialize, Serialize};

/// One side of the bounds of a clock, relative to its line. Between knots it is
/// linear; before the first and after the last it opens by `slope` per tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Envelope {
    /// Knots in order of rising stamps.
    #[serde(with = "packed")]
    pub(super) knots: Vec<(i64, f64)>,
    /// Between which stamps a clock stepped.
    pub(super) steps: Vec<(i64, i64)>,
    /// 1 for an upper bound, which rises to both ends, -1 for a lower one.
    side: f64,
    slope: f64,
}

impl Envelope {
    /// Through the values of moments `(piece, stamp, value)`, by piece and
    /// stamp: cones of slope `slope` around them within a piece, and whatever is
    /// wider between two pieces. Infinite values mean no bound. `pieces` are from stamp to stamp, in
    /// order; nothing bounds one without moments. A single piece need not be given.
    pub(super) fn new(
        moments: &[(u32, i64, f64)],
        pieces: &[(i64, i64)],
        side: f64,
        slope: f64,
    ) -> Self {
        let mut envelope = Self {
            // Most cones meet between two moments.
            knots: Vec::with_capacity(2 * moments.len()),
            steps: Vec::new(),
            side,
            slope,
        };
        let mut before = None;
        let mut rest = moments;
        for number in 0..pieces.len().max(1) {
            let (own, later) = rest.split_at(rest.partition_point(|it| it.0 as usize <= number));
            if let Some(ended) = number.checked_sub(1) {
                let step = (pieces[ended].1, pieces[number].0);
                envelope.across(step, before, own.first());
            }
            envelope.piece(own);
            (before, rest) = (own.last(), later);
        }
        envelope.knots.shrink_to_fit();
        envelope
    }

    /// The moments of one piece.
    fn piece(&mut self, moments: &[(u32, i64, f64)]) {
        let mut before = None;
        for &(_, at, value) in moments {
            if let Some((start, from)) = before {
                self.within(start, from, at, value);
            }
            self.push(at, value);
            before = Some((at, value));
        }
    }

    /// One value for each piece of a clock that keeps its rate exactly, and at
    /// first shows what is wanted; `pieces` are from stamp to stamp.
    pub(super) fn constants(
        pieces: &[(i64, i64)],
        value: impl Fn(usize) -> f64,
        side: f64,
    ) -> Self {
        if pieces.len() < 2 {
            return Self {
                knots: vec![(0, 0.0)],
                steps: Vec::new(),
                side,
                slope: 0.0,
            };
        }
        let moments = pieces.iter().enumerate().flat_map(|(piece, &(from, to))| {
            let value = value(piece);
            [from, to.max(from)].map(|at| (piece as u32, at, value))
        });
        Self::new(&moments.collect::<Vec<_>>(), pieces, side, 0.0)
    }

    /// The ticks by which the clock may gain on its line, or lose, within so many ticks.
    pub(super) fn strays(&self, ticks: f64) -> f64 {
        self.slope * ticks
    }

    /// The value at a stamp; infinite where nothing bounds it.
    pub(super) fn at(&self, stamp: i64) -> f64 {
        self.at_place(stamp, self.knots.partition_point(|&(at, _)| at <= stamp))
    }

    /// The place of the first knot after a stamp, looked for from a place on that is near to it.
    pub(super) fn after(&self, stamp: i64, near: usize) -> usize {
        partition_point_near(&self.knots, near, |&(at, _)| at <= stamp)
    }

    /// The value at a stamp, given the place of the first knot after it.
    pub(super) fn at_place(&self, stamp: i64, after: usize) -> f64 {
        let before = after.checked_sub(1).map(|before| self.knots[before]);
        match (before, self.knots.get(after)) {
            (None, None) => f64::INFINITY * self.side,
            (None, Some(&(at, value))) | (Some((at, value)), None) => self.cone(at, value, stamp),
            (Some((at, value)), Some(_)) if at == stamp => value,
            (Some((start, from)), Some(&(end, to))) => {
                let along = (stamp - start) as f64 / (end - start) as f64;
                if from.is_finite() && to.is_finite() {
                    from + (to - from) * along
                } else {
                    f64::INFINITY * self.side
                }
            }
        }
    }

    fn cone(&self, at: i64, value: f64, stamp: i64) -> f64 {
        value + self.side * self.slope * at.abs_diff(stamp) as f64
    }

    /// Adds the knot where two cones of one piece meet, at a whole stamp: bounds are
    /// off by less than the drift of a tick between the knots around it.
    fn within(&mut self, start: i64, from: f64, end: i64, to: f64) {
        if self.slope <= 0.0 || !from.is_finite() || !to.is_finite() {
            return;
        }
        let middle = (end - start) as f64 / 2.0 + self.side * (to - from) / (2.0 * self.slope);
        let meet = start.saturating_add(middle.round() as i64);
        if meet > start && meet < end {
            let values = [self.cone(start, from, meet), self.cone(end, to, meet)];
            self.push(meet, self.narrower(values));
        }
    }

    /// Between two stamps the clock steps, no one knows where: either the cone of the last moment
    /// before it, or that of the first behind it.
    fn across(
        &mut self,
        (after, until): (i64, i64),
        last: Option<&(u32, i64, f64)>,
        first: Option<&(u32, i64, f64)>,
    ) {
        let of = |moment: Option<&(u32, i64, f64)>, at: i64| match moment {
            Some(&(_, from, value)) => self.cone(from, value, at),
            None => f64::INFINITY * self.side,
        };
        let either = |at: i64| (at, self.wider([of(last, at), of(first, at)]));
        let knots = [
            (after, of(last, after)),
            either(after.saturating_add(1).min(until)),
            either(until.saturating_sub(1).max(after)),
            (until, of(first, until)),
        ];
        self.steps.push((after, until));
        for (at, value) in knots {
            self.push(at, value);
        }
    }

    fn wider(&self, [a, b]: [f64; 2]) -> f64 {
        if self.side > 0.0 { a.max(b) } else { a.min(b) }
    }

    fn narrower(&self, [a, b]: [f64; 2]) -> f64 {
        if self.side > 0.0 { a.min(b) } else { a.max(b) }
    }

    fn push(&mut self, at: i64, value: f64) {
        match self.knots.last_mut() {
            Some(last) if last.0 >= at => {}
            _ => self.knots.push((at, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set between 1000 and 3000, though the last dependency before is at 900 and the first behind at
    /// 3100.
    #[test]
    fn a_piece_lasts_until_the_step() {
        let moments = [(0, 900, 5.0), (1, 3_100, 50.0)];
        let upper = Envelope::new(&moments, &[(0, 1_000), (3_000, 4_000)], 1.0, 0.01);
        let values = [900, 1_000, 1_001, 2_999, 3_000, 3_100].map(|at| upper.at(at));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let expected = [5.0, 6.0, 70.99, 51.01, 51.0, 50.0];
        assert!(
            values.iter().zip(expected).all(|(a, b)| near(*a, b)),
            "{values:?}"
        );
        assert_eq!(upper.steps, [(1_000, 3_000)]);
    }

    #[test]
    fn nothing_bounds_a_piece_of_which_nobody_heard() {
        let pieces = [(0, 100), (110, 200), (210, 300)];
        let lower = |piece: u32, at: i64| Envelope::new(&[(piece, at, 1.0)], &pieces, -1.0, 0.01);
        let bounded = |of: &Envelope| [50, 150, 250].map(|at| of.at(at).is_finite());
        assert_eq!(bounded(&lower(0, 50)), [true, false, false]);
        assert_eq!(bounded(&lower(1, 150)), [false, true, false]);
        assert_eq!(bounded(&lower(2, 250)), [false, false, true]);
        let outer = Envelope::new(&[(0, 50, 1.0), (2, 250, 2.0)], &pieces, -1.0, 0.01);
        assert_eq!(bounded(&outer), [true, false, true]);
    }
}
