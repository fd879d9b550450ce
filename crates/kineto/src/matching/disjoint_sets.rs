//! Sets of elements that are united pair by pair (union-find).
//!
//! Each set is known by its least element, so that nothing depends on the order of the pairs.
//!
//! Source: R. E. Tarjan, *Efficiency of a good but not linear set union algorithm* (1975).

use std::collections::BTreeMap;

/// Disjoint sets of elements. An element that was united with none is a set of its own.
pub(super) struct DisjointSets<T> {
    /// Leads from each element that was united to a lesser one of its set, or to itself.
    parent: BTreeMap<T, T>,
}

impl<T: Copy + Ord> DisjointSets<T> {
    /// None united.
    pub(super) fn new() -> Self {
        Self {
            parent: BTreeMap::new(),
        }
    }

    /// The least element of the set that an element is in.
    pub(super) fn least(&self, mut element: T) -> T {
        while let Some(&parent) = self.parent.get(&element)
            && parent != element
        {
            element = parent;
        }
        element
    }

    /// Makes one set of the two that these elements are in.
    pub(super) fn unite(&mut self, a: T, b: T) {
        let roots = [a, b].map(|it| self.least(it));
        let root = roots[0].min(roots[1]);
        // All that were looked at lead there in one step.
        for element in [a, b, roots[0], roots[1]] {
            self.parent.insert(element, root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_known_by_their_least_element() {
        let mut sets = DisjointSets::new();
        sets.unite(7, 4);
        sets.unite(9, 8);
        assert_eq!([4, 7, 8, 9, 5].map(|it| sets.least(it)), [4, 4, 8, 8, 5]);
        sets.unite(9, 7);
        sets.unite(2, 9);
        assert_eq!([2, 4, 7, 8, 9].map(|it| sets.least(it)), [2; 5]);
    }
}
