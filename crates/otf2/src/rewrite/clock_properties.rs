//! The extent of the trace in the global definitions.
//!
//! Writers declare some time before the first and behind the last event, or
//! they declare nonsense. What they left is kept; nonsense is put right:
//!
//! ```text
//! old   |--lead--[ first event ... last event ]--tail--|
//! new     |--lead--[ first event  ...  last event ]--tail--|
//! ```
//!
//! The wall-clock time of the start moves as far as the start.

use super::compressed::{CompressedField, with_values};
use super::retime::Extent;
use crate::error::{Result, WireError};
use crate::records::Entry;
use crate::schema::codes::CLOCK_PROPERTIES;

const NANOSECONDS: i128 = 1_000_000_000;

struct RewrittenClock {
    ticks_per_second: CompressedField,
    start: CompressedField,
    length: CompressedField,
    /// Missing in archives before OTF2 3.0.
    realtime: Option<CompressedField>,
}

impl RewrittenClock {
    fn read(entry: &Entry<'_>) -> Result<Self, WireError> {
        let mut payload = entry.payload();
        Ok(Self {
            ticks_per_second: CompressedField::read(&mut payload)?,
            start: CompressedField::read(&mut payload)?,
            length: CompressedField::read(&mut payload)?,
            realtime: if payload.is_empty() {
                None
            } else {
                Some(CompressedField::read(&mut payload)?)
            },
        })
    }
}

/// The record for new times; `None` if it is another one, or stays as it is.
pub(super) fn rewrite(entry: &Entry<'_>, extent: &Extent) -> Result<Option<Vec<u8>>> {
    if entry.record().code != CLOCK_PROPERTIES || extent.old == extent.new {
        return Ok(None);
    }
    let old = RewrittenClock::read(entry).map_err(|error| entry.error(error))?;
    let (start, length) = range(old.start.value, old.length.value, extent);
    let mut values = vec![(&old.start, start), (&old.length, length)];
    if let Some(field) = &old.realtime
        && field.value != u64::MAX
    {
        let ticks = i128::from(start) - i128::from(old.start.value);
        let rate = old.ticks_per_second.value;
        values.push((field, moved(field.value, ticks, rate)));
    }
    let chunk = entry.chunk();
    let endian = chunk.header().endian;
    Ok(Some(with_values(
        chunk.bytes(),
        entry.record(),
        endian,
        &values,
    )))
}

/// New start and length.
fn range(old_start: u64, old_length: u64, extent: &Extent) -> (u64, u64) {
    let lead = extent.old.0.saturating_sub(old_start);
    let tail = old_start
        .saturating_add(old_length)
        .saturating_sub(extent.old.1);
    let start = extent.new.0.saturating_sub(lead);
    let end = extent.new.1.saturating_add(tail);
    (start, end.saturating_sub(start))
}

/// A wall-clock time in nanoseconds, so many ticks later.
fn moved(realtime: u64, ticks: i128, ticks_per_second: u64) -> u64 {
    let nanoseconds = ticks * NANOSECONDS;
    let moved = i128::from(realtime) + nanoseconds / i128::from(ticks_per_second.max(1));
    // All bits set means that the time is not known.
    moved.clamp(0, i128::from(u64::MAX - 1)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_declared_around_the_events_is_kept() {
        let extent = Extent {
            old: (1_000, 2_000),
            new: (1_500, 2_600),
        };
        assert_eq!(range(990, 1_030, &extent), (1_490, 1_130));
        // Nonsense: both ends inside of the events.
        assert_eq!(range(1_100, 100, &extent), (1_500, 1_100));
        // There is nothing before zero.
        let early = Extent {
            old: (1_000, 2_000),
            new: (3, 1_003),
        };
        assert_eq!(range(990, 1_030, &early), (0, 1_023));
    }

    #[test]
    fn wall_clock_time_moves_along() {
        assert_eq!(moved(5_000, 3, 1_000_000), 8_000);
        assert_eq!(moved(5_000, -6, 1_000_000), 0);
        assert_eq!(moved(u64::MAX - 5, 1, 1_000_000), u64::MAX - 1);
    }
}
