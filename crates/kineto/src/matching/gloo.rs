//! Which groups threads of gloo are of.
//!
//! A process group of gloo has [threads of its own](THREADS), which take calls from a queue;
//! profiles name neither. A thread never serves two groups. The header lists the groups of a
//! rank, and threads are numbered by the system as they are made: so earlier groups have threads
//! with lower numbers. A thread can be of a group if that [may run gloo](super::candidates), and
//! if all threads of the rank can be given groups in this order, none more than it has. Of the
//! groups that a thread can be of, that one is taken whose members are members of all others,
//! for what holds among them holds whichever it is. If there is none, nothing is joined.
//!
//! Equal calls prove nothing here: two groups may do the same, each by one of its threads.

use std::collections::BTreeMap;
use std::ops::Range;

use retime_model::Class;

use super::calls::{Calls, Group, Sequence};
use super::candidates::Candidates;
use super::doubt::Doubt;
use crate::call::{Call, On, What};
use crate::profile::FileRead;

/// Threads of a process group of gloo, as PyTorch makes them for a network device.
const THREADS: usize = 2;

/// Threads times members of groups that are looked at: jobs have a handful of either, damaged
/// files may name thousands.
const MOST: usize = 1 << 26;

/// The calls of threads of gloo, by the groups that these are of.
#[derive(Default)]
pub(super) struct Grouped {
    pub(super) groups: Vec<(Group, Vec<Sequence>)>,
    /// Calls of which that cannot be told,
    pub(super) others: Vec<(Sequence, Doubt)>,
    /// and those of files with threads of several processes: of several ranks.
    pub(super) mixed: Vec<Sequence>,
}

impl Grouped {
    pub(super) fn of(calls: &Calls<'_>) -> Self {
        let mut grouped = Self::default();
        let of_files: Vec<_> = calls.files.iter().map(threads).collect();
        if of_files.iter().all(BTreeMap::is_empty) {
            return grouped;
        }
        let candidates = Candidates::of(calls);
        let mut groups: BTreeMap<(&[u32], &str), Vec<Sequence>> = BTreeMap::new();
        for (file, threads) in of_files.iter().enumerate() {
            let on_threads = threads.iter().filter(|(_, its)| {
                let first = its.first().and_then(|&it| calls.call(file, it));
                first.is_some_and(|it| it.on == On::Thread)
            });
            if calls.are_of_several(file, on_threads.map(|it| *it.0)) {
                let all = threads.values().flatten().copied();
                grouped.mixed.push((file, all.collect()));
                continue;
            }
            for (group, its) in of_file(calls, &candidates, file, threads) {
                let sequence = calls.in_order(file, its);
                match group {
                    Ok(Group { name, ranks }) => {
                        groups.entry((ranks, name)).or_default().push(sequence);
                    }
                    Err(doubt) => grouped.others.push((sequence, doubt)),
                }
            }
        }
        let group = |((ranks, name), its): ((&[u32], &str), _)| {
            let group = Group {
                name: name.to_owned(),
                ranks: ranks.to_vec(),
            };
            (group, its)
        };
        grouped.groups = groups.into_iter().map(group).collect();
        grouped
    }
}

/// The calls of each thread, by its track.
type Threads = BTreeMap<u32, Vec<usize>>;

fn threads(file: &FileRead) -> Threads {
    let mut threads = Threads::new();
    for (call, it) in file.calls.iter().enumerate() {
        if it.group.is_none() {
            let of_thread = threads.entry(file.columns.track(it.event)).or_default();
            of_thread.push(call);
        }
    }
    threads
}

/// The calls of a file by the group that they are of, or by why that cannot be told.
fn of_file<'a>(
    calls: &Calls<'_>,
    candidates: &'a Candidates,
    file: usize,
    threads: &Threads,
) -> Vec<(Result<&'a Group, Doubt>, Vec<usize>)> {
    let mut found: Vec<(Result<&Group, Doubt>, Vec<usize>)> = Vec::new();
    let groups = candidates.of_file(file).and_then(|groups| {
        let order = order(calls.files.get(file), threads, groups.len())?;
        let members = groups.iter().map(|it| it.ranks.len().max(1));
        match order.len().checked_mul(members.sum()) {
            Some(work) if work <= MOST => {}
            _ => return Err(Doubt::Several),
        }
        if order.len() > groups.len().saturating_mul(THREADS) {
            return Err(Doubt::TooManyThreads);
        }
        Ok((groups, order))
    });
    match groups {
        Ok((groups, order)) => {
            for (place, track) in order.iter().enumerate() {
                let possible = possible(place, order.len(), groups.len());
                let group = finest(groups.get(possible).unwrap_or_default());
                let its = threads.get(track).into_iter().flatten();
                match found.iter_mut().find(|it| it.0 == group) {
                    Some(known) => known.1.extend(its),
                    None => found.push((group, its.copied().collect())),
                }
            }
        }
        Err(doubt) if !threads.is_empty() => {
            found.push((Err(doubt), threads.values().flatten().copied().collect()));
        }
        Err(_) => {}
    }
    found
}

/// The tracks of threads as these were made; any order will do if all are of one group.
fn order(file: Option<&FileRead>, threads: &Threads, groups: usize) -> Result<Vec<u32>, Doubt> {
    let number = |track: u32| {
        let it = file?.tracks.get(track as usize)?;
        Some((&*it.pid, it.tid.parse::<u64>().ok()?))
    };
    let of_tracks = threads.keys().map(|&track| (number(track), track));
    let mut order: Vec<(Option<(&str, u64)>, u32)> = of_tracks.collect();
    order.sort_unstable();
    let is_of_one_process = order.first().and_then(|it| it.0).is_some_and(|first| {
        order
            .iter()
            .all(|it| it.0.is_some_and(|it| it.0 == first.0))
    });
    if groups > 1 && !is_of_one_process {
        return Err(Doubt::Several);
    }
    Ok(order.into_iter().map(|it| it.1).collect())
}

/// The groups, of so many, that a thread at this place of so many can be of, if there are enough
/// groups for all: those before it, and it, need some up to its own, and those after it, with it,
/// some from there on.
///
/// ```text
/// threads   0 1 2 3 4        2 of each group
/// groups    a b c            thread 2 can be of b alone: 0, 1, and 2 take two, 2, 3 and 4 two
/// ```
fn possible(place: usize, threads: usize, groups: usize) -> Range<usize> {
    let first = place / THREADS;
    let beyond = (groups + 1).saturating_sub((threads - place).div_ceil(THREADS));
    first..beyond
}

/// The group whose members are in all the others.
fn finest(groups: &[Group]) -> Result<&Group, Doubt> {
    let least = groups.iter().min_by_key(|it| it.ranks.len());
    let least = least.ok_or(Doubt::Several)?;
    let is_in = |other: &Group| least.ranks.iter().all(|it| other.ranks.contains(it));
    let is_said = !least.ranks.is_empty() || groups.len() == 1;
    // A group of one rank tells nothing of what others do.
    let tells = least.ranks.len() > 1 || groups.iter().all(|it| it.ranks.len() <= 1);
    let is_finest = is_said && tells && groups.iter().all(is_in);
    is_finest.then_some(least).ok_or(Doubt::Several)
}

/// The calls of each signature for themselves; first those that tell most about clocks.
pub(super) fn by_signature(calls: &Calls<'_>, sequences: &[Sequence]) -> Vec<Vec<Sequence>> {
    let mut apart: BTreeMap<u32, Vec<Sequence>> = BTreeMap::new();
    for (file, own) in sequences {
        let mut of_file: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &call in own {
            if let Some(signature) = calls.signature(*file, call) {
                of_file.entry(signature).or_default().push(call);
            }
        }
        for (signature, own) in of_file {
            apart.entry(signature).or_default().push((*file, own));
        }
    }
    let mut apart: Vec<Vec<Sequence>> = apart.into_values().collect();
    apart.sort_by_key(|sequences| {
        let mut all = sequences.iter().flat_map(|(file, own)| {
            let call = move |&call: &usize| calls.call(*file, call);
            own.iter().filter_map(call)
        });
        let is_mutual = |call: &Call| match call.what {
            What::Collective(operation) => operation.class(false) == Class::AllToAll,
            What::Send(_) | What::Receive(_) => false,
        };
        !all.any(is_mutual)
    });
    apart
}
