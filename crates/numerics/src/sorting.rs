//! Sorting that can be interrupted.
//!
//! What the standard library sorts it sorts at one go, a second for ten million entries. So
//! what is long is first parted, as by Quicksort (Hoare 1962) into what is less, equal and
//! greater than an entry in the middle of a sample, until the parts are short; a monitor is
//! asked on the way. Where a sample misleads, the standard library takes over, so that no
//! order of the entries takes more than n log n steps.

use std::cmp::Ordering;
use std::ops::Range;

use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};

/// The number of items that are sorted at one go; some ten milliseconds.
const SHORT: usize = 1 << 17;
/// Entries looked at to find one in the middle: as many as leave parts of which hardly any
/// has more than 60 %.
const SAMPLE: usize = 255;

/// Sorts by a total order; entries that are equal by it come in any order. Fails only if
/// `monitor` says to give up; then they are all there, partly sorted.
pub fn sort_by<T: Copy>(
    entries: &mut [T],
    order: impl Fn(&T, &T) -> Ordering + Copy,
    monitor: &dyn Monitor,
) -> Result<(), Cancelled> {
    let mut pace = Pace::of(monitor);
    if is_sorted(entries, order, &mut pace)? {
        return Ok(());
    }
    let mut open = vec![(0, entries.len())];
    while let Some((start, end)) = open.pop() {
        let part = &mut entries[start..end];
        if part.len() <= SHORT {
            monitor.check()?;
            part.sort_unstable_by(order);
            continue;
        }
        let sides = parted(part, order, &mut pace)?;
        for side in sides {
            if side.len() > part.len() / 8 * 7 {
                part[side].sort_unstable_by(order);
            } else {
                open.push((start + side.start, start + side.end));
            }
        }
    }
    Ok(())
}

/// Sorts by a key, as [`sort_by`] does.
pub fn sort_by_key<T: Copy, K: Ord>(
    entries: &mut [T],
    key: impl Fn(&T) -> K + Copy,
    monitor: &dyn Monitor,
) -> Result<(), Cancelled> {
    sort_by(entries, |a, b| key(a).cmp(&key(b)), monitor)
}

fn is_sorted<T>(
    entries: &[T],
    order: impl Fn(&T, &T) -> Ordering,
    pace: &mut Pace<'_>,
) -> Result<bool, Cancelled> {
    for pair in entries.windows(2) {
        pace.event()?;
        if order(&pair[0], &pair[1]) == Ordering::Greater {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts what is less than an entry before all that are equal to it, and what is greater
/// behind; where both are.
fn parted<T: Copy>(
    part: &mut [T],
    order: impl Fn(&T, &T) -> Ordering + Copy,
    pace: &mut Pace<'_>,
) -> Result<[Range<usize>; 2], Cancelled> {
    let step = (part.len() / SAMPLE).max(1);
    let mut sample: Vec<T> = part.iter().step_by(step).copied().collect();
    sample.sort_unstable_by(order);
    let middle = sample[sample.len() / 2];
    let (mut less, mut at, mut greater) = (0, 0, part.len());
    while at < greater {
        pace.event()?;
        match order(&part[at], &middle) {
            Ordering::Less => {
                part.swap(less, at);
                less += 1;
                at += 1;
            }
            Ordering::Equal => at += 1,
            Ordering::Greater => {
                greater -= 1;
                part.swap(at, greater);
            }
        }
    }
    Ok([0..less, greater..part.len()])
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    /// Counts how often it is asked, and gives up after so many times.
    struct Asked(AtomicU64, u64);

    impl Monitor for Asked {
        fn cancelled(&self) -> bool {
            self.0.fetch_add(1, Relaxed) >= self.1
        }
    }

    fn cases(length: u64) -> [Vec<u64>; 6] {
        let all = |of: fn(u64, u64) -> u64| (0..length).map(|it| of(it, length)).collect();
        [
            all(|it, _| it.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7),
            all(|it, _| it),
            all(|it, length| length - it),
            all(|it, _| it % 3),
            all(|_, _| 5),
            // Two rows, one after the other, as the locations of a clock.
            all(|it, length| it % (length / 2)),
        ]
    }

    #[test]
    fn all_orders_are_sorted() {
        for length in [2, 1_000, 5 * SHORT as u64] {
            for mut entries in cases(length) {
                let mut expected = entries.clone();
                expected.sort_unstable();
                sort_by_key(&mut entries, |it| *it, &()).unwrap();
                assert!(entries == expected, "{length}");
            }
        }
    }

    #[test]
    fn it_stops_wherever_it_is_asked_to() {
        let [mixed, ..] = cases(5 * SHORT as u64);
        let sort = |allowed: u64| {
            let monitor = Asked(AtomicU64::new(0), allowed);
            let mut entries = mixed.clone();
            let sorted = sort_by_key(&mut entries, |it| *it, &monitor);
            (sorted.is_ok(), monitor.0.into_inner())
        };
        let (_, asked) = sort(u64::MAX);
        assert!(asked > 5 * SHORT as u64 / (1 << 14), "{asked}");
        for allowed in (0..asked).step_by(7) {
            assert!(!sort(allowed).0);
        }
        assert!(sort(asked).0);
    }
}
