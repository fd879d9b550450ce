//! What `libretime-pmpi.so` does inside a running MPI program, but for MPI itself.
//!
//! ```text
//!  program      MPI_Send, mpi_send_, MPI_Allreduce ...
//!     |
//!  shim/*.c     stands before each call, puts stamps into messages, calls PMPI_...
//!     |  border.rs: the only unsafe code, C functions over the rest
//!  Session      what was asked for (Settings), the clock that rides along (Rider),
//!               the file of events (EventLog), offsets measured so far (Offsets)
//! ```
//!
//! docs/INSIDE.md says how it is used. The shim is C since MPI is: a communicator is a number
//! for one MPI and an address for another, and only the header tells.

#[allow(unsafe_code, reason = "functions that C calls")]
mod border;
mod clock;
mod event_log;
mod offsets;
mod operation;

mod rider;
mod session;
mod settings;

pub use clock::LocalClock;
pub use settings::{Settings, WrongSetting};
