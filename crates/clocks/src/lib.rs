//! Physical clocks: who reads which, and what has to be added to each.
//!
//! For readers who ask which locations of a trace share a clock, how long a message takes at
//! least, or what an estimate of clock differences is made of. Nothing here knows how clocks are
//! aligned, how far times can be from the truth, or of any file.
//!
//! - [`Grouping`]: which locations read the same clock, as coarse as nothing refutes.
//! - [`Standstill`]: the stamps of a clock that was set back.
//! - [`Straight`]: the times of clocks without the few changes of their rates.
//! - [`estimate`]: an [`Estimate`](estimate::Estimate) is what to add to each clock, as a function
//!   of what it shows; minimal delays are learned from the trace.

pub mod estimate;
mod grouping;
mod standstill;
mod straight;

pub use grouping::{
    ClockAttribution, Grouping, SharedClock, joined, split_by_process, split_clocks,
};
pub use standstill::Standstill;
pub use straight::{RateChange, Straight, Straightening};
