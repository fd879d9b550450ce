//! Why a trace cannot be joined, or cannot have other times.

use retime_model::{Cancelled, Timestamp};

/// Why the logs of a trace cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CausalityError {
    /// More events with a role than node numbers.
    #[error("the trace has {nodes} events that communicate; at most {} are supported", u32::MAX - 1)]
    TooManyNodes {
        /// How many there are.
        nodes: u64,
    },
    /// Time stamps too far apart to compute with.
    #[error(
        "time stamps reach from {first} to {last} ticks, further apart than 2^61; {apart}: \
         its clock or a clock offset is defective"
    )]
    SpanTooLarge {
        /// Smallest stamp.
        first: Timestamp,
        /// Largest stamp.
        last: Timestamp,
        /// Which events lie apart from the others, in words.
        apart: String,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why a trace is not sent through a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetimingError {
    /// A stamp does not fit into 64 bits, or stamps come to lie too far apart.
    #[error("corrected time stamps do not fit into 64 bits, or lie too far apart")]
    TooFar,
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
