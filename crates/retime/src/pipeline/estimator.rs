//! An estimator with its parameters: what puts clocks on one time.

use super::method::Input;
use super::solution::{Aligned, ClockSet};
use super::unsolved::Unsolved;
use crate::align::{self, Relation};
use crate::causality::Nodes;
use crate::correction::Correction;
use crate::edges::{Edge, Edges};
use crate::estimate::{
    Estimate, Extended, Measured, NoEstimate, PairMethod, Reference, convex_hull, extended,
    hofmann_hilgers, interpolation, min_max, pseudo_synchronisation, regression, spanning_tree,
    twice,
};
use crate::optimal::{BoundOptions, gentlest, midpoint, offset_bounds};
use retime_model::ClockId;

use super::bounds::{bound_options, lines};

/// Offsets that were measured while the program ran.
#[derive(Clone, Debug, PartialEq)]
pub enum MeasuredOffsets {
    /// They are known.
    Known(Vec<Measured>),
    /// They are not, and where they could come from.
    Missing(String),
}

impl Default for MeasuredOffsets {
    fn default() -> Self {
        Self::Missing("no measured offsets are given".into())
    }
}

/// An estimator with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimator {
    /// Lines between measured offsets.
    Interpolation(MeasuredOffsets),
    /// Lines through messages.
    Regression,
    /// Lines between messages there and back.
    ConvexHull,
    /// Such lines along the best-determined pairs.
    SpanningTree(PairMethod),
    /// A line through the middles of sub-intervals.
    MinMax {
        /// How many, if not as many as messages fill.
        intervals: Option<u32>,
    },
    /// Sub-intervals of all clocks together.
    HofmannHilgers {
        /// How many, if not as many as messages fill.
        intervals: Option<u32>,
    },
    /// The same for clocks of variable rate.
    Extended(Extended),
    /// Shifts by the fastest messages.
    PseudoSync {
        /// Whether they are adjusted until no message is violated.
        closure: bool,
    },
    /// The least possible change of local intervals.
    Gentlest,
    /// The middle of the error bounds.
    Optimal {
        /// By how much the rates of clocks may wander, a share.
        drift: f64,
    },
}

/// Estimates from the dependencies that are the tightest at estimated times.
pub(super) fn align(
    estimator: &Estimator,
    reference: Reference,
    input: &Input<'_>,
) -> Result<(Correction, Aligned), Unsolved> {
    let Input {
        causality, clocks, ..
    } = *input;
    let solve = |edges: &Edges| {
        input.monitor.check()?;
        estimate(estimator, reference, input, edges)
    };
    let retimed = |(_, correction): &(Estimate, Correction)| {
        Ok(causality.retimed(correction, input.monitor)?)
    };
    let (estimate, correction) = twice(causality, clocks, solve, retimed, input.monitor)?;
    Ok((correction, Aligned::by_estimate(&estimate, reference)))
}

fn estimate(
    estimator: &Estimator,
    reference: Reference,
    input: &Input<'_>,
    edges: &Edges,
) -> Result<(Estimate, Correction), Unsolved> {
    let clock = reference_in(reference, input)?;
    let mut estimate = estimator.run(input, edges, clock)?;
    if reference == Reference::Mean {
        let of_all = reference.of(estimate, input.clocks, edges);
        estimate = of_all.ok_or(Unsolved::NoMean)?;
    }
    let correction = estimate.correction(input.causality, input.clocks, edges)?;
    Ok((estimate, correction))
}

/// The clock to estimate against.
fn reference_in(reference: Reference, input: &Input<'_>) -> Result<ClockId, NoEstimate> {
    let found = reference.clock(input.causality, input.clocks);
    found.ok_or_else(|| {
        NoEstimate::Unrelated(match reference {
            Reference::ClockOf(location) => vec![input.clocks.of(location)],
            Reference::First | Reference::Mean => input.clocks.iter().collect(),
        })
    })
}

impl Estimator {
    fn run(
        &self,
        input: &Input<'_>,
        edges: &Edges,
        reference: ClockId,
    ) -> Result<Estimate, Unsolved> {
        let nodes = input.causality.nodes();
        let least = |edge: &Edge| edge.minimal_delay(input.delay, nodes);
        Ok(match self {
            Self::Interpolation(MeasuredOffsets::Known(measured)) => {
                interpolation(measured, input.clocks, edges, reference)?
            }
            Self::Interpolation(MeasuredOffsets::Missing(why)) => {
                return Err(NoEstimate::Missing(why.clone()).into());
            }
            Self::Regression => regression(edges, reference, input.monitor)?,
            Self::ConvexHull => convex_hull(edges, least, reference, input.monitor)?,
            Self::SpanningTree(pairs) => {
                spanning_tree(edges, least, *pairs, reference, input.monitor)?
            }
            Self::MinMax { intervals } => {
                min_max(edges, least, *intervals, reference, input.monitor)?
            }
            Self::HofmannHilgers { intervals } => {
                hofmann_hilgers(edges, least, *intervals, reference, input.monitor)?
            }
            Self::Extended(options) => extended(edges, least, options, reference, input.monitor)?,
            Self::PseudoSync { closure } => {
                pseudo_synchronisation(edges, least, *closure, reference, input.monitor)?
            }
            Self::Gentlest => {
                let steps = super::GENTLEST_STEPS;
                gentlest(edges, least, steps, input.monitor)?.estimate(reference)?
            }
            Self::Optimal { drift } => {
                let (clocks, rate) = (input.clocks, input.info.rate);
                let base = lines(input.causality, clocks, rate, reference, input.monitor)?;
                // By the lines, whatever else they could be: what is wanted is the middle.
                let options = BoundOptions {
                    most_difference: 0.0,
                    ..bound_options(*drift)
                };
                let bounds = offset_bounds(edges, least, &base, &options, input.monitor)?;
                midpoint(&bounds)
            }
        })
    }

    /// What it is called in a sentence.
    pub(super) const fn describe(&self) -> &'static str {
        match self {
            Self::Interpolation(_) => "linear interpolation",
            Self::Regression => "regression",
            Self::ConvexHull => "convex hulls",
            Self::SpanningTree(PairMethod::Regression) => "spanning tree of regressions",
            Self::SpanningTree(PairMethod::ConvexHull) => "spanning tree of convex hulls",
            Self::MinMax { .. } => "min/max",
            Self::HofmannHilgers { .. } => "Hofmann and Hilgers",
            Self::Extended(_) => "Hofmann and Hilgers, extended for variable rates",
            Self::PseudoSync { closure: false } => "pseudo-synchronisation",
            Self::PseudoSync { closure: true } => "closure of pseudo-synchronisation",
            Self::Gentlest => "gentlest correction",
            Self::Optimal { .. } => "middle of the error bounds",
        }
    }
}

impl Aligned {
    /// What one of the papers' estimators found.
    fn by_estimate(estimate: &Estimate, reference: Reference) -> Self {
        let offsets = (0..).map(ClockId).zip(&estimate.offsets);
        let unrelated = offsets.filter(|(_, offset)| offset.is_none());
        let knots = estimate.offsets.iter().flatten().map(|it| it.knots().len());
        Self {
            unrelated: unrelated.map(|(clock, _)| clock).collect(),
            one_way: Vec::new(),
            outliers: 0,
            pieces: knots.max().unwrap_or(0).saturating_sub(1).max(1),
            reference: (reference != Reference::Mean).then_some(estimate.reference),
            steps: Vec::new(),
            estimate: None,
        }
    }

    /// What the alignment of the default method found.
    pub(super) fn by_all(
        alignment: &align::Alignment,
        reference: Reference,
        nodes: &Nodes,
    ) -> Result<Self, Unsolved> {
        let tied = |how: Relation| {
            let relations = (0..).map(ClockId).zip(&alignment.relations);
            let tied = relations.filter(|(_, relation)| **relation == how);
            tied.map(|(clock, _)| clock).collect()
        };
        let steps = alignment.steps.iter();
        let steps = steps.map(|step| ClockSet::of(step, nodes));
        Ok(Self {
            unrelated: tied(Relation::Unrelated),
            one_way: tied(Relation::OneWay),
            outliers: alignment.outliers.len(),
            pieces: alignment.pieces,
            reference: (reference != Reference::Mean).then_some(alignment.estimate.reference),
            steps: steps.collect::<Result<_, _>>()?,
            estimate: Some(alignment.base()),
        })
    }
}
