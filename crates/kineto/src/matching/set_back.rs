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
//! Calls without numbers in their group tell it by the numbers of what started them, kernels by those of
//! their launches, ranges by their own: both are given away as the program goes on. So do iterations, and
//! the calls by which the program asks for operations.
//!
//! An event with one of these may have happened before the clock was set, or after it, and no map of the
//! clock fits both. So calls of all groups that begin or end there are left out, those of all ranks of the
//! host, too, which read the same clock; so are calls of these that end when they begin, during which it was
//! set. A call of gloo that ends when it begins proves by itself that the clock was set: its thread has to
//! be woken, which takes time. Numbers of groups and iterations can begin anew, so there a call whose number
//! is the lowest or the highest of all is but one of another order.
//!
//! Ranks that were put into one file have streams of equal numbers, and calls there are stamped in another order
//! than numbered without any clock that was set: so it is where several processes do something.

use std::collections::BTreeMap;

use super::rising::rising;
use crate::call::{Call, Label, On, What};
use crate::profile::FileRead;

/// From when to when stamps were shown twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownTwice {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// The stamps of each file that were shown twice.
#[derive(Debug, Default)]
pub(crate) struct SetBack {
    of_files: Vec<Vec<ShownTwice>>,
    /// True of each file whose numbers are in another order since they are those of several processes.
    are_mixed: Vec<bool>,
}

impl SetBack {
    pub(crate) fn of(files: &[FileRead]) -> Self {
        let mut own: Vec<Vec<ShownTwice>> = files.iter().map(of_file).collect();
        let are_mixed = files.iter().zip(&mut own).map(|(file, own)| {
            let is_mixed = file.own.is_none() && file.is_of_several() && !own.is_empty();
            if is_mixed {
                own.clear();
            }
            is_mixed
        });
        let are_mixed = are_mixed.collect();
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
            are_mixed,
        }
    }

    /// The stamps of a file that were shown twice, in order and apart.
    pub(crate) fn of_file(&self, number: usize) -> &[ShownTwice] {
        self.of_files.get(number).map_or(&[], |it| it)
    }

    /// True if a file has calls of several ranks on one track, for all that its numbers tell.
    pub(super) fn is_mixed(&self, number: usize) -> bool {
        self.are_mixed.get(number).is_some_and(|it| *it)
    }

    /// True if the clock of a file was set back.
    pub(super) fn is_of(&self, number: usize) -> bool {
        !self.of_file(number).is_empty()
    }

    /// True if it is not known when a call of a file began or ended.
    pub(super) fn is_doubtful(&self, number: usize, file: &FileRead, call: &Call) -> bool {
        let (begin, end) = (file.columns.begin(call.event), file.columns.end(call.event));
        let own = self.of_file(number);
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

/// A numbered event on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numbered {
    begin: u64,
    event: u32,
    number: u64,
    end: u64,
}

/// Whatever gave events on a track their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CountedBy<'a> {
    /// The group of collectives.
    Group(&'a Label),
    /// Launches, and the program's own calls.
    Starts,
    /// Steps of the profiler.
    Iterations,
}

/// The stamps of a file that were shown twice, by what is numbered in it.
fn of_file<'a>(file: &'a FileRead) -> Vec<ShownTwice> {
    let mut tracks: BTreeMap<(u32, CountedBy<'a>), Vec<Numbered>> = BTreeMap::new();
    let mut take = |event: u32, of: CountedBy<'a>, number: u64| {
        let track = tracks.entry((file.columns.track(event), of)).or_default();
        track.push(Numbered {
            begin: file.columns.begin(event),
            event,
            number,
            end: file.columns.end(event),
        });
    };
    for call in &file.calls {
        // Messages are numbered by themselves in their group.
        if let (What::Collective(_), Some(number), Some(group)) =
            (call.what, call.sequence, &call.group)
        {
            take(call.event, CountedBy::Group(group), number);
        }
        if let Some(number) = call.counted {
            take(call.event, CountedBy::Starts, number);
        }
    }
    for it in file.requests.values().flat_map(|it| &it.events) {
        if let Some(number) = it.counted {
            take(it.event, CountedBy::Starts, number);
        }
    }
    for it in &file.iterations {
        take(it.event, CountedBy::Iterations, it.number);
    }
    let of_track = |((_, of), numbered)| of_track(numbered, of == CountedBy::Starts);
    let of_tracks = tracks.into_iter().flat_map(of_track);
    of_tracks.chain(instants(file)).collect()
}

/// Instants at which calls of gloo of a file begin and end. Their threads have to be woken, which takes time:
/// so the clock was set back meanwhile, and showed the instant, or what follows, twice. Of lengths in whole
/// microseconds, as older profilers write them, one may have been rounded to none.
fn instants(file: &FileRead) -> impl Iterator<Item = ShownTwice> {
    let length = |it: &Call| file.columns.length(it.event).unwrap_or_default();
    let are_rounded = file.calls.iter().all(|it| length(it) % 1_000 == 0);
    let is_empty = move |it: &&Call| {
        let is_collective = matches!(it.what, What::Collective(_));
        let is_of_gloo = is_collective && it.on == On::Thread;
        is_of_gloo && !are_rounded && file.columns.length(it.event) == Some(0)
    };
    file.calls.iter().filter(is_empty).map(|it| {
        let at = file.columns.begin(it.event);
        ShownTwice { from: at, to: at }
    })
}

/// The stamps that were shown twice, by what is numbered on a track, and whether numbers never begin anew.
fn of_track(mut calls: Vec<Numbered>, go_on: bool) -> Vec<ShownTwice> {
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
        let before = behind.checked_sub(1).and_then(|it| kept.get(it));
        let next = kept.get(behind);
        if !go_on && (before.is_none() || next.is_none()) {
            return None;
        }
        Some(ShownTwice {
            from: next.map_or(it.begin, |(next, _)| it.begin.min(next.begin)),
            to: before.map_or(it.end, |(before, _)| it.end.max(before.end)),
        })
    };
    others.iter().filter_map(|it| between(it.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Columns;
    use retime_model::Operation;

    fn shown_twice(calls: &[(u64, u64)], go_on: bool) -> Option<(u64, u64)> {
        let numbered = calls.iter().map(|&(begin, number)| Numbered {
            begin,
            event: 0,
            number,
            end: begin,
        });
        let all = of_track(numbered.collect(), go_on);
        let from = all.iter().map(|it| it.from).min()?;
        Some((from, all.iter().map(|it| it.to).max()?))
    }

    #[test]
    fn stamps_are_shown_twice_from_the_first_that_comes_too_early_to_the_last_too_late() {
        let numbers = [18, 19, 20, 23, 21, 24, 22, 25, 26];
        let calls: Vec<(u64, u64)> = (1..).map(|it| 10 * it).zip(numbers).collect();
        for go_on in [false, true] {
            assert_eq!(shown_twice(&calls, go_on), Some((40, 70)));
            assert_eq!(shown_twice(&calls[..3], go_on), None);
        }
        // The first of all comes too late.
        let late = [(10, 19), (20, 20), (30, 18), (40, 21), (50, 22)];
        assert_eq!(shown_twice(&late, true), Some((10, 30)));
    }

    #[test]
    fn a_call_of_gloo_takes_no_time_where_the_clock_is_set_back_or_lengths_are_rounded() {
        let told = |lengths: [u64; 3]| -> Vec<(u64, u64)> {
            let calls = (0..).zip(lengths).map(|(event, _)| {
                let what = What::Collective(Operation::Allreduce);
                Call::unnamed(event, what, "all_reduce".into(), On::Thread)
            });
            let columns = Columns {
                begins: vec![10_000, 50_000, 90_000],
                lengths: lengths.to_vec(),
                tracks: vec![0; 3],
                digits: Vec::new(),
            };
            let file = FileRead {
                calls: calls.collect(),
                columns: columns.into(),
                ..FileRead::default()
            };
            of_file(&file).iter().map(|it| (it.from, it.to)).collect()
        };
        assert_eq!(told([7_001, 0, 8_000]), [(50_000, 50_000)]);
        assert_eq!(told([7_000, 0, 8_000]), []);
        assert_eq!(told([7_001, 1, 8_000]), []);
    }

    /// Numbers that begin anew are no clock that was set.
    #[test]
    fn numbers_that_begin_anew_are_left_alone() {
        let anew = [(10, 500), (20, 501), (30, 502), (40, 1), (50, 2)];
        assert_eq!(shown_twice(&anew, false), None);
    }
}
