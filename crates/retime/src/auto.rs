//! The default pipeline: align, then repair.
//!
//! ```text
//!  recorded times --align-----> clocks that agree as well as can be told   align::align
//!                 --validate--> which processes share no clock after all   align::sharing
//!                 --rebase----> on the time of the clock that was chosen   estimate::Reference
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
//! clock with the usual control factor near 1; [`Start`] says so.
//!
//! What is enforced is the user's minimal delay, or else an eighth of the one
//! that [the aligned clocks show](crate::align::shortest_latency).
//!
//! Example: two ranks exchange messages that take 2 us; the second clock is 5 us
//! ahead. Back and forth tells so to a few ticks.
//!
//! ```
//! use retime::auto::{AutoOptions, auto};
//! use retime::causality::{Causality, CausalityOptions, EventNode};
//! use retime::{Grouping, MinimalDelay, Ticks};
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
//! let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! let clocks = Grouping::Auto.clocks(&trace.info, &causality);
//! let solution = auto(&causality, &trace.info, &clocks, &AutoOptions::default(), &()).unwrap();
//! let corrected = causality.retimed(&solution.correction, &()).unwrap();
//! let received = corrected.nodes().timestamp(EventNode(200)).0; // the second rank's first event
//! assert!(received.abs_diff(1_002_000) < 20, "{received}");
//! assert_eq!(solution.repair.direction, None); // nothing was left to repair
//! let Some(Ticks(shortest)) = solution.shortest else { panic!() };
//! assert!((1_980..=2_000).contains(&shortest));
//! assert_eq!(solution.delay, MinimalDelay::Uniform(Ticks(shortest / 8)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rayon::prelude::*;

use crate::align::{Alignment, Sharing, align, sharing};
use crate::causality::{Causality, EventNode, Instance, RetimingError};
use crate::clock::{ClockError, Cycle, Gamma};
use crate::correction::{Correction, CorrectionError, compose};
use crate::delay::MinimalDelay;
use crate::edges::Edges;
use crate::estimate::{BadEstimate, LearnedDelay, Reference, learn_minimal_delay};
use crate::grouping::{split_by_process, split_clocks};
use crate::repair::{RepairSummary, Repaired, repair, repair_with};
use retime_model::Clocks;
use retime_model::{Cancelled, Monitor};
use retime_model::{Ticks, TraceInfo};

/// What can be chosen.
#[derive(Clone, Debug, Default)]
pub struct AutoOptions {
    /// Whose time is the common one.
    pub reference: Reference,
    /// The minimal delay to enforce, if it is known.
    pub delay: Option<MinimalDelay>,
    /// Whether the clocks given are a guess, to be split where the trace refutes that
    /// locations share one.
    pub regroup: bool,
}

/// A trace without contradictions.
#[derive(Clone, Debug)]
pub struct AutoSolution {
    /// Alignment and repair in one. Its clocks are finer than the ones given
    /// where those were refuted.
    pub correction: Correction,
    /// What the repair started from.
    pub start: Start,
    /// What was enforced.
    pub delay: MinimalDelay,
    /// The minimal delay that the trace shows, if it shows any.
    pub shortest: Option<Ticks>,
    /// What the repair took.
    pub repair: RepairSummary,
}

/// What the repair started from.
#[derive(Clone, Debug)]
pub enum Start {
    /// Aligned clocks, on the time of the clock that was chosen.
    Aligned(Box<Alignment>),
    /// Recorded times, and why they were not aligned.
    Recorded(NotAligned),
}

/// Why a trace is not aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAligned {
    /// No dependency relates any two clocks.
    NoDependency,
    /// What was estimated makes no clock.
    BadEstimate(BadEstimate),
    /// Aligned times would not fit into 64 bits.
    TooFar,
    /// Violated dependencies would miss by more than they do as recorded; in
    /// sum, in ticks.
    Worse {
        /// As recorded.
        recorded: u128,
        /// After alignment.
        aligned: u128,
    },
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AutoError {
    /// The dependencies contradict each other, or the clocks that were given.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// The clock whose time was asked for is related to no other.
    #[error("the clock whose time was asked for is related to no other")]
    UnrelatedReference,
    /// The times that were found make no clock maps.
    #[error(transparent)]
    Correction(CorrectionError),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<ClockError> for AutoError {
    fn from(error: ClockError) -> Self {
        match error {
            ClockError::Cycle(cycle) => Self::Cycle(cycle),
            ClockError::Correction(reason) => Self::Correction(reason),
            ClockError::Cancelled(cancelled) => Self::Cancelled(cancelled),
        }
    }
}

impl From<CorrectionError> for AutoError {
    fn from(error: CorrectionError) -> Self {
        match error {
            CorrectionError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            reason => Self::Correction(reason),
        }
    }
}

/// Aligns and repairs a trace.
pub fn auto(
    causality: &Causality,
    info: &TraceInfo,
    clocks: &Clocks,
    options: &AutoOptions,
    monitor: &dyn Monitor,
) -> Result<AutoSolution, AutoError> {
    let work = Work {
        causality,
        info,
        options,
        monitor,
    };
    if !options.regroup {
        return work.solve(clocks);
    }
    let (mut clocks, aligned) = work.regrouped(clocks)?;
    let mut solved = work.of_aligned(&clocks, aligned);
    while let Err(AutoError::Cycle(cycle)) = solved {
        let Some(finer) = split_clocks(&clocks, info, causality, &cycle) else {
            return Err(AutoError::Cycle(cycle));
        };
        clocks = finer;
        solved = work.solve(&clocks);
    }
    solved
}

struct Work<'a> {
    causality: &'a Causality,
    info: &'a TraceInfo,
    options: &'a AutoOptions,
    monitor: &'a dyn Monitor,
}

/// A trace at aligned times, or why it has none.
type AlignedOrNot = Result<Aligned, NotAligned>;

/// A trace at aligned times.
struct Aligned {
    alignment: Alignment,
    correction: Correction,
    causality: Causality,
}

impl Work<'_> {
    /// The clocks, split where the trace shows that processes do not share one, and aligned.
    ///
    /// That processes of a node share its clock is what is usual, so it stands unless something
    /// speaks against it: dependencies stay violated, and far less of them if nodes are split,
    /// at first those only whose processes disagree if each is aligned for itself.
    fn regrouped(&self, clocks: &Clocks) -> Result<(Clocks, AlignedOrNot), AutoError> {
        let whole = self.align(clocks)?;
        let left = self.left(&whole, clocks);
        let processes = split_by_process(clocks, self.info, self.causality);
        let Some(processes) = processes.filter(|_| left > 0) else {
            return Ok((clocks.clone(), whole));
        };
        // One trace at other times is enough to hold.
        drop(whole);
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

    /// By how much dependencies are violated after alignment.
    fn left(&self, aligned: &AlignedOrNot, clocks: &Clocks) -> u128 {
        match aligned {
            Ok(aligned) => violated_by(&aligned.causality, clocks),
            Err(NotAligned::NoDependency) => 0,
            Err(_) => violated_by(self.causality, clocks),
        }
    }

    /// Who shares a clock by an alignment of each process for itself; `None` if nothing relates
    /// these.
    fn sharing(&self, clocks: &Clocks, processes: &Clocks) -> Result<Option<Sharing>, Cancelled> {
        let Some(anchor) = Reference::First.clock(self.causality, processes) else {
            return Ok(None);
        };
        let (info, monitor) = (self.info, self.monitor);
        let alignment = align(self.causality, processes, info.rate, anchor, monitor)?;
        let estimate = &alignment.estimate;
        sharing(info, self.causality, clocks, processes, estimate, monitor).map(Some)
    }

    fn solve(&self, clocks: &Clocks) -> Result<AutoSolution, AutoError> {
        let aligned = self.align(clocks)?;
        self.of_aligned(clocks, aligned)
    }

    fn of_aligned(
        &self,
        clocks: &Clocks,
        aligned: AlignedOrNot,
    ) -> Result<AutoSolution, AutoError> {
        let aligned = match aligned {
            Ok(aligned) => aligned,
            Err(reason) => return self.of_recorded(clocks, reason),
        };
        let left = violated_by(&aligned.causality, clocks);
        // Where nothing is left, nothing can have been less.
        if left > 0 {
            let recorded = violated_by(self.causality, clocks);
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

    fn align(&self, clocks: &Clocks) -> Result<AlignedOrNot, AutoError> {
        let reference = self.options.reference;
        let Some(anchor) = reference.clock(self.causality, clocks) else {
            return match reference {
                Reference::ClockOf(_) => Err(AutoError::UnrelatedReference),
                Reference::First | Reference::Mean => Ok(Err(NotAligned::NoDependency)),
            };
        };
        let mut alignment = align(self.causality, clocks, self.info.rate, anchor, self.monitor)?;
        let steady = self.steady(clocks, &alignment);
        if let Some(rebased) = reference.of(alignment.estimate.clone(), clocks, &steady) {
            alignment.estimate = rebased;
        }
        let edges = Edges::new(Vec::new(), Edges::extents(self.causality, clocks));
        let correction = alignment
            .estimate
            .correction(self.causality, clocks, &edges);
        let correction = match correction {
            Ok(correction) => correction,
            Err(bad) => return Ok(Err(NotAligned::BadEstimate(bad))),
        };
        Ok(match self.causality.retimed(&correction, self.monitor) {
            Ok(causality) => Ok(Aligned {
                alignment,
                correction,
                causality,
            }),
            Err(RetimingError::TooFar) => Err(NotAligned::TooFar),
            Err(RetimingError::Cancelled(cancelled)) => return Err(cancelled.into()),
        })
    }

    /// What clocks show, without those that were set: they are no part of a mean.
    fn steady(&self, clocks: &Clocks, alignment: &Alignment) -> Edges {
        let mut extents = Edges::extents(self.causality, clocks);
        let all = extents.clone();
        for step in &alignment.steps {
            if let Some(extent) = extents.get_mut(step.clock.as_usize()) {
                *extent = None;
            }
        }
        let any = extents.iter().any(Option::is_some);
        Edges::new(Vec::new(), if any { extents } else { all })
    }

    fn after_alignment(
        &self,
        clocks: &Clocks,
        aligned: Aligned,
    ) -> Result<AutoSolution, AutoError> {
        self.monitor.check()?;
        let learned = LearnedDelay::from_shortest(aligned.alignment.shortest);
        let delay = self.delay(learned);
        let Repaired {
            correction,
            summary,
        } = repair(&aligned.causality, clocks, &delay, self.monitor)?;
        let correction = if summary.direction.is_none() {
            aligned.correction
        } else {
            compose(
                &aligned.correction,
                &correction,
                self.causality,
                self.monitor,
            )?
        };
        Ok(AutoSolution {
            correction,
            start: Start::Aligned(Box::new(aligned.alignment)),
            delay,
            shortest: learned.half_round_trip,
            repair: summary,
        })
    }

    fn of_recorded(&self, clocks: &Clocks, reason: NotAligned) -> Result<AutoSolution, AutoError> {
        self.monitor.check()?;
        let learned = learn_minimal_delay(self.causality, clocks, self.monitor)?;
        let delay = self.delay(learned);
        let Repaired {
            correction,
            summary,
        } = repair_with(
            self.causality,
            clocks,
            &delay,
            Gamma::default(),
            self.monitor,
        )?;
        Ok(AutoSolution {
            correction,
            start: Start::Recorded(reason),
            delay,
            shortest: learned.half_round_trip,
            repair: summary,
        })
    }

    fn delay(&self, learned: LearnedDelay) -> MinimalDelay {
        let given = self.options.delay.clone();
        given.unwrap_or(MinimalDelay::Uniform(learned.enforced))
    }
}

/// By how much effects on another clock are stamped before their causes, in
/// sum; of an end of a collective the latest begin counts.
fn violated_by(causality: &Causality, clocks: &Clocks) -> u128 {
    let nodes = causality.nodes();
    let time = |node: EventNode| nodes.time(node).0;
    let early = |latency: i64| u128::from(latency.min(0).unsigned_abs());
    let message = |receive: EventNode| -> u128 {
        let Some(send) = causality.message_source(receive) else {
            return 0;
        };
        let clock = |node: EventNode| clocks.of(nodes.location(node));
        if clock(send) == clock(receive) {
            return 0;
        }
        early(time(receive) - time(send))
    };
    let of_location = |location: usize| nodes.of(location).map(message).sum::<u128>();
    let locations = (0..nodes.locations()).into_par_iter();
    let messages: u128 = locations.map(of_location).sum();
    let collective = |instance: Instance| {
        let mut sum = 0;
        let none = MinimalDelay::Uniform(Ticks(0));
        let add = |_, _, slack| sum += early(slack);
        causality.tightest_causes(instance, |it| clocks.of(it), &none, time, add);
        sum
    };
    let instances = causality.collectives().instances();
    let collectives: u128 = instances.into_par_iter().map(collective).sum();
    causality
        .share()
        .merged(messages + collectives, |a, b| a + b)
}
