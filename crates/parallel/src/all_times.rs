//! The times of all events of a part of a trace, for clocks that do something at each of them.

use retime_model::format::{FormatError, InParts};
use retime_model::{LocationIndex, Monitor, Timestamp};

/// Reads the recorded times of all events of the locations of a part, which have `count`
/// events each. By location; those of other parts have none.
pub(crate) fn all_times(
    trace: &dyn InParts,
    part: &[LocationIndex],
    count: impl Fn(LocationIndex) -> u64,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<Timestamp>>, FormatError> {
    // No log has more events than `u32` counts.
    let count = |it: &LocationIndex| u32::try_from(count(*it)).unwrap_or(u32::MAX);
    let most = part.iter().map(count).max().unwrap_or(0);
    let numbers: Vec<u32> = (0..most).collect();
    let events = part.iter().map(|it| (*it, &numbers[..count(it) as usize]));
    let events: Vec<_> = events.collect();
    let timelines = trace.timelines_of(&events, monitor)?;
    let mut times = vec![Vec::new(); trace.info().locations.len()];
    for (location, timeline) in part.iter().zip(timelines) {
        times[location.as_usize()] = timeline.times;
    }
    Ok(times)
}
