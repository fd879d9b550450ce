//! Corrections made of computed times, and of other corrections.
//!
//! The maps themselves are those of the [model](retime_model::Correction); here
//! they are built: [`MapBuilder`] finds the fewest knots that give each event
//! exactly its computed time, [`compose`] makes one correction of two.

mod bends;
mod builder;
mod compose;
mod error;
mod known;
mod point;

pub use bends::{add_bends, arrives, leaves};
pub use builder::MapBuilder;
pub use compose::compose;
pub use error::CorrectionError;
pub use known::add_known;
pub use point::Point;
