//! The active set: the dependencies that decide, and the centre they give.
//!
//! Of the dependencies of a link in a stretch of time only the tightest few pull at
//! the offsets. Which these are depends on the offsets, and the offsets on them. So
//! the centre is found for those that are the tightest at first; those that are
//! then are added; and again, until hardly any is new. Source: active sets, J.
//! Nocedal and S. J. Wright, *Numerical Optimization* (2006), chapter 16; here only
//! ever growing, so that it ends.

use std::sync::Arc;

use rayon::prelude::*;

use super::barrier::Barrier;
use super::centre::{Centre, SparseSystem, Terms};
use super::cost::Cost;
use super::curves::Curves;
use super::division::Division;
use super::frame::{Frame, FramedDependency};
use super::links::{Link, Links};
use super::newton::{LastStep, minimise};
use super::options::OPTIONS;
use super::survey::{Contradictions, Survey, Surveyed};
use super::weights::{Zero, shown_floor, weights};
use retime_model::{Cancelled, Monitor};
use retime_numerics::median::median;
use retime_numerics::parallel;

/// How exactly the centre is found: of an objective that is not settled,
const ROUGHLY: Exactness = Exactness {
    of_slack: 1e-2,
    of_longest: 0.0,
};
/// of one that changed since the last centre was found: the next round may move all as far as the first
/// step of this one,
const IN_PASSING: Exactness = Exactness {
    of_longest: 0.1,
    ..ROUGHLY
};
/// and of one that is settled.
const EXACTLY: Exactness = Exactness {
    of_slack: 1e-6,
    of_longest: 0.0,
};

/// The length of a step of Newton's method that may be the last: the larger of two.
#[derive(Clone, Copy)]
struct Exactness {
    /// As a share of the least slack.
    of_slack: f64,
    /// As a share of the longest step before it.
    of_longest: f64,
}

/// Clocks are too stiff if what contradicts them all over the run is after a round still more than
/// this share of what it was before. As knees get sharper it falls by far more where clocks can
/// follow all; and as dependencies are added it never falls.
const STAYS: f64 = 0.9;

/// Properties of the trace besides its dependencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// The barrier's knee is never below this.
    pub(super) knee: f64,
    /// Ticks of a second.
    pub(super) second: f64,
}

/// The function to be minimised: the zero of slack, and the cost of having little of it.
#[derive(Clone, Debug)]
pub(super) struct Objective {
    /// Slack is latency less this.
    least: f64,
    barrier: Barrier,
    /// How much each link [counts](super::weights).
    weights: Vec<f64>,
    /// The least slack of all.
    tightest: f64,
}

/// Offsets found from some dependencies.
pub(super) struct FoundOffsets {
    pub(super) division: Division,
    pub(super) curves: Curves,
    /// The result of a pass over the dependencies with these offsets.
    pub(super) survey: Survey,
    /// The function of which the offsets are the minimum.
    pub(super) objective: Objective,
}

/// The dependencies from which offsets are found, or by which found ones are judged.
pub(super) struct OffsetProblem<'a> {
    pub(super) links: Arc<Links>,
    /// The dependencies on the common axis, in the order of `links`.
    seen: Vec<Vec<FramedDependency>>,
    frame: Frame,
    setting: Setting,
    monitor: &'a dyn Monitor,
}

impl<'a> OffsetProblem<'a> {
    pub(super) fn new(
        links: Links,
        frame: &Frame,
        setting: Setting,
        monitor: &'a dyn Monitor,
    ) -> Self {
        let see = |link: &Link| {
            let points = links.of(link).iter();
            points.map(|point| frame.see(link, point)).collect()
        };
        Self {
            seen: parallel::map(links.list(), see),
            links: Arc::new(links),
            frame: frame.clone(),
            setting,
            monitor,
        }
    }

    /// The length of the common axis, in ticks.
    pub(super) fn span(&self) -> f64 {
        self.frame.axis.span
    }

    /// The least slack that is told apart from none, in ticks.
    pub(super) fn finest(&self) -> f64 {
        self.setting.knee
    }

    /// Curves that add nothing.
    pub(super) fn flat(&self, pieces: usize) -> Curves {
        Curves::flat(self.links.clocks(), pieces, self.span())
    }

    /// The dependencies, each of them with both its ends later by as much as `by` says.
    pub(super) fn shifted(&self, by: impl Fn(&FramedDependency) -> f64 + Sync) -> Self {
        let shift = |seen: &FramedDependency| {
            let by = by(seen);
            FramedDependency {
                sent: seen.sent + by,
                received: seen.received + by,
                latency: seen.latency,
            }
        };
        let of_link = |seen: &Vec<FramedDependency>| seen.iter().map(shift).collect();
        Self {
            links: Arc::clone(&self.links),
            seen: parallel::map(&self.seen, of_link),
            frame: self.frame.clone(),
            setting: self.setting,
            monitor: self.monitor,
        }
    }

    /// How many windows go with a division.
    pub(super) fn windows(&self, pieces: usize) -> usize {
        let filled = self.links.count() / (OPTIONS.fewest * self.links.list().len()).max(1);
        pieces.max(filled.clamp(1, OPTIONS.windows))
    }

    /// A pass over all dependencies.
    pub(super) fn survey(&self, curves: &Curves, windows: usize) -> Survey {
        let windows = windows.max(1);
        let list = self.links.list();
        let of = |at: usize| Surveyed::new(&list[at], &self.seen[at], curves, windows);
        Survey {
            windows,
            links: parallel::numbers(list.len(), of),
        }
    }

    /// Finds the centre, from curves that are somewhere near.
    pub(super) fn solve(
        &self,
        curves: &Curves,
        division: Division,
    ) -> Result<FoundOffsets, Cancelled> {
        self.settle(curves, division, None)
    }

    /// Finds the centre where clocks drift or wander otherwise than those that were found with this
    /// objective: one that is settled for them is nearly settled for others.
    pub(super) fn solve_like(
        &self,
        objective: &Objective,
        curves: &Curves,
        division: Division,
    ) -> Result<FoundOffsets, Cancelled> {
        self.settle(curves, division, Some(objective))
    }

    /// Finds centre and objective, each from the other, until both stay.
    fn settle(
        &self,
        curves: &Curves,
        division: Division,
        known: Option<&Objective>,
    ) -> Result<FoundOffsets, Cancelled> {
        let windows = self.windows(division.pieces);
        let mut curves = curves.refined(division.pieces);
        let mut survey = self.survey(&curves, windows);
        let mut active: Vec<Vec<u32>> = survey.positions();
        let mut objective = known
            .cloned()
            .unwrap_or_else(|| self.objective(&survey, None));
        let mut exactness = if known.is_some() { IN_PASSING } else { ROUGHLY };
        let mut system = None;
        let mut contradictions: Option<Contradictions> = None;
        for _ in 0..OPTIONS.rounds {
            system = self.minimise(
                &active,
                &mut curves,
                &objective,
                division,
                exactness,
                system,
            )?;
            exactness = IN_PASSING;
            survey = self.survey(&curves, windows);
            let growth = grow_all(&mut active, &survey);
            let next = self.objective(&survey, Some(&objective));
            let settled = next.is_like(&objective, self.setting.knee);
            objective = next;
            let now = survey.contradictions(0.0);
            let before = contradictions.replace(now);
            let are_too_stiff = before.is_some_and(|it| now.stay(&it, STAYS));
            if are_too_stiff || (settled && growth.are_few()) {
                break;
            }
        }
        self.minimise(&active, &mut curves, &objective, division, EXACTLY, system)?;
        Ok(FoundOffsets {
            division,
            survey: self.survey(&curves, windows),
            curves,
            objective,
        })
    }

    /// The cost of the tightest dependencies of each of so many windows, with the curves that
    /// minimise it; the search starts at curves that are near.
    pub(super) fn least_cost(
        &self,
        curves: &Curves,
        division: Division,
        objective: &Objective,
        windows: usize,
    ) -> Result<f64, Cancelled> {
        let mut curves = curves.clone();
        let mut survey = self.survey(&curves, windows);
        let mut active = survey.positions();
        let mut system = None;
        for _ in 0..OPTIONS.rounds {
            system = self.minimise(&active, &mut curves, objective, division, ROUGHLY, system)?;
            survey = self.survey(&curves, windows);
            if grow_all(&mut active, &survey).are_few() {
                break;
            }
        }
        Ok(objective.cost(&survey))
    }

    /// Finds the centre of the active dependencies. The system of a centre before is used again
    /// where it has the same entries, and that of this one is returned.
    fn minimise(
        &self,
        active: &[Vec<u32>],
        curves: &mut Curves,
        objective: &Objective,
        division: Division,
        exactness: Exactness,
        system: Option<SparseSystem>,
    ) -> Result<Option<SparseSystem>, Cancelled> {
        self.monitor.check()?;
        let cost = Cost {
            least: objective.least,
            barrier: objective.barrier,
            weights: &objective.weights,
            tight: OPTIONS.tightest * self.windows(division.pieces),
            sigma: division.bend,
            drift: division.drift,
            most_drift: division.most_drift,
        };
        let terms = Terms {
            links: &self.links,
            seen: &self.seen,
            active,
        };
        let mut centre = Centre::new(terms, &self.frame, curves, cost, system, self.monitor)?;
        // Nothing is known better than the slack of the tightest.
        let known = objective
            .tightest
            .min(objective.barrier.scale)
            .max(objective.barrier.knee);
        let last = LastStep {
            length: exactness.of_slack * known,
            of_longest: exactness.of_longest,
        };
        minimise(&mut centre, curves, last, self.monitor)?;
        Ok(centre.into_system())
    }

    /// The objective after a pass.
    ///
    /// The delay that no message undercuts is not known, but what is certain grows with
    /// the offsets: hardly less than the least latency of all, which the centre makes as
    /// large as it can. Where there are [few](super::recorded) it is not certain at all.
    ///
    /// The scale is the lower quartile, over links, of the smallest slack: what holds a
    /// clock are its tight links, and many others may be loose. Where that is nothing or
    /// less the offsets are still far off, and a scale too small would only make the centre
    /// hard to find; and while it goes up and down from round to round, it is damped.
    ///
    /// The knee begins high, where no dependency pulls by much more than others. But as
    /// long as it is high, many loose ones outweigh the few tight, so it falls with each
    /// round: to where no clock can be read, or, where dependencies contradict each other,
    /// to a share of what they contradict by, since they would pull without bounds.
    fn objective(&self, survey: &Survey, before: Option<&Objective>) -> Objective {
        let fastest = survey.links.iter().map(|link| link.least);
        let mut slacks: Vec<f64> = fastest.filter(|it| it.is_finite()).collect();
        let least_of_all = survey.least();
        let recorded = &self.frame.recorded;
        let zero = if least_of_all.is_finite() && !recorded.sparse {
            let soonest = OPTIONS.soonest_ns * 1e-9 * self.setting.second;
            let fastest = shown_floor(&self.links, survey, soonest, self.setting.knee).max(0.0);
            Zero {
                least: OPTIONS.delay * fastest,
                fastest,
            }
        } else {
            Zero {
                least: 0.0,
                fastest: least_of_all.max(0.0),
            }
        };
        let least = zero.least;
        for slack in &mut slacks {
            *slack -= least;
        }
        slacks.sort_unstable_by(f64::total_cmp);
        let typical = slacks.get(slacks.len() / 4).copied().unwrap_or(0.0);
        for slack in &mut slacks {
            *slack = slack.abs();
        }
        let off = OPTIONS.off * median(&mut slacks).unwrap_or(0.0);
        let scale = recorded.scale(typical.max(off)).max(self.setting.knee);
        let scale = match before {
            Some(before) if least_of_all < 0.0 => (scale * before.barrier.scale).sqrt(),
            _ => scale,
        };
        let knee = match before {
            None => OPTIONS.knee * scale,
            Some(before) => OPTIONS.sharper * before.barrier.knee,
        };
        let knee = knee.max(OPTIONS.blunt * -least_of_all);
        let barrier = Barrier::new(scale, knee.max(self.setting.knee));
        // As long as offsets are far off, so are slacks.
        let weights = match before {
            None => vec![1.0; survey.links.len()],
            Some(_) => weights(&self.links, survey, zero, barrier, self.setting.knee),
        };
        Objective {
            least,
            barrier,
            weights,
            tightest: least_of_all - least,
        }
    }
}

impl Objective {
    /// The cost of the tightest dependencies.
    pub(super) fn cost(&self, survey: &Survey) -> f64 {
        let of = |(link, weight): (&Surveyed, &f64)| {
            let costs = link.tight().map(|it| self.barrier.at(it - self.least).0);
            weight * costs.sum::<f64>()
        };
        survey.links.iter().zip(&self.weights).map(of).sum()
    }

    /// True if it has the same minimum as another, where latencies below `finest` count for
    /// nothing.
    fn is_like(&self, before: &Self, finest: f64) -> bool {
        let delay = (self.least - before.least).abs();
        let weights = self.weights.iter().zip(&before.weights);
        let alike = |(now, before): (&f64, &f64)| (now / before - 1.0).abs() <= OPTIONS.same_weight;
        // No dependency notices the knee, or none would notice another.
        let above = self.tightest.min(before.tightest) >= before.barrier.knee;
        weights.into_iter().all(alike)
            && delay <= OPTIONS.same_delay * self.least.max(finest)
            && (above || self.barrier.knee >= OPTIONS.same_knee * before.barrier.knee)
    }
}

/// How many dependencies were active before a round, and how many it added.
struct Growth {
    known: usize,
    new: usize,
}

impl Growth {
    /// True if the dependencies that were added are not worth another round.
    fn are_few(&self) -> bool {
        self.new as f64 <= OPTIONS.new * self.known as f64
    }
}

/// Adds the tightest dependencies of a pass to the active ones of each link.
fn grow_all(active: &mut [Vec<u32>], survey: &Survey) -> Growth {
    let known = active.iter().map(Vec::len).sum();
    let both = active.par_iter_mut().zip(&survey.links);
    let new = both.map(|(active, link)| grow(active, link.positions()));
    Growth {
        known,
        new: new.sum(),
    }
}

/// Adds to a sorted list what it lacks of another; returns how many.
fn grow(active: &mut Vec<u32>, tight: Vec<u32>) -> usize {
    let before = active.len();
    active.extend(tight);
    active.sort_unstable();
    active.dedup();
    active.len() - before
}
