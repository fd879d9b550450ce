//! The methods: from a trace to a correction.
//!
//! ```text
//! recorded times --alignment--> clocks on one time --repair--> no dependency violated
//!                 an estimator                      a logical clock
//! ```
//!
//! A method has one of these parts or both. The repair sees the trace as the
//! alignment leaves it, and the correction is both in one: what came out can be
//! applied, saved and undone whatever it was made of.

mod alignment;
mod args;
mod auto;
mod compose;
mod controller;
mod given;
mod reference;
mod repair;
mod unsolved;

use std::fmt;

use clap::ValueEnum;
use retime::auto::NotAligned;
use retime::clock::{AmortizationRate, Gamma};
use retime::estimate::{PairMethod, Reference};
use retime::{Causality, Clocks, Correction, MinimalDelay, Ticks, TraceInfo};

pub(crate) use alignment::Aligned;
pub(crate) use args::MethodArgs;
pub(crate) use auto::describe_unaligned;
pub(crate) use controller::{ConstantsArgs, Controller, to_ticks};
pub(crate) use repair::Repaired;
pub(crate) use unsolved::Unsolved;

use crate::bounds::{DriftBound, Timed};
use crate::error::CliError;
use crate::load::Loaded;
use alignment::Alignment;
use repair::Repair;

/// A method by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// What suits most traces: clocks aligned by all dependencies, then the
    /// little that is left repaired where it is
    Auto,
    /// Controlled logical clock: local intervals stay nearly exact
    Clc,
    /// Simple logical clock: a clock that is ahead stands still
    Simple,
    /// Lamport's clock: times become counters, for the order of events alone
    Lamport,
    /// Linear interpolation between offsets that were measured during the run
    Interpolation,
    /// Duda's regression: a line through the messages with the reference
    Regression,
    /// Duda's convex hulls: a line between the messages there and back
    ConvexHull,
    /// Jézéquel's spanning tree: lines along the best-determined pairs of clocks
    SpanningTree,
    /// Hofmann's min/max: a line through the middles of sub-intervals
    MinMax,
    /// Hofmann and Hilgers: sub-intervals of all clocks, by shortest paths
    HofmannHilgers,
    /// The same extended for clocks of variable rate: piecewise lines, and
    /// messages in one direction
    Extended,
    /// Liu's pseudo-synchronisation: clocks shifted by the fastest messages from
    /// the reference, adjusted once
    PseudoSync,
    /// The same, adjusted until no message is violated
    PseudoSyncClosure,
    /// The correction that changes local intervals as little as can be
    Gentlest,
    /// The middle of what clocks that wander within --drift-bound leave open
    Optimal,
}

impl MethodName {
    /// As it is written on the command line.
    pub(crate) fn as_str(self) -> String {
        let name = self.to_possible_value();
        name.map_or_else(String::new, |it| it.get_name().to_owned())
    }

    /// Whether it estimates how clocks differ.
    pub(crate) fn is_estimator(self) -> bool {
        !matches!(self, Self::Auto | Self::Clc | Self::Simple | Self::Lamport)
    }
}

/// What follows an estimate, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RepairName {
    /// The controlled logical clock: no dependency stays violated
    Clc,
    /// Nothing: what the estimate alone gives
    Off,
}

/// How a spanning tree compares two clocks, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairsName {
    /// A line through their messages
    Regression,
    /// A line between the messages there and back
    ConvexHull,
}

impl From<PairsName> for PairMethod {
    fn from(name: PairsName) -> Self {
        match name {
            PairsName::Regression => Self::Regression,
            PairsName::ConvexHull => Self::ConvexHull,
        }
    }
}

/// What a method works on.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) info: &'a TraceInfo,
    pub(crate) causality: &'a Causality,
    pub(crate) clocks: &'a Clocks,
    pub(crate) delay: &'a MinimalDelay,
    /// Whether the minimal delay was given, not learned from recorded times.
    pub(crate) delay_is_known: bool,
    /// Whether the clocks are a guess, to be split where the trace refutes it.
    pub(crate) may_regroup: bool,
}

impl<'a> Input<'a> {
    pub(crate) fn timed(&self) -> Timed<'a> {
        Timed {
            rate: self.info.rate,
            causality: self.causality,
            clocks: self.clocks,
            estimate: None,
        }
    }
}

/// A method with its parameters in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    name: MethodName,
    plan: Plan,
}

/// What a method consists of.
#[derive(Clone, Debug)]
enum Plan {
    Auto(Reference),
    Repair(Repair),
    Align(Alignment, Option<Repair>),
}

/// What a method found.
pub(crate) struct Solution {
    /// Of recorded times.
    pub(crate) correction: Correction,
    /// What the estimator found, if there was one.
    pub(crate) aligned: Option<Aligned>,
    /// Why clocks were not aligned, where they would have been.
    pub(crate) unaligned: Option<NotAligned>,
    /// What the logical clock found, on the trace as aligned.
    pub(crate) repaired: Option<Repaired>,
    /// If it is another minimal delay than the one given.
    pub(crate) enforced: Option<Enforced>,
}

/// A minimal delay that a method told from aligned clocks.
pub(crate) struct Enforced {
    pub(crate) delay: MinimalDelay,
    /// The one that the aligned trace shows, if it shows any.
    pub(crate) shortest: Option<Ticks>,
}

impl Method {
    /// The method that these options of the command give.
    pub(crate) fn with_options(options: &str, loaded: &Loaded) -> Result<Self, CliError> {
        MethodArgs::of(options)?.resolve(loaded, DriftBound::default().0)
    }

    /// Runs the method over a trace.
    pub(crate) fn solve(&self, input: &Input<'_>) -> Result<Solution, Unsolved> {
        match &self.plan {
            Plan::Auto(reference) => auto::run(*reference, input),
            Plan::Repair(repair) => {
                let (correction, repaired) = repair.run(input)?;
                Ok(Solution::new(correction, None, Some(repaired)))
            }
            Plan::Align(alignment, None) => {
                let (correction, aligned) = alignment.run(input)?;
                Ok(Solution::new(correction, Some(aligned), None))
            }
            Plan::Align(alignment, Some(repair)) => repaired(alignment, repair, input),
        }
    }

    fn repair(&self) -> Option<&Repair> {
        match &self.plan {
            Plan::Auto(_) => None,
            Plan::Repair(repair) => Some(repair),
            Plan::Align(_, repair) => repair.as_ref(),
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> MethodName {
        self.name
    }

    /// Whether the clocks of the method are those of the trace.
    pub(crate) fn keeps_time(&self) -> bool {
        self.name != MethodName::Lamport
    }

    /// The largest control factor, if the method was given one.
    pub(crate) fn gamma_max(&self) -> Option<Gamma> {
        self.repair()?.gamma_max()
    }

    /// The rate of amortisation, if there is any.
    pub(crate) fn amortization(&self) -> Option<AmortizationRate> {
        self.repair()?.amortization()
    }
}

fn repaired(
    alignment: &Alignment,
    repair: &Repair,
    input: &Input<'_>,
) -> Result<Solution, Unsolved> {
    let (correction, aligned) = alignment.run(input)?;
    let run = |causality: &Causality| {
        repair.run(&Input {
            causality,
            ..*input
        })
    };
    let mut first = None;
    let correction = compose::followed(input, &correction, |causality| {
        let (found, repaired) = run(causality)?;
        first = Some(Repaired {
            times: None,
            ..repaired
        });
        Ok(found)
    })?;
    let again = |causality: &Causality| run(causality).map(|(found, _)| found);
    let correction = compose::settled(input, correction, again)?;
    Ok(Solution::new(correction, Some(aligned), first))
}

impl Solution {
    fn new(correction: Correction, aligned: Option<Aligned>, repaired: Option<Repaired>) -> Self {
        Self {
            correction,
            aligned,
            unaligned: None,
            repaired,
            enforced: None,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plan {
            Plan::Auto(_) => f.write_str("alignment, then local repair"),
            Plan::Repair(repair) => write!(f, "{repair}"),
            Plan::Align(alignment, Some(repair)) => write!(f, "{alignment}, then {repair}"),
            Plan::Align(alignment, None) => write!(f, "{alignment}"),
        }
    }
}
