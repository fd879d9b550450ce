//! Threads whose events are on several tracks.
//!
//! On a track of packets an end is of what began last, so whoever writes stays that cross each other
//! puts them on tracks of their own below that of the thread:
//!
//! ```text
//! thread     |-- c10d::send --|
//! below it        |----- gloo:send -----|
//! ```

use crate::profile::Track;

/// The track of the thread of each track.
#[derive(Debug, Default)]
pub(crate) struct Threads(Vec<u32>);

impl Threads {
    pub(crate) fn of(tracks: &[Track]) -> Self {
        let all = (0..).zip(tracks);
        Self(all.map(|(own, it)| it.lane_of.unwrap_or(own)).collect())
    }

    /// The track of the thread that a track has events of.
    pub(crate) fn track(&self, track: u32) -> u32 {
        self.0.get(track as usize).copied().unwrap_or(track)
    }
}
