//! The options of methods, and what they resolve to for a trace.

use clap::{Args, FromArgMatches};
use retime::clock::{Gamma, MultiPass};
use retime::estimate::Extended;
use retime::{Causality, Delay, TickRate, Timestamp, TraceInfo};

use super::alignment::{Alignment, Estimator};
use super::controller::{Amortization, ConstantsArgs, Controller, non_negative, to_ticks};
use super::given::Given;
use super::reference::ReferenceName;
use super::repair::{ClockControl, ClockKind, Repair};
use super::{Method, MethodName, PairsName, Plan, RepairName};
use crate::error::CliError;
use crate::load::Loaded;
use crate::offsets::OffsetsArgs;

/// How time stamps are corrected.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    // First, while all options are still there to be seen.
    #[command(flatten)]
    given: Given,
    /// How time stamps are corrected
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: MethodName,
    /// What follows an estimate of how clocks differ
    #[arg(long, value_name = "NAME", default_value = "clc")]
    repair: RepairName,
    /// Whose time is the common one: first (the first location), mean (the mean
    /// of all clocks), or the name of a location or process, or the id of a
    /// location
    #[arg(long, value_name = "CLOCK", default_value = "first")]
    reference: ReferenceName,
    #[command(flatten)]
    offsets: OffsetsArgs,
    /// Sub-intervals of min-max, hofmann-hilgers and extended [default: so many
    /// that messages fill them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    intervals: Option<u32>,
    /// How spanning-tree compares two clocks
    #[arg(long, value_name = "NAME", default_value = "convex-hull")]
    pairs: PairsName,
    /// Run the method even where nothing contradicts
    #[arg(long)]
    pub(crate) always: bool,
    /// What controls the controlled logical clock: constant (a constant factor),
    /// 1997 (clock by clock), the controllers of 2000 that take part (letters a
    /// to d, such as abcd), or passes (ever smaller constants until no clock ends
    /// too far ahead)
    #[arg(long, value_name = "NAME", default_value = "constant")]
    pub(crate) controller: Controller,
    /// Largest share of local time a clock keeps while it waits to be caught
    /// up, from 0 up to but not including 1 [default: 0.99998; 0.95 for 1997]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) gamma_max: Option<Gamma>,
    /// How fast a correction may grow ahead of a jump, as a share of local
    /// time; or off
    #[arg(long, value_name = "PERCENT", default_value = "0.5%")]
    pub(crate) amortization: Amortization,
    /// Enforce dependencies from this time after the first event on
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Delay>,
    /// Enforce dependencies up to this time after the first event
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Delay>,
    /// Run the clock from the end of the trace to its beginning: events move
    /// to earlier times
    #[arg(long)]
    pub(crate) backward: bool,
    /// passes: how far ahead a clock may end, as a share of the run time
    #[arg(long, value_name = "SHARE", default_value_t = MultiPass::default().threshold, value_parser = non_negative, hide_short_help = true)]
    max_advance: f64,
    /// Least time between successive events of a location that communicate
    #[arg(
        long,
        value_name = "DELAY",
        default_value = "0ticks",
        hide_short_help = true
    )]
    min_distance: Delay,
    #[command(flatten)]
    pub(crate) constants: ConstantsArgs,
}

impl MethodArgs {
    /// Options as they stand on the command line.
    pub(crate) fn of(options: &str) -> Result<Self, CliError> {
        let words = std::iter::once("retime").chain(options.split_whitespace());
        let matches = Self::augment_args(clap::Command::new("retime")).try_get_matches_from(words);
        let args = matches.and_then(|matches| Self::from_arg_matches(&matches));
        args.map_err(|error| CliError::Usage(error.to_string()))
    }

    /// Refuses options that were given and have no part in the method.
    pub(crate) fn refuse_strangers(&self) -> Result<(), CliError> {
        self.given.fits(self.method, self.repair)
    }

    /// Resolves the options for a trace whose clocks wander by at most `drift`.
    pub(crate) fn resolve(&self, loaded: &Loaded, drift: f64) -> Result<Method, CliError> {
        let rate = loaded.trace.info().rate;
        let reference = self.reference.resolve(loaded.trace.info())?;
        let clock = match self.method {
            MethodName::Simple => ClockKind::Simple,
            MethodName::Lamport => ClockKind::Lamport,
            _ => ClockKind::Controlled,
        };
        let plan = match self.estimator(loaded, drift)? {
            Some(estimator) => {
                let alignment = Alignment {
                    estimator,
                    reference,
                };
                let repaired = self.repair == RepairName::Clc;
                let repair = repaired.then(|| self.clock(clock, rate)).transpose()?;
                Plan::Align(alignment, repair)
            }
            None if self.method == MethodName::Auto => Plan::Auto(reference),
            None => Plan::Repair(self.clock(clock, rate)?),
        };
        Ok(Method {
            name: self.method,
            plan,
        })
    }

    /// The estimator, if it is one.
    fn estimator(&self, loaded: &Loaded, drift: f64) -> Result<Option<Estimator>, CliError> {
        let intervals = self.intervals;
        Ok(Some(match self.method {
            MethodName::Auto | MethodName::Clc | MethodName::Simple | MethodName::Lamport => {
                return Ok(None);
            }
            MethodName::Interpolation => {
                let base = loaded.causality.nodes().base();
                Estimator::Interpolation(self.offsets.measured(&loaded.trace, base)?)
            }
            MethodName::Regression => Estimator::Regression,
            MethodName::ConvexHull => Estimator::ConvexHull,
            MethodName::SpanningTree => Estimator::SpanningTree(self.pairs.into()),
            MethodName::MinMax => Estimator::MinMax { intervals },
            MethodName::HofmannHilgers => Estimator::HofmannHilgers { intervals },
            MethodName::Extended => Estimator::Extended(Extended {
                intervals,
                drift,
                ..Extended::default()
            }),
            MethodName::PseudoSync => Estimator::PseudoSync { closure: false },
            MethodName::PseudoSyncClosure => Estimator::PseudoSync { closure: true },
            MethodName::Gentlest => Estimator::Gentlest,
            MethodName::Optimal => Estimator::Optimal { drift },
        }))
    }

    fn clock(&self, kind: ClockKind, rate: TickRate) -> Result<Repair, CliError> {
        let by_event = self
            .constants
            .control(self.controller, self.gamma_max, rate)?;
        let passes = || {
            ClockControl::Passes(MultiPass {
                threshold: self.max_advance,
                ..MultiPass::default()
            })
        };
        Ok(Repair {
            kind,
            rate,
            control: by_event.map_or_else(passes, ClockControl::ByEvent),
            distance: to_ticks(self.min_distance, rate)?,
            amortization: self.amortization.0,
            backward: self.backward,
        })
    }

    /// Leaves out the dependencies outside of `--from` and `--to`.
    pub(crate) fn limit(
        &self,
        causality: &mut Causality,
        info: &TraceInfo,
    ) -> Result<(), CliError> {
        if self.from.is_none() && self.to.is_none() {
            return Ok(());
        }
        let base = causality.nodes().base().0;
        let stamp = |delay: Option<Delay>, or: u64| -> Result<Timestamp, CliError> {
            let ticks = delay.map(|delay| to_ticks(delay, info.rate)).transpose()?;
            Ok(Timestamp(ticks.map_or(or, |ticks| {
                base.saturating_add(ticks.0.unsigned_abs())
            })))
        };
        let (from, to) = (stamp(self.from, 0)?, stamp(self.to, u64::MAX)?);
        if from > to {
            return Err(CliError::Usage("--from lies after --to".into()));
        }
        causality.limit_to(from, to);
        Ok(())
    }
}
