//! How clocks differ, estimated from the trace without moving single events.
//!
//! An estimator looks at the [dependencies between clocks](crate::Edges)
//! and returns an [`Estimate`]: what has to be added to each clock, as a
//! function of what it shows. [`Estimate::correction`] turns that into clock
//! maps; what is still violated then is left to the controlled logical clock.
//! The estimators of the papers are in the crate `retime-methods`.

mod minimal_delay;
mod offset;
mod reference;
mod result;
mod twice;

pub(crate) use minimal_delay::{FEWEST, WINDOW};
pub use minimal_delay::{LearnedDelay, learn_minimal_delay};
pub use offset::Offset;
pub use reference::Reference;
pub use result::{BadEstimate, Estimate, NoEstimate};
pub use twice::twice;
