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
//! one after the other. The first is what clocks do. A larger one is tried while effects
//! come before their causes in more than a tenth of the windows of the run, for what is
//! less may be outliers; and it is taken if it leaves less than half as much of it, in sum.
//! A step that does not help does not end the search: a wave may need two. Once it is proven that
//! clocks wander, a larger one is also taken if the least latency of all grows by a tenth:
//! then stiffness still forces messages to look faster than they are.
//!
//! **Pieces** follow from that. Of such a clock the middle of a stretch `h` lies off the
//! straight line between its ends by
//!
//! ```text
//! q h^(3/2) / sqrt(48)
//! ```
//!
//! (the standard deviation of an integrated random walk whose ends are known), and that
//! shall be no more than a nanosecond: a stretch of 0.8 s for the first `q`, of 8 ms for 10 ppm.

use super::active_set::{Bench, Found, Setting};
use super::candidates::Candidates;
use super::curves::Curves;
use super::frame::Frame;
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

/// What a selection goes by.
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
        Ok((bench.settle(&flat, usual)?, bench))
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
            let before = best.survey.contradictions(0.0);
            wanders |= before.are_proof();
            if !wanders {
                break;
            }
            if !candidates.are_fine_enough(division.pieces) {
                bench = self.bench(candidates, division)?;
            }
            let found = bench.settle(&best.curves, division)?;
            let now = found.survey.contradictions(0.0);
            let firmer = found.survey.least() > OPTIONS.firmer * best.survey.least();
            if now.sum < OPTIONS.gain * before.sum || firmer {
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
