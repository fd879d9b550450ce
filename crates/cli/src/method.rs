//! `--method` and what belongs to it: from options to a correction.

use std::fmt;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, Cycle, DegressiveConstants, Gamma, LogicalTimes,
    MultiPass, RateError, Regulation, amortize, controlled, lamport_order, mirror_back, multi_pass,
    regulated, simple, unamortized,
};
use retime::{
    Causality, Clocks, Correction, Delay, MinimalDelay, TickRate, Ticks, Timestamp, TraceInfo,
};

use crate::error::CliError;

/// How time stamps are corrected.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// How time stamps are corrected
    #[arg(long, value_name = "NAME", default_value = "clc")]
    pub(crate) method: MethodName,
    /// What controls the clock of --method clc: constant (a constant factor),
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
    #[arg(long, value_name = "SHARE", default_value_t = MultiPass::default().threshold, hide_short_help = true)]
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

/// Constants of the controllers, with the defaults of their papers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Constants of controllers")]
pub(crate) struct ConstantsArgs {
    /// Smallest factor, if controller D takes part
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 0.98,
        hide_short_help = true
    )]
    gamma_min: f64,
    /// 1997: first value of the remembered leads
    #[arg(
        long,
        value_name = "DELAY",
        default_value = "250us",
        hide_short_help = true
    )]
    q_init: Delay,
    /// 1997: value to which the remembered leads decay
    #[arg(
        long,
        value_name = "DELAY",
        default_value = "250us",
        hide_short_help = true
    )]
    q_min: Delay,
    /// 1997: what is left of the rest at each event
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 0.9,
        hide_short_help = true
    )]
    q_factor: f64,
    /// 1997: factor by which gamma falls and rises
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 0.9,
        hide_short_help = true
    )]
    gamma_degress: f64,
    /// 1997: ratio of leads above which gamma falls
    #[arg(
        long,
        value_name = "RATIO",
        default_value_t = 2.0,
        hide_short_help = true
    )]
    l_upper: f64,
    /// 1997: ratio of leads below which gamma rises
    #[arg(
        long,
        value_name = "RATIO",
        default_value_t = 1.8,
        hide_short_help = true
    )]
    l_lower: f64,
}

impl ConstantsArgs {
    /// What a controller needs, for times of the given tick rate; `None` for
    /// passes, which control no single event.
    pub(crate) fn control(
        &self,
        controller: Controller,
        gamma_max: Option<Gamma>,
        rate: TickRate,
    ) -> Result<Option<Control>, CliError> {
        let seconds = |delay: Delay| to_ticks(delay, rate).map(|ticks| rate.seconds(ticks));
        let factor = |or: f64| gamma_max.map_or(or, Gamma::factor);
        Ok(Some(match controller {
            Controller::Passes => return Ok(None),
            Controller::Constant => Control::Constant(factor(Gamma::default().factor())),
            Controller::Degressive => Control::Degressive(DegressiveConstants {
                q_init: seconds(self.q_init)?,
                q_min: seconds(self.q_min)?,
                q_factor: self.q_factor,
                gamma_max: factor(DegressiveConstants::default().gamma_max),
                gamma_degress: self.gamma_degress,
                l_upper: self.l_upper,
                l_lower: self.l_lower,
            }),
            Controller::Combined { b, c, d } => Control::Combined(CombinedConstants {
                gamma_max: factor(CombinedConstants::default().gamma_max),
                b,
                c,
                d: d.then_some(self.gamma_min),
            }),
        }))
    }
}

/// A method by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// Controlled logical clock: local intervals stay nearly exact
    Clc,
    /// Simple logical clock: a clock that is ahead stands still
    Simple,
    /// Lamport's clock: times become counters, for the order of events alone
    Lamport,
}

/// A controller by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    Constant,
    Degressive,
    Combined { b: bool, c: bool, d: bool },
    Passes,
}

/// Not the name of a controller.
#[derive(Debug, thiserror::Error)]
#[error("no such controller: give constant, 1997, passes, or some of the letters a to d")]
pub(crate) struct NoController;

impl FromStr for Controller {
    type Err = NoController;

    fn from_str(name: &str) -> Result<Self, NoController> {
        let letters = name.to_ascii_lowercase();
        match letters.as_str() {
            "constant" | "a" => Ok(Self::Constant),
            "1997" => Ok(Self::Degressive),
            "passes" => Ok(Self::Passes),
            "" => Err(NoController),
            letters if letters.chars().all(|letter| ('a'..='d').contains(&letter)) => {
                let has = |letter| letters.contains(letter);
                Ok(Self::Combined {
                    b: has('b'),
                    c: has('c'),
                    d: has('d'),
                })
            }
            _ => Err(NoController),
        }
    }
}

/// Whether and how jumps are amortised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amortization(pub(crate) Option<AmortizationRate>);

impl FromStr for Amortization {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        if text == "off" {
            Ok(Self(None))
        } else {
            text.parse().map(|rate| Self(Some(rate)))
        }
    }
}

/// Why a method yields no correction.
pub(crate) enum Unsolved {
    Cycle(Cycle),
    BeforeZero,
}

impl From<Cycle> for Unsolved {
    fn from(cycle: Cycle) -> Self {
        Self::Cycle(cycle)
    }
}

/// What a method found.
pub(crate) struct Solution {
    pub(crate) correction: Correction,
    pub(crate) jumps: u64,
    pub(crate) largest_jump: Ticks,
    /// Before amortisation, if there was any; as of the trace, not of its mirror.
    pub(crate) times: Option<LogicalTimes>,
}

/// What controls the clock, with its constants.
#[derive(Clone, Copy, Debug)]
enum MethodControl {
    ByEvent(Control),
    Passes(MultiPass),
}

/// A method with its parameters in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    name: MethodName,
    rate: TickRate,
    control: MethodControl,
    distance: Ticks,
    amortization: Option<AmortizationRate>,
    backward: bool,
}

impl MethodArgs {
    /// Resolves the options for traces of the given tick rate.
    pub(crate) fn resolve(&self, rate: TickRate) -> Result<Method, CliError> {
        let by_event = self
            .constants
            .control(self.controller, self.gamma_max, rate)?;
        let control = by_event.map_or_else(
            || {
                MethodControl::Passes(MultiPass {
                    threshold: self.max_advance,
                    ..MultiPass::default()
                })
            },
            MethodControl::ByEvent,
        );
        Ok(Method {
            name: self.method,
            rate,
            control,
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

pub(crate) fn to_ticks(delay: Delay, rate: TickRate) -> Result<Ticks, CliError> {
    // Far below the span that stamps may have, so that no sum overflows.
    let ticks = delay.to_ticks(rate).filter(|ticks| ticks.0 <= 1 << 60);
    ticks.ok_or_else(|| {
        CliError::Usage(
            "a time span on the command line is too long for the ticks of this trace".into(),
        )
    })
}

impl Method {
    /// Runs the method over a trace.
    pub(crate) fn solve(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        delay: &MinimalDelay,
    ) -> Result<Solution, Unsolved> {
        if !self.backward {
            return self.forward(causality, clocks, delay);
        }
        let mirror = causality.mirrored();
        let mirrored = self
            .forward(&mirror, clocks, &delay.mirrored())
            .map_err(|unsolved| match unsolved {
                Unsolved::Cycle(cycle) => Unsolved::Cycle(cycle.mirrored(causality)),
                Unsolved::BeforeZero => Unsolved::BeforeZero,
            })?;
        let correction =
            mirror_back(causality, clocks, &mirrored.correction).ok_or(Unsolved::BeforeZero)?;
        Ok(Solution {
            correction,
            times: None,
            ..mirrored
        })
    }

    fn forward(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        delay: &MinimalDelay,
    ) -> Result<Solution, Unsolved> {
        let times = match self.name {
            MethodName::Lamport => {
                let correction = lamport_order(causality)?;
                return Ok(Solution {
                    correction,
                    jumps: 0,
                    largest_jump: Ticks(0),
                    times: None,
                });
            }
            MethodName::Simple => simple(causality, clocks, delay, self.distance)?,
            MethodName::Clc => self.controlled(causality, clocks, delay)?,
        };
        let correction = match self.amortization {
            Some(rate) if self.name == MethodName::Clc => {
                amortize(causality, clocks, delay, rate, &times)
            }
            _ => unamortized(causality, clocks, &times),
        };
        Ok(Solution {
            correction,
            jumps: times.jumps(),
            largest_jump: times.largest_jump(),
            times: self.amortization().map(|_| times),
        })
    }

    fn controlled(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        delay: &MinimalDelay,
    ) -> Result<LogicalTimes, Cycle> {
        match self.control {
            MethodControl::Passes(limits) => {
                Ok(multi_pass(causality, clocks, delay, limits)?.times)
            }
            MethodControl::ByEvent(Control::Constant(factor)) if self.distance == Ticks(0) => {
                controlled(causality, clocks, delay, Gamma::from_factor(factor))
            }
            MethodControl::ByEvent(control) => {
                let regulation = Regulation {
                    delay: delay.clone(),
                    distance: self.distance,
                    control,
                };
                regulated(causality, clocks, self.rate, &regulation)
            }
        }
    }

    /// Whether the clocks of the method are those of the trace.
    pub(crate) fn keeps_time(&self) -> bool {
        self.name != MethodName::Lamport
    }

    /// The largest control factor, if the method was given one.
    pub(crate) fn gamma_max(&self) -> Option<Gamma> {
        let factor = match self.control {
            MethodControl::Passes(_) => return None,
            MethodControl::ByEvent(Control::Constant(factor)) => factor,
            MethodControl::ByEvent(Control::Degressive(constants)) => constants.gamma_max,
            MethodControl::ByEvent(Control::Combined(constants)) => constants.gamma_max,
        };
        (self.name == MethodName::Clc).then(|| Gamma::from_factor(factor))
    }

    /// The rate of amortisation, if there is any.
    pub(crate) fn amortization(&self) -> Option<AmortizationRate> {
        self.amortization.filter(|_| self.name == MethodName::Clc)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.name {
            MethodName::Clc => "controlled logical clock",
            MethodName::Simple => "simple logical clock",
            MethodName::Lamport => "Lamport's clock",
        };
        f.write_str(name)?;
        match self.control {
            _ if self.name != MethodName::Clc => {}
            MethodControl::ByEvent(Control::Constant(_)) => {}
            MethodControl::ByEvent(Control::Degressive(_)) => {
                f.write_str(", controller of 1997")?;
            }
            MethodControl::Passes(_) => f.write_str(", in several passes")?,
            MethodControl::ByEvent(Control::Combined(CombinedConstants { b, c, d, .. })) => {
                f.write_str(", controllers A")?;
                for (letter, takes_part) in [('B', b), ('C', c), ('D', d.is_some())] {
                    if takes_part {
                        write!(f, "{letter}")?;
                    }
                }
            }
        }
        if self.backward {
            f.write_str(", run backwards")
        } else {
            Ok(())
        }
    }
}
