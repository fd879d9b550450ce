//! A method with its parameters: from a trace to a correction.
//!
//! ```text
//! recorded times --alignment--> clocks on one time --repair--> no dependency violated
//!                 an estimator                      a logical clock
//! ```
//!
//! A method has one of these parts or both. The repair sees the trace as the
//! alignment leaves it, and the correction is both in one: what came out can be
//! applied, saved and undone whatever it was made of.

use std::fmt;

use super::composition::{followed, settled};
use super::estimator::{Estimator, MeasuredOffsets, align};
use super::logical_clock::{ClockKind, LogicalClock, Repaired};
use super::registry::MethodName;
use super::solution::{Aligned, Enforced};
use super::unsolved::Unsolved;
use crate::auto::{AutoOptions, NotAligned, Start, auto};
use crate::causality::Causality;
use crate::clock::{AmortizationRate, Gamma};
use crate::correction::Correction;
use crate::delay::MinimalDelay;
use crate::estimate::{Extended, PairMethod, Reference};
use crate::repair::repair;
use retime_model::Clocks;
use retime_model::{Monitor, TraceInfo};

/// A method with its parameters.
///
/// ```
/// use retime::estimate::Reference;
/// use retime::pipeline::{Method, MethodName};
/// let method = Method::new(MethodName::SpanningTree).by(Reference::Mean);
/// assert_eq!(method.to_string(), "spanning tree of convex hulls, then controlled logical clock");
/// assert_eq!(method.repaired_by(None).to_string(), "spanning tree of convex hulls");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    name: MethodName,
    reference: Reference,
    plan: Plan,
}

/// What a method consists of.
#[derive(Clone, Debug, PartialEq)]
enum Plan {
    Auto,
    Clock(LogicalClock),
    Estimate(Estimator, Option<LogicalClock>),
}

/// What a method works on.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) info: &'a TraceInfo,
    pub(super) causality: &'a Causality,
    pub(super) clocks: &'a Clocks,
    pub(super) delay: &'a MinimalDelay,
    /// Whether the minimal delay was given, not learned from recorded times.
    pub(super) delay_is_given: bool,
    /// Whether the clocks are a guess, to be split where the trace refutes it.
    pub(super) may_regroup: bool,
    pub(super) monitor: &'a dyn Monitor,
}

/// What a method found, before it is checked.
pub(super) struct Found {
    pub(super) correction: Correction,
    pub(super) aligned: Option<Aligned>,
    pub(super) unaligned: Option<NotAligned>,
    pub(super) repaired: Option<Repaired>,
    pub(super) enforced: Option<Enforced>,
}

impl Default for Method {
    fn default() -> Self {
        Self::new(MethodName::default())
    }
}

impl Method {
    /// The method of a name with its usual parameters; estimators are followed by the
    /// controlled logical clock.
    pub fn new(name: MethodName) -> Self {
        use MethodName as M;
        let estimator = match name {
            M::Auto => return Self::of(name, Plan::Auto),
            M::Clc => return Self::clock(LogicalClock::of_kind(ClockKind::Controlled)),
            M::Simple => return Self::clock(LogicalClock::of_kind(ClockKind::Simple)),
            M::Lamport => return Self::clock(LogicalClock::of_kind(ClockKind::Lamport)),
            M::Interpolation => Estimator::Interpolation(MeasuredOffsets::default()),
            M::Regression => Estimator::Regression,
            M::ConvexHull => Estimator::ConvexHull,
            M::SpanningTree => Estimator::SpanningTree(PairMethod::ConvexHull),
            M::MinMax => Estimator::MinMax { intervals: None },
            M::HofmannHilgers => Estimator::HofmannHilgers { intervals: None },
            M::Extended => Estimator::Extended(Extended::default()),
            M::PseudoSync => Estimator::PseudoSync { closure: false },
            M::PseudoSyncClosure => Estimator::PseudoSync { closure: true },
            M::Gentlest => Estimator::Gentlest,
            M::Optimal => Estimator::Optimal {
                drift: Extended::default().drift,
            },
        };
        Self::estimate(estimator)
    }

    /// A logical clock with parameters of the caller's.
    pub fn clock(clock: LogicalClock) -> Self {
        let name = match clock.kind {
            ClockKind::Controlled => MethodName::Clc,
            ClockKind::Simple => MethodName::Simple,
            ClockKind::Lamport => MethodName::Lamport,
        };
        Self::of(name, Plan::Clock(clock))
    }

    /// An estimator with parameters of the caller's, followed by the controlled
    /// logical clock.
    pub fn estimate(estimator: Estimator) -> Self {
        let name = match estimator {
            Estimator::Interpolation(_) => MethodName::Interpolation,
            Estimator::Regression => MethodName::Regression,
            Estimator::ConvexHull => MethodName::ConvexHull,
            Estimator::SpanningTree(_) => MethodName::SpanningTree,
            Estimator::MinMax { .. } => MethodName::MinMax,
            Estimator::HofmannHilgers { .. } => MethodName::HofmannHilgers,
            Estimator::Extended(_) => MethodName::Extended,
            Estimator::PseudoSync { closure: false } => MethodName::PseudoSync,
            Estimator::PseudoSync { closure: true } => MethodName::PseudoSyncClosure,
            Estimator::Gentlest => MethodName::Gentlest,
            Estimator::Optimal { .. } => MethodName::Optimal,
        };
        let clock = LogicalClock::default();
        Self::of(name, Plan::Estimate(estimator, Some(clock)))
    }

    fn of(name: MethodName, plan: Plan) -> Self {
        Self {
            name,
            reference: Reference::First,
            plan,
        }
    }

    /// With another clock as the one that is right. Logical clocks have none.
    #[must_use]
    pub fn by(self, reference: Reference) -> Self {
        Self { reference, ..self }
    }

    /// Of an estimator: followed by this logical clock, or by none.
    #[must_use]
    pub fn repaired_by(mut self, clock: Option<LogicalClock>) -> Self {
        if let Plan::Estimate(_, after) = &mut self.plan {
            *after = clock;
        }
        self
    }

    /// Its name.
    pub const fn name(&self) -> MethodName {
        self.name
    }

    /// The logical clock that takes part, if one with parameters does.
    pub const fn logical_clock(&self) -> Option<&LogicalClock> {
        match &self.plan {
            Plan::Auto => None,
            Plan::Clock(clock) => Some(clock),
            Plan::Estimate(_, clock) => clock.as_ref(),
        }
    }

    /// The largest control factor, if the method was given one.
    pub fn gamma_max(&self) -> Option<Gamma> {
        self.logical_clock()?.gamma_max()
    }

    /// The rate of amortisation, if there is any.
    pub fn amortization(&self) -> Option<AmortizationRate> {
        self.logical_clock()?.amortization()
    }

    /// Whether it is the default.
    pub(super) const fn is_auto(&self) -> bool {
        matches!(self.plan, Plan::Auto)
    }

    /// Whose time is the common one.
    pub(super) const fn reference(&self) -> Reference {
        self.reference
    }

    /// The logical clock that is all of the method, if one is.
    pub(super) const fn clock_alone(&self) -> Option<&LogicalClock> {
        match &self.plan {
            Plan::Clock(clock) => Some(clock),
            Plan::Auto | Plan::Estimate(..) => None,
        }
    }

    /// Runs the method over a trace.
    pub(super) fn solve(&self, input: &Input<'_>) -> Result<Found, Unsolved> {
        match &self.plan {
            Plan::Auto => aligned_and_repaired(self.reference, input),
            Plan::Clock(clock) => {
                let (correction, repaired) = clock.run(input)?;
                Ok(Found::new(correction, None, Some(repaired)))
            }
            Plan::Estimate(estimator, None) => {
                let (correction, aligned) = align(estimator, self.reference, input)?;
                Ok(Found::new(correction, Some(aligned), None))
            }
            Plan::Estimate(estimator, Some(clock)) => {
                estimated_and_repaired((estimator, self.reference), clock, input)
            }
        }
    }
}

impl Found {
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

/// The default: all dependencies weighed, what is left repaired where it is.
fn aligned_and_repaired(reference: Reference, input: &Input<'_>) -> Result<Found, Unsolved> {
    let options = AutoOptions {
        reference,
        delay: input.delay_is_given.then(|| input.delay.clone()),
        regroup: input.may_regroup,
    };
    let found = auto(
        input.causality,
        input.info,
        input.clocks,
        &options,
        input.monitor,
    )?;
    let again = |causality: &Causality| {
        let clocks = found.correction.clocks();
        let repaired = repair(causality, clocks, &found.delay, input.monitor)?;
        Ok::<Correction, Unsolved>(repaired.correction)
    };
    let settling = &Input {
        clocks: found.correction.clocks(),
        delay: &found.delay,
        ..*input
    };
    let correction = settled(settling, found.correction.clone(), again)?;
    let nodes = input.causality.nodes();
    let (aligned, unaligned) = match &found.start {
        Start::Aligned(alignment) => (Some(Aligned::by_all(alignment, reference, nodes)?), None),
        Start::Recorded(reason) => (None, Some(*reason)),
    };
    Ok(Found {
        correction,
        aligned,
        unaligned,
        repaired: Some(Repaired {
            jumps: found.repair.jumps,
            largest_jump: found.repair.largest_jump,
            direction: found.repair.direction,
            times: None,
        }),
        enforced: Some(Enforced {
            delay: found.delay,
            shortest: found.shortest,
        }),
    })
}

fn estimated_and_repaired(
    (estimator, reference): (&Estimator, Reference),
    clock: &LogicalClock,
    input: &Input<'_>,
) -> Result<Found, Unsolved> {
    let (correction, aligned) = align(estimator, reference, input)?;
    let run = |causality: &Causality| {
        clock.run(&Input {
            causality,
            ..*input
        })
    };
    let mut first = None;
    let correction = followed(input, &correction, |causality| {
        let (found, repaired) = run(causality)?;
        first = Some(Repaired {
            times: None,
            ..repaired
        });
        Ok(found)
    })?;
    let again = |causality: &Causality| run(causality).map(|(found, _)| found);
    let correction = settled(input, correction, again)?;
    Ok(Found::new(correction, Some(aligned), first))
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plan {
            Plan::Auto => f.write_str("alignment, then local repair"),
            Plan::Clock(clock) => write!(f, "{clock}"),
            Plan::Estimate(estimator, Some(clock)) => {
                write!(f, "{}, then {clock}", estimator.describe())
            }
            Plan::Estimate(estimator, None) => f.write_str(estimator.describe()),
        }
    }
}
