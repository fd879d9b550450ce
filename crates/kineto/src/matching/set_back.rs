//! Stamps that a clock showed twice, since it was set back while a profile was recorded.
//!
//! A stream does one call of a group after the other, in the order of their numbers. Those that are stamped
//! in [another](super::backwards) tell from when to when the clock showed stamps again:
//!
//! ```text
//! number   18   19   20   23   21   24   22   25   26        as stamped
//!                         |---------------|                   stamps that were shown twice
//! ```
//!
//! An event with one of these may have happened before the clock was set, or after it, and no map of the
//! clock fits both. So calls of all groups that begin or end there are left out, those of all ranks of the
//! host, too, which read the same clock; so are calls of these that end when they begin, during which it was
//! set. A call whose number is the lowest or the highest of all is but one of another order.

use std::collections::BTreeMap;

use super::rising::rising;
use crate::call::{Call, Label, What};
use crate::profile::FileRead;

/// From when to when stamps were shown twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShownTwice {
    from: u64,
    to: u64,
}

/// The stamps of each file that were shown twice.
#[derive(Debug, Default)]
pub(super) struct SetBack {
    of_files: Vec<Vec<ShownTwice>>,
}

impl SetBack {
    pub(super) fn of(files: &[FileRead]) -> Self {
        let own: Vec<Vec<ShownTwice>> = files.iter().map(of_file).collect();
        let mut of_hosts: BTreeMap<&str, Vec<ShownTwice>> = BTreeMap::new();
        for (file, own) in files.iter().zip(&own) {
            if let Some(host) = file.header.host.as_deref() {
                of_hosts.entry(host).or_default().extend(own);
            }
        }
        let of_file = |(file, own): (&FileRead, Vec<ShownTwice>)| {
            let host = file.header.host.as_deref();
            let all = host.and_then(|it| of_hosts.get(it)).cloned();
            apart(all.unwrap_or(own))
        };
        Self {
            of_files: files.iter().zip(own).map(of_file).collect(),
        }
    }

    /// True if it is not known when a call of a file began or ended.
    pub(super) fn is_doubtful(&self, number: usize, file: &FileRead, call: &Call) -> bool {
        let (begin, end) = (file.columns.begin(call.event), file.columns.end(call.event));
        let own = self.of_files.get(number).map_or(&[][..], |it| it);
        let last = own.partition_point(|it| it.from <= end).checked_sub(1);
        let is_within = last
            .and_then(|it| own.get(it))
            .is_some_and(|it| it.to >= begin);
        // Profilers that know no end write this, too; it means something where the clock was set back.
        let is_empty = !own.is_empty() && file.columns.length(call.event) == Some(0);
        is_empty || is_within
    }
}

/// Stretches in order, those that overlap as one.
fn apart(mut all: Vec<ShownTwice>) -> Vec<ShownTwice> {
    all.sort_unstable_by_key(|it| it.from);
    all.dedup_by(|next, before| {
        let is_one = next.from <= before.to;
        if is_one {
            before.to = before.to.max(next.to);
        }
        is_one
    });
    all
}

/// A numbered call on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numbered {
    begin: u64,
    event: u32,
    number: u64,
}

/// The stamps of a file that were shown twice, by the numbers of its calls.
fn of_file(file: &FileRead) -> Vec<ShownTwice> {
    let mut streams: BTreeMap<(u32, &Label), Vec<Numbered>> = BTreeMap::new();
    // Messages are numbered by themselves.
    let is_collective = |it: &&Call| matches!(it.what, What::Collective(_));
    for call in file.calls.iter().filter(is_collective) {
        if let (Some(number), Some(group)) = (call.sequence, &call.group) {
            let stream = streams.entry((file.columns.track(call.event), group));
            stream.or_default().push(Numbered {
                begin: file.columns.begin(call.event),
                event: call.event,
                number,
            });
        }
    }
    streams.into_values().flat_map(of_stream).collect()
}

/// The stamps that were shown twice, by the calls of a stream.
fn of_stream(mut calls: Vec<Numbered>) -> Vec<ShownTwice> {
    calls.sort_unstable();
    if calls.is_sorted_by_key(|it| it.number) {
        return Vec::new();
    }
    let numbers: Vec<u64> = calls.iter().map(|it| it.number).collect();
    let rise = rising(&numbers);
    let (kept, others): (Vec<_>, Vec<_>) = calls.iter().zip(rise).partition(|it| it.1);
    let between = |it: &Numbered| {
        // Kept calls rise by stamps and by numbers.
        let behind = kept.partition_point(|(kept, _)| kept.number < it.number);
        let (before, _) = kept.get(behind.checked_sub(1)?)?;
        let (next, _) = kept.get(behind)?;
        Some(ShownTwice {
            from: it.begin.min(next.begin),
            to: it.begin.max(before.begin),
        })
    };
    others.iter().filter_map(|it| between(it.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_twice(calls: &[(u64, u64)]) -> Option<(u64, u64)> {
        let numbered = calls.iter().map(|&(begin, number)| Numbered {
            begin,
            event: 0,
            number,
        });
        let all = of_stream(numbered.collect());
        let from = all.iter().map(|it| it.from).min()?;
        Some((from, all.iter().map(|it| it.to).max()?))
    }

    #[test]
    fn stamps_are_shown_twice_from_the_first_that_comes_too_early_to_the_last_too_late() {
        let numbers = [18, 19, 20, 23, 21, 24, 22, 25, 26];
        let calls: Vec<(u64, u64)> = (1..).map(|it| 10 * it).zip(numbers).collect();
        assert_eq!(shown_twice(&calls), Some((40, 70)));
        assert_eq!(shown_twice(&calls[..3]), None);
    }

    /// Numbers that begin anew are no clock that was set.
    #[test]
    fn numbers_that_begin_anew_are_left_alone() {
        let anew = [(10, 500), (20, 501), (30, 502), (40, 1), (50, 2)];
        assert_eq!(shown_twice(&anew), None);
    }
}
