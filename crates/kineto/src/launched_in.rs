//! The iterations of calls: of kernels told by what launched them.
//!
//! A kernel belongs to the [iteration](crate::iterations) in which it was launched, whenever it runs:
//! programs launch far ahead, and not on one thread alone. A range of gloo belongs to that in which it began.

use crate::call::{Call, On};
use crate::columns::Columns;
use crate::devices::Driven;
use crate::iterations::Iteration;
use crate::profile::Track;

/// Tells in which iterations calls were launched, or began, of the rank whose each track is, where
/// there are several in a file.
pub(crate) fn tell(
    calls: &mut [Call],
    iterations: &[Iteration],
    driven: &Driven,
    columns: &Columns,
    tracks: &[Track],
) {
    // As signed numbers: times before 0 are not counted from elsewhere yet.
    let place = |event: u32| {
        let track = tracks.get(columns.track(event) as usize);
        let rank = track.and_then(|it| it.label.as_deref());
        (rank, columns.begin(event) as i64)
    };
    let begun = iterations.iter().map(|it| (place(it.event), *it));
    let mut begun: Vec<((Option<&str>, i64), Iteration)> = begun.collect();
    begun.sort_unstable_by_key(|it| (it.0, it.1.number));
    let mut last_end = None;
    let over = begun.iter().map(|((rank, from), it)| {
        let lasts = columns.length(it.event).unwrap_or_default();
        let before = last_end.max(Some((*rank, i64::MIN)));
        last_end = before.max(Some((*rank, from.saturating_add_unsigned(lasts))));
        before
    });
    let over: Vec<Option<(Option<&str>, i64)>> = over.collect();
    let of = |call: &Call| {
        let launch = place(match call.on {
            On::Thread => call.event,
            On::Stream | On::Order => driven.launch_of(call.event)?,
        });
        let last = begun.partition_point(|it| it.0 <= launch).checked_sub(1)?;
        let ((rank, from), iteration) = begun.get(last)?;
        let lasts = columns.length(iteration.event).unwrap_or_default();
        let is_within = *rank == launch.0 && from.saturating_add_unsigned(lasts) >= launch.1;
        // A clock that was set back shows the times of an earlier one again.
        let is_alone = *over.get(last)? <= Some((launch.0, launch.1));
        (is_within && is_alone).then_some(iteration.number)
    };
    for call in calls {
        call.iteration = of(call);
    }
}
