//! The test of drift: clocks differ by constants unless lines fit far better than by chance.
//!
//! Clocks that one quartz drives or one time service disciplines, and stamps that were
//! interpolated before, differ by constants. A line per clock then follows where messages
//! happened to be fast at the beginning of the run and at its end, and errs by several times
//! what constants do. So clocks are taken to drift only if lines fit the dependencies far better
//! than they would by chance.
//!
//! A permutation test tells what chance does. If clocks differ by constants, the latencies of
//! one part of the run tell as much of them as those of any other, in whatever order
//! the parts come: only drift makes the order matter. So the run is cut into 16 blocks, and
//!
//! ```text
//! F(p) = min over lines of  sum over the tight dependencies  w phi(slack),   blocks in the order p
//! clocks drift  <=>  no constants satisfy all dependencies,
//!                    or those that drift as usual do so by rho / 4 on average, and
//!                       no two differ by 10 rho,
//!                    or F(1) < F(p) / 2  for all p tried
//!
//! p(b) = p b mod 17,    b = 1..16,    p = 2..8
//! ```
//!
//! with the [barrier](super::barrier) `phi` and the [weights](super::weights) `w` that the
//! constants have. Multiplication modulo a prime permutes the residues and scatters a trend over
//! the run; `17 - p` gives the opposite order, which lines fit as well. Blocks are long, and
//! nothing moves inside of them, as loads last and make messages alike that are near each other.
//! Loads that last longer than a block still fit lines better than chance would, by up to a fifth
//! on recordings without drift, hence the factor of two.
//!
//! In a short run no order of blocks differs from another by as much as clocks usually drift,
//! `rho`, and what is usual is the best guess. The clocks that are found when they may drift so tell
//! which case it is: if they do not, and the run is long enough to show it, these are all but level.
//! Clocks of which two are found to differ by more than any two quartzes, where constants are enough,
//! followed loose messages.
//!
//! Lines of which two differ by more than one quartz is sold to be off by may have followed loose
//! messages, as to where a [step](super::steps) or an outlier sent them. Clocks that are held to a tenth
//! of what is usual, and to a hundredth, are taken if dependencies contradict them no more, no two
//! differ by as much, and all by less than half of what they did: drift that is as open as that was not
//! told by the dependencies, while a clock that tight ones show to be worse than quartzes are, as one whose
//! frequency the system took wrongly, is believed.
//!
//! Clocks that are found not to drift are held to as little as they wander within the run.
//!
//! Source: permutation tests, R. A. Fisher, *The Design of Experiments* (1935), section 21; of
//! blocks, H. R. Künsch, *The Jackknife and the Bootstrap for General Stationary Observations*,
//! Annals of Statistics 17 (1989).

use std::ops::RangeInclusive;

use retime_model::Cancelled;
use retime_numerics::paths::{Arc, Start, shortest_paths};

use super::active_set::{FoundOffsets, Objective, OffsetProblem};
use super::curves::Curves;
use super::division::Division;
use super::latency::TOLERANCE;
use super::links::Link;
use super::options::OPTIONS;
use super::survey::Surveyed;

/// Blocks are the residues of this prime but for 0.
const PRIME: usize = 17;
const BLOCKS: usize = PRIME - 1;
/// The orders that are tried: all but the recorded one, and of two that are opposite one.
const ORDERS: RangeInclusive<usize> = 2..=BLOCKS / 2;
/// Clocks that drift do so by less than this share of what is usual in one of five cases.
const LITTLE: f64 = 0.25;
/// No quartz is worse than 50 ppm, so clocks differ by at most so many times what is usual.
const MUCH: f64 = 10.0;
/// Two clocks are steep if they differ by more than so many times what is usual: a quartz is sold to be off
/// by 50 ppm at most, and hardly two are at opposite limits.
const STEEP: f64 = 5.0;
/// The shares of what is usual that clocks are held to of which two are steep.
const HELD: [f64; 2] = [0.1, 0.01];
/// Dependencies that are satisfied by less than this share of the drift that was found leave it as
/// open as it is large, so they do not tell it.
const OPEN: f64 = 0.5;
/// Constants may drift within the run by this share of what slacks are told apart by: with less
/// the systems that Newton's method solves would lose digits.
const NO_DRIFT: f64 = 0.01;

/// The offsets of clocks that do not drift against each other, unless the dependencies prove
/// that they do; from those `found` for clocks that drift as usual, in a run of so many seconds.
pub(super) fn without_drift(
    problem: &OffsetProblem<'_>,
    found: &FoundOffsets,
    seconds: f64,
) -> Result<Option<FoundOffsets>, Cancelled> {
    let (mean, widest) = (found.curves.mean_drift(), found.curves.widest_drift());
    let is_usual = mean >= LITTLE * OPTIONS.rho && widest < MUCH * OPTIONS.rho;
    if is_usual || !constants_exist(problem) {
        return Ok(None);
    }
    let usual = found.division;
    let lines = Division { pieces: 1, ..usual };
    let constants = Division {
        drift: NO_DRIFT * problem.finest() / problem.span(),
        ..lines
    };
    let constant = problem.solve_like(&found.objective, &found.curves.level(), constants)?;
    if constant.survey.contradictions(0.0).sum > 0.0 {
        return Ok(None);
    }
    let fit = LineFit {
        lines,
        objective: &constant.objective,
        constant: &constant.curves,
        of_constants: constant
            .objective
            .cost(&problem.survey(&constant.curves, BLOCKS)),
    };
    if !fit.may_be_chance(problem)? {
        return Ok(None);
    }
    // They wander by some nanoseconds within the longest run of one piece.
    if usual.pieces == 1 {
        return Ok(Some(constant));
    }
    let still = Division {
        drift: usual.wander * seconds.sqrt(),
        ..usual
    };
    problem
        .solve_like(&constant.objective, &constant.curves, still)
        .map(Some)
}

/// The offsets of clocks of which no two are steep, if two of those `found` are, and dependencies
/// contradict them no more while they drift by less than half as much.
pub(super) fn less_steep(
    problem: &OffsetProblem<'_>,
    found: &FoundOffsets,
) -> Result<Option<FoundOffsets>, Cancelled> {
    let steep = STEEP * OPTIONS.rho;
    let widest = found.curves.widest_drift();
    if widest < steep {
        return Ok(None);
    }
    let most = steep.min(OPEN * widest);
    let contradicted = found.survey.contradictions(0.0).sum;
    for share in HELD {
        let held = Division {
            drift: share * OPTIONS.rho,
            ..found.division
        };
        let tried = problem.solve_like(&found.objective, &found.curves, held)?;
        if tried.survey.contradictions(0.0).sum > contradicted {
            break;
        }
        if tried.curves.widest_drift() < most {
            return Ok(Some(tried));
        }
    }
    Ok(None)
}

/// True if some constants leave no dependency reversed.
///
/// A constant `c` of each clock does, if `c_from - c_to <= least` for the least latency of each
/// link. These are difference constraints: they can be satisfied if and only if the graph whose
/// arcs have these lengths has no negative cycle (R. Bellman, *On a Routing Problem*, 1958).
fn constants_exist(problem: &OffsetProblem<'_>) -> bool {
    let survey = problem.survey(&problem.flat(1), 1);
    let arc = |(link, found): (&Link, &Surveyed)| Arc {
        from: link.to as u32,
        to: link.from as u32,
        length: found.least,
    };
    let links = problem.links.list().iter().zip(&survey.links);
    let arcs: Vec<Arc<f64>> = links.map(arc).collect();
    shortest_paths(problem.links.clocks(), Start::Everywhere, &arcs, TOLERANCE).is_ok()
}

/// The dependencies with the blocks of the run in another order.
fn reordered<'a>(problem: &OffsetProblem<'a>, order: usize) -> OffsetProblem<'a> {
    let block = problem.span() / BLOCKS as f64;
    problem.shifted(|seen| {
        let from = ((seen.sent / block) as usize).min(BLOCKS - 1);
        let to = order * (from + 1) % PRIME - 1;
        (to as f64 - from as f64) * block
    })
}

/// Lines that are fitted as constants were.
struct LineFit<'a> {
    lines: Division,
    objective: &'a Objective,
    constant: &'a Curves,
    /// The cost with these constants, which no order of the blocks changes.
    of_constants: f64,
}

impl LineFit<'_> {
    /// True if lines fit the run as it was recorded no better than some order of its blocks by more
    /// than the gain that tells.
    fn may_be_chance(&self, problem: &OffsetProblem<'_>) -> Result<bool, Cancelled> {
        let recorded = self.least_cost(problem)?;
        let is_chance = |cost: f64| recorded >= OPTIONS.gain * cost;
        // In no order do lines cost more than constants do.
        if is_chance(self.of_constants) {
            return Ok(true);
        }
        for order in ORDERS {
            if is_chance(self.least_cost(&reordered(problem, order))?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The cost of the tightest dependencies of each block, with the lines for which it is the
    /// least. Constants are lines, so it is at most theirs, also where Newton's method does not
    /// arrive.
    fn least_cost(&self, problem: &OffsetProblem<'_>) -> Result<f64, Cancelled> {
        let of_lines = problem.least_cost(self.constant, self.lines, self.objective, BLOCKS)?;
        Ok(of_lines.min(self.of_constants))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alignment, align_edges};
    use retime_causality::edges::{Edge, Edges};
    use retime_model::{ClockId, TickRate};

    const SECONDS: i64 = 10;
    const NANOSECONDS: i64 = 1_000_000_000;

    /// Two clocks that exchange 200 messages a second, whose load comes and goes: for half a
    /// second at a time all messages of a direction take some of `load` ns longer.
    fn loaded(load: i64, shown: impl Fn(i64) -> i64) -> Alignment {
        let (a, b) = (ClockId(0), ClockId(1));
        // The low bits of a multiplicative congruence repeat early; those above do not.
        let chance = |seed: i64| (seed * 1_103_515_245 + 12_345) >> 8 & 1_023;
        let delay = |at: i64, way: i64| {
            5_000 + load * chance(2 * (at / 100) + way) / 1_024 + 10 * chance(7 * at + way)
        };
        let edges = (0..200 * SECONDS).flat_map(|at| {
            let (there, back) = (5_000_000 * at, 5_000_000 * at + 2_500_000);
            [
                Edge::message(a, there, b, shown(there + delay(at, 0))),
                Edge::message(b, shown(back), a, back + delay(at, 1)),
            ]
        });
        let end = SECONDS * NANOSECONDS;
        let extents = vec![Some((0, end)), Some((shown(0), shown(end)))];
        let rate = TickRate::per_second(NANOSECONDS as u64).unwrap();
        align_edges(&Edges::new(edges.collect(), extents), rate, a, &()).unwrap()
    }

    /// The drift that is found for the second clock, in parts per billion.
    fn drift(alignment: &Alignment) -> f64 {
        let offset = alignment.estimate.offsets[1].as_ref().unwrap();
        (offset.at(SECONDS * NANOSECONDS) - offset.at(0)) / SECONDS as f64
    }

    #[test]
    fn load_is_not_taken_for_drift() {
        let constant = loaded(200_000, |time| time - 70_000);
        assert!(drift(&constant).abs() < 100.0, "{}", drift(&constant));
    }

    #[test]
    fn drift_that_messages_prove_is_found() {
        // 2 ppm make 20 us of the run: less than the load, more than the fastest messages vary.
        for load in [0, 10_000] {
            let drifting = loaded(load, |time| time - 70_000 - time / 500_000);
            assert!(
                (drift(&drifting) - 2_000.0).abs() < 300.0,
                "{load}: {}",
                drift(&drifting)
            );
        }
        // And 100 ppm contradict constants under any load.
        let drifting = loaded(200_000, |time| time - time / 10_000);
        assert!((drift(&drifting) - 100_000.0).abs() < 10_000.0);
    }

    /// 101 ppm are more than two quartzes differ by, and 99 would contradict no message.
    #[test]
    fn drift_that_no_quartz_has_is_believed_where_messages_are_tight() {
        let drifting = loaded(40_000, |time| time - time * 101 / 1_000_000);
        let found = drift(&drifting);
        assert!((found - 101_000.0).abs() < 300.0, "{found}");
    }

    /// Two clocks that exchange a loose message each way ten times in ten seconds, of which the
    /// second is set forward by half a millisecond after five.
    fn set_between_loose_messages(seed: i64) -> Alignment {
        let (a, b) = (ClockId(0), ClockId(1));
        let chance = |it: i64| ((it * 1_103_515_245 + 12_345) >> 8 & 1_023) * 1_000;
        let shown = |time: i64| time + if time > 5 * NANOSECONDS { 500_000 } else { 0 };
        let edges = (0..10).flat_map(|at| {
            let (there, back) = (
                NANOSECONDS * at + NANOSECONDS / 4,
                NANOSECONDS * at + NANOSECONDS / 2,
            );
            let delay = |way: i64| 100_000 + chance(seed * 100 + 7 * at + way) * 2;
            [
                Edge::message(a, there, b, shown(there + delay(0))),
                Edge::message(b, shown(back), a, back + delay(3)),
            ]
        });
        let end = SECONDS * NANOSECONDS;
        let extents = vec![Some((0, end)), Some((shown(0), shown(end)))];
        let rate = TickRate::per_second(NANOSECONDS as u64).unwrap();
        align_edges(&Edges::new(edges.collect(), extents), rate, a, &()).unwrap()
    }

    /// Steep lines explain as much, but no two quartzes drift apart like that.
    #[test]
    fn a_step_between_loose_messages_is_not_taken_for_steep_lines() {
        for seed in 0..50 {
            let found = drift(&set_between_loose_messages(seed));
            assert!(found.abs() < 100_000.0, "{seed}: {found} ppb");
        }
    }
}
