//! How clocks differ, estimated from the trace without moving single events.
//!
//! An estimator looks at the [dependencies between clocks](retime_causality::Edges)
//! and returns an [`Estimate`]: what has to be added to each clock, as a
//! function of what it shows. [`Estimate::correction`] turns that into clock
//! maps; what is still violated then is left to the controlled logical clock.
//! The estimators of the papers are in the crate `retime-methods`.

mod by_length;
mod calls;
mod drift;
mod minimal_delay;
mod offset;
mod reference;
mod result;
mod rule;
mod samples;
mod ticks;
mod twice;

pub use by_length::{LengthLine, learn_by_length};
pub use calls::{EmptyCalls, empty_calls};
pub use drift::{FEWEST_MESSAGES, MESSAGES_PER_WINDOW};
pub use minimal_delay::{LearnedDelay, learn_minimal_delay};
pub use offset::Offset;
pub use reference::Reference;
pub use result::{BadEstimate, Estimate, NoEstimate};
pub use rule::{DelayRule, RuledDelay, Shown};
pub use ticks::but_for_ticks;
pub use twice::twice;
