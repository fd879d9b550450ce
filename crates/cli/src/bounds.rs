//! `--bounds`, `--drift-bound`, `--bounds-budget`: how far the times of a trace can be from the truth.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use retime::pipeline::{BoundSearch, DRIFT_BOUND, SLEWED_DRIFT_BOUND};

use crate::error::CliError;
use crate::given::Given;
use crate::quantity::{Count, share};

/// Options on which error bounds rest.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Error bounds")]
pub(crate) struct BoundsArgs {
    // First, while all options are still there to be seen.
    #[command(flatten)]
    given: Given,
    /// By how much the rate of a clock may wander, such as 100ppm, 0.01% or 1e-4; if it is not given,
    /// 500ppm where several places contradict 100ppm and none contradicts 500ppm, or more where
    /// the best alignment has clocks stray by more
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
    /// Refuses options that were given for bounds that are not computed. The drift bound may be read
    /// by something else.
    pub(crate) fn refuse_strangers(&self, is_drift_read: bool) -> Result<(), CliError> {
        let of_bounds = ["bounds-budget", "drift-bound"];
        let strangers = &of_bounds[..if is_drift_read { 1 } else { 2 }];
        match self.given.first(strangers) {
            Some(option) if self.bounds == Switch::Off => Err(CliError::Usage(format!(
                "--{option} has no part where --bounds is off; leave one of them out"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses options of bounds for a method that computes no times, of which there are none.
    pub(crate) fn refuse_for_counters(&self, method: &str) -> Result<(), CliError> {
        match self.given.first(&["bounds-budget", "drift-bound"]) {
            Some(option) => Err(CliError::Usage(format!(
                "--{option} has no part in --method {method}, whose numbers are no times; leave it out \
                 or choose another method"
            ))),
            None => Ok(()),
        }
    }

    /// The search for error bounds that is asked for.
    pub(crate) fn asked(&self) -> BoundSearch {
        // Whoever gives a drift bound knows the clocks.
        let is_given = self.given.first(&["drift-bound"]).is_some();
        BoundSearch {
            drift: self.drift_bound.0,
            or_drift: (!is_given).then_some(SLEWED_DRIFT_BOUND),
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
