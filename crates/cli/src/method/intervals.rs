//! `--intervals`: into how many pieces a run is divided.

use std::str::FromStr;

use retime::pipeline::IntervalNumber;

/// The number of sub-intervals, as the option says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Intervals(pub(super) IntervalNumber);

/// Neither a number of sub-intervals nor the name of a rule.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not in 1..=4294967295: give a number of sub-intervals, or by-drift")]
pub(crate) struct NoIntervals(String);

impl FromStr for Intervals {
    type Err = NoIntervals;

    fn from_str(text: &str) -> Result<Self, NoIntervals> {
        if text == "by-drift" {
            return Ok(Self(IntervalNumber::ByDrift));
        }
        let number = text.parse().ok().filter(|number| *number > 0);
        match number {
            Some(number) => Ok(Self(IntervalNumber::Given(number))),
            None => Err(NoIntervals(text.into())),
        }
    }
}
