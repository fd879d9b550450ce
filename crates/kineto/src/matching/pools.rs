//! Whose group calls are of that do not say it.
//!
//! A process group of gloo has threads of its own, its *pool*, which take calls from a
//! queue; profiles name neither. But a thread never serves two groups: calls of one
//! signature, and all others of the threads that ran them, are of one pool. And the header
//! lists the groups of a rank in the order in which they were made, which is the same for
//! all. So each pool may serve the first group of each rank, or the second, and so on; of
//! those for which its calls [can be](super::alignment) operations of the group, the largest
//! is taken: what only looks like an operation of all is found out by ranks that came when
//! others had gone. If two are equally large, nothing is joined.
//!
//! Two threads of a pool may take two calls of one signature at nearly the same time, and
//! note when they began in the other order. So a call counts only if its order among these
//! is certain: when it began, the next one was not asked for yet, or the other thread was
//! still busy.

use std::collections::BTreeMap;

use super::alignment::{Item, Known, Shift, align};
use super::{Calls, Group, Sequence};
use crate::call::{Call, What};
use crate::columns::Columns;
use retime_model::{Class, Operation};
use rustc_hash::FxHashMap;

/// The calls of each pool that do not say their group, by file.
pub(super) fn pools(calls: &Calls<'_>) -> Vec<Vec<Sequence>> {
    let mut sets = Sets::default();
    let unlabelled = || {
        let files = calls.files.iter().enumerate();
        files.flat_map(|(file, it)| {
            let own = it.calls.iter().enumerate();
            own.filter(|(_, it)| it.group.is_none())
                .map(move |(call, it)| (file, call, it))
        })
    };
    for (file, call, it) in unlabelled() {
        let track = calls.files.get(file).map(|file| file.columns.track(it.event));
        let signature = calls.signature(file, call);
        if let (Some(track), Some(signature)) = (track, signature) {
            sets.unite(Element::Thread(file, track), Element::Signature(signature));
        }
    }
    let mut pools: BTreeMap<Element, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (file, call, _) in unlabelled() {
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

/// What belongs to one pool.
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
        let (a, b) = (self.representative(a), self.representative(b));
        self.parent.insert(a.max(b), a.min(b));
    }
}

/// The groups that a pool can be of, each with its members' calls.
pub(super) fn group_of(
    calls: &Calls<'_>,
    pool: &[Sequence],
) -> Option<Vec<(Group, Vec<Sequence>)>> {
    let mut best: Option<(usize, Vec<(Group, Vec<Sequence>)>)> = None;
    let mut is_tie = false;
    for family in families(calls, pool) {
        let Some(size) = operations(calls, &family) else {
            continue;
        };
        let largest = best.as_ref().map_or(0, |it| it.0);
        is_tie = size == largest || is_tie && size < largest;
        if size > largest {
            best = Some((size, family));
        }
    }
    best.filter(|_| !is_tie).map(|(_, family)| family)
}

/// The first group of each rank of the pool, the second, and so on; all ranks as one group
/// if nobody says any.
fn families(calls: &Calls<'_>, pool: &[Sequence]) -> Vec<Vec<(Group, Vec<Sequence>)>> {
    let header = |file: usize| calls.files.get(file).map(|it| &it.header);
    let of_file = |file: usize| header(file).map_or(&[][..], |it| &*it.groups);
    let most = pool.iter().map(|it| of_file(it.0).len()).max().unwrap_or(0);
    if most == 0 {
        let ranks = pool.iter().filter_map(|(file, _)| calls.rank(*file));
        let group = Group {
            name: String::new(),
            ranks: ranks.collect(),
        };
        return vec![vec![(group, pool.to_vec())]];
    }
    let family = |place: usize| {
        let mut groups: BTreeMap<_, Vec<Sequence>> = BTreeMap::new();
        for sequence in pool {
            let group = of_file(sequence.0).get(place)?;
            groups.entry(group).or_default().push(sequence.clone());
        }
        let named = |(group, own): (&crate::header::Group, Vec<Sequence>)| {
            let group = Group {
                name: group.name.clone(),
                ranks: group.ranks.clone(),
            };
            (group, own)
        };
        Some(groups.into_iter().map(named).collect())
    };
    (0..most).filter_map(family).collect()
}

/// How many pairs of calls would be of one operation, if that is possible.
fn operations(calls: &Calls<'_>, family: &[(Group, Vec<Sequence>)]) -> Option<usize> {
    let mut pairs = 0;
    for (group, sequences) in family {
        for sequences in by_signature(calls, sequences) {
            let longest = sequences.iter().rev().max_by_key(|it| it.1.len())?;
            let pivot = calls.items(group, longest);
            let is_mutual = pivot.iter().all(Item::is_mutual);
            for sequence in sequences.iter().filter(|it| is_mutual && it.0 != longest.0) {
                match align(&pivot, &calls.items(group, sequence), &Known::default()) {
                    Shift::By(_) => pairs += sequence.1.len(),
                    Shift::Ambiguous => {}
                    Shift::Impossible => return None,
                }
            }
        }
    }
    Some(pairs)
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

/// When the calls of a file could be taken from their queue.
pub(super) struct Queue {
    /// By call: when the call before it on its thread was over,
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
        for (operation, its) in of_kind {
            let Some(requests) = file.requests.get(&operation) else {
                continue;
            };
            // Where some of either were not recorded, they cannot be counted off.
            if requests.events.len() == its.len() {
                let mut times: Vec<u64> =
                    requests.events.iter().map(|&it| file.columns.begin(it)).collect();
                times.sort_unstable();
                for (call, time) in its.into_iter().zip(times) {
                    *queue.asked.get_mut(call)? = Some(time);
                }
            }
        }
        Some(queue)
    }

    /// Whether the order of two calls of one signature is certain, of which the first began
    /// earlier: when it did, the other thread was busy, or there was nothing else to take.
    ///
    /// Of the `n` calls of an operation that began before the second, and itself, all were
    /// asked for when they began. If request `n` (from 0) came after the first began, then
    /// not both were asked for by then: the second was not.
    fn is_certain(&self, columns: &Columns, (first, second): (&Call, &Call), place: usize) -> bool {
        let begin = columns.begin(first.event);
        columns.track(first.event) == columns.track(second.event)
            || self.free_since.get(place).is_some_and(|it| *it >= begin)
            || self.asked.get(place).is_some_and(|it| it.is_some_and(|it| it > begin))
    }

    /// Which of the calls of one signature have a certain place among them.
    pub(super) fn certain(&self, calls: &Calls<'_>, (file, own): &Sequence) -> Vec<bool> {
        let mut certain = vec![true; own.len()];
        let Some(of_file) = calls.files.get(*file) else {
            return certain;
        };
        for (at, pair) in own.windows(2).enumerate() {
            let both = of_file.calls.get(pair[0]).zip(of_file.calls.get(pair[1]));
            if both.is_some_and(|both| !self.is_certain(&of_file.columns, both, pair[1])) {
                for it in certain.iter_mut().skip(at).take(2) {
                    *it = false;
                }
            }
        }
        certain
    }
}
