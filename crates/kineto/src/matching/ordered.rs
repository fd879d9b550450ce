//! Kernels that only their names and their order tell.
//!
//! [Such kernels](crate::kernels) say neither number nor group. They are joined where all
//! groups that they could be of have the same members. A stream does one kernel after the
//! other, and the program is the same on all ranks: so those of one stream are in one order
//! everywhere, and are [aligned](super::alignment) like calls without numbers, by what the other
//! calls of two ranks tell of their clocks, if there are any. As with threads of gloo,
//! those of one signature and all others of the streams that ran them belong together; if that
//! takes several streams of a rank, their order can differ from rank to rank, and nothing is
//! joined.

use std::collections::BTreeSet;

use super::calls::{Calls, Group, Sequence};
use super::pools::pools;
use super::{AMBIGUOUS, KnownClocks, Matching};
use crate::call::{Call, Label, On};

impl Matching {
    /// Joins all such kernels.
    pub(super) fn ordered(&mut self, calls: &Calls<'_>) {
        let all = calls.files.iter().flat_map(|it| &it.calls);
        let labels = all.filter(|it| it.on == On::Order).map(|it| &it.group);
        let labels: BTreeSet<&Option<Label>> = labels.collect();
        let of_label = |label: &Option<Label>| {
            let is_meant = |call: &Call| call.on == On::Order && call.group == *label;
            pools(calls, is_meant)
        };
        let pools: Vec<Vec<Sequence>> = labels.into_iter().flat_map(of_label).collect();
        if pools.is_empty() {
            return;
        }
        let recorded = self.all_recorded(calls);
        for pool in pools {
            let Some(group) = group_of(calls, &pool).filter(|_| is_in_order(calls, &pool)) else {
                self.reject(&pool, AMBIGUOUS);
                continue;
            };
            let mut known = KnownClocks::of(&recorded);
            let instances = self.by_alignment(calls, &group, &pool, &mut known);
            self.join(calls, &group, instances);
            self.position(group);
        }
    }
}

/// The group that all calls of a pool are of.
fn group_of(calls: &Calls<'_>, pool: &[Sequence]) -> Option<Group> {
    let labels = pool.iter().flat_map(|(file, own)| {
        let label = move |&call: &usize| calls.call(*file, call)?.group.as_ref();
        own.iter().map(label)
    });
    let labels: Option<BTreeSet<&Label>> = labels.collect();
    let mut labels = labels?.into_iter();
    let (first, None) = (labels.next()?, labels.next()) else {
        return None;
    };
    Some(calls.group(first, pool))
}

/// True if the calls of each rank are on one stream.
fn is_in_order(calls: &Calls<'_>, pool: &[Sequence]) -> bool {
    pool.iter().all(|(file, own)| {
        let track = |&call: &usize| {
            let columns = &calls.files.get(*file)?.columns;
            Some(columns.track(calls.call(*file, call)?.event))
        };
        let tracks: BTreeSet<Option<u32>> = own.iter().map(track).collect();
        tracks.len() == 1
    })
}
