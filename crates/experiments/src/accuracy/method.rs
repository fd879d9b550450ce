//! What is compared: every method with the defaults of the command.

use retime::auto::{AutoError, AutoOptions, Start, auto};
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, DegressiveConstants, Gamma, Regulation, amortize,
    controlled, mirror_back, regulated, simple, unamortized,
};
use retime::estimate::{
    Estimate, Extended, NoEstimate, PairMethod, convex_hull, extended, hofmann_hilgers, min_max,
    pseudo_synchronisation, regression, spanning_tree, twice,
};
use retime::{Causality, ClockId, Correction, Edge, Edges, MinimalDelay, Ticks};

use super::case::Trace;

/// A way of correcting a trace.
#[derive(Clone, Copy)]
pub struct Method {
    /// Its name, on the command line that of its parts.
    pub name: &'static str,
    align: Option<Estimator>,
    repair: Option<Repair>,
    /// Whether it is neither, but the default pipeline.
    pipeline: bool,
}

/// What a method found.
pub struct Solved {
    /// The trace at corrected times.
    pub times: Causality,
    /// How clocks differ and the correction of recorded times, where the default
    /// pipeline has aligned them.
    pub aligned: Option<(Estimate, Correction)>,
}

/// A minimal delay for each dependency.
type Least<'a> = &'a (dyn Fn(&Edge) -> i64 + Sync);
type Estimator = fn(&Edges, Least<'_>, ClockId) -> Result<Estimate, NoEstimate>;
/// Puts the times of a trace, as they are by now, in order.
type Repair = fn(&Trace, &Causality) -> Result<Correction, String>;

/// The clock whose time is the common one.
const REFERENCE: ClockId = ClockId(0);

/// All of them; the first two are what the others are compared with.
pub const METHODS: &[Method] = &[
    alone("raw", None),
    alone("clc", Some(clc)),
    Method {
        name: "auto",
        align: None,
        repair: None,
        pipeline: true,
    },
    alone("clc backward", Some(backward)),
    alone("clc 1997", Some(degressive)),
    alone("clc abcd", Some(combined)),
    alone("simple", Some(simple_clock)),
    estimated("regression", linear_regression, None),
    estimated("regression, clc", linear_regression, Some(clc)),
    estimated("convex-hull", hulls, None),
    estimated("convex-hull, clc", hulls, Some(clc)),
    estimated("spanning-tree", tree, None),
    estimated("spanning-tree, clc", tree, Some(clc)),
    estimated("min-max", middles, None),
    estimated("min-max, clc", middles, Some(clc)),
    estimated("hofmann-hilgers", closed_middles, None),
    estimated("hofmann-hilgers, clc", closed_middles, Some(clc)),
    estimated("extended", piecewise, None),
    estimated("extended, clc", piecewise, Some(clc)),
    estimated("pseudo-sync", printed, None),
    estimated("pseudo-sync, clc", printed, Some(clc)),
    estimated("pseudo-sync-closure", closure, None),
    estimated("pseudo-sync-closure, clc", closure, Some(clc)),
];

const fn alone(name: &'static str, repair: Option<Repair>) -> Method {
    Method {
        name,
        align: None,
        repair,
        pipeline: false,
    }
}

const fn estimated(name: &'static str, align: Estimator, repair: Option<Repair>) -> Method {
    Method {
        name,
        align: Some(align),
        repair,
        pipeline: false,
    }
}

impl Method {
    /// The method of that name.
    pub fn named(name: &str) -> Option<Self> {
        METHODS.iter().copied().find(|method| method.name == name)
    }

    /// Whether it is an estimator followed by a logical clock.
    pub fn is_repaired(&self) -> bool {
        self.align.is_some() && self.repair.is_some()
    }

    /// Corrects a trace; an error says why it has no solution.
    pub fn run(&self, trace: &Trace) -> Result<Solved, String> {
        if self.pipeline {
            return default_pipeline(trace);
        }
        let aligned = match self.align {
            Some(estimator) => aligned(trace, estimator)?,
            None => trace.causality.clone(),
        };
        let times = match self.repair {
            Some(repair) => retimed(&aligned, &repair(trace, &aligned)?)?,
            None => aligned,
        };
        Ok(Solved {
            times,
            aligned: None,
        })
    }
}

fn default_pipeline(trace: &Trace) -> Result<Solved, String> {
    let options = AutoOptions {
        regroup: true,
        ..AutoOptions::default()
    };
    let found = auto(&trace.causality, &trace.info, &trace.clocks, &options);
    let found = found.map_err(|error| match error {
        AutoError::Cycle(cycle) => cycle.describe(&trace.info),
        AutoError::UnrelatedReference => "the reference is related to no other clock".into(),
        AutoError::TooFar => TOO_FAR.into(),
    })?;
    let times = retimed(&trace.causality, &found.correction)?;
    let aligned = match found.start {
        Start::Aligned(alignment) => Some((alignment.base(), found.correction)),
        Start::Recorded(_) => None,
    };
    Ok(Solved { times, aligned })
}

const TOO_FAR: &str = "its times do not fit into 64 bits";

fn retimed(causality: &Causality, correction: &Correction) -> Result<Causality, String> {
    let retimed = causality.retimed(correction);
    retimed.ok_or_else(|| TOO_FAR.into())
}

/// The trace at estimated times.
fn aligned(trace: &Trace, estimator: Estimator) -> Result<Causality, String> {
    let Trace {
        causality, clocks, ..
    } = trace;
    let nodes = causality.nodes();
    let least = |edge: &Edge| trace.delay.of(edge, nodes);
    let solve = |edges: &Edges| {
        let estimate = estimator(edges, &least, REFERENCE)
            .map_err(|reason| reason.describe(&trace.info, clocks))?;
        let correction = estimate.correction(causality, clocks, edges);
        correction.map_err(|reason| reason.describe(&trace.info, clocks))
    };
    let retimed = |correction: &Correction| retimed(causality, correction);
    retimed(&twice(causality, clocks, solve, retimed)?)
}

/// The controlled logical clock, amortised.
fn clc(trace: &Trace, causality: &Causality) -> Result<Correction, String> {
    forward(trace, causality, &trace.delay)
}

fn forward(
    trace: &Trace,
    causality: &Causality,
    delay: &MinimalDelay,
) -> Result<Correction, String> {
    let times = controlled(causality, &trace.clocks, delay, Gamma::default())
        .map_err(|cycle| cycle.describe(&trace.info))?;
    let rate = AmortizationRate::default();
    Ok(amortize(causality, &trace.clocks, delay, rate, &times))
}

/// The same from the end of the trace to its beginning.
fn backward(trace: &Trace, causality: &Causality) -> Result<Correction, String> {
    let mirrored = forward(trace, &causality.mirrored(), &trace.delay.mirrored())?;
    mirror_back(causality, &trace.clocks, &mirrored)
        .ok_or_else(|| "it would move events before time 0".into())
}

/// The controlled clock of 1997, amortised.
fn degressive(trace: &Trace, causality: &Causality) -> Result<Correction, String> {
    let constants = DegressiveConstants::default();
    under(trace, causality, Control::Degressive(constants))
}

/// Under all controllers of 2000, amortised.
fn combined(trace: &Trace, causality: &Causality) -> Result<Correction, String> {
    let constants = CombinedConstants::default();
    under(trace, causality, Control::Combined(constants))
}

fn under(trace: &Trace, causality: &Causality, control: Control) -> Result<Correction, String> {
    let regulation = Regulation {
        delay: trace.delay.clone(),
        distance: Ticks(0),
        control,
    };
    let times = regulated(causality, &trace.clocks, trace.info.rate, &regulation)
        .map_err(|cycle| cycle.describe(&trace.info))?;
    let rate = AmortizationRate::default();
    let delay = &trace.delay;
    Ok(amortize(causality, &trace.clocks, delay, rate, &times))
}

/// The simple logical clock.
fn simple_clock(trace: &Trace, causality: &Causality) -> Result<Correction, String> {
    let times = simple(causality, &trace.clocks, &trace.delay, Ticks(0))
        .map_err(|cycle| cycle.describe(&trace.info))?;
    Ok(unamortized(causality, &trace.clocks, &times))
}

fn linear_regression(
    edges: &Edges,
    _: Least<'_>,
    reference: ClockId,
) -> Result<Estimate, NoEstimate> {
    regression(edges, reference)
}

fn hulls(edges: &Edges, least: Least<'_>, reference: ClockId) -> Result<Estimate, NoEstimate> {
    convex_hull(edges, least, reference)
}

fn tree(edges: &Edges, least: Least<'_>, reference: ClockId) -> Result<Estimate, NoEstimate> {
    spanning_tree(edges, least, PairMethod::ConvexHull, reference)
}

fn middles(edges: &Edges, least: Least<'_>, reference: ClockId) -> Result<Estimate, NoEstimate> {
    min_max(edges, least, None, reference)
}

fn closed_middles(
    edges: &Edges,
    least: Least<'_>,
    reference: ClockId,
) -> Result<Estimate, NoEstimate> {
    hofmann_hilgers(edges, least, None, reference)
}

fn piecewise(edges: &Edges, least: Least<'_>, reference: ClockId) -> Result<Estimate, NoEstimate> {
    extended(edges, least, &Extended::default(), reference)
}

fn printed(edges: &Edges, least: Least<'_>, reference: ClockId) -> Result<Estimate, NoEstimate> {
    pseudo_synchronisation(edges, least, false, reference)
}

fn closure(edges: &Edges, least: Least<'_>, reference: ClockId) -> Result<Estimate, NoEstimate> {
    pseudo_synchronisation(edges, least, true, reference)
}
