//! Whose group calls are of that do not say it.
//!
//! A process group of gloo has threads of its own, its *pool*, which take calls from a
//! queue; profiles name neither. But a thread never serves two groups: calls of one
//! signature, and all others of the threads that ran them, are of one pool. The header lists
//! the groups of a rank, and threads are numbered by the system as they are made: so earlier
//! groups have threads with lower numbers. An assignment of pools to groups is possible if
//! it keeps that order, gives no group more threads than [a pool has](POOL), and the calls of
//! each [can be](super::alignment) operations of its group. Of the groups that a pool has in any
//! of these, that one is taken whose members are members of all others, for what holds among
//! them holds whichever it is. If there is none, nothing is joined.
//!
//! Two threads of a pool may take two calls of one signature at nearly the same time, and
//! note when they began in the other order. So a call counts only if its order among these
//! is certain: when it began, the next one was not asked for yet, or the other thread was
//! still busy.

use std::collections::{BTreeMap, BTreeSet};

use super::alignment::{Item, Known, Shift, align};
use super::calls::{Calls, Group, Sequence};
use crate::call::{Call, What};
use crate::columns::Columns;
use crate::profile::FileRead;
use retime_model::{Class, Operation};
use rustc_hash::FxHashMap;

/// The calls of each pool, of those that are `meant`, by file.
pub(super) fn pools(calls: &Calls<'_>, meant: impl Fn(&Call) -> bool) -> Vec<Vec<Sequence>> {
    let mut sets = Sets::default();
    let all_meant = || {
        let files = calls.files.iter().enumerate();
        let meant = &meant;
        files.flat_map(move |(file, it)| {
            let own = it.calls.iter().enumerate();
            own.filter(move |(_, it)| meant(it))
                .map(move |(call, it)| (file, call, it))
        })
    };
    for (file, call, it) in all_meant() {
        let track = calls
            .files
            .get(file)
            .map(|file| file.columns.track(it.event));
        let signature = calls.signature(file, call);
        if let (Some(track), Some(signature)) = (track, signature) {
            sets.unite(Element::Thread(file, track), Element::Signature(signature));
        }
    }
    let mut pools: BTreeMap<Element, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (file, call, _) in all_meant() {
        if let Some(signature) = calls.signature(file, call) {
            let pool = sets.representative(Element::Signature(signature));
            let own = pools.entry(pool).or_default().entry(file).or_default();
            own.push(call);
        }
    }
    let in_order = |files: BTreeMap<usize, Vec<usize>>| {
        let sequence = |(file, own)| calls.in_order(file, own);
        files.into_iter().map(sequence).collect()
    };
    pools.into_values().map(in_order).collect()
}

/// An element of a pool: a signature of calls, or a thread that does such calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Element {
    Signature(u32),
    /// A track of a file.
    Thread(usize, u32),
}

/// Sets of elements that were united; each is known by its least element.
#[derive(Default)]
struct Sets {
    parent: BTreeMap<Element, Element>,
}

impl Sets {
    fn representative(&self, mut element: Element) -> Element {
        while let Some(&parent) = self.parent.get(&element)
            && parent != element
        {
            element = parent;
        }
        element
    }

    fn unite(&mut self, a: Element, b: Element) {
        let roots = [a, b].map(|it| self.representative(it));
        let root = roots[0].min(roots[1]);
        // All that were looked at lead there in one step.
        for element in [a, b, roots[0], roots[1]] {
            self.parent.insert(element, root);
        }
    }
}

/// Threads of a process group of gloo, as PyTorch makes them for each network device: calls
/// that never met on one of these may still be of one pool.
const POOL: usize = 2;

/// Assignments that are looked at: jobs have a handful of groups, damaged headers may name
/// thousands.
const MOST_ASSIGNMENTS: usize = 1 << 16;

/// Groups with their members' calls: those of one pool.
pub(super) type Family = Vec<(Group, Vec<Sequence>)>;

/// The groups that each pool is of, if that can be told.
pub(super) fn groups_of(calls: &Calls<'_>, pools: &[Vec<Sequence>]) -> Vec<Option<Family>> {
    let families: Vec<Vec<Option<Family>>> = pools
        .iter()
        .map(|pool| {
            let possible = |family: Option<Family>| family.filter(|it| is_possible(calls, it));
            families(calls, pool).into_iter().map(possible).collect()
        })
        .collect();
    let mut order: Vec<usize> = (0..pools.len()).collect();
    order.sort_by_key(|&pool| pools.get(pool).map(|it| first_thread(calls, it)));
    let mut assignment = Assignment {
        families: order.iter().filter_map(|&it| families.get(it)).collect(),
        threads: order
            .iter()
            .filter_map(|&it| Some(threads(calls, pools.get(it)?)))
            .collect(),
        possible: vec![BTreeSet::new(); pools.len()],
        left: MOST_ASSIGNMENTS,
    };
    assignment.extend(&mut Vec::new());
    if assignment.left == 0 {
        return vec![None; pools.len()];
    }
    let mut possible = vec![BTreeSet::new(); pools.len()];
    for (&pool, found) in order.iter().zip(assignment.possible) {
        if let Some(possible) = possible.get_mut(pool) {
            *possible = found;
        }
    }
    let chosen = families.into_iter().zip(possible);
    chosen
        .map(|(mut families, possible)| {
            let family = |place: &usize| families.get(*place)?.as_ref();
            let finest = possible.iter().copied().find(|place| {
                let finest = family(place);
                possible.iter().all(|other| {
                    finest
                        .zip(family(other))
                        .is_some_and(|(a, b)| refines(a, b))
                })
            })?;
            families.get_mut(finest)?.take()
        })
        .collect()
}

/// The number of the thread of a pool that was made first, in its first file: the order of
/// pools is the same in all.
fn first_thread(calls: &Calls<'_>, pool: &[Sequence]) -> Option<u64> {
    let (file, _) = pool.first()?;
    let tracks = &calls.files.get(*file)?.tracks;
    let of_file = threads(calls, pool).remove(file)?;
    let number = |it: u32| tracks.get(it as usize)?.tid.parse().ok();
    of_file.into_iter().filter_map(number).min()
}

/// The tracks of each file on which calls of a pool are.
fn threads(calls: &Calls<'_>, pool: &[Sequence]) -> BTreeMap<usize, BTreeSet<u32>> {
    let of_file = |(number, own): &Sequence| {
        let file = calls.files.get(*number)?;
        let track = |&call: &usize| Some(file.columns.track(file.calls.get(call)?.event));
        Some((*number, own.iter().filter_map(track).collect()))
    };
    pool.iter().filter_map(of_file).collect()
}

/// Assignments of pools, in the order in which their threads were made, to families.
struct Assignment<'a> {
    /// The families that each pool can be of; none in the place of others.
    families: Vec<&'a Vec<Option<Family>>>,
    threads: Vec<BTreeMap<usize, BTreeSet<u32>>>,
    /// The places of the families that each pool has in any possible assignment.
    possible: Vec<BTreeSet<usize>>,
    /// How many more, begun or whole, are looked at.
    left: usize,
}

impl Assignment<'_> {
    /// Notes all that begin with these places.
    fn extend(&mut self, chosen: &mut Vec<usize>) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return;
        }
        let Some(own) = self.families.get(chosen.len()).copied() else {
            for (possible, &place) in self.possible.iter_mut().zip(&*chosen) {
                possible.insert(place);
            }
            return;
        };
        let from = chosen.last().copied().unwrap_or(0);
        for (place, family) in own.iter().enumerate().skip(from) {
            if family.is_some() && self.has_room(chosen, place) {
                chosen.push(place);
                self.extend(chosen);
                chosen.pop();
            }
        }
    }

    /// True if the next pool can be of the same groups as those before it at that place.
    fn has_room(&self, chosen: &[usize], place: usize) -> bool {
        let same = chosen.iter().rev().take_while(|it| **it == place).count();
        let of = chosen.len() - same..=chosen.len();
        let mut together: BTreeMap<usize, usize> = BTreeMap::new();
        for (file, tracks) in self.threads.get(of).into_iter().flatten().flatten() {
            *together.entry(*file).or_default() += tracks.len();
        }
        same == 0 || together.values().all(|it| *it <= POOL)
    }
}

/// True if the members of each group are members of one of the others.
fn refines(a: &Family, b: &Family) -> bool {
    a.iter().all(|(group, _)| {
        b.iter()
            .any(|(other, _)| group.ranks.iter().all(|it| other.ranks.contains(it)))
    })
}

/// The first group of each rank of the pool, the second, and so on; all ranks as one group
/// if nobody says any.
fn families(calls: &Calls<'_>, pool: &[Sequence]) -> Vec<Option<Family>> {
    let header = |file: usize| calls.files.get(file).map(|it| &it.header);
    let of_file = |file: usize| header(file).map_or(&[][..], |it| &*it.groups);
    let most = pool.iter().map(|it| of_file(it.0).len()).max().unwrap_or(0);
    if most == 0 {
        let ranks = pool.iter().filter_map(|(file, _)| calls.rank(*file));
        let group = Group {
            name: String::new(),
            ranks: ranks.collect(),
        };
        return vec![Some(vec![(group, pool.to_vec())])];
    }
    let family = |place: usize| {
        let mut groups: BTreeMap<_, Vec<Sequence>> = BTreeMap::new();
        for sequence in pool {
            let group = of_file(sequence.0).get(place)?;
            groups.entry(group).or_default().push(sequence.clone());
        }
        let named = |(group, own): (&crate::header::HeaderGroup, Vec<Sequence>)| {
            let group = Group {
                name: group.name.clone(),
                ranks: group.ranks.clone(),
            };
            (group, own)
        };
        Some(groups.into_iter().map(named).collect())
    };
    (0..most).map(family).collect()
}

/// True if calls can be operations of these groups.
fn is_possible(calls: &Calls<'_>, family: &Family) -> bool {
    family.iter().all(|(group, sequences)| {
        by_signature(calls, sequences).iter().all(|sequences| {
            let longest = sequences.iter().rev().max_by_key(|it| it.1.len());
            let Some(longest) = longest else {
                return true;
            };
            let pivot = calls.items(group, longest.0, &longest.1);
            let fits = |(file, own): &Sequence| {
                let own = calls.items(group, *file, own);
                let pivot = calls.windowed(longest.0, &pivot);
                align(pivot, calls.windowed(*file, &own), &Known::default()) != Shift::Impossible
            };
            let mut others = sequences.iter().filter(|it| it.0 != longest.0);
            !pivot.iter().all(Item::is_mutual) || others.all(fits)
        })
    })
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

/// A moment at which no call was waiting: amid the longest time in which no thread had any. A
/// thread that has nothing to do takes what waits, long before that.
fn idle(file: &FileRead) -> Option<u64> {
    let columns = &file.columns;
    let unlabelled = file.calls.iter().filter(|it| it.group.is_none());
    let mut spans: Vec<(u64, u64)> = unlabelled
        .map(|it| (columns.begin(it.event), columns.end(it.event)))
        .collect();
    spans.sort_unstable();
    let mut over = spans.first()?.1;
    let mut longest = (0, None);
    for (begin, end) in spans {
        let free = begin.saturating_sub(over);
        if free > longest.0 {
            longest = (free, Some(over + free / 2));
        }
        over = over.max(end);
    }
    longest.1
}

/// When the calls of a file could be taken from their queue.
pub(super) struct Queue {
    /// The time from which each call could be taken: when the call before it on its thread was
    /// over,
    free_since: Vec<u64>,
    /// and when at least one of it and those that began earlier was not asked for yet.
    asked: Vec<Option<u64>>,
}

impl Queue {
    pub(super) fn of(calls: &Calls<'_>, file: usize) -> Option<Self> {
        let file = calls.files.get(file)?;
        let begin = |call: usize| file.calls.get(call).map(|it| file.columns.begin(it.event));
        let mut order: Vec<usize> = (0..file.calls.len()).collect();
        order.sort_by_key(|&call| begin(call));
        let mut free: BTreeMap<u32, u64> = BTreeMap::new();
        let mut of_kind: FxHashMap<Operation, Vec<usize>> = FxHashMap::default();
        let mut queue = Self {
            free_since: vec![0; order.len()],
            asked: vec![None; order.len()],
        };
        for call in order {
            let it = file.calls.get(call)?;
            let track = free.entry(file.columns.track(it.event)).or_default();
            *queue.free_since.get_mut(call)? = *track;
            *track = file.columns.end(it.event).max(*track);
            if let What::Collective(operation) = it.what {
                of_kind.entry(operation).or_default().push(call);
            }
        }
        let Some(idle) = idle(file) else {
            return Some(queue);
        };
        for (operation, its) in of_kind {
            let Some(requests) = file.requests.get(&operation) else {
                continue;
            };
            let times = requests.events.iter().map(|&it| file.columns.begin(it));
            let mut times: Vec<u64> = times.collect();
            times.sort_unstable();
            // As many were asked for until then as had begun, those aside that were asked for
            // before the recording began.
            let asked = times.partition_point(|it| *it < idle);
            let begun = its.partition_point(|&it| begin(it).is_some_and(|it| it < idle));
            for (place, call) in its.into_iter().enumerate() {
                let request = (place + asked).checked_sub(begun);
                *queue.asked.get_mut(call)? = request.and_then(|it| times.get(it)).copied();
            }
        }
        Some(queue)
    }

    /// True if the order of two calls of one signature is certain, of which the first began
    /// earlier: when it did, the other thread was busy, or there was nothing else to take.
    ///
    /// Of the `n` calls of an operation that began before the second, and itself, all were
    /// asked for when they began. If request `n` (from 0) came after the first began, then
    /// not both were asked for by then: the second was not.
    fn is_certain(&self, columns: &Columns, first: &Call, second: &Call, place: usize) -> bool {
        let begin = columns.begin(first.event);
        columns.track(first.event) == columns.track(second.event)
            || self.free_since.get(place).is_some_and(|it| *it >= begin)
            || self
                .asked
                .get(place)
                .is_some_and(|it| it.is_some_and(|it| it > begin))
    }

    /// Which of the calls of one signature have a certain place among them.
    pub(super) fn certain(&self, calls: &Calls<'_>, file: usize, own: &[usize]) -> Vec<bool> {
        let mut certain = vec![true; own.len()];
        let Some(of_file) = calls.files.get(file) else {
            return certain;
        };
        for (at, pair) in own.windows(2).enumerate() {
            let both = of_file.calls.get(pair[0]).zip(of_file.calls.get(pair[1]));
            if both.is_some_and(|(a, b)| !self.is_certain(&of_file.columns, a, b, pair[1])) {
                for it in certain.iter_mut().skip(at).take(2) {
                    *it = false;
                }
            }
        }
        certain
    }
}
