//! The methods of the papers that put clocks on one time, and the [table](METHODS) of all
//! methods.
//!
//! For whoever reads the papers. Each method is one file: its idea, its formula, its source
//! and an example, a function that can be called by itself, and the type that makes an
//! [`Estimator`] of it. Nothing here knows how the default method works, and nothing in
//! `retime` knows of these.
//!
//! ```text
//!  edges --regression, convex_hull--> lines between pairs --spanning_tree--> along the best
//!        --sub_intervals, pair_bounds--> bounds by piece of the run
//!            --min_max--> pairs    --closure--> hofmann_hilgers, extended: all clocks
//!        --pseudo_sync, growing_sync--> constant shifts, at once or segment by segment
//!  measured offsets --interpolation--> lines between them
//! ```
//!
//! [`a_priori`] says what the controlled logical clock can do to local intervals before it runs.
//!
//! A method more is a file like these and a line in the [table](METHODS), and a page in
//! `docs/methods`. [`Estimator`] shows one whole; a program can also give methods of its own
//! to [`candidates`](retime::pipeline::candidates) or to the command.
//!
//! [`Estimator`]: retime::pipeline::Estimator

pub mod a_priori;
mod by_drift;
mod clock_line;
mod closure;
mod clouds;
mod convex_hull;
mod direct;
mod extended;
mod growing_sync;
mod hofmann_hilgers;
mod hull;
mod interpolation;
mod line;
mod min_max;
mod missing_ways;
mod pair_bounds;
mod pseudo_sync;
mod regression;
mod relation;
mod spanning_tree;
mod sub_intervals;
mod table;
mod traffic;

pub use closure::{DifferenceBounds, NegativeCycle};
pub use convex_hull::{ConvexHull, convex_hull};
pub use extended::{Extended, extended};
pub use growing_sync::GrowingShifts;
pub use hofmann_hilgers::{HofmannHilgers, hofmann_hilgers};
pub use interpolation::{Interpolation, interpolation};
pub use min_max::{MinMax, min_max};
pub use pair_bounds::PairBounds;
pub use pseudo_sync::{PseudoSync, pseudo_synchronisation};
pub use regression::{Regression, regression};
pub use spanning_tree::{SpanningTree, spanning_tree};
pub use sub_intervals::SubIntervals;
pub use table::{METHODS, named};
