//! A trace whose parts lie in several processes, analysed as one.
//!
//! The library `retime` knows parts of a trace, ghosts and partial values. This crate decides
//! which process owns which part, and brings ghosts and partial values to the processes that need
//! them. How messages travel is up to [`Peers`]; files and formats are unknown here.
//!
//! | module | concept |
//! |---|---|
//! | `peers` | processes that send each other messages, and why they may stop |
//! | `distribution` | which process owns which locations; reductions and exchanges (`tree`: how messages travel; `talks`: which process sends to which) |
//! | `ghosts` | which events of other processes each one needs a copy of |
//! | `owners` | which process joins which collective operations |
//! | `build` | happened-before of ghosts and own events |
//! | `part` | what a process exchanges with each other one |
//! | `guess` | values of ghosts that are guessed, where hardly any event moves (`batch`: values as they are sent) |
//! | `replay` | a computation that goes from process to process in one pass |
//! | `rest` | the library's requests to other parts of a trace |
//! | `analysis` | the steps of an analysis, which all processes take together |

mod analysis;
mod batch;
mod build;
mod distribution;
mod ghosts;
mod guess;
mod owners;
mod part;
mod peers;
mod replay;
mod rest;

pub use analysis::{Follower, analyse};
pub use build::build;
pub use distribution::Distribution;
pub use peers::{Broken, Peers};
