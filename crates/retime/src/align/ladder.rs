//! How fine: pieces are made shorter while that helps.
//!
//! Few pieces average over many dependencies; many follow a clock that wanders,
//! but noise as well. The trace itself tells which it is: the offsets are found
//! from every other stretch of time, and the barrier summed over the dependencies
//! left out (the tightest of each pair and window) says how well they are foretold.
//! The stretches are half a piece of the finest division long: what happens
//! at once is delayed together and foretells itself too well. A finer
//! division that only follows noise foretells them worse. Once the division is
//! chosen, so is the stiffness: rates that change less than assumed are better
//! held together. At the end all dependencies are used.
//!
//! Counting dependencies that are too fast and averaging the least latency of all
//! pairs, as one might do instead, is misled where many pairs have but a few loose
//! dependencies, as in collectives: any freedom raises that mean. A division
//! that does not help does not end the search: two pieces per wave are no better
//! than none.

use crate::edges::Edge;

use super::active::Survey;
use super::barrier::Barrier;
use super::centre::Centre;
use super::curves::Curves;
use super::frame::Frame;
use super::lines::median;
use super::links::Links;
use super::newton::minimise;

/// The divisions tried.
const PIECES: [usize; 5] = [4, 16, 64, 256, 1024];
/// A division needs so many dependencies of each pair in each piece, on average.
const FEWEST: usize = 8;
/// How many divisions in a row may fail to help.
const PATIENCE: usize = 2;
/// What a single dependency may add to the sum: a few defective ones decide nothing.
const MOST: f64 = 1.0;
/// What helps lowers the sum to this at least.
const GAIN: f64 = 0.99;
/// The tightest dependencies are looked for in at least so many windows.
const WINDOWS: usize = 64;
/// How often new ones are taken in, and what share of new ones is no more
/// worth it.
const ROUNDS: usize = 8;
const NEW: f64 = 1e-3;
/// Where the barrier's parabola begins, in scales.
const KNEE: f64 = 0.05;
/// How exactly the centre is found, in scales.
const TOLERANCE: f64 = 1e-8;
/// By how much rates change from piece to piece, to begin with.
const SIGMA: f64 = 1e-5;
/// Smaller ones that are tried.
const SIGMAS: [f64; 3] = [1e-6, 1e-7, 1e-8];

/// What the ladder needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Slack is latency less this.
    pub(super) least: f64,
    /// The barrier's knee is never below this.
    pub(super) knee: f64,
}

/// Offsets found from some dependencies.
struct Found {
    curves: Curves,
    barrier: Barrier,
    survey: Survey,
}

/// The ladder over some dependencies.
struct Ladder<'a> {
    links: &'a Links<'a>,
    frame: &'a Frame,
    setting: Setting,
}

/// The offsets with as many pieces as help, and at least those of `start`; and
/// what a pass over all dependencies finds then.
pub(super) fn climb(
    links: &Links<'_>,
    frame: &Frame,
    start: Curves,
    setting: Setting,
) -> (Curves, Survey) {
    let allowed = |pieces: &usize| {
        links.len() >= FEWEST * links.list().len() * pieces && frame.span >= *pieces as f64
    };
    let finest = PIECES.into_iter().filter(allowed).next_back();
    let (curves, sigma) = match finest {
        Some(finest) => {
            let blocks = (2 * finest) as f64 / frame.span;
            let even = |edge: &Edge| (frame.see(edge).sent * blocks) as usize % 2 == 0;
            let (even, odd) = links.split(even);
            Ladder::new(&even, frame, setting).choose(&odd, finest, start)
        }
        None => (start, SIGMA),
    };
    let Found { curves, survey, .. } = Ladder::new(links, frame, setting).settle(curves, sigma);
    (curves, survey)
}

impl<'a> Ladder<'a> {
    fn new(links: &'a Links<'a>, frame: &'a Frame, setting: Setting) -> Self {
        Self {
            links,
            frame,
            setting,
        }
    }

    /// Division and stiffness that foretell the dependencies of `others` best.
    fn choose(&self, others: &Links<'_>, finest: usize, start: Curves) -> (Curves, f64) {
        let others = Ladder::new(others, self.frame, self.setting);
        let mut best = self.settle(start, SIGMA).curves;
        let mut failures = 0;
        let coarsest = best.pieces;
        for pieces in PIECES.into_iter().filter(|&it| it > coarsest) {
            if failures > PATIENCE || pieces > finest {
                break;
            }
            let finer = self.settle(best.refined(pieces), SIGMA);
            if others.prefers(&finer, &best) {
                best = finer.curves;
                failures = 0;
            } else {
                failures += 1;
            }
        }
        let mut chosen = SIGMA;
        for sigma in SIGMAS {
            if best.pieces == 1 {
                break;
            }
            let stiffer = self.settle(best.clone(), sigma);
            if !others.prefers(&stiffer, &best) {
                break;
            }
            (best, chosen) = (stiffer.curves, sigma);
        }
        (best, chosen)
    }

    /// Whether new offsets foretell these dependencies better than old ones.
    fn prefers(&self, new: &Found, old: &Curves) -> bool {
        let windows = new.survey.windows;
        let sum = |curves: &Curves| {
            let survey = Survey::new(self.links, self.frame, curves, windows);
            let slacks = survey.latencies().map(|it| it - self.setting.least);
            slacks
                .map(|slack| new.barrier.at(slack).0.min(MOST))
                .sum::<f64>()
        };
        sum(&new.curves) < GAIN * sum(old)
    }

    /// Finds the centre, taking in dependencies until hardly any new one is tight.
    fn settle(&self, mut curves: Curves, sigma: f64) -> Found {
        let windows = curves.pieces.max(WINDOWS);
        let survey = |curves: &Curves| Survey::new(self.links, self.frame, curves, windows);
        let mut survey_now = survey(&curves);
        let mut active: Vec<Vec<u32>> = survey_now.positions().collect();
        let mut barrier = self.barrier(&survey_now);
        for _ in 0..ROUNDS {
            let least = self.setting.least;
            let centre = Centre::new(
                self.links, self.frame, &active, &curves, least, barrier, sigma,
            );
            minimise(&centre, &mut curves, TOLERANCE * barrier.scale);
            survey_now = survey(&curves);
            let known: usize = active.iter().map(Vec::len).sum();
            let both = active.iter_mut().zip(survey_now.positions());
            let new: usize = both.map(|(active, tight)| take_in(active, tight)).sum();
            if new as f64 <= NEW * known as f64 {
                break;
            }
            barrier = self.barrier(&survey_now);
        }
        Found {
            curves,
            barrier,
            survey: survey_now,
        }
    }

    /// The scale is the median, over windows and clocks, of the smallest slack.
    fn barrier(&self, survey: &Survey) -> Barrier {
        let mut least = survey.by_clock(self.links);
        let scale = median(&mut least).map_or(0.0, |it| it - self.setting.least);
        let scale = scale.max(self.setting.knee);
        Barrier::new(scale, self.setting.knee.max(KNEE * scale))
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
