//! Shortest paths, or the negative cycle that leaves none.
//!
//! A system of difference constraints `x[to] - x[from] <= length` has a solution exactly if
//! the graph of these arcs has no negative cycle, and then distances from everywhere are one:
//!
//! ```text
//! x[to] = min over arcs of  x[from] + length
//! ```
//!
//! ```
//! use retime_numerics::paths::{Arc, Start, shortest_paths};
//! let arc = |from, to, length| Arc { from, to, length };
//! let arcs = [arc(0, 1, 9), arc(0, 2, 3), arc(2, 1, 4)];
//! assert_eq!(shortest_paths(3, Start::At(0), &arcs, 0), Ok(vec![Some(0), Some(7), Some(3)]));
//! let cycle = shortest_paths(2, Start::At(0), &[arc(0, 1, 2), arc(1, 0, -3)], 0);
//! assert_eq!(cycle, Err(vec![arc(1, 0, -3), arc(0, 1, 2)])); // each behind the one that follows
//! ```
//!
//! Each node is reached by the shortest way known so far, and arcs make ways
//! shorter until none does. The arcs by which nodes were reached last form a tree.
//! A node that is reached by a shorter way makes all ways through it shorter, so what hangs
//! below it leaves the tree and waits until it is reached anew: of ways that are no longer the
//! shortest nothing is passed on, or each of them would be made shorter node by node as often as
//! there are nodes before it. Where a node is reached from one below it, ways get
//! ever shorter around a cycle of negative length.
//!
//! ```text
//!  root --> a --> b --> c        a shorter way to a: b and c leave the tree, and b is reached
//!      `----------^              from a, then c from b; from c to a: a negative cycle
//! ```
//!
//! The tree is kept as the list of its nodes in depth-first order, each with its depth, so that
//! what hangs below a node follows it in the list.
//!
//! Lengths are whole or floating; with the latter a way has to be shorter by some
//! tolerance, or rounding would make cycles negative that are not.
//!
//! Source: R. Bellman (1958), L. R. Ford (1956), E. F. Moore (1959); cycles by the tree of
//! parents, R. E. Tarjan (1981), in B. V. Cherkassky and A. V. Goldberg, *Negative-cycle
//! detection algorithms* (1999), section 5.

use std::collections::VecDeque;
use std::ops::Add;

/// From one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc<L> {
    /// The node where it begins.
    pub from: u32,
    /// The node where it ends.
    pub to: u32,
    /// The length that it adds to a way; may be negative.
    pub length: L,
}

/// Where ways begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At one node: what is not reached from it has no distance.
    At(usize),
    /// Everywhere at once, at a distance of nothing.
    Everywhere,
}

/// Finds the length of the shortest way to each node; or the arcs of a negative cycle, each behind
/// the one that follows on it. A way is taken instead of another only if it is shorter by more than
/// `tolerance`.
pub fn shortest_paths<L>(
    nodes: usize,
    start: Start,
    arcs: &[Arc<L>],
    tolerance: L,
) -> Result<Vec<Option<L>>, Vec<Arc<L>>>
where
    L: Copy + Default + PartialOrd + Add<Output = L>,
{
    let mut search = Search::new(nodes, start, arcs);
    while let Some(node) = search.waiting.pop_front() {
        search.waits[node] = false;
        // Who has left the tree waits to be reached.
        if search.tree.contains(node)
            && let Some(cycle) = search.pass_on(node, tolerance)
        {
            return Err(cycle);
        }
    }
    Ok(search.distance)
}

struct Search<'a, L> {
    arcs: &'a [Arc<L>],
    /// Positions of arcs by where they begin, in their order.
    outgoing: Vec<u32>,
    /// The arcs of node `n` are `first[n]..first[n + 1]` of these.
    first: Vec<usize>,
    distance: Vec<Option<L>>,
    arrival: Vec<Option<u32>>,
    tree: Tree,
    waiting: VecDeque<usize>,
    waits: Vec<bool>,
}

impl<'a, L> Search<'a, L>
where
    L: Copy + Default + PartialOrd + Add<Output = L>,
{
    fn new(nodes: usize, start: Start, arcs: &'a [Arc<L>]) -> Self {
        let mut first = vec![0; nodes + 1];
        for arc in arcs {
            first[arc.from as usize + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut outgoing = vec![0; arcs.len()];
        for (at, arc) in (0..).zip(arcs) {
            let place = &mut next[arc.from as usize];
            outgoing[*place] = at;
            *place += 1;
        }
        let waiting: VecDeque<usize> = match start {
            Start::At(root) => std::iter::once(root).collect(),
            Start::Everywhere => (0..nodes).collect(),
        };
        let mut search = Self {
            arcs,
            outgoing,
            first,
            distance: vec![None; nodes],
            arrival: vec![None; nodes],
            tree: Tree::new(nodes),
            waits: vec![false; nodes],
            waiting,
        };
        for &node in &search.waiting {
            search.distance[node] = Some(L::default());
            search.waits[node] = true;
            search.tree.hang(node, nodes);
        }
        search
    }

    /// Makes ways shorter by the arcs of a node; a negative cycle if one closes.
    fn pass_on(&mut self, node: usize, tolerance: L) -> Option<Vec<Arc<L>>> {
        let so_far = self.distance[node]?;
        for place in self.first[node]..self.first[node + 1] {
            let at = self.outgoing[place];
            let arc = self.arcs[at as usize];
            let to = arc.to as usize;
            let length = so_far + arc.length;
            if self.distance[to].is_some_and(|known| known <= length + tolerance) {
                continue;
            }
            if self.tree.cut(to, node) {
                return Some(self.cycle(at));
            }
            self.distance[to] = Some(length);
            self.arrival[to] = Some(at);
            self.tree.hang(to, node);
            if !std::mem::replace(&mut self.waits[to], true) {
                self.waiting.push_back(to);
            }
        }
        None
    }

    /// The cycle that an arc closes, which leads to a node above that where it begins.
    fn cycle(&self, closing: u32) -> Vec<Arc<L>> {
        let end = self.arcs[closing as usize].to;
        let before = |at: &u32| {
            let from = self.arcs[*at as usize].from;
            self.arrival[from as usize].filter(|_| from != end)
        };
        let around = std::iter::successors(Some(closing), before);
        around.map(|at| self.arcs[at as usize]).collect()
    }
}

/// Nodes in depth-first order below a root, as a list that closes.
struct Tree {
    next: Vec<u32>,
    previous: Vec<u32>,
    /// The depth of each node below the root; 0 for the root, and for nodes that are in no tree.
    depth: Vec<u32>,
}

impl Tree {
    /// A root alone, whose number is `nodes`.
    fn new(nodes: usize) -> Self {
        let alone: Vec<u32> = (0..=nodes as u32).collect();
        Self {
            next: alone.clone(),
            previous: alone,
            depth: vec![0; nodes + 1],
        }
    }

    fn contains(&self, node: usize) -> bool {
        self.depth[node] > 0
    }

    /// Hangs a node that is in no tree below another one.
    fn hang(&mut self, node: usize, below: usize) {
        let after = self.next[below];
        self.next[below] = node as u32;
        self.previous[node] = below as u32;
        self.next[node] = after;
        self.previous[after as usize] = node as u32;
        self.depth[node] = self.depth[below] + 1;
    }

    /// Takes out a node and all below it, if it is in the tree; whether `other` is among them.
    fn cut(&mut self, node: usize, other: usize) -> bool {
        let depth = std::mem::take(&mut self.depth[node]);
        if depth == 0 {
            return node == other;
        }
        let mut is_among = node == other;
        let mut end = self.next[node] as usize;
        while self.depth[end] > depth {
            is_among |= end == other;
            self.depth[end] = 0;
            end = self.next[end] as usize;
        }
        let before = self.previous[node] as usize;
        self.next[before] = end as u32;
        self.previous[end] = before as u32;
        is_among
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc((from, to, length): (u32, u32, i64)) -> Arc<i64> {
        Arc { from, to, length }
    }

    #[test]
    fn the_shortest_way_may_have_more_arcs() {
        let arcs = [(0, 1, 9), (0, 2, 3), (2, 1, 4), (1, 2, -4)].map(arc);
        let found = shortest_paths(4, Start::At(0), &arcs, 0);
        assert_eq!(found, Ok(vec![Some(0), Some(7), Some(3), None]));
        let found = shortest_paths(4, Start::Everywhere, &arcs, 0);
        assert_eq!(found, Ok(vec![Some(0), Some(0), Some(-4), Some(0)]));
    }

    /// A ring that is walked against the order of its nodes, from everywhere and with ways that
    /// are made shorter from its end on: each pass over all of it would settle one node.
    #[test]
    fn long_ways_take_no_longer_than_they_are() {
        let count = 200_000_u32;
        let back = (1..count).map(|at| arc((at, at - 1, -1)));
        let ring: Vec<_> = back
            .chain([arc((0, count - 1, i64::from(count)))])
            .collect();
        let last = i64::from(count - 1);
        for start in [Start::At(count as usize - 1), Start::Everywhere] {
            let found = shortest_paths(count as usize, start, &ring, 0).unwrap();
            assert_eq!((found[0], found[1]), (Some(-last), Some(1 - last)));
        }
    }

    proptest::proptest! {
        /// Compared with passes over all arcs, of which there are as many as nodes.
        #[test]
        fn distances_are_those_of_passes(
            picked in proptest::collection::vec((0..9_u32, 0..9_u32, -3..20_i64), 0..40),
            root in 0..9_usize,
            everywhere in proptest::bool::ANY,
        ) {
            let arcs: Vec<_> = picked.into_iter().map(arc).collect();
            let mut known = vec![everywhere.then_some(0); 9];
            known[root] = Some(0);
            let mut changes = true;
            for _ in 0..=9 {
                changes = false;
                for it in &arcs {
                    let Some(length) = known[it.from as usize].map(|so_far: i64| so_far + it.length) else {
                        continue;
                    };
                    if known[it.to as usize].is_none_or(|known| length < known) {
                        known[it.to as usize] = Some(length);
                        changes = true;
                    }
                }
            }
            let start = if everywhere { Start::Everywhere } else { Start::At(root) };
            match shortest_paths(9, start, &arcs, 0) {
                Ok(found) => proptest::prop_assert!(!changes && found == known),
                Err(cycle) => {
                    proptest::prop_assert!(changes);
                    proptest::prop_assert!(cycle.iter().map(|it| it.length).sum::<i64>() < 0);
                    let meet = |pair: &[Arc<i64>]| pair[0].from == pair[1].to;
                    proptest::prop_assert!(cycle.windows(2).all(meet));
                    proptest::prop_assert_eq!(cycle.last().map(|it| it.from), cycle.first().map(|it| it.to));
                }
            }
        }
    }

    #[test]
    fn a_negative_cycle_is_named_from_its_end() {
        let arcs = [(0, 1, 1), (1, 2, -5), (2, 3, 2), (3, 1, 2)].map(arc);
        let cycle = shortest_paths(4, Start::At(0), &arcs, 0).unwrap_err();
        assert_eq!(cycle.iter().map(|arc| arc.length).sum::<i64>(), -1);
        let meet = |pair: &[Arc<i64>]| pair[0].from == pair[1].to;
        assert!(cycle.windows(2).all(meet) && cycle[2].from == cycle[0].to);
        // Nobody can get to it.
        let apart = [(1, 2, -5), (2, 1, 2)].map(arc);
        assert!(shortest_paths(3, Start::At(0), &apart, 0).is_ok());
        assert!(shortest_paths(3, Start::Everywhere, &apart, 0).is_err());
        assert!(shortest_paths(3, Start::Everywhere, &apart, 2).is_err());
        // No way gets shorter by more than that.
        assert!(shortest_paths(3, Start::Everywhere, &apart, 3).is_ok());
    }
}
