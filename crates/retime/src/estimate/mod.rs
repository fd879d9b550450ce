//! How clocks differ, estimated from the trace without moving single events.
//!
//! Every method here looks at the [dependencies between clocks](crate::Edges)
//! and returns an [`Estimate`]: what has to be added to each clock, as a
//! function of what it shows. [`Estimate::correction`] turns that into clock
//! maps; what is still violated then is left to the controlled logical clock.

mod clock_line;
mod closure;
mod clouds;
mod convex_hull;
mod direct;
mod extended;
mod hofmann_hilgers;
mod hull;
mod interpolation;
mod line;
mod min_max;
mod minimal_delay;
mod missing_ways;
mod offset;
mod pair_bounds;
mod pseudo_sync;
mod reference;
mod regression;
mod relation;
mod result;
mod spanning_tree;
mod sub_intervals;
mod traffic;
mod twice;

pub use closure::{DifferenceBounds, NegativeCycle};
pub use convex_hull::convex_hull;
pub use extended::{Extended, extended};
pub use hofmann_hilgers::hofmann_hilgers;
pub use interpolation::{Measured, interpolation};
pub use min_max::min_max;
pub(crate) use minimal_delay::{FEWEST, WINDOW};
pub use minimal_delay::{LearnedDelay, learn_minimal_delay};
pub use offset::Offset;
pub use pair_bounds::PairBounds;
pub use pseudo_sync::pseudo_synchronisation;
pub use reference::Reference;
pub use regression::regression;
pub use result::{BadEstimate, Estimate, NoEstimate};
pub use spanning_tree::{PairMethod, spanning_tree};
pub use sub_intervals::SubIntervals;
pub use twice::twice;
