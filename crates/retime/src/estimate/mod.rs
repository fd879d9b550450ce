//! How clocks differ, estimated from the trace without moving single events.
//!
//! Every method here looks at the [dependencies between clocks](crate::Edges)
//! and returns an [`Estimate`]: what has to be added to each clock, as a
//! function of what it shows. [`Estimate::correction`] turns that into clock
//! maps; what is still violated then is left to the controlled logical clock.

mod minimal_delay;
mod offset;
mod reference;
mod result;

pub(crate) use minimal_delay::{FEWEST, WINDOW};
pub use minimal_delay::{LearnedDelay, learn_minimal_delay, round_trip_halves};
pub use offset::Offset;
pub use reference::Reference;
pub use result::{BadEstimate, Estimate, NoEstimate};
