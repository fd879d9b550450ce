//! The contents of a trace besides times, and the communication that leads to no dependencies.

use serde::{Deserialize, Serialize};

/// The contents of a location besides times, which a correction must not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// How many events there are of each kind; numbers as the format has them.
    pub kinds: Vec<(u32, u64)>,
    /// Whatever else can be counted or summed up.
    pub rest: Vec<u64>,
}

/// Records of one kind that tell of communication, and that nothing is concluded
/// from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The name of one of them, in words that take a plural.
    pub kind: &'static str,
    /// Whom they can relate.
    pub reach: Reach,
    /// True if there is an order between them and the events of others, which only the records do
    /// not show. Of an access to the memory of somebody who takes no part in it there is none.
    pub is_ordered: bool,
    /// How many each location has, in the order of
    /// [`TraceInfo::locations`](crate::TraceInfo::locations).
    pub records: Vec<u64>,
}

/// The kind of a rank of a job of several that recorded nothing of what it communicates.
pub const SILENT_RANK: &str = "silent rank";

/// Whom a kind of communication can relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Threads and streams of one process.
    Process,
    /// Any two locations.
    Trace,
}
