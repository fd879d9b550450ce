//! The content of an exported file, in numbers.

/// The content of an exported file, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes, before they were compressed.
    pub bytes: u64,
    /// Stays in regions.
    pub slices: u64,
    /// Slices without length: events at which arrows begin or end, and others that
    /// communicate, but not in a region of their own.
    pub points: u64,
    /// Dependencies.
    pub arrows: u64,
    /// Tracks of locations.
    pub threads: u64,
    /// Curves of clocks.
    pub curves: u64,
    /// Leaves of regions that were not entered, which are left out.
    pub dropped: u64,
    /// Regions that the recording does not leave, closed where it ends.
    pub closed: u64,
}

impl Summary {
    /// Counts what another part of the file holds, too.
    pub(crate) fn add(&mut self, other: &Self) {
        self.slices += other.slices;
        self.points += other.points;
        self.arrows += other.arrows;
        self.dropped += other.dropped;
        self.closed += other.closed;
    }
}
