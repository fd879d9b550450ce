//! A file of an archive, and what its manifest has to say of it.

use retime_model::Monitor;
use retime_model::format::{Document, DocumentKind};
use retime_perfetto::{FileClock, file_clock};

use crate::error::MergeError;

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name of the member in the archive.
    pub name: String,
    /// The host whose processes it shows.
    pub host: Option<String>,
    /// The nanosecond at which a time of 0 stands on the common time line.
    pub zero: i64,
    /// The clock that its times are by; nothing for a document in Chrome's format.
    pub clock: Option<FileClock>,
}

impl Member {
    /// The member that a document becomes, with times that are so many nanoseconds later.
    pub fn of(
        document: &Document,
        name: String,
        later: i64,
        monitor: &dyn Monitor,
    ) -> Result<Self, MergeError> {
        let clock = match document.kind {
            DocumentKind::Chrome => None,
            DocumentKind::Packets => {
                let clock = file_clock(&document.path, monitor)?;
                if clock.name().is_none() {
                    return Err(MergeError::UnnamedClock {
                        path: document.path.clone(),
                        number: clock.number,
                    });
                }
                Some(clock)
            }
        };
        Ok(Self {
            name,
            host: document.host.clone(),
            zero: document.base.saturating_add(later),
            clock,
        })
    }
}
