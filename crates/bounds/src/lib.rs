//! Limits that no method can beat: the gentlest correction, and bounds on the truth.
//!
//! Everything that a trace tells about its clocks are constraints on
//! differences: an effect comes after its cause, and a clock shows intervals
//! nearly as long as they are.
//!
//! - [`gentlest`]: the correction that changes local intervals least.
//! - [`LeastDistortion`]: by how much they have to change at least, and which events say so.
//! - [`offset_bounds`]: if clocks keep their rates within a drift bound, between
//!   which values does the offset of each lie, at any time?
//! - [`midpoint`]: the correction in the middle of these bounds.
//! - [`ErrorBounds`]: how far a given correction can be from the truth.
//! - [`outside`]: how many events a correction puts where the truth cannot be.
//! - [`with_step_places`]: between which stamps clocks can have been set.
//! - [`coverage`]: whether the bounds hold, where the truth is known.

mod accuracy;
mod attribution;
mod bounds;
mod cone;
mod cover;
mod coverage;
mod describe;
mod envelope;
mod error_bound;
mod facts;
mod feasible;
mod gentlest;
mod graph;
mod least_distortion;
mod line;
mod link;
mod mean_rates;
mod midpoint;
mod narrowed;
mod offset_bounds;
mod outside;
mod place;
mod relaxation;
mod resolved;
mod screen;
mod sides;
mod step_places;
mod still;
mod witnessed;

pub use accuracy::{Accuracy, Deviation, LocationAccuracy, TruthError};
pub use bounds::offset_bounds;
pub use coverage::{Coverage, coverage};
pub use error_bound::{BoundSummary, ClockErrorBound, ErrorBounds, ErrorKnot, SavedErrorBound};
pub use gentlest::{ForcingCycle, ForcingPart, Gentlest, gentlest};
pub use least_distortion::{Forcing, LeastDistortion, least_distortion};
pub use line::largest_stray;
pub use midpoint::midpoint;
pub use narrowed::steps;
pub use offset_bounds::{BoundOptions, ClockBounds, OffsetBounds};
pub use outside::{Outside, outside};
pub use relaxation::Relaxed;
pub use step_places::with_step_places;
pub use witnessed::{Witnessed, witnessed};
