//! The least effort with which a clock that wanders can do what is taken for a step of it.
//!
//! Next to a step dependencies leave a clock some room, upwards to what those that it sends allow
//! and downwards to those that it receives, and on both sides of the step around different
//! offsets. The clock that was not set finds its way through all gates:
//!
//! ```text
//!    |    |   |          effort = min 1/2 integral (y'')^2 dt,   low_i <= y(t_i) <= high_i
//!    |____|___|_
//!    |    |     \  |   |     |       y: the offset that wander adds to the one that was
//!                \_|___|_____|__        aligned with the step
//!                  |   |     |
//! ```
//!
//! For a rate that is a random walk of `q` in a second, `effort / q^2` is the negative logarithm of
//! the density of its most probable path. Where the gates are as wide as the step is large, far from
//! it, a clock has long to make it: what counts is not within which time the step *is* when it is
//! one, but within which messages leave the clock the room to have wandered.
//!
//! Such a path is a cubic spline, so between two gates its second derivative is a line,
//! two numbers, in orthogonal functions (Legendre's) such that the effort is half the square of all
//! numbers together. Then it is the [nearest point](retime_numerics::nearest_point) to zero that
//! satisfies the gates. The line that it begins with costs next to nothing.
//!
//! Of the dependencies only the tightest at each distance from the step are asked, by powers of
//! the square root of two: with fewer gates the effort is no more than with all.
//!
//! Source: G. Kimeldorf, G. Wahba, *Some results on Tchebycheffian spline functions* (Journal of
//! Mathematical Analysis and Applications 33, 1971), section 5: splines under inequalities.

use retime_numerics::nearest_point::{Condition, NearestPoint};

/// Gates are told apart at distances that differ by a factor of two to the power of `1/BINS`.
const BINS: f64 = 2.0;
/// Distances below this share of the longest, as a power of two, are taken for alike.
const OCTAVES: f64 = 12.0;
/// Offset and drift of this many times the step, over the run, cost half of it over the run: hardly
/// anything beside a step, and little enough for gates next to each other to differ by more than
/// rounding.
const FREE: f64 = 3.0;
/// Gates are kept up to this share of the step,
const EXACT: f64 = 1e-6;
/// and are at least so wide, as a share of it: rows of gates without any room would depend on each
/// other, up to rounding.
const WIDTH: f64 = 1e-3;
/// Multiplications to spend.
const WORK: usize = 100_000_000;

/// A step of a clock between two common times. Between two stamps of the clock itself the step would
/// add to the time that it lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    pub(super) after: i64,
    pub(super) until: i64,
    /// The amount by which the clock was set, in ticks.
    pub(super) by: f64,
}

/// A bound of the offset of a clock at one time, which a dependency sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gate {
    /// The common time of its end at the clock.
    pub(super) time: i64,
    /// True if the clock has the cause: the bound is one from above.
    pub(super) is_cause: bool,
    /// The latency as aligned with the step, in ticks.
    pub(super) room: f64,
}

/// The least effort, in ticks^2 / ticks^3, of a path through the gates of a clock that was not set
/// in the gap. Gates within it tell nothing.
pub(super) fn effort(gates: impl Iterator<Item = Gate>, gap: Gap) -> f64 {
    let by = gap.by;
    let gates = tightest(gates, gap);
    let (Some(first), Some(last)) = (gates.first(), gates.last()) else {
        return 0.0;
    };
    let span = last.time.saturating_sub(first.time).max(1) as f64;
    // In terms of the step and of the run, so that all numbers are moderate.
    let times: Vec<f64> = gates
        .iter()
        .map(|it| it.time.saturating_sub(first.time) as f64 / span)
        .collect();
    let mut path = NearestPoint::to(vec![0.0; 2 * times.len()]);
    let conditions = gates.iter().enumerate().map(|(number, gate)| {
        let aligned = if gate.time < gap.until { 0.0 } else { -by };
        let room = gate.room.max(WIDTH * by.abs());
        let (sign, least) = if gate.is_cause {
            (-1.0, -aligned - room)
        } else {
            (1.0, aligned - room)
        };
        let terms = path_at(&times, number).into_iter();
        Condition {
            terms: terms
                .map(|(index, factor)| (index, sign * factor))
                .collect(),
            least: least / by.abs(),
        }
    });
    let mut work = WORK;
    let conditions: Vec<Condition> = conditions.collect();
    // The path takes in gate after gate, each with more effort: where gates exclude each other it
    // gives a lower bound.
    path.take(conditions, EXACT, &mut work);
    let square: f64 = path.point().iter().map(|it| it * it).sum();
    square / 2.0 * by.powi(2) / span.powi(3)
}

/// The path at a time, as a sum over the numbers that it is made of: two for the line that it
/// begins with, two for each stretch between gates.
fn path_at(times: &[f64], number: usize) -> Vec<(usize, f64)> {
    let at = times[number];
    let mut terms = vec![(0, FREE), (1, FREE * at)];
    for (stretch, ends) in times[..=number].windows(2).enumerate() {
        let length = ends[1] - ends[0];
        // y'' = a / sqrt(h) + b sqrt(12 / h) (s / h - 1/2) along the stretch, integrated twice up to
        // its end, and from there on along the rate it has then.
        let mean = length.sqrt() * (at - ends[1]) + length.powf(1.5) / 2.0;
        let slope = -length.powf(1.5) / 12.0_f64.sqrt();
        terms.extend([(2 + 2 * stretch, mean), (3 + 2 * stretch, slope)]);
    }
    terms
}

/// The tightest gates of each distance on either side of a gap, both ways, by time.
fn tightest(gates: impl Iterator<Item = Gate>, gap: Gap) -> Vec<Gate> {
    let distance = |gate: &Gate| {
        if gate.time <= gap.after {
            Some((false, gap.after.saturating_sub(gate.time)))
        } else {
            let is_behind = gate.time >= gap.until;
            is_behind.then(|| (true, gate.time.saturating_sub(gap.until)))
        }
    };
    // Distances count by powers of two from a tick on.
    let bins = u64::BITS as usize * BINS as usize;
    let mut least: Vec<Option<Gate>> = vec![None; 4 * (bins + 1)];
    for gate in gates {
        let Some((is_behind, distance)) = distance(&gate) else {
            continue;
        };
        let bin = ((distance.max(1) as f64).log2() * BINS) as usize;
        let place = 4 * bin.min(bins) + 2 * usize::from(is_behind) + usize::from(gate.is_cause);
        if least[place].is_none_or(|it| gate.room < it.room) {
            least[place] = Some(gate);
        }
    }
    let longest = least.len() / 4
        - least
            .chunks(4)
            .rev()
            .take_while(|it| it.iter().all(Option::is_none))
            .count();
    let nearest = longest.saturating_sub((OCTAVES * BINS) as usize);
    let mut found: Vec<Gate> = least[4 * nearest..].iter().copied().flatten().collect();
    found.sort_by(|a, b| a.time.cmp(&b.time).then(a.is_cause.cmp(&b.is_cause)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(after: i64, until: i64, by: f64) -> Gap {
        Gap { after, until, by }
    }

    /// Gates without any room every five ticks before and after a gap between these times.
    fn closed(after: i64, until: i64) -> impl Iterator<Item = Gate> {
        let before = (0..=2_000).map(move |it| after - 5 * it);
        let stamps = before.chain((0..=2_000).map(move |it| until + 5 * it));
        let both = stamps.flat_map(|stamp| [(stamp, true), (stamp, false)]);
        both.map(|(time, is_cause)| Gate {
            time,
            is_cause,
            room: 0.0,
        })
    }

    /// From rest to rest: `6 f^2 / T^3`, less what the width of gates saves.
    #[test]
    fn a_clock_is_at_rest_on_both_sides() {
        for by in [300.0, -300.0] {
            let effort = effort(closed(0, 10_000), gap(0, 10_000, by));
            let expected = 6.0 * 300.0_f64.powi(2) / 10_000.0_f64.powi(3);
            let share = effort / expected;
            assert!((0.8..1.0).contains(&share), "{effort} {expected}");
        }
    }

    /// Through (0, 0), (1, 0) and (3, f) a spline goes with `3/2 (f/2)^2 / 3`.
    #[test]
    fn a_spline_through_three_gates() {
        let gate = |time, is_cause| Gate {
            time,
            is_cause,
            room: 0.0,
        };
        let gates = [gate(0, false), gate(1_000, true), gate(3_000, false)];
        let effort = effort(gates.into_iter(), gap(1_000, 3_000, -600.0));
        let expected = 1.5 * 0.3_f64.powi(2) / 3_000.0;
        assert!(
            (effort / expected - 1.0).abs() < 0.02,
            "{effort} {expected}"
        );
    }

    /// A quarter of the step on either side lets a line through, a fifth does not.
    #[test]
    fn wide_gates_take_no_effort() {
        let of_room = |room: f64| {
            let gates = closed(0, 10_000).map(|it| Gate { room, ..it });
            effort(gates, gap(0, 10_000, 300.0))
        };
        let closed = of_room(0.0);
        assert!(of_room(80.0) < 1e-3 * closed);
        assert!(of_room(60.0) > 1e-3 * closed);
        assert!(of_room(60.0) < of_room(30.0) && of_room(30.0) < closed);
    }

    #[test]
    fn a_clock_without_dependencies_can_do_anything() {
        assert!(effort(std::iter::empty(), gap(10, 20, 5.0)).abs() < 1e-12);
    }
}
