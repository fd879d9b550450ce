//! Threads whose events are on several tracks.
//!
//! On a track of packets an end is of what began last, so whoever writes stays that cross each other
//! puts them on tracks of their own below that of the thread:
//!
//! ```text
//! thread     |-- c10d::send --|
//! below it        |----- gloo:send -----|
//! ```

/// The track of the thread of each track.
#[derive(Debug, Default)]
pub(crate) struct Threads(Vec<u32>);

impl Threads {
    /// The threads of tracks, each with the track of its thread if that is another.
    pub(crate) fn of(tracks: impl Iterator<Item = Option<u32>>) -> Self {
        let all = (0..).zip(tracks);
        Self(all.map(|(own, it)| it.unwrap_or(own)).collect())
    }

    /// The track of the thread that a track has events of.
    pub(crate) fn track(&self, track: u32) -> u32 {
        self.0.get(track as usize).copied().unwrap_or(track)
    }
}
