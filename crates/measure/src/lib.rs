//! How far the clocks of processes are from that of process 0, measured by round trips.
//!
//! For processes that can send each other a few words: a program under MPI, a job
//! before it begins, a tracer. Nothing here knows MPI; [`Exchange`] is all that is asked of it.
//!
//! ```text
//!  Tree         who asks whom: one process of each node first, then within nodes
//!    |
//!  measure      round trips of each pair, until the fastest stays the fastest
//!    |
//!  Measured     offset to process 0, bound, the moment          -> OffsetsFile, Table
//! ```
//!
//! A process asks its reference what time it is. The reference has learnt before how far it
//! is from process 0 itself, so that `log P` rounds do for `P` processes; bounds add up on
//! the way.
//!
//! ```
//! use retime_measure::Tree;
//! // Eight processes on two nodes: process 4 asks process 0, then each node measures its own.
//! let tree = Tree::new(&[0, 0, 0, 0, 1, 1, 1, 1]);
//! assert_eq!(tree.rounds(), 3);
//! assert_eq!(tree.reference(4), Some(0));
//! assert_eq!(tree.reference(7), Some(5));
//! assert_eq!(tree.clients(4), [5, 6]);
//! ```
//!
//! Sources: F. Cristian, *Probabilistic clock synchronization*, Distributed Computing 3, 1989
//! (the fastest round trip, half of it as bound); S. Hunold and A. Carpen-Amarie,
//! *Hierarchical clock synchronization in MPI*, IEEE Cluster 2018 (HCA3: a tree whose inner
//! processes serve once they are measured, nodes apart); Rabenseifner 1997, sections 1 and 8
//! (measured before and after the run).

mod clock_source;
mod drift;
mod exchange;
mod fastest;
mod measured;
mod offsets_file;
mod run;
mod table;
mod tree;

pub use clock_source::{ClockSource, UnknownClock};
pub use drift::Drift;
pub use exchange::{Exchange, Words};
pub use fastest::RoundTrip;
pub use measured::Measured;
pub use offsets_file::OffsetsFile;
pub use run::{LARGEST_DRIFT_PPM, measure};
pub use table::{Row, table};
pub use tree::Tree;
