//! Sequences that are laid on the longest of them, call on call.
//!
//! Others may have calls in common that the longest lacks, before its first or behind its last:
//!
//! ```text
//! longest    |  2  3  4  5  6  7  |
//! another          | 4  5  6  7  8 |          8 lies on 8
//! a third             | 5  6  7  8  9 |
//! ```
//!
//! Those belong together if all of both that come to lie on each other can be pairs. Where a
//! profiler paused just where the longest ends, what lies behind the pause is something else.

use std::collections::BTreeMap;

use super::alignment::can_be_shift;
use super::calls::{Calls, Group, Instance};
use super::item::Item;
use super::windows::InWindow;

/// Calls that lie on each other.
pub(super) struct Laid<'a> {
    calls: &'a Calls<'a>,
    group: &'a Group,
    /// The file of the longest sequence.
    longest: usize,
    /// The other sequences, by file, each with its shift.
    others: BTreeMap<usize, (&'a InWindow, i64)>,
    /// The calls at each place of the longest sequence; places before it are negative, those behind it go on.
    instances: BTreeMap<i64, Instance>,
}

impl<'a> Laid<'a> {
    pub(super) fn on(longest: &InWindow, calls: &'a Calls<'a>, group: &'a Group) -> Self {
        let instance = |&call: &usize| vec![(longest.file, call)];
        Self {
            calls,
            group,
            longest: longest.file,
            others: BTreeMap::new(),
            instances: (0..).zip(longest.calls.iter().map(instance)).collect(),
        }
    }

    /// Lays a sequence, with its items, on the longest; returns how many of its calls lie on those of
    /// another with which they cannot be pairs.
    pub(super) fn lay(&mut self, own: &'a InWindow, items: &[Item], shift: i64) -> usize {
        let mut apart = 0;
        let mut are_pairs: BTreeMap<usize, bool> = BTreeMap::new();
        for (&call, place) in own.calls.iter().zip(shift..) {
            let instance = self.instances.entry(place).or_default();
            let first = instance.first().map(|it| it.0);
            let can_be_one = first.is_none_or(|first| {
                let are_pairs = are_pairs.entry(first).or_insert_with(|| {
                    let other = self.others.get(&first);
                    other.is_none_or(|(other, by)| {
                        let other = self.calls.items(self.group, first, &other.calls);
                        can_be_shift(&other, items, shift - by)
                    })
                });
                first == self.longest || *are_pairs
            });
            if can_be_one {
                instance.push((own.file, call));
            } else {
                apart += 1;
            }
        }
        self.others.insert(own.file, (own, shift));
        apart
    }

    /// The operations, in the order of their calls.
    pub(super) fn instances(self) -> Vec<Instance> {
        self.instances.into_values().collect()
    }
}
