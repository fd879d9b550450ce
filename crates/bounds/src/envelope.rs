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
    /// Between which knots a clock stepped.
    pub(super) steps: Vec<(i64, i64)>,
    /// 1 for an upper bound, which rises to both ends, -1 for a lower one.
    side: f64,
    slope: f64,
}

impl Envelope {
    /// Through the values of moments `(piece, stamp, value)`, by piece and
    /// stamp: cones of slope `slope` around them within a piece, and whatever is
    /// wider between two pieces. Infinite values mean no bound.
    pub(super) fn new(moments: &[(u32, i64, f64)], side: f64, slope: f64) -> Self {
        let mut envelope = Self {
            // Most cones meet between two moments.
            knots: Vec::with_capacity(2 * moments.len()),
            steps: Vec::new(),
            side,
            slope,
        };
        for (index, &(piece, at, value)) in moments.iter().enumerate() {
            match index.checked_sub(1).map(|before| moments[before]) {
                Some((same, start, from)) if same == piece => {
                    envelope.within(start, from, at, value);
                }
                Some((_, start, from)) => envelope.across(start, from, at, value),
                None => {}
            }
            envelope.push(at, value);
        }
        envelope.knots.shrink_to_fit();
        envelope
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
        Self::new(&moments.collect::<Vec<_>>(), side, 0.0)
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

    /// Between two pieces the clock steps, no one knows where: either cone.
    fn across(&mut self, start: i64, from: f64, end: i64, to: f64) {
        self.steps.push((start, end));
        if end - start < 2 {
            return;
        }
        let either = |at: i64| self.wider([self.cone(start, from, at), self.cone(end, to, at)]);
        let inside = [start + 1, end - 1].map(|at| (at, either(at)));
        for (at, value) in inside {
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
