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

/// Which of some numbers are among the most that rise, or stay, from each to the next.
pub(super) fn rising(numbers: &[u64]) -> Vec<bool> {
    // For each length the place of the least number with which a row so long can end.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (place, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|&end| numbers.get(end) <= Some(number));
        before.push(length.checked_sub(1).and_then(|it| ends.get(it)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut is_one = vec![false; numbers.len()];
    let mut at = ends.last().copied();
    while let Some(place) = at {
        if let Some(is_one) = is_one.get_mut(place) {
            *is_one = true;
        }
        at = before.get(place).copied().flatten();
    }
    is_one
}

#[cfg(test)]
mod tests {
    use super::rising;

    #[test]
    fn as_many_as_rise_are_kept() {
        let kept = |numbers: &[u64]| -> Vec<u64> {
            let rise = rising(numbers);
            let kept = numbers.iter().zip(rise).filter(|it| it.1);
            kept.map(|it| *it.0).collect()
        };
        assert!(kept(&[]).is_empty());
        assert_eq!(kept(&[20, 23, 21, 24, 22, 25]), [20, 21, 22, 25]);
        assert_eq!(kept(&[5, 6, 6, 7]), [5, 6, 6, 7]);
        assert_eq!(kept(&[8, 1, 2, 3]), [1, 2, 3]);
    }
}
