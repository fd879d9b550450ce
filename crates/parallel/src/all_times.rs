//! The times of all events of a part of a trace, for clocks that do something at each of them.

use retime_model::format::{EventNumbers, FormatError, InParts};
use retime_model::{LocationIndex, Monitor, Timestamp};

/// Reads the recorded times of all events of the locations of a part, which have `count`
/// events each. By location; those of other parts have none.
pub(crate) fn all_times(
    trace: &dyn InParts,
    part: &[LocationIndex],
    count: impl Fn(LocationIndex) -> u64,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<Timestamp>>, FormatError> {
    let numbers = EventNumbers::of(part.iter().map(|it| count(*it)));
    let events = part.iter().copied().zip(numbers.by_location());
    let events: Vec<_> = events.collect();
    let timelines = trace.timelines_of(&events, monitor)?;
    let mut times = vec![Vec::new(); trace.info().locations.len()];
    for (location, timeline) in part.iter().zip(timelines) {
        times[location.as_usize()] = timeline.times;
    }
    Ok(times)
}
