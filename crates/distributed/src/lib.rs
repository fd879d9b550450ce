//! A trace whose parts lie in several processes, analysed as one.
//!
//! For whoever runs retime on many nodes. The library `retime` knows parts of a trace, ghosts
//! and partial values; here is who has which part, and how what is missing gets there. How
//! messages travel is up to [`Peers`]; of files and formats nothing is known.
//!
//! | module | concept |
//! |---|---|
//! | `peers` | processes that send each other messages, and why they stop to |
//! | `distribution` | which process owns which locations; reductions and exchanges (`tree`: how messages travel; `talks`: who sends something to whom) |
//! | `ghosts` | which events of others each process has to know |
//! | `owners` | which process joins which collective operations |
//! | `build` | happened-before of ghosts and own events |
//! | `part` | what a process exchanges with whom |
//! | `guess` | values of ghosts that are guessed, where hardly any event moves (`batch`: values as they are sent) |
//! | `replay` | a computation that goes from process to process in one pass |
//! | `rest` | what the library asks of other parts of a trace |
//! | `analysis` | the steps of an analysis, taken by all |

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
