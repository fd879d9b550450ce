//! The nearest lines that break no dependency.
//!
//! Each dependency asks of the lines at its ends
//!
//! ```text
//! d_to(received) - d_from(sent)  >=  -slack
//! ```
//!
//! with its slack without them, which lines that something else asks for may break by a little. The
//! nearest that break none are the [nearest point](retime_numerics::nearest_point) of a space with
//! two axes for each clock but the reference, whose line stays: what a line changes in the middle of
//! the run, and its tilt, half of what it changes more at the end than at the beginning. With
//! `stiffness` 1 their squares are those of the changes at both ends.
//!
//! ```text
//! sum of  middle^2 + (stiffness * tilt)^2
//! ```
//!
//! A clock may be off by any time, and its rate by 100 millionths: in a run of 100 s it tilts by 5
//! ms, and in one of 30 ms by 1.5 us. Where dependencies are broken by more than clocks can part
//! within the run, tilting is that much less likely than shifting, and the stiffness says so.
//!
//! Most of what is asked is satisfied anyway, and which dependencies of operations are tight
//! depends on where clocks are. So conditions are taken in as they are found to be broken.
//!
//! ```text
//!  clocks at 0 and 0 that ends ask to be at 0 and -10, slack 4:   0 and -4     the first is the reference
//!                                                                -3 and -7     it is not
//! ```

use super::line::RunLine;
use super::ties::Tie;
use retime_model::ClockId;
use retime_numerics::nearest_point::{Condition, NearestPoint, Outcome};

/// Multiplications, at most: some seconds. Where so many have not led to an end, it takes as long as
/// everything else together.
const WORK: usize = 2_000_000_000;
/// The share by which rates of clocks differ without being noteworthy: that of bad quartzes.
const RATES: f64 = 1e-4;
/// Conditions are satisfied to this part of a tick.
const EXACT: f64 = 1e-3;

/// The lines that are near to others, and the conditions on them.
pub(super) struct Nearest {
    pub(super) lines: Vec<RunLine>,
    point: NearestPoint,
    reference: ClockId,
    /// How much more a tilt counts than a shift.
    stiffness: f64,
    /// No line adds or takes away more at either end, in ticks.
    farthest: f64,
    work: usize,
}

impl Nearest {
    /// To these lines, without conditions. Lines that add more than the length of the run are
    /// none. What breaks dependencies does so by `broken_by` at most; all in ticks.
    pub(super) fn to(
        lines: Vec<RunLine>,
        reference: ClockId,
        run_length: f64,
        broken_by: f64,
    ) -> Self {
        let stiffness = (broken_by / (RATES * run_length)).max(1.0);
        let axes = lines.iter().flat_map(|it| {
            let middle = f64::midpoint(it.first, it.last);
            [middle, stiffness * (it.last - middle)]
        });
        Self {
            point: NearestPoint::to(axes.collect()),
            lines,
            reference,
            stiffness,
            farthest: run_length,
            work: WORK,
        }
    }

    /// Takes conditions in, and finds the lines that satisfy all; false if there are none, as far as
    /// that is found out.
    pub(super) fn take(&mut self, ties: &[Tie]) -> bool {
        let conditions: Vec<Condition> = ties.iter().map(|tie| self.condition(tie)).collect();
        let outcome = self.point.take(conditions, EXACT, &mut self.work);
        let axes = self.point.point().chunks_exact(2);
        let lines = (0..).map(ClockId).zip(&mut self.lines).zip(axes);
        for ((_, line), axes) in lines.filter(|it| it.0.0 != self.reference) {
            let tilt = axes[1] / self.stiffness;
            (line.first, line.last) = (axes[0] - tilt, axes[0] + tilt);
        }
        let near = |line: &RunLine| line.largest() <= self.farthest;
        outcome == Outcome::Satisfied && self.lines.iter().all(near)
    }

    /// The condition of a dependency: the part of the line of the reference is known.
    fn condition(&self, tie: &Tie) -> Condition {
        let (mut terms, mut least) = (Vec::with_capacity(4), -tie.slack);
        for (clock, share, factor) in [(tie.from, tie.sent, -1.0), (tie.to, tie.received, 1.0)] {
            let clock_at = clock.as_usize();
            if clock == self.reference {
                least -= factor * self.lines[clock_at].at(share);
            } else {
                let from_middle = 2.0 * share - 1.0;
                terms.push((2 * clock_at, factor));
                terms.push((2 * clock_at + 1, factor * from_middle / self.stiffness));
            }
        }
        Condition { terms, least }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tie(from: usize, to: usize, share: f64, slack: f64) -> Tie {
        Tie {
            from: ClockId(from as u32),
            to: ClockId(to as u32),
            sent: share,
            received: share,
            slack,
        }
    }

    fn level(by: f64) -> RunLine {
        RunLine {
            first: by,
            last: by,
        }
    }

    #[test]
    fn clocks_are_moved_as_little_as_satisfies_a_condition() {
        let asked = || vec![level(0.0), level(-10.0), level(0.0)];
        let near = |found: &[RunLine], wanted: [f64; 2]| {
            found.iter().zip(wanted).all(|(line, wanted)| {
                (line.first - wanted).abs() < 1e-9 && (line.last - wanted).abs() < 1e-9
            })
        };
        let mut nearest = Nearest::to(asked(), ClockId(0), 1e9, 0.0);
        assert!(nearest.take(&[tie(0, 1, 0.5, 4.0)]));
        assert!(near(&nearest.lines, [0.0, -4.0]));
        let mut nearest = Nearest::to(asked(), ClockId(2), 1e9, 0.0);
        assert!(nearest.take(&[tie(0, 1, 0.5, 4.0)]));
        assert!(near(&nearest.lines, [-3.0, -7.0]));
    }

    #[test]
    fn conditions_that_contradict_each_other_are_given_up() {
        let mut nearest = Nearest::to(vec![level(0.0), level(0.0)], ClockId(0), 1e9, 0.0);
        assert!(!nearest.take(&[tie(0, 1, 0.5, -10.0), tie(1, 0, 0.5, 5.0)]));
        assert!(nearest.work > WORK - 1000);
    }

    #[test]
    fn lines_longer_than_the_run_are_none() {
        let apart = [tie(0, 1, 0.5, -10.0)];
        assert!(Nearest::to(vec![level(0.0); 2], ClockId(0), 11.0, 0.0).take(&apart));
        assert!(!Nearest::to(vec![level(0.0); 2], ClockId(0), 9.0, 0.0).take(&apart));
    }

    #[test]
    fn in_a_short_run_clocks_are_shifted_rather_than_tilted() {
        // Broken by 20 and 30 ticks at the ends of a run in which clocks part by 1.
        let broken = [tie(0, 1, 0.0, -20.0), tie(0, 1, 1.0, -30.0)];
        let found = |broken_by: f64| {
            let mut nearest = Nearest::to(vec![level(0.0); 2], ClockId(0), 1e4, broken_by);
            assert!(nearest.take(&broken));
            nearest.lines[1]
        };
        let RunLine { first, last } = found(30.0);
        assert!(
            (first - 30.0).abs() < 0.1 && (last - 30.0).abs() < 0.1,
            "{first} {last}"
        );
        let RunLine { first, last } = found(1.0);
        assert!(
            (first - 20.0).abs() < 1e-6 && (last - 30.0).abs() < 1e-6,
            "{first} {last}"
        );
    }

    fn lines() -> impl Strategy<Value = Vec<RunLine>> {
        let line = (-100.0..100.0, -100.0..100.0);
        let lines = proptest::collection::vec(line, 4);
        lines.prop_map(|all| {
            all.into_iter()
                .map(|(first, last)| RunLine { first, last })
                .collect()
        })
    }

    proptest! {
        /// Conditions that some lines satisfy are satisfied in the end, and no point of a
        /// convex set is further from the nearest one than from where it was asked for.
        #[test]
        fn what_can_be_satisfied_is(
            asked in lines(),
            mut sound in lines(),
            ties in proptest::collection::vec((0..4_usize, 1..4_usize, 0.0..1.0, 0.0..20.0), 0..40),
        ) {
            sound[0] = asked[0];
            let tie = |&(from, by, share, spare): &(usize, usize, f64, f64)| {
                let exact = tie(from, (from + by) % 4, share, 0.0);
                Tie { slack: spare - exact.change(&sound), ..exact }
            };
            let ties: Vec<Tie> = ties.iter().map(tie).collect();
            let mut nearest = Nearest::to(asked.clone(), ClockId(0), 1e9, 0.0);
            prop_assert!(nearest.take(&ties));
            for tie in &ties {
                prop_assert!(tie.slack + tie.change(&nearest.lines) > -0.1, "{tie:?}");
            }
            prop_assert_eq!(nearest.lines[0], asked[0]);
            let apart = |from: &[RunLine]| -> f64 {
                let both = from.iter().zip(&sound).map(|(a, b)| *a - *b);
                both.map(|it| it.first.powi(2) + it.last.powi(2)).sum()
            };
            prop_assert!(apart(&nearest.lines) <= apart(&asked) + 1.0);
        }
    }
}
