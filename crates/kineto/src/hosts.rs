//! Which ranks of a host read one clock.
//!
//! Processes of one host have its clock, and what is known of one is known of all. But a name
//! is no proof: containers and virtual machines can share one, with clocks of their own. So
//! ranks of one name are taken for one host only if, for all operations that any two of them share,
//!
//! ```text
//! begin of either <= end of the other      by the times as recorded
//! ```
//!
//! where one has to wait for the other. Where that fails once, the name joins ranks whose clocks
//! differ, and none of them is joined by it any more: they are divided as far as
//! [other evidence](crate::one_name) goes. What a
//! [device with a clock of its own](crate::apart) does tells nothing of the host. Where no rank says
//! its host, each is on its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::apart::Apart;
use crate::matching::{Joined, Part};
use crate::one_name::Rooms;
use crate::profile::FileRead;

/// The name of the host, or of a part of it, that each file is from, if it says so.
pub(crate) fn hosts(
    files: &[FileRead],
    joined: &[Vec<Joined>],
    devices: &[Apart],
) -> Vec<Option<String>> {
    let operations = operations(files, joined, devices);
    let mut names: Vec<Option<String>> = files.iter().map(|it| it.header.host.clone()).collect();
    for host in contradicted(files, &operations) {
        let headers = files.iter().map(|it| &it.header).enumerate();
        let own = headers.filter(|it| it.1.host.as_deref() == Some(host));
        let mut own: Vec<(Option<u32>, usize)> = own.map(|(file, it)| (it.rank, file)).collect();
        own.sort_unstable();
        // Files without a rank have no order.
        let is_ordered = own.iter().all(|it| it.0.is_some());
        let own: Vec<usize> = own.into_iter().map(|it| it.1).collect();
        let run = if is_ordered {
            rooms(&own, &operations).run()
        } else {
            1
        };
        for (place, file) in own.into_iter().enumerate().filter(|it| it.0 >= run) {
            if let Some(name) = names.get_mut(file) {
                *name = Some(format!("{host} (clock {})", place / run + 1));
            }
        }
    }
    names
}

/// The rooms between files of one host.
fn rooms(own: &[usize], operations: &[Vec<Taken>]) -> Rooms {
    let place: BTreeMap<usize, usize> = own.iter().copied().zip(0..).collect();
    let mut rooms = Rooms::new(own.len());
    for calls in operations {
        let calls = calls
            .iter()
            .filter_map(|it| Some((*place.get(&it.file)?, it)));
        let calls: Vec<(usize, &Taken)> = calls.collect();
        for &(from, a) in &calls {
            for &(to, b) in calls.iter().filter(|it| it.0 != from) {
                if let Some((begin, end)) = a.cause.zip(b.effect) {
                    rooms.take(from, to, (end as i64).saturating_sub(begin as i64));
                }
            }
        }
    }
    rooms
}

/// A call of an operation.
#[derive(Clone, Copy)]
struct Taken {
    file: usize,
    /// When it began, if others wait for that,
    cause: Option<u64>,
    /// and when it ended, if it waited for others.
    effect: Option<u64>,
}

/// The calls of each operation, without those of devices that have clocks of their own.
fn operations(files: &[FileRead], joined: &[Vec<Joined>], devices: &[Apart]) -> Vec<Vec<Taken>> {
    let mut operations: BTreeMap<(u64, u64, bool), Vec<Taken>> = BTreeMap::new();
    for (file, ((it, joined), devices)) in files.iter().zip(joined).zip(devices).enumerate() {
        let is_of_host = |call: &&Joined| devices.device(it.columns.track(call.event)).is_none();
        for call in joined.iter().filter(is_of_host) {
            let (begin, end) = (it.columns.begin(call.event), it.columns.end(call.event));
            let (key, cause, effect) = match call.part {
                Part::Collective {
                    id, cause, effect, ..
                } => (
                    (id.space, id.number, false),
                    cause.map(|_| begin),
                    effect.map(|_| end),
                ),
                Part::Send(id) => ((id.space, id.number, true), Some(begin), None),
                Part::Receive(id) => ((id.space, id.number, true), None, Some(end)),
            };
            operations.entry(key).or_default().push(Taken {
                file,
                cause,
                effect,
            });
        }
    }
    operations.into_values().collect()
}

/// The names under which files have a dependency reversed between them.
fn contradicted<'a>(files: &'a [FileRead], operations: &[Vec<Taken>]) -> BTreeSet<&'a str> {
    let host = |file: usize| files.get(file)?.header.host.as_deref();
    let mut found = BTreeSet::new();
    for calls in operations {
        for (at, a) in calls.iter().enumerate() {
            for b in calls.iter().skip(at + 1) {
                let reversed = |cause: &Taken, effect: &Taken| {
                    cause
                        .cause
                        .zip(effect.effect)
                        .is_some_and(|(begin, end)| begin > end)
                };
                if a.file != b.file
                    && host(a.file) == host(b.file)
                    && (reversed(a, b) || reversed(b, a))
                {
                    found.extend(host(a.file));
                }
            }
        }
    }
    found
}
