//! The nearest lines that break no dependency.
//!
//! Each dependency asks of the lines at its ends
//!
//! ```text
//! d_to(received) - d_from(sent)  >=  -slack
//! ```
//!
//! with its slack without them, which lines that something else asks for may break by a little. The
//! nearest that break none, in the sum of squares of what changes at both ends of the run, are found
//! by Hildreth's method: again and again each condition moves the clocks that it is of as little as
//! satisfies it, and takes back what it moved as far as others have made that unnecessary.
//!
//! Most of what is asked is satisfied anyway, and which dependencies of operations are tight
//! depends on where clocks are. So conditions are taken in as they are found to be broken.
//!
//! ```text
//!  clocks at 0 and 0 that ends ask to be at 0 and -10, slack 4:   0 and -4     the first is the reference
//!                                                                -3 and -7     it is not
//! ```
//!
//! Source: C. Hildreth, *A quadratic programming procedure* (1957).

use super::line::RunLine;
use super::ties::Tie;
use retime_model::ClockId;

/// Looks at conditions, at most: some seconds. Where so many have not satisfied all, nothing does,
/// or only what takes as long as everything else together.
const LOOKS: usize = 50_000_000;
/// Conditions are satisfied to this part of a tick.
const EXACT: f64 = 1e-3;

/// The lines that are near to others, and the conditions on them.
pub(super) struct Nearest {
    pub(super) lines: Vec<RunLine>,
    conditions: Vec<Condition>,
    reference: ClockId,
    looks: usize,
}

struct Condition {
    tie: Tie,
    /// The distance by which it has moved its clocks.
    moved: f64,
    /// The change of slack if it moves its clocks by 1.
    effect: f64,
}

impl Nearest {
    /// To these lines, without conditions.
    pub(super) fn to(lines: Vec<RunLine>, reference: ClockId) -> Self {
        Self {
            lines,
            conditions: Vec::new(),
            reference,
            looks: LOOKS,
        }
    }

    /// Takes conditions in, and finds the lines that satisfy all; false if there are none, as far as
    /// that is found out.
    pub(super) fn take(&mut self, ties: Vec<Tie>) -> bool {
        let condition = |tie: Tie| {
            let of = |clock: ClockId, share: f64| {
                if clock == self.reference {
                    0.0
                } else {
                    (1.0 - share).powi(2) + share.powi(2)
                }
            };
            Condition {
                tie,
                moved: 0.0,
                effect: of(tie.from, tie.sent) + of(tie.to, tie.received),
            }
        };
        let new = ties.into_iter().map(condition).filter(|it| it.effect > 0.0);
        let new: Vec<Condition> = new.collect();
        self.conditions.extend(new);
        while let Some(looks) = self.looks.checked_sub(self.conditions.len()) {
            self.looks = looks;
            if self.pass() <= EXACT {
                return true;
            }
        }
        false
    }

    /// Goes through all conditions once; by how much slacks were moved at most.
    fn pass(&mut self) -> f64 {
        let mut most = 0.0_f64;
        for condition in &mut self.conditions {
            let tie = condition.tie;
            let missing = -tie.slack - tie.change(&self.lines);
            let by = (missing / condition.effect).max(-condition.moved);
            condition.moved += by;
            for (clock, share, by) in [(tie.from, tie.sent, -by), (tie.to, tie.received, by)] {
                if clock != self.reference {
                    let line = &mut self.lines[clock.as_usize()];
                    line.first += by * (1.0 - share);
                    line.last += by * share;
                }
            }
            most = most.max((by * condition.effect).abs());
        }
        most
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
        let mut nearest = Nearest::to(asked(), ClockId(0));
        assert!(nearest.take(vec![tie(0, 1, 0.5, 4.0)]));
        assert_eq!(nearest.lines[..2], [level(0.0), level(-4.0)]);
        let mut nearest = Nearest::to(asked(), ClockId(2));
        assert!(nearest.take(vec![tie(0, 1, 0.5, 4.0)]));
        assert_eq!(nearest.lines[..2], [level(-3.0), level(-7.0)]);
    }

    #[test]
    fn conditions_that_contradict_each_other_are_given_up() {
        let mut nearest = Nearest::to(vec![level(0.0), level(0.0)], ClockId(0));
        assert!(!nearest.take(vec![tie(0, 1, 0.5, -10.0), tie(1, 0, 0.5, 5.0)]));
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
            let mut nearest = Nearest::to(asked.clone(), ClockId(0));
            prop_assert!(nearest.take(ties.clone()));
            for tie in &ties {
                prop_assert!(tie.slack + tie.change(&nearest.lines) > -0.1, "{tie:?}");
            }
            let apart = |from: &[RunLine]| -> f64 {
                let both = from.iter().zip(&sound).map(|(a, b)| *a - *b);
                both.map(|it| it.first.powi(2) + it.last.powi(2)).sum()
            };
            prop_assert!(apart(&nearest.lines) <= apart(&asked) + 1.0);
        }
    }
}
