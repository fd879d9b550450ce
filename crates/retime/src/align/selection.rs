//! Model selection: pieces are made shorter while that helps.
//!
//! Few pieces average over many dependencies; many follow a clock that wanders,
//! but noise as well. The trace itself tells which it is: the offsets are found
//! from every other stretch of time, and the barrier summed over the dependencies
//! left out (the tightest of each pair and window) says how well they are foretold.
//! The stretches are half a piece of the finest division long: what happens
//! at once is delayed together and foretells itself too well. A finer
//! division that only follows noise foretells them worse. Once the division is
//! chosen, so is the stiffness: rates that change less than assumed are better
//! held together, and where it makes no difference too. At the end all dependencies are used.
//!
//! Counting dependencies that are too fast and averaging the least latency of all
//! pairs, as one might do instead, is misled where many pairs have but a few loose
//! dependencies, as in collectives: any freedom raises that mean. A division
//! that does not help does not end the search: two pieces per wave are no better
//! than none.

use super::active_set::{Bench, Found, Setting, Survey};
use super::candidates::Candidates;
use super::curves::Curves;
use super::frame::Frame;
use super::options::OPTIONS;
use crate::edges::Source;
use retime_model::{Cancelled, Monitor};

/// How exactly the centre is found to decide, and in the end, in scales.
const ROUGHLY: f64 = 1e-2;
const EXACTLY: f64 = 1e-8;

/// The finest division that so many dependencies of so many links allow.
pub(super) fn finest(dependencies: usize, links: usize, span: f64) -> Option<usize> {
    let allowed =
        |pieces: &usize| dependencies >= OPTIONS.fewest * links * pieces && span >= *pieces as f64;
    OPTIONS.pieces.into_iter().rfind(allowed)
}

/// The offsets with as many pieces as help, and at least those of `start`.
pub(super) fn select<'a, S: Source>(
    candidates: &mut Candidates<'_, S>,
    frame: &'a Frame,
    start: Curves,
    setting: Setting,
    monitor: &'a dyn Monitor,
) -> Result<(Found, Bench<'a>), Cancelled> {
    let (curves, sigma) = match candidates.finest() {
        Some(finest) => {
            let [own, others] = candidates.halves(start.pieces)?;
            let search = Search {
                own: Bench::new(own, frame, setting, monitor),
                others: Bench::new(others, frame, setting, monitor),
                candidates,
                frame,
                setting,
                monitor,
            };
            search.choose(finest, start)?
        }
        None => (start, OPTIONS.sigma),
    };
    let bench = Bench::new(candidates.inside(curves.pieces)?, frame, setting, monitor);
    let start = bench.start(&bench.survey(&curves, bench.windows(curves.pieces)));
    let found = bench.settle(curves, start, sigma, EXACTLY)?;
    Ok((found, bench))
}

/// Offsets are found from some dependencies and judged by others.
struct Search<'a, 'b, S> {
    own: Bench<'a>,
    others: Bench<'a>,
    candidates: &'a mut Candidates<'b, S>,
    frame: &'a Frame,
    setting: Setting,
    monitor: &'a dyn Monitor,
}

/// The best so far, and what the others have of it.
struct Best {
    found: Found,
    others: Survey,
}

impl<S: Source> Search<'_, '_, S> {
    /// Division and stiffness that foretell the other dependencies best.
    fn choose(mut self, finest: usize, start: Curves) -> Result<(Curves, f64), Cancelled> {
        let coarsest = start.pieces;
        let survey = self.own.survey(&start, self.own.windows(coarsest));
        let found = self
            .own
            .settle(start, self.own.start(&survey), OPTIONS.sigma, ROUGHLY)?;
        let mut best = Best {
            others: self.others.survey(&found.curves, found.survey.windows),
            found,
        };
        let mut failures = 0;
        for pieces in OPTIONS.pieces.into_iter().filter(|&it| it > coarsest) {
            if failures > OPTIONS.patience || pieces > finest {
                break;
            }
            if self.improve(&mut best, pieces, OPTIONS.sigma, OPTIONS.gain)? {
                failures = 0;
            } else {
                failures += 1;
            }
        }
        let mut chosen = OPTIONS.sigma;
        let pieces = best.found.curves.pieces;
        for sigma in OPTIONS.sigmas {
            if pieces == 1 || !self.improve(&mut best, pieces, sigma, OPTIONS.stiffer)? {
                break;
            }
            chosen = sigma;
        }
        Ok((best.found.curves, chosen))
    }

    /// Takes another division or stiffness if it brings the sum below `gain` of what it
    /// was.
    fn improve(
        &mut self,
        best: &mut Best,
        pieces: usize,
        sigma: f64,
        gain: f64,
    ) -> Result<bool, Cancelled> {
        self.refine(pieces)?;
        let windows = self.own.windows(pieces);
        let curves = best.found.curves.refined(pieces);
        if best.found.survey.windows != windows {
            best.found.survey = self.own.survey(&curves, windows);
            best.others = self.others.survey(&curves, windows);
        }
        let start = self.own.start(&best.found.survey);
        let found = self.own.settle(curves, start, sigma, ROUGHLY)?;
        let others = self.others.survey(&found.curves, windows);
        let sum = |others: &Survey| {
            let slacks = self.others.slacks(others);
            let costs = slacks.map(|it| found.barrier.at(it).0.min(OPTIONS.most));
            costs.sum::<f64>()
        };
        let better = sum(&others) < gain * sum(&best.others);
        if better {
            *best = Best { found, others };
        }
        Ok(better)
    }

    /// Sees to it that dependencies are known as finely as so many pieces need.
    fn refine(&mut self, pieces: usize) -> Result<(), Cancelled> {
        if self.candidates.are_fine_enough(pieces) {
            return Ok(());
        }
        let [own, others] = self.candidates.halves(pieces)?;
        self.own = Bench::new(own, self.frame, self.setting, self.monitor);
        self.others = Bench::new(others, self.frame, self.setting, self.monitor);
        Ok(())
    }
}
