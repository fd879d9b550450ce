//! How many events of which kind: what a correction must not change.

use std::fmt;

use crate::steps::{STAMP, Step};

/// The events of a location by their codes, and the bytes they take.
///
/// Time records are left out, of the counts and of the bytes: a corrected
/// file may need more of them. Everything else must be equal before and after
/// a correction, so this is compared with `==`.
#[derive(Clone, PartialEq, Eq)]
pub struct EventCounts {
    codes: [u64; 256],
    attribute_lists: u64,
    bytes: u64,
}

impl Default for EventCounts {
    fn default() -> Self {
        Self {
            codes: [0; 256],
            attribute_lists: 0,
            bytes: 0,
        }
    }
}

impl EventCounts {
    #[inline]
    pub(crate) fn add(&mut self, step: &Step) {
        self.codes[usize::from(step.record.code)] += 1;
        self.attribute_lists += u64::from(step.lists);
        self.bytes +=
            u64::from(step.record.end - step.first) - STAMP as u64 * u64::from(step.stamps);
    }

    /// The number of all events.
    pub fn total(&self) -> u64 {
        self.codes.iter().sum()
    }

    /// The number of events with a code, as in [`crate::schema`].
    pub fn of(&self, code: u8) -> u64 {
        self.codes[usize::from(code)]
    }

    /// Codes that occur, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u64)> {
        (0..=u8::MAX)
            .zip(self.codes)
            .filter(|&(_, count)| count > 0)
    }

    /// The number of attribute lists.
    pub const fn attribute_lists(&self) -> u64 {
        self.attribute_lists
    }

    /// The bytes of all events and attribute lists.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Debug for EventCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventCounts")
            .field("codes", &self.iter().collect::<Vec<_>>())
            .field("attribute_lists", &self.attribute_lists)
            .field("bytes", &self.bytes)
            .finish()
    }
}
