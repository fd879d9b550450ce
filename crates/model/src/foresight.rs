//! Room for what is still to be read.
//!
//! A column that doubles whenever it is full takes up to half of its memory for nothing,
//! and for a moment that of its copy. How many events a location has is mostly known, if
//! only as a hint; so a full column gets room for as many entries as there will be if the
//! rest of the events is like those before:
//!
//! ```text
//!   room = entries * events left / events seen      within 1 and 16 times the entries
//! ```
//!
//! The lower limit is that of doubling, for hints that are too small; the upper one keeps
//! false hints from taking memory that what was read does not warrant.

/// How far a location is read.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    /// Events so far.
    pub(crate) seen: u64,
    /// About how many there will be; 0 if nobody knows.
    pub(crate) expected: u64,
}

/// Room for fewer entries is not worth being foreseen.
const FEW: usize = 64;

impl Progress {
    /// How many more entries to make room for in a column of so many.
    fn room(self, entries: usize) -> usize {
        let entries = entries.max(FEW);
        let left = self.expected.saturating_sub(self.seen) as f64;
        let alike = entries as f64 * left / self.seen.max(1) as f64;
        // A little more, so that what comes a little denser fits.
        let room = ((alike * 1.02) as usize).saturating_add(FEW);
        room.clamp(entries, entries.saturating_mul(16))
    }
}

/// Adds an entry to a column; where it is full, room is made for all that is foreseen.
#[inline]
pub(crate) fn append<T>(column: &mut Vec<T>, entry: T, progress: Progress) {
    if column.len() == column.capacity() {
        make_room(column, progress);
    }
    column.push(entry);
}

#[cold]
fn make_room<T>(column: &mut Vec<T>, progress: Progress) {
    column.reserve(progress.room(column.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(entries: usize, seen: u64, expected: u64) -> usize {
        Progress { seen, expected }.room(entries)
    }

    #[test]
    fn the_rest_is_taken_to_be_like_what_was_seen() {
        // A quarter of the events is read, so three times as much is to come.
        assert_eq!(room(1_000, 10_000, 40_000), 3_060 + FEW);
    }

    #[test]
    fn a_hint_that_is_wrong_does_no_harm() {
        assert_eq!(room(1_000, 10_000, 0), 1_000);
        assert_eq!(room(1_000, 10_000, 10_000), 1_000);
        assert_eq!(room(1_000, 10_000, u64::MAX), 16_000);
        assert_eq!(room(0, 0, u64::MAX), 16 * FEW);
    }
}
