//! The options of `retime stream`, and what they make of a filter.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use retime::clock::{AmortizationRate, Control, Gamma};
use retime::{Delay, TickRate};
use retime_stream::{DelayBound, FilterControl, FilterOptions, SegmentOptions};

use crate::error::CliError;
use crate::given::Given;
use crate::method::{ConstantsArgs, Controller, to_ticks};

#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    // First, while all options are still there to be seen.
    #[command(flatten)]
    given: Given,
    /// Least time from a cause to its effect
    #[arg(
        long,
        value_name = "DELAY",
        default_value = "0ticks",
        help_heading = "Model"
    )]
    min_delay: Delay,
    /// No two clocks differ by more
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5ms",
        help_heading = "Model"
    )]
    max_clock_difference: Delay,
    /// Clock difference to reckon with before any is seen
    /// [default: that of --max-clock-difference]
    #[arg(long, value_name = "TIME", help_heading = "Model")]
    start_clock_difference: Option<Delay>,
    /// An event comes at most so long after it happened
    #[arg(
        long,
        value_name = "TIME",
        default_value = "100ms",
        help_heading = "Model"
    )]
    transfer_delay: Delay,
    /// Lines come in the order of their times, whatever their location
    #[arg(long, help_heading = "Model")]
    merged: bool,
    /// Ticks of all times per second [default: that of the header, or 1000000000]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Model"
    )]
    ticks_per_second: Option<u64>,
    /// How time stamps are corrected
    #[arg(
        long,
        value_enum,
        value_name = "NAME",
        default_value = "clc",
        help_heading = "Method"
    )]
    pub(super) method: StreamMethod,
    /// Whose clock is the common one, of pseudo-synchronisation: a location as the first line
    /// names it [default: the first]
    #[arg(long, value_name = "LOCATION", help_heading = "Method")]
    pub(super) reference: Option<String>,
    /// How long the segments are, by the clocks of their hosts, after which
    /// pseudo-synchronisation shifts clocks anew
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1s",
        help_heading = "Method"
    )]
    segment: Delay,
    /// What controls the clock: constant, 1997, or some of the letters a to d
    #[arg(
        long,
        value_name = "NAME",
        default_value = "constant",
        help_heading = "Method"
    )]
    controller: Controller,
    /// Largest share of local time a clock keeps while it waits to be caught
    /// up, from 0 up to but not including 1 [default: 0.99998; 0.95 for 1997]
    #[arg(long, value_name = "FACTOR", help_heading = "Method")]
    gamma_max: Option<Gamma>,
    #[command(flatten)]
    constants: ConstantsArgs,
    /// How fast a correction may grow ahead of a jump, as a share of local time
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "5%",
        help_heading = "Method"
    )]
    amortization: AmortizationRate,
    /// How long an event may stay, or unlimited
    /// [default: what the other bounds explain, see docs/STREAM.md]
    #[arg(long, value_name = "TIME", help_heading = "Method")]
    delay: Option<Stay>,
    /// Leave out and count lines that cannot be understood, or are longer than
    /// 16 MiB
    #[arg(long, help_heading = "Running")]
    pub(super) skip_bad: bool,
    /// Write the report as JSON to a file
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub(super) report: Option<PathBuf>,
    /// Print no summary
    #[arg(short, long, help_heading = "Running")]
    pub(super) quiet: bool,
}

/// How the stream is corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StreamMethod {
    /// The controlled logical clock: what contradicts is moved
    Clc,
    /// Liu's pseudo-synchronisation, segment by segment: clocks shifted by the fastest messages so far
    /// from the reference, adjusted once
    #[value(name = "pseudo-sync")]
    Shifts,
    /// Pseudo-synchronisation, adjusted until no message is violated
    #[value(name = "pseudo-sync-closure")]
    ClosedShifts,
}

/// The options that have no part in the controlled logical clock.
const OF_SEGMENTS: [&str; 2] = ["reference", "segment"];
/// The options that have a part in it alone.
const OF_CLC: [&str; 15] = [
    "max-clock-difference",
    "start-clock-difference",
    "transfer-delay",
    "merged",
    "controller",
    "gamma-max",
    "gamma-min",
    "q-init",
    "q-min",
    "q-factor",
    "gamma-degress",
    "l-upper",
    "l-lower",
    "amortization",
    "delay",
];

impl StreamArgs {
    /// Refuses an option that does nothing with the method.
    pub(super) fn fit(&self) -> Result<(), CliError> {
        let strangers = match self.method {
            StreamMethod::Clc => &OF_SEGMENTS[..],
            StreamMethod::Shifts | StreamMethod::ClosedShifts => &OF_CLC[..],
        };
        let Some(option) = strangers.iter().find(|option| self.given.has(option)) else {
            return Ok(());
        };
        let method = self.method.to_possible_value();
        let method = method.as_ref().map_or("", |value| value.get_name());
        Err(CliError::Usage(format!(
            "--{option} has no part in --method {method}; leave it out or choose another method"
        )))
    }

    /// The bounds and constants of the controlled logical clock that they ask for; of a stream whose
    /// header says how fast ticks run, if nothing else does.
    pub(crate) fn filter(&self, ticks_per_second: Option<u64>) -> Result<FilterOptions, CliError> {
        if self.method != StreamMethod::Clc {
            let message = "a filter is the controlled logical clock; leave --method out";
            return Err(CliError::Usage(message.into()));
        }
        self.fit()?;
        let args = self;
        let rate = args.rate(ticks_per_second)?;
        let difference = to_ticks(args.max_clock_difference, rate)?;
        let start = args
            .start_clock_difference
            .map(|start| to_ticks(start, rate))
            .transpose()?;
        Ok(FilterOptions {
            min_delay: to_ticks(args.min_delay, rate)?,
            control: self.control(rate)?,
            amortization: args.amortization,
            start_difference: start.unwrap_or(difference),
            max_difference: difference,
            transfer: to_ticks(args.transfer_delay, rate)?,
            merged: args.merged,
            delay: match args.delay {
                None => DelayBound::Explained,
                Some(Stay::Unlimited) => DelayBound::Unlimited,
                Some(Stay::UpTo(delay)) => DelayBound::Ticks(to_ticks(delay, rate)?),
            },
            ..FilterOptions::new(rate)
        })
    }

    /// The bounds of segments; of a stream whose header says how fast ticks run, if nothing else does.
    pub(super) fn segments(
        &self,
        ticks_per_second: Option<u64>,
    ) -> Result<SegmentOptions, CliError> {
        let rate = self.rate(ticks_per_second)?;
        Ok(SegmentOptions {
            length: to_ticks(self.segment, rate)?,
            min_delay: to_ticks(self.min_delay, rate)?,
            ..SegmentOptions::new(rate)
        })
    }

    fn rate(&self, ticks_per_second: Option<u64>) -> Result<TickRate, CliError> {
        let ticks = self.ticks_per_second.or(ticks_per_second);
        let rate = TickRate::per_second(ticks.unwrap_or(1_000_000_000));
        rate.ok_or_else(|| CliError::Usage("there are no 0 ticks per second".into()))
    }

    fn control(&self, rate: TickRate) -> Result<FilterControl, CliError> {
        let StreamArgs {
            constants,
            controller,
            gamma_max,
            ..
        } = self;
        Ok(match constants.control(*controller, *gamma_max, rate)? {
            Some(Control::Constant(factor)) => FilterControl::Constant(Gamma::from_factor(factor)),
            Some(Control::Degressive(constants)) => FilterControl::Degressive(constants),
            Some(Control::Combined(constants)) => FilterControl::Combined(constants),
            None => {
                let message = "--controller passes needs the whole trace; a stream has one pass";
                return Err(CliError::Usage(message.into()));
            }
        })
    }
}

/// How long an event may stay.
#[derive(Clone, Copy, Debug)]
enum Stay {
    Unlimited,
    UpTo(Delay),
}

impl std::str::FromStr for Stay {
    type Err = retime::ParseDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "unlimited" => Ok(Self::Unlimited),
            text => text.parse().map(Self::UpTo),
        }
    }
}
