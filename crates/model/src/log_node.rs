//! The events of a log, by number.

use serde::{Deserialize, Serialize};

use crate::packed_fields;

/// An event with a role, by its number among those of its location, from 0: by its
/// place in the columns of one log. Over a whole trace it has another number.
///
/// ```
/// use retime_model::{ChannelIndex, ChannelPlace, Length, LogNode};
/// let place = ChannelPlace { channel: ChannelIndex(0), node: LogNode(7), length: Length::of(64) };
/// // In a file it is a number like any other.
/// assert_eq!(serde_json::to_string(&place)?, r#"{"channel":0,"node":7,"length":64}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct LogNode(pub u32);

impl LogNode {
    /// Its place in the columns of the log.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

packed_fields!(LogNode { 0: u32 });
