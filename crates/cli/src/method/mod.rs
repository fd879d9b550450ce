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
mod controller;
mod given;
mod reference;
mod repair;
mod unsolved;

use std::fmt;

use clap::ValueEnum;
use retime::causality::check;
use retime::clock::{AmortizationRate, Gamma};
use retime::estimate::PairMethod;
use retime::{Causality, Clocks, Correction, MinimalDelay, TraceInfo};

pub(crate) use alignment::Aligned;
pub(crate) use args::MethodArgs;
pub(crate) use controller::{ConstantsArgs, Controller, to_ticks};
pub(crate) use repair::Repaired;
pub(crate) use unsolved::Unsolved;

use crate::bounds::{DriftBound, Timed};
use alignment::Alignment;
use repair::Repair;

/// How often a repair is repeated at most.
const REPAIRS: usize = 8;

/// A method by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// Controlled logical clock: local intervals stay nearly exact
    Clc,
    /// Simple logical clock: a clock that is ahead stands still
    Simple,
    /// Lamport's clock: times become counters, for the order of events alone
    Lamport,
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
        !matches!(self, Self::Clc | Self::Simple | Self::Lamport)
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
    pub(crate) causality: &'a Causality,
    pub(crate) clocks: &'a Clocks,
    pub(crate) delay: &'a MinimalDelay,
}

impl<'a> Input<'a> {
    fn timed(&self) -> Timed<'a> {
        Timed {
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
    alignment: Option<Alignment>,
    repair: Option<Repair>,
}

/// What a method found.
pub(crate) struct Solution {
    /// Of recorded times.
    pub(crate) correction: Correction,
    /// What the estimator found, if there was one.
    pub(crate) aligned: Option<Aligned>,
    /// What the logical clock found, on the trace as aligned.
    pub(crate) repaired: Option<Repaired>,
}

impl Method {
    /// The method of this name as it is without further options.
    #[allow(dead_code, reason = "for the comparison of methods")]
    pub(crate) fn named(
        name: MethodName,
        info: &TraceInfo,
    ) -> Result<Self, crate::error::CliError> {
        MethodArgs::defaults(name)?.resolve(info, DriftBound::default().0)
    }

    /// Runs the method over a trace. Which clocks it has is taken as given.
    pub(crate) fn solve(&self, input: &Input<'_>) -> Result<Solution, Unsolved> {
        let Some(alignment) = &self.alignment else {
            return self.repair_alone(input);
        };
        let aligned = alignment.run(input)?;
        let Some(repair) = &self.repair else {
            return Ok(Solution {
                correction: aligned.correction.clone(),
                aligned: Some(aligned),
                repaired: None,
            });
        };
        let (correction, repaired) = repair_aligned(repair, input, &aligned.correction)?;
        Ok(Solution {
            correction,
            aligned: Some(aligned),
            repaired: Some(repaired),
        })
    }

    fn repair_alone(&self, input: &Input<'_>) -> Result<Solution, Unsolved> {
        let repaired = self.repair.as_ref().map(|repair| repair.run(input));
        let repaired = repaired.transpose()?;
        let unchanged = || Correction::new(input.clocks.clone(), Vec::new());
        Ok(Solution {
            correction: repaired
                .as_ref()
                .map_or_else(unchanged, |it| it.correction.clone()),
            aligned: None,
            repaired,
        })
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
        self.repair.as_ref()?.gamma_max()
    }

    /// The rate of amortisation, if there is any.
    pub(crate) fn amortization(&self) -> Option<AmortizationRate> {
        self.repair.as_ref()?.amortization()
    }
}

/// Repairs a trace as aligned; returns both corrections in one, and what the
/// repair took. Where locations share a clock the composition may make an event
/// wait for another that is stamped earlier (see [`Correction::then`]); what
/// that violates is repaired again.
fn repair_aligned(
    repair: &Repair,
    input: &Input<'_>,
    aligned: &Correction,
) -> Result<(Correction, Repaired), Unsolved> {
    let Input { clocks, delay, .. } = *input;
    let retimed = |by: &Correction| input.causality.retimed(by).ok_or(Unsolved::TooFar);
    let after = |by: &Correction, causality: &Causality| {
        let repaired = repair.run(&Input {
            causality,
            ..*input
        })?;
        let both = by.then(&repaired.correction, input.causality);
        Ok::<_, Unsolved>((both.ok_or(Unsolved::TooFar)?, repaired))
    };
    let (mut correction, repaired) = after(aligned, &retimed(aligned)?)?;
    if clocks.len() < input.causality.nodes().locations() {
        for _ in 1..REPAIRS {
            let now = retimed(&correction)?;
            if check(&now, clocks, delay, now.nodes().timestamps()).short() == 0 {
                break;
            }
            correction = after(&correction, &now)?.0;
        }
    }
    let repaired = Repaired {
        times: None,
        ..repaired
    };
    Ok((correction, repaired))
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.alignment, &self.repair) {
            (Some(alignment), Some(repair)) => write!(f, "{alignment}, then {repair}"),
            (Some(alignment), None) => write!(f, "{alignment}"),
            (None, Some(repair)) => write!(f, "{repair}"),
            (None, None) => f.write_str("none"),
        }
    }
}
