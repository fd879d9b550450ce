//! Model selection: the stiffest clocks that the trace does not prove wrong.
//!
//! The rate of a quartz changes slowly: by some hundredths of a ppm within a second, by
//! far more only where it is slewed, or where a machine migrates or sleeps. What
//! delays messages lasts too (a process that is descheduled, a busy network), and a
//! clock that follows it, in the middle between bounds that have moved, looks as if it
//! fitted better. So it is not asked under which clocks the messages are the most
//! *likely*, but under which they are *impossible*: where clocks are too stiff for the
//! truth, effects come before their causes, all over the run and whatever the load; and load alone
//! never makes a message too fast.
//!
//! Rates are taken for random walks that change by `q sqrt(t)` within a time `t`, for
//!
//! ```text
//! q = 0.01, 0.1, 1, 10, 100, 1000 ppm in a second
//! ```
//!
//! one after the other. The first is what clocks do, and before it those are tried that do not
//! even [drift](super::drift_test). A larger one is tried while effects
//! come before their causes in more than a tenth of the windows of the run, for what is
//! less may be outliers; and it is taken if it leaves less than half as much of it, in sum.
//! A step that does not help does not end the search: a wave may need two. Once it is proven that
//! clocks wander, a larger one is also taken if the least latency of all grows by a tenth:
//! then stiffness still forces messages to look faster than they are. Not where pieces are short by what
//! [clocks](Filled::PerClock) exchange, not pairs: clocks that are held by few messages of each are always
//! firmer if they wander more.
//!
//! How much wander is *needed* is another question: the least `q` under which no effect comes
//! before its cause at all. Explanations by steps are compared by it. Where only those that need
//! no more than some `q` matter, the search ends as soon as clocks that wander by `q` are
//! proven too stiff.

use super::active_set::{FoundOffsets, OffsetProblem, Setting};
use super::candidates::Candidates;
use super::division::{Division, Filled};
use super::drift_test::{less_steep, without_drift};
use super::frame::Frame;
use super::options::OPTIONS;
use retime_model::{Cancelled, Monitor};

/// How many families of clocks there are.
const STEPS: usize = OPTIONS.wander.len();

/// The selection of the stiffest clocks that are not proven wrong, by what it starts from.
pub(super) struct ModelSelection<'a> {
    pub(super) frame: Frame,
    pub(super) setting: Setting,
    pub(super) stiffness: Stiffness,
    pub(super) monitor: &'a dyn Monitor,
}

/// The wander of rates as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stiffness {
    /// In a second at least so much, as a fraction.
    pub(super) at_least: f64,
    /// They may wander: few contradictions count as much as many.
    pub(super) may_wander: bool,
    /// How much they have to that nothing contradicts them is to be found out, too, if that
    /// is at most so much; else only that it is more.
    pub(super) measured_to: Option<f64>,
    /// Rates may differ by any amount.
    pub(super) any_rate: bool,
    /// The dependencies by which pieces may be short.
    pub(super) filled: Filled,
    /// Rates differ by no more than those of clocks do, even where lines of pairs do.
    pub(super) is_held: bool,
}

/// Offsets, and the dependencies they follow.
pub(super) struct Offsets<'a> {
    pub(super) found: FoundOffsets,
    pub(super) problem: OffsetProblem<'a>,
}

/// The offsets of clocks that are not proven wrong.
pub(super) struct Selected<'a> {
    pub(super) found: FoundOffsets,
    pub(super) problem: OffsetProblem<'a>,
    /// The least wander of rates that was tried under which no effect comes before its cause, as a
    /// fraction; infinite where there is none.
    pub(super) needed: f64,
    /// The largest wander that was tried, as a fraction.
    tried: f64,
    /// The search ended early: rates are proven to wander by more than
    /// [`Stiffness::measured_to`].
    pub(super) is_refuted: bool,
}

impl<'a> ModelSelection<'a> {
    /// The offsets of clocks that do what clocks do.
    pub(super) fn stiffest(
        &self,
        candidates: &mut Candidates<'_>,
    ) -> Result<Offsets<'a>, Cancelled> {
        let [usual, ..] = self.divisions(candidates);
        let problem = self.problem(candidates, usual)?;
        let mut found = problem.solve(&problem.flat(usual.pieces), usual)?;
        // Where these clocks alone are of interest, those that drift less need not be looked for once they
        // are proven too stiff. A few dependencies that lead nearly nowhere tell nothing of drift.
        let at_most = self.stiffness.measured_to.unwrap_or(f64::INFINITY);
        let are_refuted = usual.wander >= at_most && found.survey.contradictions(0.0).are_proof();
        if !self.frame.recorded.sparse && !are_refuted {
            if let Some(constant) = without_drift(&problem, &found, self.seconds())? {
                found = constant;
            } else if let Some(held) = less_steep(&problem, &found)? {
                found = held;
            }
        }
        Ok(Offsets { found, problem })
    }

    /// The offsets of the stiffest clocks that are not proven wrong, from those of
    /// [the stiffest](Self::stiffest).
    pub(super) fn select(
        &self,
        candidates: &mut Candidates<'_>,
        stiffest: Offsets<'a>,
    ) -> Result<Selected<'a>, Cancelled> {
        let [_, more @ ..] = self.divisions(candidates);
        let (mut best, mut problem) = (stiffest.found, stiffest.problem);
        let Stiffness {
            at_least,
            may_wander,
            measured_to,
            any_rate: _,
            filled,
            is_held: _,
        } = self.stiffness;
        let is_enough = |needed: f64| filled == Filled::PerClock && needed.is_finite();
        let at_most = measured_to.unwrap_or(f64::INFINITY);
        let mut latest = best.survey.contradictions(0.0);
        let mut wanders = may_wander && latest.sum > 0.0;
        let mut needed = needed_by(&best, best.division.wander);
        let mut tried = best.division.wander;
        let mut is_refuted = false;
        for division in more {
            if is_enough(needed) {
                break;
            }
            let before = best.survey.contradictions(0.0);
            wanders |= before.are_proof();
            if division.wander > at_most && needed.is_infinite() && latest.are_proof() {
                is_refuted = true;
                break;
            }
            let is_asked_for = division.wander <= at_least;
            if !wanders && !is_asked_for {
                break;
            }
            if !candidates.are_fine_enough(division.pieces) {
                problem = self.problem(candidates, division)?;
            }
            let found = problem.solve(&best.curves, division)?;
            needed = needed.min(needed_by(&found, division.wander));
            tried = division.wander;
            latest = found.survey.contradictions(0.0);
            let firmer = found.survey.least() > OPTIONS.firmer * best.survey.least();
            if latest.sum < OPTIONS.gain * before.sum || firmer || is_asked_for {
                best = found;
            } else if !before.are_proof() {
                break;
            }
        }
        if !candidates.are_fine_enough(best.division.pieces) {
            problem = self.problem(candidates, best.division)?;
        }
        Ok(Selected {
            found: best,
            problem,
            needed,
            tried,
            is_refuted,
        })
    }

    /// The wander of rates, more than was tried, with which nothing contradicts them, as a fraction; infinite
    /// where all of [`Stiffness::measured_to`] is not enough.
    pub(super) fn needed(
        &self,
        candidates: &mut Candidates<'_>,
        selected: &Selected<'_>,
    ) -> Result<f64, Cancelled> {
        let divisions = self.divisions(candidates).into_iter();
        let at_most = self.stiffness.measured_to.unwrap_or(0.0);
        let more = |it: &Division| it.wander > selected.tried && it.wander <= at_most;
        let mut curves = selected.found.curves.clone();
        for division in divisions.filter(more) {
            let problem = self.problem(candidates, division)?;
            let found = problem.solve(&curves, division)?;
            if found.survey.contradictions(0.0).sum <= 0.0 {
                return Ok(division.wander);
            }
            curves = found.curves;
        }
        Ok(f64::INFINITY)
    }

    fn divisions(&self, candidates: &Candidates<'_>) -> [Division; STEPS] {
        let finest = candidates.finest();
        let finest = finest.pieces(self.stiffness.filled).unwrap_or(1);
        let seconds = self.seconds();
        let most_drift = if self.stiffness.any_rate {
            1.0
        } else {
            OPTIONS.proven
        };
        OPTIONS.wander.map(|it| Division {
            most_drift,
            ..Division::of(it, seconds, finest)
        })
    }

    /// The length of the run.
    fn seconds(&self) -> f64 {
        self.frame.axis.span / self.setting.second
    }

    fn problem(
        &self,
        candidates: &mut Candidates<'_>,
        division: Division,
    ) -> Result<OffsetProblem<'a>, Cancelled> {
        let links = candidates.inside(division.pieces)?;
        Ok(OffsetProblem::new(
            links,
            &self.frame,
            self.setting,
            self.monitor,
        ))
    }
}

/// The wander that rates need, if offsets of clocks that wander by `wander` were found: as much if
/// nothing contradicts these, else more.
fn needed_by(found: &FoundOffsets, wander: f64) -> f64 {
    if found.survey.contradictions(0.0).sum > 0.0 {
        f64::INFINITY
    } else {
        wander
    }
}
