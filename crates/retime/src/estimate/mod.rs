//! How clocks differ, estimated from the trace without moving single events.
//!
//! Every method here looks at the [dependencies between clocks](crate::Edges)
//! and returns an [`Estimate`]: what has to be added to each clock, as a
//! function of what it shows. [`Estimate::correction`] turns that into clock
//! maps; what is still violated then is left to the controlled logical clock.

mod closure;
mod extended;
mod hofmann_hilgers;
mod line;
mod min_max;
mod minimal_delay;
mod missing_ways;
mod offset;
mod pair_bounds;
mod rebase;
mod relation;
mod result;
mod sub_intervals;
mod traffic;

pub use closure::{DifferenceBounds, NegativeCycle};
pub use extended::{Extended, extended};
pub use hofmann_hilgers::hofmann_hilgers;
pub use min_max::min_max;
pub use minimal_delay::{LearnedDelay, learn_minimal_delay, round_trip_halves};
pub use offset::Offset;
pub use pair_bounds::PairBounds;
pub use result::{BadEstimate, Estimate, NoEstimate};
pub use sub_intervals::SubIntervals;
