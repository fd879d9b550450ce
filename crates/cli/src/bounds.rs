//! `--bounds`, `--drift-bound`, `--bounds-budget`: how far the times of a trace can be from the truth.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use retime::pipeline::{BoundSearch, DRIFT_BOUND};

use crate::quantity::{Count, share};

/// Options on which error bounds rest.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Error bounds")]
pub(crate) struct BoundsArgs {
    /// By how much the rate of a clock may wander, such as 100ppm, 0.01% or 1e-4
    #[arg(long, value_name = "RATE", default_value = "100ppm")]
    pub(crate) drift_bound: DriftBound,
    /// Whether to compute how far times can be from the truth
    #[arg(long, value_name = "WHETHER", default_value = "on")]
    pub(crate) bounds: Switch,
    /// How many moments and dependencies each search for bounds may look at, such as 1e10; with more
    /// to do there are none. Some 1e8 take a second
    #[arg(long, value_name = "STEPS", default_value = "2e9")]
    pub(crate) bounds_budget: Count,
}

impl BoundsArgs {
    /// The search for error bounds that is asked for.
    pub(crate) fn asked(&self) -> BoundSearch {
        BoundSearch {
            drift: self.drift_bound.0,
            steps: self.bounds_budget.0,
        }
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes
    On,
    /// No, to save the time
    Off,
}

/// A drift bound: the largest wander of a clock's rate, as a share.
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
