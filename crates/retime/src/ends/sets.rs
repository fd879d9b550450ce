//! Sets of clocks that have operations together: how they bring clocks together, and how well.
//!
//! Lines are searched clock by clock, each held by all that its own ends say. Where hosts have many
//! operations within two groups and few across them, no clock of a group gets away from the rest of
//! it, however far across all of them are off:
//!
//! ```text
//!  sets          operations   ends of one before any line
//!  0 1                   40     0    2
//!  2 3                   40             1    0
//!  0 1 2 3                3     0    1  750  751     off by 750: clocks 2 and 3 go together
//! ```
//!
//! So the search [starts](start) where sets agree by constants, those with the most operations first, and
//! what an earlier one has brought together moves as one.
//!
//! A clock is no better known than what [links](links) it to the one whose time is kept: of all
//! chains of sets the one whose worst set has the least spread.

use std::collections::BTreeMap;

use retime_numerics::median::median;

use super::observed::{Observed, ObservedEnds, OperationEnd, spread};

/// Operations that tell a constant: of one alone nothing says how far it is off.
const FEWEST_OF_CONSTANT: usize = 2;

/// Clocks that belong together, each called by one of them.
struct Together(Vec<usize>);

impl Together {
    fn new(clocks: usize) -> Self {
        Self((0..clocks).collect())
    }

    /// Puts what `from` belongs to with what `into` belongs to.
    fn join(&mut self, into: usize, from: usize) {
        for it in &mut self.0 {
            if *it == from {
                *it = into;
            }
        }
    }

    /// The names of what clocks belong to, each once.
    fn names(&self, ends: &[OperationEnd]) -> Vec<usize> {
        let mut names: Vec<usize> = ends.iter().map(|it| self.0[it.clock.as_usize()]).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The operations of each set.
fn by_set(ends: &ObservedEnds) -> Vec<Vec<&Observed>> {
    let mut by_set = vec![Vec::new(); ends.sets];
    for operation in &ends.operations {
        by_set[operation.of].push(operation);
    }
    by_set
}

/// The ticks to add to each clock before any line is searched.
pub(super) fn start(ends: &ObservedEnds, clocks: usize) -> Vec<f64> {
    let mut sets = by_set(ends);
    sets.retain(|it| it.len() >= FEWEST_OF_CONSTANT);
    sets.sort_by_key(|it| std::cmp::Reverse(it.len()));
    let mut together = Together::new(clocks);
    let mut added = vec![0.0; clocks];
    for set in sets {
        let Some((into, behind)) = behind(ends, &set, &together, &added) else {
            continue;
        };
        for (from, by) in behind {
            for (added, name) in added.iter_mut().zip(&together.0) {
                if *name == from {
                    *added += by;
                }
            }
            together.join(into, from);
        }
    }
    added
}

/// The first of what takes part in the operations of a set, and how far all else is behind it, as the
/// median of these tells.
fn behind(
    ends: &ObservedEnds,
    set: &[&Observed],
    together: &Together,
    added: &[f64],
) -> Option<(usize, BTreeMap<usize, f64>)> {
    let names = together.names(ends.of(set.first()?));
    let (&into, others) = names.split_first()?;
    if others.is_empty() {
        return None;
    }
    let mut behind: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for operation in set {
        let mut shown: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for end in ends.of(operation) {
            let clock = end.clock.as_usize();
            let own = shown.entry(together.0[clock]).or_default();
            own.push(end.at + added[clock]);
        }
        let shown = shown.iter_mut();
        let mut shown = shown.filter_map(|(name, own)| Some((*name, median(own)?)));
        // Names rise, so that the first comes first.
        let (_, first) = shown.next()?;
        for (name, shown) in shown {
            behind.entry(name).or_default().push(first - shown);
        }
    }
    let by = |(name, mut by): (usize, Vec<f64>)| (name, median(&mut by).unwrap_or_default());
    Some((into, behind.into_iter().map(by).collect()))
}

/// The spread of the worst set on the best chain from each clock to its anchor, by how much each end
/// is `off`; 0 for the anchor.
pub(super) fn links(ends: &ObservedEnds, off: &[f64], anchors: &[usize]) -> Vec<f64> {
    let sets = by_set(ends);
    let of_set = sets.iter().filter_map(|set| {
        let own = set.iter().flat_map(|it| ObservedEnds::places(it));
        let mut own: Vec<f64> = own.map(|it| off[it].abs()).collect();
        let first = *set.first()?;
        // A constant for each clock.
        Some((spread(&mut own, ends.of(first).len()), first))
    });
    let mut sets: Vec<(f64, &Observed)> = of_set.collect();
    sets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut together = Together::new(anchors.len());
    let mut links: Vec<Option<f64>> = vec![None; anchors.len()];
    for (spread, first) in sets {
        let names = together.names(ends.of(first));
        let Some((&into, others)) = names.split_first().filter(|it| !it.1.is_empty()) else {
            continue;
        };
        for &from in others {
            together.join(into, from);
        }
        for (clock, link) in links.iter_mut().enumerate() {
            let names = [clock, anchors[clock]].map(|it| together.0[it]);
            if link.is_none() && clock != anchors[clock] && names == [into; 2] {
                *link = Some(spread);
            }
        }
    }
    links.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use retime_model::ClockId;

    use super::*;

    /// Operations that clocks see end as late as listed, each so many times.
    fn operations(all: &[(usize, &[(u32, f64)])]) -> ObservedEnds {
        let operations = all.iter().flat_map(|(times, late)| {
            let end = |&(clock, at): &(u32, f64)| OperationEnd {
                clock: ClockId(clock),
                at,
                share: 0.5,
            };
            let one: Vec<OperationEnd> = late.iter().map(end).collect();
            std::iter::repeat_n(one, *times)
        });
        ObservedEnds::new(operations)
    }

    #[test]
    fn groups_are_moved_as_a_whole() {
        let across: &[(u32, f64)] = &[(0, 0.0), (1, 1.0), (2, 750.0), (3, 751.0)];
        let all = |times| {
            operations(&[
                (9, &[(0, 0.0), (1, 2.0)]),
                (9, &[(2, 0.0), (3, 1.0)]),
                (times, across),
            ])
        };
        let moved = start(&all(3), 5);
        assert_eq!(moved, [0.0, -2.0, -750.5, -751.5, 0.0]);
        // One alone could be any outlier.
        assert_eq!(start(&all(1), 5), [0.0, -2.0, 0.0, -1.0, 0.0]);
    }

    #[test]
    fn a_clock_is_known_as_well_as_the_worst_set_that_it_needs() {
        let ends = operations(&[
            (3, &[(0, 0.0), (1, 0.0)]),
            (3, &[(1, 0.0), (2, 0.0)]),
            (3, &[(0, 0.0), (2, 0.0)]),
        ]);
        let off = [[5.0; 6], [20.0; 6], [30.0; 6]].concat();
        let found = links(&ends, &off, &[0, 0, 0, 3]);
        let expected = [0.0, 5.0, 20.0, 0.0].map(|it| 1.4826 * it);
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-9),
            "{found:?}"
        );
    }
}
