//! Calls that belong together by what they do and where they are.
//!
//! Calls of one signature, and all others of the tracks that they are on, make a pool.

use std::collections::BTreeMap;

use super::calls::{Calls, Sequence};
use super::disjoint_sets::DisjointSets;
use crate::call::Call;

/// The calls of each pool, of those that are `meant`, by file.
pub(super) fn pools(calls: &Calls<'_>, meant: impl Fn(&Call) -> bool) -> Vec<Vec<Sequence>> {
    let mut sets = DisjointSets::new();
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
            let pool = sets.least(Element::Signature(signature));
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
