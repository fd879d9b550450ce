//! Processes that send each other bytes.

use std::time::Duration;

/// A process among others, numbered from 0.
pub trait Communicator: Send + Sync {
    /// Which one this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// The name of the machine that this process runs on.
    fn node(&self) -> String;

    /// How many bytes a message may have; at least 2.
    fn longest(&self) -> usize;

    /// Sends a message, which may take until it is received.
    fn send(&self, to: usize, message: &[u8]) -> Result<(), Lost>;

    /// Waits for the next message of another process. Those of one process come in the
    /// order in which they were sent.
    fn receive(&self, from: usize) -> Result<Vec<u8>, Lost>;

    /// Sends a message that is only taken by [`posted`](Self::posted). Processes that post each
    /// other messages never wait for each other.
    fn post(&self, to: usize, message: &[u8]) -> Result<(), Lost>;

    /// The next message that another process has posted, and which one; `None` if none comes in
    /// time. Those of one process come in the order in which they were posted.
    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Lost>;
}

/// Why processes do not understand each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// One has ended before its time.
    #[error("process {0} has ended")]
    Ended(usize),
    /// A message is not what was expected.
    #[error("process {0} sent something else than it was asked for")]
    Garbled(usize),
}
