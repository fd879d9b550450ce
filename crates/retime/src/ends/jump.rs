//! A clock that was set, as ends alone show it.
//!
//! Dependencies bound clocks, and a clock can be set within what they leave open without contradicting
//! any. Ends lie closer together: those before lie along a line, and those after along a parallel
//! one. Of `n` ends in the order of time, by how much `y_i` they are off those of the other clocks,
//! the split `k` is sought with the least squares of
//!
//! ```text
//! y_i = a + b t_i + (i >= k) by
//!
//!   off             . . . . .
//!              by
//!      . . . . .
//!      ---------------------------> t
//!              after  until                  the times of the ends around the split
//! ```
//!
//! in which `a`, `b` and `by` follow from sums over both sides. It counts only by far: with the spread `s` of what
//! is left, `by` has to be 10 of them at least, on each side has to be a number of ends from which a
//! median can be told, both ends next to the split have to be nearer to the line of their own side, and
//! without the step ends have to spread five times as much. A clock that
//! runs faster for a while is no step, and leaves more than that.
//!
//! Source: R. E. Quandt, *The Estimation of the Parameters of a Linear Regression System Obeying Two
//! Separate Regimes* (1958), with one slope for both.

use super::observed::spread;

/// Ends on each side of a step: of fewer one that is off decides.
const FEWEST_ASIDE: usize = 5;
/// Spreads of what is left that a step has to be.
pub(super) const BY_FAR: f64 = 10.0;
/// Without a step ends have to spread by so many times what is left with it.
const WORSE_WITHOUT: f64 = 5.0;

/// A step of a clock against those that its operations connect it to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jump {
    /// The share of the run that had passed at the last end before it,
    pub(super) after: f64,
    /// and at the first end behind it.
    pub(super) until: f64,
    /// The ticks by which the clock shows more from then on.
    pub(super) by: f64,
}

/// Sums over ends, as shares of the run and how much they are off.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Sums {
    fn with(self, (x, y): (f64, f64)) -> Self {
        Self {
            count: self.count + 1.0,
            x: self.x + x,
            y: self.y + y,
            xx: self.xx + x * x,
            xy: self.xy + x * y,
        }
    }

    fn without(self, other: Self) -> Self {
        Self {
            count: self.count - other.count,
            x: self.x - other.x,
            y: self.y - other.y,
            xx: self.xx - other.xx,
            xy: self.xy - other.xy,
        }
    }

    /// The sums of squares and of products about the means.
    fn about_means(self) -> (f64, f64) {
        (
            self.xx - self.x * self.x / self.count,
            self.xy - self.x * self.y / self.count,
        )
    }

    /// Where a line of a slope passes the first of the run.
    fn first(self, slope: f64) -> f64 {
        (self.y - slope * self.x) / self.count
    }
}

/// Two parallel lines, one for the ends before a place and one for the others.
#[derive(Clone, Copy)]
struct Split {
    at: usize,
    slope: f64,
    firsts: [f64; 2],
}

impl Split {
    fn of(sides: [Sums; 2], at: usize) -> Self {
        let [before, after] = sides.map(Sums::about_means);
        let slope = (before.1 + after.1) / (before.0 + after.0).max(f64::MIN_POSITIVE);
        let firsts = sides.map(|it| it.first(slope));
        Self { at, slope, firsts }
    }

    /// The distance of an end from the line of its side.
    fn left(&self, number: usize, (x, y): (f64, f64)) -> f64 {
        y - self.slope * x - self.firsts[usize::from(number >= self.at)]
    }

    /// The spread of what is left.
    fn spread(&self, ends: &[(f64, f64)]) -> f64 {
        let left = ends.iter().enumerate();
        let mut left: Vec<f64> = left.map(|(at, end)| self.left(at, *end).abs()).collect();
        // Least squares go through no value for its own sake.
        spread(&mut left, 0)
    }
}

/// The step of a clock whose ends are off by so much, at such shares of the run; `None` where no single
/// one explains them by far.
pub(super) fn jump(off: &[(f64, f64)]) -> Option<Jump> {
    let mut ends = off.to_vec();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all = ends.iter().fold(Sums::default(), |sums, it| sums.with(*it));
    let last = ends.len().checked_sub(FEWEST_ASIDE)?;
    let mut before = Sums::default();
    let mut best: Option<(f64, Split)> = None;
    for (at, end) in ends.iter().enumerate().take(last + 1) {
        if at >= FEWEST_ASIDE {
            let sides = [before, all.without(before)];
            let split = Split::of(sides, at);
            // What squares are less than without any line, but for what all splits have in common.
            let explained = { sides.iter().map(|it| it.y * it.y / it.count).sum::<f64>() }
                + split.slope * sides.map(|it| it.about_means().1).iter().sum::<f64>();
            if best.is_none_or(|it| explained > it.0) {
                best = Some((explained, split));
            }
        }
        before = before.with(*end);
    }
    let (_, split) = best?;
    let by = split.firsts[1] - split.firsts[0];
    let spread = split.spread(&ends);
    let straight = {
        let (xx, xy) = all.about_means();
        let slope = xy / xx.max(f64::MIN_POSITIVE);
        let firsts = [all.first(slope); 2];
        Split {
            at: 0,
            slope,
            firsts,
        }
    };
    let is_clear = by.abs() >= BY_FAR * spread && straight.spread(&ends) >= WORSE_WITHOUT * spread;
    // Else the clock was set elsewhere, too near to the beginning or the end to be told.
    let is_there = [split.at - 1, split.at]
        .iter()
        .all(|&at| 2.0 * split.left(at, ends[at]).abs() < by.abs());
    (is_clear && is_there).then(|| Jump {
        after: ends[split.at - 1].0,
        until: ends[split.at].0,
        by,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty ends that are off by so much and by some chance.
    fn ends(off: impl Fn(u32) -> f64) -> Vec<(f64, f64)> {
        let end = |at: u32| (f64::from(at) / 20.0, off(at) + f64::from(at * 5 % 13));
        // The last operation comes first.
        (0..20).rev().map(end).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is_though_the_clock_drifts() {
        let set = |at: u32| 300.0 * f64::from(at) + if at < 12 { 0.0 } else { -9_000.0 };
        let found = jump(&ends(set)).unwrap();
        assert_eq!((found.after, found.until), (11.0 / 20.0, 12.0 / 20.0));
        assert!((found.by + 9_000.0).abs() < 20.0, "{found:?}");
    }

    #[test]
    fn what_is_no_step_is_not_taken_for_one() {
        assert_eq!(jump(&ends(|_| 0.0)), None);
        assert_eq!(jump(&ends(|at| 1e4 * f64::from(at))), None);
        // Faster for a while, and back and forth.
        let bent = |at: u32| 1e3 * f64::from(at.clamp(8, 12));
        assert_eq!(jump(&ends(bent)), None);
        assert_eq!(
            jump(&ends(|at| if (6..13).contains(&at) { 9e3 } else { 0.0 })),
            None
        );
        // Four ends behind it are too few, and so is one that is off.
        assert_eq!(jump(&ends(|at| if at < 16 { 0.0 } else { 9e3 })), None);
        assert_eq!(jump(&ends(|at| if at == 9 { 9e3 } else { 0.0 })), None);
        assert_eq!(jump(&[]), None);
    }
}
