//! Which ranks of a host read one clock.
//!
//! Processes of one host have its clock, and what is known of one is known of all. But a name
//! is no proof: containers and virtual machines can share one, with clocks of their own. So
//! ranks of one name are taken for one host only as far as no operation says otherwise. A
//! rank joins the first part of its host in which, for all operations that it shares with
//! members of that part,
//!
//! ```text
//! begin of either <= end of the other      by the times as recorded
//! ```
//!
//! where one has to wait for the other. What a [device with a clock of its own](crate::apart)
//! does tells nothing of the host. Where no rank says its host, each is on its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::apart::Apart;
use crate::matching::{Joined, Part};
use crate::profile::FileRead;

/// The name of the host, or of a part of it, that each file is from, if it says so.
pub(crate) fn hosts(
    files: &[FileRead],
    joined: &[Vec<Joined>],
    devices: &[Apart],
) -> Vec<Option<String>> {
    let apart = contradictions(files, joined, devices);
    let mut parts: BTreeMap<&str, Vec<Vec<usize>>> = BTreeMap::new();
    let mut names = Vec::new();
    for (file, it) in files.iter().enumerate() {
        let Some(host) = &it.header.host else {
            names.push(None);
            continue;
        };
        let parts = parts.entry(host).or_default();
        let fits = |part: &Vec<usize>| part.iter().all(|&other| !apart.contains(&(other, file)));
        let number = parts.iter().position(fits).unwrap_or(parts.len());
        match parts.get_mut(number) {
            Some(part) => part.push(file),
            None => parts.push(vec![file]),
        }
        names.push(Some(match number {
            0 => host.clone(),
            _ => format!("{host} (clock {})", number + 1),
        }));
    }
    names
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

/// The pairs of files of one host that have a dependency reversed, the lower first.
fn contradictions(
    files: &[FileRead],
    joined: &[Vec<Joined>],
    devices: &[Apart],
) -> BTreeSet<(usize, usize)> {
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
    let host = |file: usize| files.get(file).and_then(|it| it.header.host.as_ref());
    let mut found = BTreeSet::new();
    for calls in operations.into_values() {
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
                    found.insert((a.file.min(b.file), a.file.max(b.file)));
                }
            }
        }
    }
    found
}
