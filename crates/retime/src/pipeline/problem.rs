//! A trace to be put on one time, and a correction of it that is still to be checked.

use super::solution::{Aligned, Enforced, NotAligned, Repaired};
use crate::causality::Causality;
use crate::correction::Correction;
use crate::delay::MinimalDelay;
use retime_model::{Clocks, Monitor, TraceInfo};

/// A trace, and all that is known of its clocks.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The locations of the trace, and the rate of its stamps.
    pub info: &'a TraceInfo,
    /// Which event must follow which.
    pub causality: &'a Causality,
    /// Which locations read one clock.
    pub clocks: &'a Clocks,
    /// The least time from a cause to its effect.
    pub delay: &'a MinimalDelay,
    /// True if the minimal delay was given, not learned from recorded times.
    pub delay_is_given: bool,
    /// True if the clocks are a guess, to be split where the trace refutes it.
    pub may_regroup: bool,
    /// Asked during long work for leave to go on.
    pub monitor: &'a dyn Monitor,
}

/// A correction, before it is checked.
#[derive(Clone, Debug)]
pub struct Found {
    /// One map per clock, of recorded times.
    pub correction: Correction,
    /// How clocks were put on one time, if they were.
    pub aligned: Option<Aligned>,
    /// Why clocks were not aligned, where they would have been.
    pub unaligned: Option<NotAligned>,
    /// The work of a logical clock, if one ran.
    pub repaired: Option<Repaired>,
    /// The minimal delay that was enforced, if it is another than that of the problem.
    pub enforced: Option<Enforced>,
}

impl Found {
    /// A correction of which nothing else is known.
    pub fn new(correction: Correction) -> Self {
        Self {
            correction,
            aligned: None,
            unaligned: None,
            repaired: None,
            enforced: None,
        }
    }
}
