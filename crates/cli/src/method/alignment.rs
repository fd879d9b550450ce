//! Alignment: clocks put on one time, as an estimator sees them.

use std::fmt;

use retime::align::{self, ClockStep, Relation};
use retime::causality::Nodes;
use retime::estimate::{
    Estimate, Extended, NoEstimate, PairMethod, Reference, convex_hull, extended, hofmann_hilgers,
    interpolation, min_max, pseudo_synchronisation, regression, spanning_tree, twice,
};
use retime::optimal::{gentlest, midpoint, offset_bounds};
use retime::{ClockId, Correction, Edge, Edges, Ticks, Timestamp};

use super::{Input, Unsolved};
use crate::bounds::{GENTLEST_STEPS, bound_options};
use crate::offsets::Source;

/// An estimator with its parameters, and the clock it goes by.
#[derive(Clone, Debug)]
pub(super) struct Alignment {
    pub(super) estimator: Estimator,
    pub(super) reference: Reference,
}

/// An estimator with its parameters.
#[derive(Clone, Debug)]
pub(super) enum Estimator {
    Interpolation(Source),
    Regression,
    ConvexHull,
    SpanningTree(PairMethod),
    MinMax { intervals: Option<u32> },
    HofmannHilgers { intervals: Option<u32> },
    Extended(Extended),
    PseudoSync { closure: bool },
    Gentlest,
    Optimal { drift: f64 },
}

/// What an estimator found.
pub(crate) struct Aligned {
    /// What has to be added to each clock, if all dependencies were weighed: what
    /// one of the papers' estimators finds may be too far off to bound errors by.
    pub(crate) estimate: Option<Estimate>,
    /// Clocks that nothing relates to the others: they keep their time.
    pub(crate) unrelated: Vec<ClockId>,
    /// Clocks related to the others in one direction only.
    pub(crate) one_way: Vec<ClockId>,
    /// Dependencies left out because they contradict all others.
    pub(crate) trimmed: usize,
    /// The most straight pieces that a clock's offset has.
    pub(crate) pieces: usize,
    /// The clock whose time is the common one; `None` for the mean of all.
    pub(crate) reference: Option<ClockId>,
    /// Clocks that were set during the run.
    pub(crate) steps: Vec<Step>,
}

/// A clock was set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) clock: ClockId,
    /// Between these stamps of it,
    pub(crate) after: Timestamp,
    pub(crate) until: Timestamp,
    /// by so much.
    pub(crate) by: Ticks,
}

impl Alignment {
    /// Estimates from the dependencies that are the tightest at estimated times.
    pub(super) fn run(&self, input: &Input<'_>) -> Result<(Correction, Aligned), Unsolved> {
        let Input {
            causality, clocks, ..
        } = *input;
        let solve = |edges: &Edges| self.estimate(input, edges);
        let retimed = |(_, correction): &(Estimate, Correction)| {
            let retimed = causality.retimed(correction);
            retimed.ok_or(Unsolved::TooFar)
        };
        let (estimate, correction) = twice(causality, clocks, solve, retimed)?;
        Ok((correction, self.aligned(&estimate)))
    }

    fn estimate(
        &self,
        input: &Input<'_>,
        edges: &Edges,
    ) -> Result<(Estimate, Correction), Unsolved> {
        let reference = self.reference_in(input)?;
        let mut estimate = self.estimator.run(input, edges, reference)?;
        if self.reference == Reference::Mean {
            let of_all = self.reference.of(estimate, input.clocks, edges);
            estimate = of_all.ok_or(Unsolved::NoMean)?;
        }
        let correction = estimate.correction(input.causality, input.clocks, edges)?;
        Ok((estimate, correction))
    }

    /// The clock to estimate against.
    fn reference_in(&self, input: &Input<'_>) -> Result<ClockId, NoEstimate> {
        let found = self.reference.clock(input.causality, input.clocks);
        found.ok_or_else(|| {
            NoEstimate::Unrelated(match self.reference {
                Reference::ClockOf(location) => vec![input.clocks.of(location)],
                Reference::First | Reference::Mean => input.clocks.iter().collect(),
            })
        })
    }

    fn aligned(&self, estimate: &Estimate) -> Aligned {
        let offsets = (0..).map(ClockId).zip(&estimate.offsets);
        let unrelated = offsets.filter(|(_, offset)| offset.is_none());
        let knots = estimate.offsets.iter().flatten().map(|it| it.knots().len());
        Aligned {
            unrelated: unrelated.map(|(clock, _)| clock).collect(),
            one_way: Vec::new(),
            trimmed: 0,
            pieces: knots.max().unwrap_or(0).saturating_sub(1).max(1),
            reference: (self.reference != Reference::Mean).then_some(estimate.reference),
            steps: Vec::new(),
            estimate: None,
        }
    }
}

impl Aligned {
    /// What the alignment of the default method found.
    pub(super) fn of(alignment: &align::Alignment, reference: Reference, nodes: &Nodes) -> Self {
        let tied = |how: Relation| {
            let relations = (0..).map(ClockId).zip(&alignment.relations);
            let tied = relations.filter(|(_, relation)| **relation == how);
            tied.map(|(clock, _)| clock).collect()
        };
        Self {
            unrelated: tied(Relation::Unrelated),
            one_way: tied(Relation::OneWay),
            trimmed: alignment.trimmed.len(),
            pieces: alignment.pieces,
            reference: (reference != Reference::Mean).then_some(alignment.estimate.reference),
            steps: alignment
                .steps
                .iter()
                .filter_map(|step| Step::of(step, nodes))
                .collect(),
            estimate: Some(alignment.base()),
        }
    }
}

impl Step {
    fn of(step: &ClockStep, nodes: &Nodes) -> Option<Self> {
        Some(Self {
            clock: step.clock,
            after: nodes.absolute(Ticks(step.after))?,
            until: nodes.absolute(Ticks(step.until))?,
            by: Ticks(step.by.round() as i64),
        })
    }
}

impl Estimator {
    fn run(
        &self,
        input: &Input<'_>,
        edges: &Edges,
        reference: ClockId,
    ) -> Result<Estimate, NoEstimate> {
        let nodes = input.causality.nodes();
        let least = |edge: &Edge| input.delay.of(edge, nodes);
        match self {
            Self::Interpolation(Source::File(measured) | Source::Applied(measured)) => {
                interpolation(measured, input.clocks, edges, reference)
            }
            Self::Interpolation(Source::None(missing)) => Err(missing.clone()),
            Self::Regression => regression(edges, reference),
            Self::ConvexHull => convex_hull(edges, least, reference),
            Self::SpanningTree(pairs) => spanning_tree(edges, least, *pairs, reference),
            Self::MinMax { intervals } => min_max(edges, least, *intervals, reference),
            Self::HofmannHilgers { intervals } => {
                hofmann_hilgers(edges, least, *intervals, reference)
            }
            Self::Extended(options) => extended(edges, least, options, reference),
            Self::PseudoSync { closure } => {
                pseudo_synchronisation(edges, least, *closure, reference)
            }
            Self::Gentlest => gentlest(edges, least, GENTLEST_STEPS).estimate(reference),
            Self::Optimal { drift } => {
                let base = input.timed().lines(reference);
                Ok(midpoint(&offset_bounds(
                    edges,
                    least,
                    &base,
                    &bound_options(*drift),
                )))
            }
        }
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.estimator {
            Estimator::Interpolation(_) => "linear interpolation",
            Estimator::Regression => "regression",
            Estimator::ConvexHull => "convex hulls",
            Estimator::SpanningTree(PairMethod::Regression) => "spanning tree of regressions",
            Estimator::SpanningTree(PairMethod::ConvexHull) => "spanning tree of convex hulls",
            Estimator::MinMax { .. } => "min/max",
            Estimator::HofmannHilgers { .. } => "Hofmann and Hilgers",
            Estimator::Extended(_) => "Hofmann and Hilgers, extended for variable rates",
            Estimator::PseudoSync { closure: false } => "pseudo-synchronisation",
            Estimator::Gentlest => "gentlest correction",
            Estimator::Optimal { .. } => "middle of the error bounds",
            Estimator::PseudoSync { closure: true } => "closure of pseudo-synchronisation",
        })
    }
}
