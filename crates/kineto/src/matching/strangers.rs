//! Files that have nothing in common with most others, though their calls are numbered in the same groups.
//!
//! Operations join files, directly or through others. Most files hang together so; a file beside them whose
//! groups are theirs, too, has other numbers throughout:
//!
//! ```text
//! rank 0   group 0   18 19 20 21
//! rank 1   group 0        20 21 22
//! rank 2   group 0   5018 5019 5020        a stranger: of another run, or of another part of this one
//! ```
//!
//! Its clock may say that it was recorded at the same time, so that [time](super::other_run) does not tell it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::calls::{Calls, Sequence};
use super::disjoint_sets::DisjointSets;
use crate::call::Label;

/// The files that have numbered collectives of each group of which several have.
pub(super) fn numbered_together(
    calls: &Calls<'_>,
    labelled: &BTreeMap<Label, Vec<Sequence>>,
) -> Vec<Vec<usize>> {
    let is_numbered = |(file, its): &&Sequence| {
        let first = its.first().and_then(|&it| calls.call(*file, it));
        first.is_some_and(|it| it.sequence.is_some())
    };
    let of_group = |members: &Vec<Sequence>| {
        let numbered = members.iter().filter(is_numbered);
        numbered.map(|it| it.0).collect::<Vec<usize>>()
    };
    let groups = labelled.values().map(of_group);
    groups.filter(|it| it.len() > 1).collect()
}

/// The operation that a call is a part of.
type OperationKey = (bool, u64, u64);

/// The files, of so many, that share no operation with most, by the operations of each, though calls of both
/// are numbered in some group.
pub(super) fn strangers<I: Iterator<Item = OperationKey>>(
    files: usize,
    operations: impl Fn(usize) -> I,
    numbered: &[Vec<usize>],
) -> Vec<usize> {
    let sets = joined(files, operations);
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for file in 0..files {
        *sizes.entry(sets.least(file)).or_default() += 1;
    }
    let most = sizes.iter().rev().max_by_key(|it| it.1);
    let Some((&most, 2..)) = most else {
        return Vec::new();
    };
    let is_of_most = |file: &usize| sets.least(*file) == most;
    let with_most = numbered.iter().filter(|it| it.iter().any(is_of_most));
    let mut strangers: Vec<usize> = with_most.flatten().copied().collect();
    strangers.retain(|it| !is_of_most(it));
    strangers.sort_unstable();
    strangers.dedup();
    strangers
}

/// Sets of files that operations join.
fn joined<I: Iterator<Item = OperationKey>>(
    files: usize,
    operations: impl Fn(usize) -> I,
) -> DisjointSets<usize> {
    let mut sets = DisjointSets::new();
    let mut first_of: FxHashMap<OperationKey, usize> = FxHashMap::default();
    for file in 0..files {
        for it in operations(file) {
            let first = *first_of.entry(it).or_insert(file);
            if sets.least(first) != sets.least(file) {
                sets.unite(first, file);
            }
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_operations_join_with_no_other_is_a_stranger_if_a_group_is_common() {
        let found = |all: &[&[u64]], numbered: &[Vec<usize>]| {
            let of = |file: usize| all[file].iter().map(|it| (false, 0, *it));
            strangers(all.len(), of, numbered)
        };
        // Files 0, 1 and 4 hang together, and so do 2 and 3.
        let all: [&[u64]; 5] = [&[1], &[1, 2], &[3], &[3], &[2]];
        assert_eq!(found(&all, &[vec![0, 1, 2, 3]]), [2, 3]);
        assert_eq!(found(&all, &[vec![4, 3], vec![2, 3]]), [3]);
        assert_eq!(found(&all, &[vec![0, 4], vec![2, 3]]), [0; 0]);
        assert_eq!(found(&[&[], &[]], &[vec![0, 1]]), [0; 0]);
    }
}
