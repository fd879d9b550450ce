//! How near to the truth each method comes, on simulated traces of many kinds.
//!
//! A [`Case`] is a program and clocks that are wrong in one way; its true times
//! are known. Each [`Method`] corrects it without them, and [`measure`] says what
//! is left: the mean absolute error of the times of all events with edges, after
//! removing the straight line over true time that all of them share. What no trace
//! can tell, the rate that its clocks have in common, is no one's error; see
//! [`retime::Accuracy`].
//!
//! ```
//! use retime_experiments::accuracy::{Size, cases, measure, methods};
//!
//! let offsets = &cases(Size::Small)[0];
//! let trace = offsets.simulate()?;
//! let [raw, clc] = [0, 1].map(|at| measure(&trace, &methods()[at]));
//! let (raw, clc) = (raw?.unwrap(), clc?.unwrap());
//! assert!(raw.violated > 1_000 && clc.violated == 0);
//! assert!(clc.error < raw.error / 4.0);
//! # Ok::<(), retime_experiments::Failure>(())
//! ```

mod bound;
mod case;
mod cases;
mod method;
mod outcome;
mod table;

pub use bound::Bound;
pub use case::{Case, Goal, Program, Trace};
pub use cases::{Size, cases};
pub use method::{Method, Solved, methods};
pub use outcome::{Outcome, measure};
pub use table::{Compared, table};
