//! Failures of a simulation.

use retime_otf2::writer;

/// Why a trace could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace could not be written.
    #[error(transparent)]
    Write(#[from] writer::WriteError),
    /// The events of a location make no log.
    #[error(transparent)]
    Log(#[from] retime_causality::LogError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// A process grid, a process or a node must have at least one member.
    #[error("{0} must not be zero")]
    Zero(&'static str),
    /// There must be one clock for each rank.
    #[error("{clocks} clocks were given for {ranks} ranks")]
    Clocks {
        /// Clocks given.
        clocks: usize,
        /// Ranks there are.
        ranks: u32,
    },
    /// The simulation was told to stop.
    #[error("stopped")]
    Stopped,
    /// A program was written down for a thread that its layout lacks.
    #[error("there is no thread {thread} of rank {rank}")]
    NoSuchThread {
        /// The rank.
        rank: u32,
        /// The thread.
        thread: u32,
    },
    /// A clock shows a time that is negative or too large for a trace.
    #[error(
        "the clock of rank {rank} shows {shown} ns, which the trace cannot hold; move the epoch"
    )]
    OutOfRange {
        /// The rank.
        rank: u32,
        /// The time that its clock shows, in nanoseconds since the start.
        shown: i64,
    },
}

/// Result of a simulation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
