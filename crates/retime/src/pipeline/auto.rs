//! The default method: align, then repair.
//!
//! ```text
//!  recorded times --align-----> clocks that agree as well as can be told   align::align
//!                 --by ends---> where dependencies leave that open         ends
//!                 --validate--> which processes share no clock after all   align::sharing
//!                 --rebase----> on the time of the clock that was chosen   estimate::Reference
//!                 --spread----> what clocks stamped while set back         set_back::spread
//!                 --repair----> no dependency violated                     repair::repair
//! ```
//!
//! Alignment follows how clocks differ without regard to single events, and is
//! a hundred times as accurate as any logical clock; but some dependencies stay
//! violated, where a stamp is wrong or a clock wandered too fast. The logical
//! clock violates none, and moves nothing where there is nothing to repair. The
//! result is both in one.
//!
//! *Never worse than the recording*: if clocks cannot be aligned, or if the
//! dependencies that are violated after alignment miss by more in sum than
//! before, the recorded times are repaired as they are, by a controlled logical
//! clock with the usual control factor near 1; [`NotAligned`] says so.
//!
//! What is enforced is the user's minimal delay, or else an eighth of the one
//! that [the aligned clocks show](crate::align::shortest_latency).
//!
//! Alignment is no [`Estimator`](super::Estimator): it walks over the dependencies itself,
//! in parallel and without a list of them, splits clocks that turn out to be several, and
//! tells more than an estimate, which the repair and the report go by.
//!
//! Example: two ranks exchange messages that take 2 us; the second clock is 5 us
//! ahead. Back and forth tells so to a few ticks.
//!
//! ```
//! use retime::pipeline::{Analysis, AnalysisOptions, Auto, Method};
//! use retime::{MinimalDelay, Ticks};
//! use retime_testing::trace;
//!
//! let (mut first, mut second) = (String::new(), String::new());
//! for i in 0..100 {
//!     let start = 1_000_000 + 50_000 * i;
//!     first += &format!("send 1 @{start}, receive 1 @{}, ", start + 11_000);
//!     second += &format!("receive 0 @{}, send 0 @{}, ", start + 7_000, start + 14_000);
//! }
//! let trace = trace(&format!("0 on 0: {first}\n1 on 1: {second}"))?;
//!
//! let analysis = Analysis::new(trace.info, trace.logs, AnalysisOptions::default(), &())?;
//! let solution = analysis.solve(&Method::new(&Auto), &())?;
//! let received = solution.times[200].0; // the second rank's first event
//! assert!(received.abs_diff(1_002_000) < 20, "{received}");
//! assert_eq!(solution.repaired.unwrap().direction, None); // nothing was left to repair
//! let enforced = solution.enforced.unwrap();
//! let Some(Ticks(shortest)) = enforced.shortest else { panic!() };
//! assert!((1_980..=2_000).contains(&shortest));
//! assert_eq!(enforced.delay, MinimalDelay::Uniform(Ticks(shortest / 8)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::algorithm::Algorithm;
use super::common_time::common_time;
use super::composition::settled;
use super::implausible::{RATE_DIFFERENCE, RateDifference};
use super::logical_clock::ClockKind;
use super::options::{Choice, Options};
use super::problem::{Found, Problem};
use super::solution::{Aligned, Enforced, NotAligned, Repaired};
use super::unsolved::Unsolved;
use super::violated::violated_by;
use crate::ends::{EndsEvidence, Observers, by_ends};
use crate::repair::{self, RepairSummary, repair, repair_with};
use crate::set_back::spread;
use crate::unbroken::{AlignedTrace, Demand};
use retime_alignment::{Alignment, Sharing, align, align_on_steady, sharing, shortest_of_trace};
use retime_causality::edges::Edges;
use retime_causality::{Causality, MinimalDelay, RetimingError};
use retime_clocks::estimate::{
    Estimate, LearnedDelay, Reference, but_for_ticks, learn_minimal_delay,
};
use retime_clocks::{split_by_process, split_clocks};
use retime_logical_clocks::{Gamma, compose};
use retime_model::{Cancelled, ClockId, Clocks, Correction, Ticks};

/// Clocks aligned by all dependencies, then the little that is left repaired where it is.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Algorithm for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn help(&self) -> &'static str {
        "What suits most traces: clocks aligned by all dependencies, then the little that is \
         left repaired where it is"
    }

    fn describe(&self, _: &Options) -> String {
        "alignment, then local repair".into()
    }

    fn choices(&self, _: &Options) -> Vec<Choice> {
        vec![Choice::Reference]
    }

    fn solve(&self, problem: &Problem<'_>, options: &Options) -> Result<Found, Unsolved> {
        let reference = options.reference;
        let solved = Work { problem, reference }.solve_regrouped()?;
        let clocks = solved.correction.clocks();
        let again = |causality: &Causality| {
            let repaired = repair(causality, clocks, &solved.delay, problem.monitor)?;
            Ok::<Correction, Unsolved>(repaired.correction)
        };
        let settling = &Problem {
            clocks,
            delay: &solved.delay,
            ..*problem
        };
        let correction = settled(settling, solved.correction.clone(), again)?;
        solved.found(correction, reference, problem)
    }

    /// Then there is nothing to align.
    fn where_clocks_agree(&self) -> Option<&'static dyn Algorithm> {
        Some(&ClockKind::Controlled)
    }
}

/// A trace without contradictions, but for those that a composition may leave.
struct Solved {
    /// Alignment and repair in one. Its clocks are finer than the ones given
    /// where those were refuted.
    correction: Correction,
    /// Aligned clocks, on the time of the clock that was chosen; or why recorded times were
    /// repaired.
    alignment: Result<Alignment, NotAligned>,
    /// The evidence of ends of operations about aligned clocks.
    ends: Option<EndsEvidence>,
    /// The minimal delay that was enforced, with the margin.
    delay: MinimalDelay,
    /// The one that the trace shows.
    shown: ShownDelay,
    repair: RepairSummary,
}

/// The minimal delay that a trace shows.
#[derive(Clone, Copy)]
struct ShownDelay {
    learned: LearnedDelay,
    /// True if aligned clocks show it, false if recorded times do.
    of_aligned_clocks: bool,
}

impl Solved {
    /// The result, with the correction that is settled.
    fn found(
        self,
        correction: Correction,
        reference: Reference,
        problem: &Problem<'_>,
    ) -> Result<Found, Unsolved> {
        let (aligned, unaligned) = match &self.alignment {
            Ok(alignment) => {
                let clocks = correction.clocks();
                let aligned = Aligned::by_all(alignment, reference, problem.causality, clocks)?;
                let ends = self.ends;
                (Some(Aligned { ends, ..aligned }), None)
            }
            Err(reason) => (None, Some(*reason)),
        };
        Ok(Found {
            correction,
            aligned,
            unaligned,
            repaired: Some(Repaired {
                jumps: self.repair.jumps,
                largest_jump: self.repair.largest_jump,
                direction: self.repair.direction,
                times: None,
            }),
            enforced: Some(Enforced {
                delay: self.delay.with_margin(Ticks(-problem.margin.0)),
                shortest: self.shown.learned.half_round_trip,
                of_aligned_clocks: self.shown.of_aligned_clocks,
            }),
        })
    }
}

struct Work<'a> {
    problem: &'a Problem<'a>,
    reference: Reference,
}

/// A trace at aligned times, or why it has none.
type AlignedOrNot = Result<AtAlignedTimes, NotAligned>;

/// A trace at aligned times.
struct AtAlignedTimes {
    alignment: Alignment,
    /// The evidence of ends of operations, if the alignment rests on it too.
    ends: Option<EndsEvidence>,
    correction: Correction,
    causality: Causality,
}

impl AtAlignedTimes {
    /// False if the rates of clocks would differ by more than those of any two clocks do: where few
    /// dependencies last for a short time, little moves a rate by much.
    fn is_plausible(&self) -> bool {
        let nodes = self.causality.nodes();
        let set = |clock: ClockId| {
            let own = self.alignment.steps.iter().filter(|it| it.clock == clock);
            let stamps = own
                .map(|it| Some(nodes.absolute(Ticks(it.after))?..nodes.absolute(Ticks(it.until))?));
            stamps.flatten().collect()
        };
        let rates = RateDifference::largest(&self.correction, set);
        rates.is_none_or(|it| it.refuse(RATE_DIFFERENCE).is_ok())
    }
}

impl Work<'_> {
    /// Aligns and repairs a trace. Clocks that are a guess are split until dependencies
    /// contradict them no more.
    fn solve_regrouped(&self) -> Result<Solved, Unsolved> {
        let Problem {
            info,
            causality,
            clocks,
            ..
        } = *self.problem;
        if !self.problem.may_regroup {
            return self.solve(clocks);
        }
        let (mut clocks, aligned) = self.regrouped(clocks)?;
        let mut solved = self.of_aligned(&clocks, aligned);
        while let Err(Unsolved::Cycle(cycle)) = solved {
            let Some(finer) = split_clocks(&clocks, info, causality, &cycle) else {
                return Err(Unsolved::Cycle(cycle));
            };
            clocks = finer;
            solved = self.solve(&clocks);
        }
        solved
    }

    /// The clocks, split where the trace shows that processes do not share one, and aligned.
    ///
    /// That processes of a node share its clock is what is usual, so it stands unless something
    /// speaks against it: dependencies stay violated, and far less of them if nodes are split,
    /// at first those only whose processes disagree if each is aligned for itself.
    fn regrouped(&self, clocks: &Clocks) -> Result<(Clocks, AlignedOrNot), Unsolved> {
        let whole = self.align(clocks)?;
        let processes = split_by_process(clocks, self.problem.info, self.problem.causality);
        let Some(processes) = processes else {
            return Ok((clocks.clone(), whole));
        };
        let left = self.left(&whole, clocks);
        if left == 0 {
            return Ok((clocks.clone(), whole));
        }
        if let Ok(aligned) = whole
            && let Some(mended) = self.mended(clocks, aligned)?
        {
            return Ok((clocks.clone(), Ok(mended)));
        }
        if let Some(sharing) = self.sharing(clocks, &processes)? {
            for finer in [sharing.unless_refuted, sharing.confirmed] {
                if finer == *clocks {
                    continue;
                }
                let apart = self.align(&finer)?;
                if self.left(&apart, &finer) < left / 2 {
                    return Ok((finer, apart));
                }
            }
        }
        Ok((clocks.clone(), self.align(clocks)?))
    }

    /// An alignment that leaves dependencies violated, moved as little as satisfies all; `None` if
    /// nothing does, or only what no clocks are like: where few dependencies last for a short
    /// time, little moves a rate by much.
    fn mended(
        &self,
        clocks: &Clocks,
        aligned: AtAlignedTimes,
    ) -> Result<Option<AtAlignedTimes>, Unsolved> {
        let AtAlignedTimes {
            alignment, ends, ..
        } = aligned;
        let delay = self.delay(self.learned(alignment.shortest, clocks)?);
        let estimate = self
            .aligned_trace(clocks, &alignment.estimate, &delay)
            .mended(Demand::All)?;
        let Some(estimate) = estimate else {
            return Ok(None);
        };
        let alignment = Alignment {
            estimate,
            ..alignment
        };
        let mended = self.at_times(clocks, alignment, ends)?;
        let satisfies_all = |it: &AtAlignedTimes| violated_by(&it.causality, clocks) == 0;
        Ok(mended
            .ok()
            .filter(|it| satisfies_all(it) && it.is_plausible()))
    }

    /// By how much dependencies are violated after alignment.
    fn left(&self, aligned: &AlignedOrNot, clocks: &Clocks) -> u128 {
        match aligned {
            Ok(aligned) => violated_by(&aligned.causality, clocks),
            Err(NotAligned::NoDependency) => 0,
            Err(_) => violated_by(self.problem.causality, clocks),
        }
    }

    /// Who shares a clock by an alignment of each process for itself; `None` if nothing relates
    /// these.
    fn sharing(&self, clocks: &Clocks, processes: &Clocks) -> Result<Option<Sharing>, Cancelled> {
        let Some(anchor) = Reference::First.clock(self.problem.causality, processes) else {
            return Ok(None);
        };
        let Problem {
            info,
            causality,
            monitor,
            ..
        } = *self.problem;
        let alignment = align(causality, processes, info.rate, anchor, monitor)?;
        let estimate = &alignment.estimate;
        sharing(info, causality, clocks, processes, estimate, monitor).map(Some)
    }

    fn solve(&self, clocks: &Clocks) -> Result<Solved, Unsolved> {
        let aligned = self.align(clocks)?;
        self.of_aligned(clocks, aligned)
    }

    fn of_aligned(&self, clocks: &Clocks, aligned: AlignedOrNot) -> Result<Solved, Unsolved> {
        let aligned = match aligned {
            Ok(aligned) => aligned,
            Err(reason) => return self.of_recorded(clocks, reason),
        };
        let left = violated_by(&aligned.causality, clocks);
        // Where nothing is left, nothing can have been less.
        if left > 0 {
            let recorded = violated_by(self.problem.causality, clocks);
            if left > recorded {
                let worse = NotAligned::Worse {
                    recorded,
                    aligned: left,
                };
                return self.of_recorded(clocks, worse);
            }
        }
        self.after_alignment(clocks, aligned)
    }

    fn align(&self, clocks: &Clocks) -> Result<AlignedOrNot, Unsolved> {
        let reference = self.reference;
        let Some(anchor) = reference.clock(self.problem.causality, clocks) else {
            return match reference {
                Reference::ClockOf(_) => Err(Unsolved::UnrelatedReference),
                Reference::Ensemble | Reference::First | Reference::Mean => {
                    Ok(Err(NotAligned::NoDependency))
                }
            };
        };
        let align = match reference {
            Reference::ClockOf(_) => align,
            Reference::Ensemble | Reference::First | Reference::Mean => align_on_steady,
        };
        let alignment = align(
            self.problem.causality,
            clocks,
            self.problem.info.rate,
            anchor,
            self.problem.monitor,
        )?;
        let Some((by_ends, ends)) = self.by_ends(clocks, &alignment)? else {
            return self.at_times(clocks, alignment, None);
        };
        let by_ends = self.at_times(clocks, by_ends, Some(ends))?;
        let is_plausible = by_ends.as_ref().is_ok_and(AtAlignedTimes::is_plausible);
        let left = self.left(&by_ends, clocks);
        if is_plausible && left == 0 {
            return Ok(by_ends);
        }
        let without = self.at_times(clocks, alignment, None)?;
        let is_better = is_plausible && self.left(&without, clocks) >= left;
        Ok(if is_better { by_ends } else { without })
    }

    /// An alignment with what ends of operations tell besides.
    ///
    /// How fast the fastest operation is shows only then: at first all that is demanded is that
    /// nothing is reversed.
    fn by_ends(
        &self,
        clocks: &Clocks,
        alignment: &Alignment,
    ) -> Result<Option<(Alignment, EndsEvidence)>, Cancelled> {
        let streams = &self.problem.info.streams;
        let observers = match streams.is_empty() {
            false => Observers::Streams(streams),
            true if alignment.is_loose => Observers::Threads,
            true => return Ok(None),
        };
        let estimate = &alignment.estimate;
        let none = MinimalDelay::Uniform(Ticks(0));
        let delay = if self.problem.delay_is_settled {
            self.problem.delay
        } else {
            &none
        };
        let trace = self.aligned_trace(clocks, estimate, delay);
        let Some((found, ends)) = by_ends(&trace, observers)? else {
            return Ok(None);
        };
        let shortest = shortest_of_trace(trace.edges(), &found)?;
        let delay = self.delay(self.learned(shortest, clocks)?);
        let (estimate, ends) = by_ends(&self.aligned_trace(clocks, estimate, &delay), observers)?
            .unwrap_or((found, ends));
        let by_ends = Alignment {
            estimate,
            shortest,
            ..alignment.clone()
        };
        Ok(Some((by_ends, ends)))
    }

    fn aligned_trace<'b>(
        &'b self,
        clocks: &'b Clocks,
        estimate: &'b Estimate,
        delay: &'b MinimalDelay,
    ) -> AlignedTrace<'b> {
        AlignedTrace {
            causality: self.problem.causality,
            clocks,
            estimate,
            delay,
            monitor: self.problem.monitor,
        }
    }

    /// The trace at the times of an alignment, on the time of the clock that was chosen.
    fn at_times(
        &self,
        clocks: &Clocks,
        mut alignment: Alignment,
        ends: Option<EndsEvidence>,
    ) -> Result<AlignedOrNot, Unsolved> {
        let extents = Edges::extents(self.problem.causality, clocks);
        if alignment.common.is_none()
            && let Some(change) = common_time(self.reference, &alignment, &extents)
            && let Some(rebased) = alignment.estimate.onto(&change)
        {
            alignment.estimate = rebased;
            alignment.common = Some(change);
        }
        let edges = Edges::new(Vec::new(), extents);
        let correction = alignment
            .estimate
            .correction(self.problem.causality, clocks, &edges);
        let correction = match correction {
            Ok(correction) => correction,
            Err(bad) => return Ok(Err(NotAligned::BadEstimate(bad))),
        };
        let causality = match self.retimed(&correction)? {
            Ok(causality) => causality,
            Err(reason) => return Ok(Err(reason)),
        };
        let aligned = AtAlignedTimes {
            alignment,
            ends,
            correction,
            causality,
        };
        self.spread(clocks, aligned)
    }

    /// The trace at corrected times.
    fn retimed(&self, correction: &Correction) -> Result<Result<Causality, NotAligned>, Cancelled> {
        let problem = self.problem;
        match problem.causality.retimed(correction, problem.monitor) {
            Ok(causality) => Ok(Ok(causality)),
            Err(RetimingError::TooFar) => Ok(Err(NotAligned::TooFar)),
            Err(RetimingError::Cancelled(cancelled)) => Err(cancelled),
        }
    }

    /// Puts what clocks stamped while they were set back where dependencies allow it.
    fn spread(&self, clocks: &Clocks, aligned: AtAlignedTimes) -> Result<AlignedOrNot, Unsolved> {
        if aligned.alignment.steps.is_empty() {
            return Ok(Ok(aligned));
        }
        let delay = self.delay(self.learned(aligned.alignment.shortest, clocks)?);
        let trace = self.aligned_trace(clocks, &aligned.alignment.estimate, &delay);
        let Some(correction) = spread(&trace, &aligned.causality, &aligned.correction)? else {
            return Ok(Ok(aligned));
        };
        let causality = self.retimed(&correction)?;
        Ok(causality.map(|causality| AtAlignedTimes {
            correction,
            causality,
            ..aligned
        }))
    }

    fn after_alignment(
        &self,
        clocks: &Clocks,
        aligned: AtAlignedTimes,
    ) -> Result<Solved, Unsolved> {
        self.problem.monitor.check()?;
        let shown = self.learned(aligned.alignment.shortest, clocks)?;
        let delay = self.delay(shown);
        let repair::RepairedTrace {
            correction,
            summary,
        } = repair(&aligned.causality, clocks, &delay, self.problem.monitor)?;
        let correction = if summary.direction.is_none() {
            aligned.correction
        } else {
            compose(
                &aligned.correction,
                &correction,
                self.problem.causality,
                self.problem.monitor,
            )?
        };
        Ok(Solved {
            correction,
            alignment: Ok(aligned.alignment),
            ends: aligned.ends,
            delay,
            shown,
            repair: summary,
        })
    }

    fn of_recorded(&self, clocks: &Clocks, reason: NotAligned) -> Result<Solved, Unsolved> {
        self.problem.monitor.check()?;
        let shown = self.learned_as_recorded(clocks)?;
        let delay = self.delay(shown);
        let repair::RepairedTrace {
            correction,
            summary,
        } = repair_with(
            self.problem.causality,
            clocks,
            &delay,
            Gamma::default(),
            self.problem.monitor,
        )?;
        Ok(Solved {
            correction,
            alignment: Err(reason),
            ends: None,
            delay,
            shown,
            repair: summary,
        })
    }

    /// The minimal delay that aligned clocks show. Where that is negative, an alignment does not follow its
    /// clocks, and says nothing; of recorded times each round trip is looked at for itself.
    fn learned(&self, shortest: Option<f64>, clocks: &Clocks) -> Result<ShownDelay, Cancelled> {
        let problem = self.problem;
        let shown = |mean| but_for_ticks(mean, problem.causality, clocks, problem.monitor);
        let shortest = shortest.map(shown).transpose()?;
        if shortest.is_some_and(|it| it < 0.0) {
            return self.learned_as_recorded(clocks);
        }
        Ok(ShownDelay {
            learned: LearnedDelay::from_shortest(shortest, problem.info.rate),
            of_aligned_clocks: true,
        })
    }

    fn learned_as_recorded(&self, clocks: &Clocks) -> Result<ShownDelay, Cancelled> {
        let problem = self.problem;
        let (causality, rate) = (problem.causality, problem.info.rate);
        Ok(ShownDelay {
            learned: learn_minimal_delay(causality, clocks, rate, problem.monitor)?,
            of_aligned_clocks: false,
        })
    }

    fn delay(&self, shown: ShownDelay) -> MinimalDelay {
        if self.problem.delay_is_settled {
            return self.problem.delay.clone();
        }
        MinimalDelay::Uniform(shown.learned.enforced).with_margin(self.problem.margin)
    }
}
