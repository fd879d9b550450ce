//! `--max-rate-difference`: what a result may look like before it is refused.

use std::str::FromStr;

use clap::Args;
use retime::pipeline::RATE_DIFFERENCE;

use crate::quantity::share;

/// Limits that no result may exceed unless it is forced.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// By how much the rates of two aligned clocks may differ, such as 1% or 500ppm; a
    /// result beyond that cannot be right and is refused
    #[arg(long, value_name = "RATE", default_value = "1%")]
    pub(crate) max_rate_difference: RateLimit,
}

/// The largest difference of two clocks' rates that a result may have, as a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateLimit(pub(crate) f64);

impl Default for RateLimit {
    fn default() -> Self {
        Self(RATE_DIFFERENCE)
    }
}

impl FromStr for RateLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let limit = share(text)?;
        if limit > 0.0 && limit.is_finite() {
            Ok(Self(limit))
        } else {
            Err(format!(
                "\"{text}\" is no limit of rate differences: give a rate above 0, such as 1%"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_rate_above_zero() {
        assert_eq!("1%".parse(), Ok(RateLimit::default()));
        assert_eq!("500ppm".parse(), Ok(RateLimit(5e-4)));
        assert_eq!("0.02".parse(), Ok(RateLimit(0.02)));
        for wrong in ["0", "-1%", "inf", "1us", "much"] {
            assert!(wrong.parse::<RateLimit>().is_err(), "{wrong}");
        }
    }
}
