//! When a file was modified last, as copies of it have it and undo data keep it.
//!
//! ```
//! use retime_model::Modified;
//!
//! let here = std::fs::metadata(".")?;
//! let time = Modified::of(&here).expect("a time of modification");
//! let saved = serde_json::to_string(&time)?;
//! assert_eq!(serde_json::from_str::<Modified>(&saved)?, time);
//! // Half a second before 1970.
//! assert!(serde_json::from_str::<Modified>("[-1,500000000]").is_ok());
//! assert!(serde_json::from_str::<Modified>("[0,1000000000]").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{File, Metadata};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::access::is_not_kept;

const NANOSECONDS: u32 = 1_000_000_000;

/// A time of modification; in JSON the whole seconds since 1970, and nanoseconds after these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(i64, u32)", into = "(i64, u32)")]
pub struct Modified(SystemTime);

impl Modified {
    /// The time of what was found at a path; `None` where the system has no such times.
    pub fn of(found: &Metadata) -> Option<Self> {
        found.modified().ok().map(Self)
    }

    /// Gives it to a file that may be written. File systems that do not keep it leave the file
    /// as it is, as `cp -p` does: what was promised are the bytes.
    pub(crate) fn give(self, to: &File) -> io::Result<()> {
        match to.set_modified(self.0) {
            Err(error) if is_not_kept(&error) => Ok(()),
            given => given,
        }
    }
}

impl From<Modified> for (i64, u32) {
    fn from(Modified(time): Modified) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => (since.as_secs() as i64, since.subsec_nanos()),
            Err(error) => {
                let before = error.duration();
                let seconds = -(before.as_secs() as i64);
                match before.subsec_nanos() {
                    0 => (seconds, 0),
                    rest => (seconds - 1, NANOSECONDS - rest),
                }
            }
        }
    }
}

impl TryFrom<(i64, u32)> for Modified {
    type Error = &'static str;

    fn try_from((seconds, nanoseconds): (i64, u32)) -> Result<Self, Self::Error> {
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let at = if seconds < 0 {
            UNIX_EPOCH.checked_sub(whole)
        } else {
            UNIX_EPOCH.checked_add(whole)
        };
        let rest = Duration::from_nanos(nanoseconds.into());
        let at = at.filter(|_| nanoseconds < NANOSECONDS);
        at.and_then(|it| it.checked_add(rest))
            .map(Self)
            .ok_or("no time of modification: whole seconds since 1970, and nanoseconds after these")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn every_time_comes_back() {
        for (seconds, nanoseconds) in [
            (0, 0),
            (1_700_000_000, 123_456_789),
            (-1, 0),
            (-1, 999_999_999),
            (-2_000_000_000, 1),
            (253_402_300_799, 0),
        ] {
            let time = Modified::try_from((seconds, nanoseconds)).unwrap();
            assert_eq!(<(i64, u32)>::from(time), (seconds, nanoseconds));
        }
        for far in [i64::MAX, i64::MIN] {
            // Refused or taken, but without a panic.
            let _ = Modified::try_from((far, 999_999_999)).map(<(i64, u32)>::from);
        }
    }
}
