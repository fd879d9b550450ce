//! Model selection: the stiffest clocks that the trace does not prove wrong.
//!
//! The rate of a quartz changes slowly: by some 0.01 to 0.1 ppm within a second, by
//! far more only where it is slewed, or where a machine migrates or sleeps. What
//! delays messages lasts too (a process that is descheduled, a busy network), and in
//! the middle between the bounds a clock that follows it looks as if it fitted better. So it is not asked
//! which clocks make messages the most *likely*, but which are *impossible*: under
//! clocks too stiff for the truth effects come before their causes, all over the run,
//! whatever the load; and load alone never makes a message too fast.
//!
//! Rates are taken for random walks that change by `q sqrt(t)` within a time `t`, for
//!
//! ```text
//! q = 0.01, 0.1, 1, 10, 100, 1000 ppm in a second
//! ```
//!
//! one after the other. The first is what clocks do. A larger one is tried while effects come
//! before their causes in more than a tenth of the windows of the run, for what is less
//! may be outliers; and it is taken if it leaves at most half as much of it, in sum.
//! A step that does not help does not end the search: a wave may need two.
//!
//! **Pieces** follow from that. Of such a clock the middle of a stretch `h` lies off the
//! straight line between its ends by
//!
//! ```text
//! q h^(3/2) / sqrt(48)
//! ```
//!
//! (the standard deviation of an integrated random walk whose ends are known), and that
//! shall be no more than a nanosecond.

use super::active_set::{Bench, Found, Setting};
use super::candidates::Candidates;
use super::curves::Curves;
use super::frame::Frame;
use super::latency::{Exchange, shortest};
use super::links::Links;
use super::options::OPTIONS;
use crate::edges::Source;
use retime_model::{Cancelled, Monitor};

/// How many families of clocks there are.
const STEPS: usize = OPTIONS.wander.len();

/// A family of clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Division {
    /// Straight pieces of each offset.
    pub(super) pieces: usize,
    /// By how much rates change from one piece to the next, as a fraction.
    pub(super) bend: f64,
}

impl Division {
    /// Clocks whose rates wander by `wander` in a second, as a fraction, for so many
    /// seconds; in no more than `finest` pieces.
    pub(super) fn of(wander: f64, seconds: f64, finest: usize) -> Self {
        let longest = (48_f64.sqrt() * OPTIONS.straight / wander).powf(2.0 / 3.0);
        let fit = |pieces: &usize| *pieces as f64 * longest >= seconds || *pieces >= finest;
        let pieces = OPTIONS.pieces.into_iter().find(fit).unwrap_or(finest);
        Self {
            pieces,
            bend: wander * (seconds / pieces as f64).sqrt(),
        }
    }
}

/// The finest division that so many dependencies of so many links allow.
pub(super) fn finest(dependencies: usize, links: usize, span: f64) -> Option<usize> {
    let allowed =
        |pieces: &usize| dependencies >= OPTIONS.fewest * links * pieces && span >= *pieces as f64;
    OPTIONS.pieces.into_iter().rfind(allowed)
}

/// What [`select`] goes by.
pub(super) struct Given<'a> {
    pub(super) frame: Frame,
    pub(super) setting: Setting,
    pub(super) monitor: &'a dyn Monitor,
}

/// Offsets, and the dependencies they follow.
pub(super) type Offsets<'a> = (Found, Bench<'a>);

impl<'a> Given<'a> {
    /// The offsets of clocks that do what clocks do.
    pub(super) fn stiffest<S: Source>(
        &self,
        candidates: &mut Candidates<'_, S>,
    ) -> Result<Offsets<'a>, Cancelled> {
        let [usual, ..] = self.divisions(candidates);
        let bench = self.bench(candidates, usual)?;
        let flat = Curves::flat(candidates.component().len(), usual.pieces, self.frame.span);
        let found = bench.settle(&flat, usual, soonest(&bench.links, &self.frame, &flat))?;
        Ok((found, bench))
    }

    /// The offsets of the stiffest clocks that are not proven wrong, from those of
    /// [the stiffest](Self::stiffest).
    pub(super) fn select<S: Source>(
        &self,
        candidates: &mut Candidates<'_, S>,
        (mut best, mut bench): Offsets<'a>,
    ) -> Result<Offsets<'a>, Cancelled> {
        let [_, more @ ..] = self.divisions(candidates);
        let mut wanders = false;
        for division in more {
            let soonest = soonest(&bench.links, &self.frame, &best.curves);
            let before = best.survey.contradictions(0.0);
            wanders |= before.are_proof();
            if !wanders && !before.are_proof() {
                break;
            }
            if !candidates.are_fine_enough(division.pieces) {
                bench = self.bench(candidates, division)?;
            }
            let found = bench.settle(&best.curves, division, soonest)?;
            let now = found.survey.contradictions(0.0);
            let firmer = found.survey.least() > OPTIONS.firmer * best.survey.least();
            if now.sum < OPTIONS.gain * before.sum || wanders && firmer {
                best = found;
            } else if !before.are_proof() {
                break;
            }
        }
        if !candidates.are_fine_enough(best.division.pieces) {
            bench = self.bench(candidates, best.division)?;
        }
        Ok((best, bench))
    }

    fn divisions<S: Source>(&self, candidates: &Candidates<'_, S>) -> [Division; STEPS] {
        let finest = candidates.finest().unwrap_or(1);
        let seconds = self.frame.span / self.setting.second;
        OPTIONS.wander.map(|it| Division::of(it, seconds, finest))
    }

    fn bench<S: Source>(
        &self,
        candidates: &mut Candidates<'_, S>,
        division: Division,
    ) -> Result<Bench<'a>, Cancelled> {
        let links = candidates.inside(division.pieces)?;
        Ok(Bench::new(links, &self.frame, self.setting, self.monitor))
    }
}

/// The least latency that is possible: half the minimal delay. That is told by round trips
/// within short windows, in which clocks cannot wander far.
fn soonest(links: &Links, frame: &Frame, curves: &Curves) -> f64 {
    let delay = shortest(&Exchange::of_links(links, frame, curves));
    OPTIONS.possible * delay.unwrap_or(0.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_short_as_rates_wander() {
        let pieces = |wander, seconds| Division::of(wander, seconds, 1024).pieces;
        // Straight for (sqrt(48) 1e-9 / 1e-7)^(2/3) = 0.169 s.
        assert_eq!(pieces(1e-7, 0.168), 1);
        assert_eq!(pieces(1e-7, 0.170), 4);
        assert_eq!(pieces(1e-7, 4.0 * 0.168), 4);
        assert_eq!(pieces(1e-5, 1.6), 256);
        assert_eq!(pieces(1e-4, 3_600.0), 1024);
        let few = Division::of(1e-7, 64.0, 16);
        assert_eq!((few.pieces, few.bend), (16, 2e-7));
    }
}
