//! A trace among others in one file: numbers that none of these has.

/// The place of a trace in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The title of the trace: without one its times are.
    pub title: Option<String>,
    /// The number of tracks before it,
    pub tracks: u32,
    /// and that of arrows.
    pub arrows: u64,
}

impl Placement {
    /// The place behind a trace of so many locations and nodes that stands here: recorded times
    /// and corrected ones take numbers of their own, and so do contradictions of both.
    #[must_use]
    pub fn behind(&self, locations: usize, nodes: usize) -> Self {
        Self {
            title: None,
            tracks: self.tracks + 2 * (locations as u32 + 1),
            arrows: self.arrows + 2 * nodes as u64,
        }
    }
}
