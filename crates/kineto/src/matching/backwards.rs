//! Numbered calls that are stamped in another order than they were made.
//!
//! A stream does one call of a group after the other, in the order of their numbers. Where a clock is
//! set back while a profile is recorded, by more than lies between two calls, those after that are
//! stamped before those that they followed:
//!
//! ```text
//! number   20   23   21   24   22   25        as stamped
//!          20        21        22   25        as many as rise: the others say nothing certain
//! ```
//!
//! Ranks that wait for each other in both orders would wait for ever, and no time would fit any of
//! their events. So the fewest are left out that leave numbers rising along each stream.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{Calls, Instance};
use super::rising::rising;

/// A call where it stands on its stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OnStream {
    begin: u64,
    event: u32,
    number: u64,
    call: usize,
}

/// The calls of operations, each a file and a call, that are stamped in another order than their numbers
/// have.
pub(super) fn backwards(calls: &Calls<'_>, instances: &[Instance]) -> BTreeSet<(usize, usize)> {
    let mut streams: BTreeMap<(usize, u32), Vec<OnStream>> = BTreeMap::new();
    for &(file, call) in instances.iter().flatten() {
        let (Some(it), Some(read)) = (calls.call(file, call), calls.files.get(file)) else {
            continue;
        };
        let stream = streams.entry((file, read.columns.track(it.event)));
        stream.or_default().push(OnStream {
            begin: read.columns.begin(it.event),
            event: it.event,
            number: it.sequence.unwrap_or_default(),
            call,
        });
    }
    let mut found = BTreeSet::new();
    for ((file, _), mut on_stream) in streams {
        on_stream.sort_unstable();
        if on_stream.is_sorted_by_key(|it| it.number) {
            continue;
        }
        let numbers: Vec<u64> = on_stream.iter().map(|it| it.number).collect();
        let rise = rising(&numbers);
        let others = on_stream.iter().zip(rise).filter(|it| !it.1);
        found.extend(others.map(|(it, _)| (file, it.call)));
    }
    found
}
