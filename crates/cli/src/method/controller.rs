//! Control of the controlled logical clock: `--controller`, its constants, `--amortization`.

use std::str::FromStr;

use clap::Args;
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, DegressiveConstants, Gamma, RateError,
};
use retime::{Delay, TickRate, Ticks};

use crate::error::CliError;

/// Constants of the controllers, with the defaults of their papers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Constants of controllers")]
pub(crate) struct ConstantsArgs {
    /// Smallest factor, if controller D takes part
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 0.98,
        value_parser = non_negative,
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
        value_parser = non_negative,
        hide_short_help = true
    )]
    q_factor: f64,
    /// 1997: factor by which gamma falls and rises
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 0.9,
        value_parser = non_negative,
        hide_short_help = true
    )]
    gamma_degress: f64,
    /// 1997: ratio of leads above which gamma falls
    #[arg(
        long,
        value_name = "RATIO",
        default_value_t = 2.0,
        value_parser = non_negative,
        hide_short_help = true
    )]
    l_upper: f64,
    /// 1997: ratio of leads below which gamma rises
    #[arg(
        long,
        value_name = "RATIO",
        default_value_t = 1.8,
        value_parser = non_negative,
        hide_short_help = true
    )]
    l_lower: f64,
}

/// A plain number that can be a factor, a ratio or a share.
pub(super) fn non_negative(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "give a number of zero or more".into())
}

/// A plain number that says how many times as large something is.
pub(super) fn one_or_more(text: &str) -> Result<f64, String> {
    let number = non_negative(text).ok().filter(|number| *number >= 1.0);
    number.ok_or_else(|| "give a number of 1 or more, such as 2".into())
}

impl ConstantsArgs {
    /// The control of a clock for times of the given tick rate; `None` for passes, which control no
    /// single event.
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

/// The rate at which jumps are amortised; `None` if they are left as they are.
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

/// A time span of the command line in ticks.
pub(crate) fn to_ticks(delay: Delay, rate: TickRate) -> Result<Ticks, CliError> {
    // Far below the span that stamps may have, so that no sum overflows.
    let ticks = delay.to_ticks(rate).filter(|ticks| ticks.0 <= 1 << 60);
    ticks.ok_or_else(|| {
        CliError::Usage(
            "a time span on the command line is too long for the ticks of this trace".into(),
        )
    })
}
