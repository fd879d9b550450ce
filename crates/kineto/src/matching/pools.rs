//! Calls that belong together by what they do and where they are.
//!
//! Calls of one signature, and all others of the tracks that they are on, make a pool.

use std::collections::BTreeMap;

use super::calls::{Calls, Sequence};
use crate::call::Call;

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
