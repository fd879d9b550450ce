//! `--bounds`, `--drift-bound`: how far the times of a trace can be from the truth.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use retime::pipeline::DRIFT_BOUND;

use crate::quantity::share;

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
    fn default() -> Self {
        Self(DRIFT_BOUND)
    }
}

impl FromStr for DriftBound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rate = share(text)?;
        if rate > 0.0 && rate < 0.5 {
            Ok(Self(rate))
        } else {
            Err(format!(
                "\"{text}\" is no drift bound: give a rate above 0 and below a half, such as 100ppm"
            ))
        }
    }
}
