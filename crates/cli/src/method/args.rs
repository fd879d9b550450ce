//! The options of methods, and what they resolve to for a trace.

use clap::{Arg, Args, Command};
use retime::causality::Nodes;
use retime::clock::{Gamma, MultiPass};
use retime::format::Trace;
use retime::pipeline::{
    Choice, ClockControl, ClockKind, IntervalNumber, LogicalClock, MeasuredOffsets, Method, Options,
};
use retime::{Delay, Ticks, TraceInfo};

use super::controller::{
    Amortization, ConstantsArgs, Controller, non_negative, one_or_more, to_ticks,
};
use super::distance::MinDistance;
use super::given::fits;
use super::intervals::Intervals;
use super::reference::ReferenceName;
use super::{AmortizationName, MethodOption, PairsName, RepairName, StepsName};
use crate::bounds::BoundsArgs;
use crate::error::CliError;
use crate::given::Given;
use crate::limits::LimitArgs;
use crate::offsets::OffsetsArgs;

/// How time stamps are corrected.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    // First, while all options are still there to be seen.
    #[command(flatten)]
    given: Given,
    /// How time stamps are corrected
    #[arg(
        long,
        value_name = "NAME",
        default_value_t,
        value_enum,
        ignore_case = true
    )]
    pub(crate) method: MethodOption,
    /// What follows an estimate of how clocks differ
    #[arg(long, value_name = "NAME", default_value = "clc")]
    repair: RepairName,
    /// Whose time is the common one: first (the first location), ensemble (as first, but for what
    /// that clock wanders against all others, where alignment finds that clocks wander), mean (the
    /// mean of all clocks), or the name of a location or process, or the id of a location
    #[arg(long, value_name = "CLOCK", default_value = "ensemble")]
    reference: ReferenceName,
    #[command(flatten)]
    offsets: OffsetsArgs,
    /// Sub-intervals of min-max, hofmann-hilgers and extended, or by-drift: so many
    /// that clocks part by less in each than a message takes, by --drift-bound and
    /// --min-delay [default: so many that messages fill them]
    #[arg(long, value_name = "N|by-drift")]
    intervals: Option<Intervals>,
    /// extended: where messages go one way only, how many times the narrowest bounds of
    /// any pair those are apart that are guessed, the factor of the source [default: the
    /// longest by the shortest of the fastest round trips, at least 2]
    #[arg(long, value_name = "FACTOR", value_parser = one_or_more, hide_short_help = true)]
    one_way_factor: Option<f64>,
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
    /// How jumps become ramps: gentlest (all at once, such that the steepest part is
    /// as gentle as it can be) or printed (jump by jump, as in the source)
    #[arg(
        long,
        value_name = "NAME",
        default_value = "gentlest",
        hide_short_help = true
    )]
    amortization_method: AmortizationName,
    /// Clock difference to reckon with before any is seen: ramps are at least as long
    /// as a jump of it takes [default: none; the largest jump says how long they are,
    /// of printed ones the largest so far]
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    start_clock_difference: Option<Delay>,
    /// Run the clock from the end of the trace to its beginning: events move
    /// to earlier times
    #[arg(long)]
    pub(crate) backward: bool,
    /// passes: how far ahead a clock may end, as a share of the run time
    #[arg(long, value_name = "SHARE", default_value_t = MultiPass::default().threshold, value_parser = non_negative, hide_short_help = true)]
    max_advance: f64,
    /// Least time between successive events of a location, all of them, so that
    /// they are strictly later unless it is 0; or a file with lines LOCATION
    /// DISTANCE (ids, or * for all others)
    #[arg(
        long,
        value_name = "DELAY|FILE",
        default_value = "0ticks",
        hide_short_help = true
    )]
    min_distance: MinDistance,
    /// The events at which the controllers 1997 and b to d step
    #[arg(
        long,
        value_name = "EVENTS",
        default_value = "communicating",
        hide_short_help = true
    )]
    steps: StepsName,
    #[command(flatten)]
    pub(crate) constants: ConstantsArgs,
}

impl MethodArgs {
    /// Refuses all options of how times are corrected, for a reason why none are.
    pub(crate) fn refuse_all(&self, reason: &str) -> Result<(), CliError> {
        let own = LimitArgs::augment_args(Self::augment_args(Command::new("method")));
        let names = own.get_arguments().filter_map(Arg::get_long);
        match names.into_iter().find(|it| self.given.has(it)) {
            Some(option) => Err(CliError::Usage(format!(
                "--{option} has no part {reason}; leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses options that were given and have no part in the method, or in the bounds of its times.
    pub(crate) fn refuse_strangers(&self, bounds: &BoundsArgs) -> Result<(), CliError> {
        let method = self.unresolved();
        fits(&self.given, &method)?;
        let by_drift = self
            .intervals
            .is_some_and(|it| it.0 == IntervalNumber::ByDrift);
        bounds.refuse_strangers(by_drift || method.heeds(Choice::Drift))?;
        if !method.keeps_time() {
            bounds.refuse_for_counters(method.name())?;
        }
        let never_steps = matches!(self.controller, Controller::Constant | Controller::Passes);
        if self.steps == StepsName::Every && never_steps {
            return Err(CliError::Usage(
                "--steps every has no part without a controller that steps; give --controller 1997 \
                 or letters with b or c, or leave it out"
                    .into(),
            ));
        }
        if self.amortization_method == AmortizationName::Printed && self.amortization.0.is_none() {
            return Err(CliError::Usage(
                "--amortization-method printed has no part where --amortization is off; leave one of \
                 them out"
                    .into(),
            ));
        }
        if self.start_clock_difference.is_some() && self.amortization.0.is_none() {
            return Err(CliError::Usage(
                "--start-clock-difference has no part where --amortization is off; leave one of them \
                 out"
                    .into(),
            ));
        }
        Ok(())
    }

    /// The options as they are for a trace with these events, whose clocks wander by at most
    /// `drift`.
    pub(crate) fn resolve(
        &self,
        trace: &dyn Trace,
        info: &TraceInfo,
        nodes: &Nodes,
        drift: f64,
    ) -> Result<Method, CliError> {
        let reference = self.reference.resolve(info)?;
        let method = self.unresolved();
        let offsets = if method.heeds(Choice::Offsets) {
            self.offsets.measured(trace, info, nodes)?
        } else {
            MeasuredOffsets::default()
        };
        let clock = || self.clock(info);
        let options = Options {
            reference,
            clock: (self.repair == RepairName::Clc).then(clock).transpose()?,
            drift,
            intervals: self
                .intervals
                .map_or(IntervalNumber::ByMessages, |given| given.0),
            one_way_factor: self.one_way_factor,
            pairs: self.pairs.into(),
            offsets,
        };
        Ok(method.with(options))
    }

    /// The file with the measured offsets that the method heeds, if it heeds any.
    pub(crate) fn offsets_source(&self, trace: &dyn Trace) -> Option<String> {
        let heeds = self.unresolved().heeds(Choice::Offsets);
        heeds.then(|| self.offsets.source(trace))?
    }

    /// The method, before the options are resolved for a trace.
    fn unresolved(&self) -> Method {
        let clock = (self.repair == RepairName::Clc).then(LogicalClock::default);
        Method::new(self.method.0).repaired_by(clock)
    }

    /// True if processes that hold a part of the trace each can run the method together.
    pub(crate) fn can_be_together(&self) -> bool {
        let method = self.unresolved();
        let sees_all = matches!(self.controller, Controller::Combined { .. });
        method.can_be_shared() && !(sees_all && method.heeds(Choice::Control))
    }

    fn clock(&self, info: &TraceInfo) -> Result<LogicalClock, CliError> {
        let by_event = self
            .constants
            .control(self.controller, self.gamma_max, info.rate)?;
        let passes = || {
            ClockControl::Passes(MultiPass {
                threshold: self.max_advance,
                ..MultiPass::default()
            })
        };
        Ok(LogicalClock {
            kind: ClockKind::Controlled,
            control: by_event.map_or_else(passes, ClockControl::ByEvent),
            distance: self.min_distance.resolve(info)?,
            steps: self.steps.into(),
            amortization: self.amortization.0,
            amortization_method: self.amortization_method.into(),
            expected_difference: self
                .start_clock_difference
                .map_or(Ok(Ticks(0)), |it| to_ticks(it, info.rate))?,
            backward: self.backward,
        })
    }
}
