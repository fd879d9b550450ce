//! The iterations of kernels, told by the calls that launched them.
//!
//! A kernel belongs to the [iteration](crate::iterations) in which it was launched, whenever it runs:
//! programs launch far ahead, and not on one thread alone.

use crate::call::Call;
use crate::columns::Columns;
use crate::devices::Driven;
use crate::iterations::Iteration;
use crate::profile::Track;

/// Tells in which iterations the kernels of calls were launched, of the rank whose each track is, where
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
    let of = |call: &Call| {
        let launch = place(driven.launch_of(call.event)?);
        let before = begun.partition_point(|it| it.0 <= launch);
        let ((rank, from), last) = begun.get(before.checked_sub(1)?)?;
        let lasts = columns.length(last.event).unwrap_or_default();
        let is_within = *rank == launch.0 && from.saturating_add_unsigned(lasts) >= launch.1;
        is_within.then_some(last.number)
    };
    for call in calls {
        call.iteration = of(call);
    }
}
