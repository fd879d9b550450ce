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
use super::centre::{Centre, Terms};
use super::cost::Cost;
use super::curves::Curves;
use super::division::Division;
use super::frame::{Frame, FramedDependency};
use super::links::{Link, Links};
use super::newton::minimise;
use super::options::OPTIONS;
use super::survey::{Survey, Surveyed};
use super::weights::weights;
use retime_model::{Cancelled, Monitor};
use retime_numerics::cholesky::SparseCholesky;
use retime_numerics::median::median;
use retime_numerics::parallel;

/// How exactly the centre is found while it is not known yet what to aim at, and then,
/// as a share of the least slack.
const ROUGHLY: f64 = 1e-2;
const EXACTLY: f64 = 1e-6;

/// Properties of the trace besides its dependencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// The barrier's knee is never below this.
    pub(super) knee: f64,
    /// Ticks of a second.
    pub(super) second: f64,
}

/// The zero of slack, and the cost of having little.
#[derive(Clone, Debug)]
pub(super) struct Aim {
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
    /// The result of a pass over these dependencies.
    pub(super) survey: Survey,
    /// The costs for which they are the best.
    pub(super) aim: Aim,
}

/// Some dependencies, to find offsets from or to judge them by.
pub(super) struct Bench<'a> {
    pub(super) links: Arc<Links>,
    /// They as the common axis shows them, in the same order.
    seen: Vec<Vec<FramedDependency>>,
    frame: Frame,
    setting: Setting,
    monitor: &'a dyn Monitor,
}

impl<'a> Bench<'a> {
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
    pub(super) fn settle(
        &self,
        curves: &Curves,
        division: Division,
    ) -> Result<FoundOffsets, Cancelled> {
        let windows = self.windows(division.pieces);
        let mut curves = curves.refined(division.pieces);
        let mut survey = self.survey(&curves, windows);
        let mut active: Vec<Vec<u32>> = survey.positions();
        let mut aim = self.aim(&survey, None);
        let mut solver = None;
        for _ in 0..OPTIONS.rounds {
            solver = self.minimise(&active, &mut curves, &aim, division, ROUGHLY, solver)?;
            survey = self.survey(&curves, windows);
            let taken_in = take_in_all(&mut active, &survey);
            let next = self.aim(&survey, Some(&aim));
            let settled = next.is_like(&aim, self.setting.knee);
            aim = next;
            if settled && taken_in.are_few() {
                break;
            }
        }
        self.minimise(&active, &mut curves, &aim, division, EXACTLY, solver)?;
        Ok(FoundOffsets {
            division,
            survey: self.survey(&curves, windows),
            curves,
            aim,
        })
    }

    /// The cost of the tightest dependencies of each of so many windows, with the curves that suit
    /// an aim the best, looked for from some that are near.
    pub(super) fn least_cost(
        &self,
        curves: &Curves,
        division: Division,
        aim: &Aim,
        windows: usize,
    ) -> Result<f64, Cancelled> {
        let mut curves = curves.clone();
        let mut survey = self.survey(&curves, windows);
        let mut active = survey.positions();
        let mut solver = None;
        for _ in 0..OPTIONS.rounds {
            solver = self.minimise(&active, &mut curves, aim, division, ROUGHLY, solver)?;
            survey = self.survey(&curves, windows);
            if take_in_all(&mut active, &survey).are_few() {
                break;
            }
        }
        Ok(aim.cost(&survey))
    }

    /// The centre of some dependencies. Takes what solved the systems of others, and returns
    /// what solved those of these.
    fn minimise(
        &self,
        active: &[Vec<u32>],
        curves: &mut Curves,
        aim: &Aim,
        division: Division,
        exactness: f64,
        solver: Option<SparseCholesky>,
    ) -> Result<Option<SparseCholesky>, Cancelled> {
        self.monitor.check()?;
        let cost = Cost {
            least: aim.least,
            barrier: aim.barrier,
            weights: &aim.weights,
            tight: OPTIONS.tightest * self.windows(division.pieces),
            sigma: division.bend,
            drift: division.drift,
        };
        let terms = Terms {
            links: &self.links,
            seen: &self.seen,
            active,
        };
        let mut centre = Centre::new(terms, &self.frame, curves, cost, solver, self.monitor)?;
        // Nothing is known better than the slack of the tightest.
        let known = aim.tightest.min(aim.barrier.scale).max(aim.barrier.knee);
        minimise(&mut centre, curves, exactness * known, self.monitor)?;
        Ok(centre.into_solver())
    }

    /// The aim after a pass.
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
    fn aim(&self, survey: &Survey, before: Option<&Aim>) -> Aim {
        let fastest = survey.links.iter().map(|link| link.least);
        let mut slacks: Vec<f64> = fastest.filter(|it| it.is_finite()).collect();
        let least_of_all = survey.least();
        let recorded = &self.frame.recorded;
        let least = if least_of_all.is_finite() && !recorded.sparse {
            OPTIONS.delay * least_of_all.max(0.0)
        } else {
            0.0
        };
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
            Some(_) => weights(&self.links, survey, least, barrier, self.setting.knee),
        };
        Aim {
            least,
            barrier,
            weights,
            tightest: least_of_all - least,
        }
    }
}

impl Aim {
    /// The cost of the tightest dependencies.
    pub(super) fn cost(&self, survey: &Survey) -> f64 {
        let of = |(link, weight): (&Surveyed, &f64)| {
            let costs = link.tight().map(|it| self.barrier.at(it - self.least).0);
            weight * costs.sum::<f64>()
        };
        survey.links.iter().zip(&self.weights).map(of).sum()
    }

    /// True if it asks for the same as another, where latencies below `finest` count for
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

/// How many dependencies were known to be tight, and how many more are.
struct TakenIn {
    known: usize,
    new: usize,
}

impl TakenIn {
    /// True if they are not worth another round.
    fn are_few(&self) -> bool {
        self.new as f64 <= OPTIONS.new * self.known as f64
    }
}

/// Adds the tightest dependencies of a pass to those of each link that were so before.
fn take_in_all(active: &mut [Vec<u32>], survey: &Survey) -> TakenIn {
    let known = active.iter().map(Vec::len).sum();
    let both = active.par_iter_mut().zip(&survey.links);
    let new = both.map(|(active, link)| take_in(active, link.positions()));
    TakenIn {
        known,
        new: new.sum(),
    }
}

/// Adds to a sorted list what it lacks of another; returns how many.
fn take_in(active: &mut Vec<u32>, tight: Vec<u32>) -> usize {
    let before = active.len();
    active.extend(tight);
    active.sort_unstable();
    active.dedup();
    active.len() - before
}
