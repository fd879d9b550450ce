//! Which method can do what: the thesis' comparison, each cell decided by runs.
//!
//! The thesis compares the methods of its time by what they promise. Here each
//! [`Requirement`] is a criterion that a run on simulated traces meets or fails:
//!
//! | requirement | met if |
//! |---|---|
//! | [`Requirement::Order`] | no effect is stamped before its cause in any of the runs |
//! | [`Requirement::Near`] | the mean error of event times is at most a quarter of that of the recorded times, in each run |
//! | [`Requirement::Local`] | local intervals are wrong by at most 0.1 % of the run time |
//! | [`Requirement::OnePass`] | what is cut off after some time does not change what was before it, but for a last stretch of an eighth of the run at most |
//! | [`Requirement::Online`] | the [filter](retime_stream::Filter) puts events that come as they happen in order, each within 0.2 s |
//!
//! The runs of the first two are of two programs, each three times, with other
//! delays and other clocks: [`traces`].
//!
//! Source: Rabenseifner 2000, table 7.1 on page 91, and its remarks on page 92.

mod cell;
mod kind;
mod one_pass;
mod online;
mod order;
mod printed;
mod requirement;
mod table;
mod traces;

pub use cell::Cell;
pub use kind::Kind;
pub use requirement::{REQUIREMENTS, Requirement};
pub use table::table;
pub use traces::traces;
