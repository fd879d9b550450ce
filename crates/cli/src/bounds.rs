//! `--bounds`, `--drift-bound`: how far the times of a trace can be from the truth.
//!
//! Nothing but messages and the steadiness of clocks says when something was,
//! and both leave an interval. [`Bounded`] is that interval for the times that a
//! correction gives, or for the recorded ones; the library computes it in
//! [`retime::optimal`].

use std::str::FromStr;

use clap::{Args, ValueEnum};
use retime::align::align;
use retime::estimate::{Estimate, Reference};
use retime::optimal::{
    BoundOptions, BoundSummary, ClockBounds, Coverage, ErrorBounds, Gentlest, OffsetBounds,
    coverage, gentlest, offset_bounds,
};
use retime::source::{Dependencies, Source};
use retime::{
    Causality, ClockId, Clocks, Correction, Edges, MinimalDelay, TickRate, Timestamp, TraceInfo,
};

use crate::commands::simulate::Rate;
use crate::error::CliError;

/// How much work the search for bounds may take, in looks at nodes and arcs of a
/// graph: some 20 s.
const BOUNDS_STEPS: u64 = 2_000_000_000;
/// And that for the gentlest correction: some 10 s.
pub(crate) const GENTLEST_STEPS: u64 = 1_000_000_000;

/// What bounds rest on.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Error bounds")]
pub(crate) struct BoundsArgs {
    /// By how much the rate of a clock may wander, such as 100ppm, 0.01% or 1e-4
    #[arg(long, value_name = "RATE", default_value = "100ppm")]
    pub(crate) drift_bound: DriftBound,
    /// Whether to compute how far times can be from the truth
    #[arg(long, value_name = "WHETHER", default_value = "on")]
    pub(crate) bounds: Switch,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes
    On,
    /// No, to save the time
    Off,
}

/// By how much rates may wander, as a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DriftBound(pub(crate) f64);

impl Default for DriftBound {
    /// What quartz does between warm and cold.
    fn default() -> Self {
        Self(1e-4)
    }
}

impl FromStr for DriftBound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = text.parse::<f64>().ok();
        let rate = match plain {
            Some(rate) => rate,
            // As decimal as it was written: 100 times 1e-6 is not 1e-4.
            None => (text.parse::<Rate>()?.0 * 1e15).round() / 1e15,
        };
        if rate > 0.0 && rate < 0.5 {
            Ok(Self(rate))
        } else {
            Err(format!(
                "\"{text}\" is no drift bound: give a rate above 0 and below a half, such as 100ppm"
            ))
        }
    }
}

/// What is known of the times of a trace.
pub(crate) struct Bounded {
    /// By how much rates may wander.
    pub(crate) drift: f64,
    /// What may have to be added to recorded stamps.
    pub(crate) offsets: OffsetBounds,
    /// How far times can be from the truth.
    pub(crate) errors: ErrorBounds,
    /// Of all events with edges.
    pub(crate) all: BoundSummary,
    /// The same by clock.
    pub(crate) by_clock: Vec<BoundSummary>,
}

/// A trace whose clocks are known.
#[derive(Clone, Copy)]
pub(crate) struct Timed<'a> {
    pub(crate) rate: TickRate,
    pub(crate) causality: &'a Causality,
    pub(crate) clocks: &'a Clocks,
    /// How clocks differ, as an estimate that was made knows it.
    pub(crate) estimate: Option<&'a Estimate>,
}

impl BoundsArgs {
    /// The bounds of the times that `correction` gives, if they are wanted and
    /// anything relates the clocks of the trace.
    pub(crate) fn of(&self, trace: Timed<'_>, correction: &Correction) -> Option<Bounded> {
        let base = self.base(trace)?;
        let source = trace.source(&base);
        let options = bound_options(self.drift_bound.0);
        let offsets = offset_bounds(&source, |_| 0, &base, &options);
        let nodes = trace.causality.nodes();
        let errors = ErrorBounds::new(&offsets, correction, &source, nodes);
        let (all, by_clock) = errors.summary(nodes, trace.clocks);
        Some(Bounded {
            drift: self.drift_bound.0,
            offsets,
            errors,
            all,
            by_clock,
        })
    }

    /// What may have to be added to recorded stamps, and the dependencies that
    /// tell it; under the same conditions.
    pub(crate) fn offsets(&self, trace: Timed<'_>) -> Option<(OffsetBounds, Edges)> {
        let base = self.base(trace)?;
        let edges = trace.edges(&base);
        let options = bound_options(self.drift_bound.0);
        let offsets = offset_bounds(&edges, |_| 0, &base, &options);
        Some((offsets, edges))
    }

    /// What bounds rest on, if they are wanted.
    fn base(&self, trace: Timed<'_>) -> Option<Estimate> {
        let wanted = self.bounds == Switch::On && trace.clocks.len() > 1;
        wanted.then(|| trace.base()).flatten()
    }
}

/// How bounds are searched for.
pub(crate) fn bound_options(drift: f64) -> BoundOptions {
    BoundOptions {
        drift,
        steps: BOUNDS_STEPS,
        ..BoundOptions::default()
    }
}

impl<'a> Timed<'a> {
    /// About how clocks differ from one of them; `None` where nothing relates any.
    fn base(&self) -> Option<Estimate> {
        if let Some(estimate) = self.estimate {
            return Some(estimate.clone());
        }
        let reference = Reference::First.clock(self.causality, self.clocks)?;
        Some(self.lines(reference))
    }

    /// About how clocks differ from `reference`.
    pub(crate) fn lines(&self, reference: ClockId) -> Estimate {
        align(self.causality, self.clocks, self.rate, reference).base()
    }

    /// The dependencies that are tightest once clocks are about right, as a list.
    fn edges(&self, base: &Estimate) -> Edges {
        Edges::collect_aligned(self.causality, self.clocks, base)
    }

    /// The same, to be walked.
    fn source(&self, base: &'a Estimate) -> impl Source + use<'a> {
        Dependencies::aligned(self.causality, self.clocks, base)
    }

    /// The gentlest correction there can be, and the dependencies it was told by.
    pub(crate) fn gentlest(&self, delay: &MinimalDelay) -> Option<(Gentlest, Edges)> {
        let edges = self.edges(&self.base()?);
        let nodes = self.causality.nodes();
        let found = gentlest(&edges, |edge| delay.of(edge, nodes), GENTLEST_STEPS);
        Some((found, edges))
    }
}

impl Bounded {
    /// How many events have their true time inside.
    pub(crate) fn coverage(
        &self,
        trace: Timed<'_>,
        truth: &[Timestamp],
    ) -> Result<Coverage, CliError> {
        coverage(&self.offsets, trace.causality, trace.clocks, truth)
            .map_err(|error| CliError::Usage(error.to_string()))
    }

    /// Clocks whose times are not bounded on both sides, and why.
    pub(crate) fn warnings(&self, info: &TraceInfo, clocks: &Clocks) -> Vec<String> {
        let mut one_sided = Vec::new();
        let mut unrelated = Vec::new();
        for (clock, bounds) in clocks.iter().zip(&self.offsets.clocks) {
            match bounds.as_ref().map(ClockBounds::sides) {
                _ if !has_events(self, clock) => {}
                Some((true, true)) => {}
                Some((true, false) | (false, true)) => one_sided.push(clock),
                Some((false, false)) | None => unrelated.push(clock),
            }
        }
        let mut warnings = Vec::new();
        let reference = clocks.describe(info, self.offsets.reference);
        let mut add = |of: &[ClockId], what: &str| {
            if !of.is_empty() {
                warnings.push(format!("{}: {what}", names(info, clocks, of)));
            }
        };
        add(
            &one_sided,
            &format!(
                "dependencies relate it to {reference} in one direction only, so that its time is \
                 bounded on one side"
            ),
        );
        add(
            &unrelated,
            &format!("no dependency relates it to {reference}, so that nothing bounds its time"),
        );
        if !self.offsets.complete {
            warnings.push(
                "the search for error bounds was stopped early: bounds are wider than they could be"
                    .into(),
            );
        }
        warnings
    }
}

fn has_events(bounded: &Bounded, clock: ClockId) -> bool {
    let summary = bounded.by_clock.get(clock.as_usize());
    summary.is_some_and(|it| it.events + it.unbounded > 0)
}

/// The first few names of clocks.
fn names(info: &TraceInfo, clocks: &Clocks, of: &[ClockId]) -> String {
    const SHOWN: usize = 4;
    let shown = of.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|&clock| clocks.describe(info, clock)).collect();
    match of.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
