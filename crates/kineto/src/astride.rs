//! Kernels that were launched before the clock was set back, and began after it.
//!
//! Their stamps say that these begin before their launch, though GPU and host are on one clock. Numbers of launches
//! tell them: a stream does one kernel after the other as numbers rise, on any clock that goes on. Where its
//! stamps fall, the clock was set back, and what follows began after that:
//!
//! ```text
//! kernel     17    18  |  19    20    21        numbers of their launches
//! begins    970   990  | 950   965   982        stamps fall behind 18
//! launched  930   940  | 955   975   981        19 and 20 are early
//! ```
//!
//! They were launched before that if the stamp of the launch is one that the stream had reached before its
//! stamps fell, or if launches of their thread, too, fall only later. A GPU whose clock is behind that of
//! its host has early kernels all along, but the stamps of its streams rise.

use std::collections::BTreeMap;

use crate::columns::Columns;

/// Stamps of a track that fall.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fall {
    /// The number behind which they do,
    behind: u64,
    /// and the stamp that has it.
    from: i64,
}

/// The kernels, of those with their numbers, that are astride, in order; launches with theirs.
pub(crate) fn astride(
    launches: &[(u64, u32)],
    kernels: &[(u64, u32)],
    columns: &Columns,
) -> Vec<u32> {
    let streams = falls(kernels, columns);
    if streams.is_empty() {
        return Vec::new();
    }
    let threads = falls(launches, columns).into_values().flatten();
    let mut set_back: Vec<u64> = threads.map(|it| it.behind).collect();
    set_back.sort_unstable();
    let is_astride = |&(number, kernel): &(u64, u32)| {
        let falls = streams.get(&columns.track(kernel))?;
        let before = falls.partition_point(|it| it.behind < number);
        let fall = falls.get(before.checked_sub(1)?)?;
        let next = falls.get(before).map_or(u64::MAX, |it| it.behind);
        let first = launches.partition_point(|it| it.0 < number);
        let mut launched = launches
            .get(first..)?
            .iter()
            .take_while(|it| it.0 == number);
        let was_reached = launched.any(|it| columns.begin(it.1) as i64 <= fall.from);
        let falls_later = set_back.get(set_back.partition_point(|it| *it < number));
        let is_before = was_reached || falls_later.is_some_and(|it| *it < next);
        is_before.then_some(kernel)
    };
    let mut found: Vec<u32> = kernels.iter().filter_map(is_astride).collect();
    found.sort_unstable();
    found
}

/// The falls of stamps though numbers rise, by track, in order.
fn falls(numbered: &[(u64, u32)], columns: &Columns) -> BTreeMap<u32, Vec<Fall>> {
    // As signed numbers: times before 0 may not be counted from elsewhere yet.
    let place = |&(number, event): &(u64, u32)| {
        let begin = columns.begin(event) as i64;
        (columns.track(event), number, begin)
    };
    // Some profilers write 0 where they know no number.
    let known = numbered.iter().filter(|it| it.0 != 0);
    let mut places: Vec<(u32, u64, i64)> = known.map(place).collect();
    places.sort_unstable();
    let mut found: BTreeMap<u32, Vec<Fall>> = BTreeMap::new();
    for (&(track, behind, from), next) in places.iter().zip(places.iter().skip(1)) {
        // Kernels of one graph have one number, and no order.
        if track == next.0 && behind < next.1 && from > next.2 {
            found.entry(track).or_default().push(Fall { behind, from });
        }
    }
    found
}
