//! The processes that have parts of a trace, and how they send each other messages.

use std::time::Duration;

use retime::causality::NeedsWhole;
use serde::{Deserialize, Serialize};

/// The processes that hold parts of one trace, numbered from 0, as one of them sees them.
pub trait Peers: Send + Sync {
    /// Which one this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends a message of any length.
    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), Broken>;

    /// Waits for the next message of another; they come in the order in which it sent them.
    fn receive(&self, from: usize) -> Result<Vec<u8>, Broken>;

    /// Sends a message that the other takes by [`posted`](Self::posted), and by nothing else. It
    /// may be on its way while this process goes on, or until it takes one itself.
    fn post(&self, to: usize, message: Vec<u8>) -> Result<(), Broken>;

    /// The next message that anybody has posted, and who; `None` if none comes in time. Those of
    /// one process come in the order in which it posted them.
    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Broken>;

    /// Asks all others to take a step with this one, which is the first.
    fn announce(&self, step: &[u8]) -> Result<(), Broken>;
}

/// Why processes do not work together any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Broken {
    /// One of them was told to stop.
    #[error("another process was told to stop")]
    Cancelled,
    /// One of them has found what the others have not.
    #[error("another process has failed")]
    Failed,
    /// One of them is gone, or sends what nobody asked for.
    #[error("process {0} has ended or sent something else than it was asked for")]
    Lost(usize),
    /// The step takes the whole trace in one process.
    #[error("{}", words(*.0))]
    NeedsWhole(NeedsWhole),
}

impl From<NeedsWhole> for Broken {
    fn from(why: NeedsWhole) -> Self {
        Self::NeedsWhole(why)
    }
}

fn words(why: NeedsWhole) -> &'static str {
    match why {
        NeedsWhole::ClockInSeveral => "several processes hold locations that read one clock",
        NeedsWhole::Method => "the method looks at all clocks at a time",
        NeedsWhole::Order => {
            "with this controller it matters which of several locations of a clock goes first"
        }
        NeedsWhole::Contradiction => "dependencies contradict each other",
        NeedsWhole::Named => {
            "events of several processes belong together by more than messages and operations"
        }
        NeedsWhole::TooFar => "corrected times do not fit",
    }
}
