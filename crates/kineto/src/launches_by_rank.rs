//! Numbers of launches in a file of several ranks.
//!
//! Each profiler counts from 1, so that such a file has each number several times. So they get others, by
//! rank and number:
//!
//! ```text
//! rank 0   launches 1 2 5    become   1 2 3
//! rank 1   launches 1 3      become   4 5
//! ```

use rustc_hash::FxHashMap;

use crate::columns::Columns;
use crate::devices::Correlated;
use crate::launch::Launches;
use crate::profile::Track;

/// Numbers launches, and what they started, so that no two ranks have one; those of a rank stay in their
/// order. 0 stays, which some profilers write where they know none.
pub(crate) fn number_by_rank(
    launches: &mut Launches,
    correlated: &mut Correlated,
    columns: &Columns,
    tracks: &[Track],
) {
    let mut ranks: FxHashMap<_, u64> = FxHashMap::default();
    let of_tracks = tracks.iter().map(|it| {
        let count = ranks.len() as u64;
        *ranks.entry((it.machine, &it.label)).or_insert(count)
    });
    let of_tracks: Vec<u64> = of_tracks.collect();
    let of_rank = |number: u64, event: u32| {
        let rank = of_tracks.get(columns.track(event) as usize).copied();
        (rank.unwrap_or_default(), number)
    };
    let calls = launches.calls.iter_mut().map(|it| (&mut it.0, it.1));
    let kernels = launches.kernels.iter_mut();
    let kernels = kernels.filter_map(|it| Some((it.launch.as_mut()?, it.event)));
    let others = correlated.numbers().map(|it| (&mut it.0, it.1));
    let all = calls.chain(kernels).chain(others).filter(|it| *it.0 != 0);
    let all: Vec<(&mut u64, u32)> = all.collect();
    let mut known: Vec<(u64, u64)> = all.iter().map(|it| of_rank(*it.0, it.1)).collect();
    known.sort_unstable();
    known.dedup();
    for (number, event) in all {
        let its = of_rank(*number, event);
        *number = known.partition_point(|it| *it < its) as u64 + 1;
    }
}
