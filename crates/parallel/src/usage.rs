//! The time and memory that a process took, and the messages that it sent.

use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The time and memory that a process took, and the messages that it sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// How long it was not just waiting to be asked for something.
    pub worked: Duration,
    /// The most memory that was resident at a time, in bytes, if the system tells.
    pub memory: Option<u64>,
    /// Messages sent.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Usage {
    pub(crate) fn new(worked: Duration, messages: u64, bytes: u64) -> Self {
        Self {
            worked,
            memory: most_resident(),
            messages,
            bytes,
        }
    }
}

/// See proc(5).
fn most_resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
