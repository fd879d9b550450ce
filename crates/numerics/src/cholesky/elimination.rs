//! The structure that an order of elimination leads to, before any value is known.
//!
//! The first entry below the diagonal of a column of the factor is the next column it
//! changes, its *parent*. All its other entries are entries of the parent too: columns
//! that change a column are its descendants in this tree.
//!
//! How many entries each column gets follows without listing them. Row `i` of the
//! factor has entries in the columns of a subtree with root `i`, whose leaves are columns
//! where the matrix has entries. Each leaf starts a way up that ends where it meets that of
//! the leaf before; so one is added at each leaf, one taken off where ways meet and one
//! above the root, and sums over all descendants are the counts.
//!
//! Sources: J. W. H. Liu, *The role of elimination trees in sparse factorization* (1990);
//! J. R. Gilbert, E. G. Ng, B. W. Peyton, *An efficient algorithm to compute row and column
//! counts for sparse Cholesky factorization* (1994).

use super::graph::{Graph, NONE};
use super::minimum_degree::minimum_degree;
use retime_model::{Cancelled, Monitor};

/// Another order is looked for only if it could save half of the entries: no order needs
/// fewer than the matrix has.
const FILL: u64 = 2;

/// An order, and for each unknown its place in it.
pub(super) struct Order {
    pub(super) unknowns: Vec<u32>,
    pub(super) places: Vec<u32>,
}

impl Order {
    pub(super) fn new(unknowns: Vec<u32>) -> Self {
        let mut places = vec![0; unknowns.len()];
        for (place, &unknown) in unknowns.iter().enumerate() {
            places[unknown as usize] = place as u32;
        }
        Self { unknowns, places }
    }

    /// The order of what is named by its places.
    pub(super) fn of(&self, places: impl Iterator<Item = u32>) -> Self {
        Self::new(places.map(|it| self.unknowns[it as usize]).collect())
    }

    /// The neighbours of the unknown at a place, by their places, in no order.
    fn others<'a>(&'a self, graph: &'a Graph<'_>, place: usize) -> impl Iterator<Item = u32> + 'a {
        let neighbours = graph.of(self.unknowns[place] as usize);
        neighbours.map(|(unknown, _)| self.places[unknown as usize])
    }
}

/// An order in which the descendants of each column come right before it.
pub(super) struct Elimination {
    pub(super) order: Order,
    /// The parent of each column, or [`NONE`].
    pub(super) parents: Vec<u32>,
    /// The number of entries of each column, the diagonal among them.
    pub(super) counts: Vec<u32>,
}

impl Elimination {
    /// In the unknowns' own order or in one of minimum degree, whichever means less work.
    ///
    /// Unknowns that are numbered along time make a band, and minimum degree fills a long
    /// band more than elimination from end to end does. It is better where few unknowns
    /// have anything to do with each other.
    pub(super) fn best(graph: &Graph<'_>, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let own = Self::new(graph, (0..graph.size() as u32).collect());
        if own.entries() <= FILL * graph.entries() as u64 {
            return Ok(own);
        }
        monitor.check()?;
        let other = Self::new(graph, minimum_degree(graph, monitor)?);
        Ok(if other.work() < own.work() {
            other
        } else {
            own
        })
    }

    fn new(graph: &Graph<'_>, unknowns: Vec<u32>) -> Self {
        let order = Order::new(unknowns);
        let parents = parents(graph, &order);
        let sorted = Order::new(postorder(&parents));
        let order = order.of(sorted.unknowns.iter().copied());
        let renamed = |&column: &u32| {
            let parent = parents[column as usize];
            sorted.places.get(parent as usize).copied().unwrap_or(NONE)
        };
        let parents: Vec<u32> = sorted.unknowns.iter().map(renamed).collect();
        let counts = counts(graph, &order, &parents);
        Self {
            order,
            parents,
            counts,
        }
    }

    /// How many entries the factor has.
    fn entries(&self) -> u64 {
        self.counts.iter().map(|&it| u64::from(it)).sum()
    }

    /// How many products it takes, about.
    pub(super) fn work(&self) -> u128 {
        let squares = self.counts.iter().map(|&it| u128::from(it).pow(2));
        squares.sum()
    }
}

fn parents(graph: &Graph<'_>, order: &Order) -> Vec<u32> {
    let mut parents = vec![NONE; graph.size()];
    // Ways up the tree, shortened as they are walked.
    let mut ancestors = parents.clone();
    for column in 0..graph.size() as u32 {
        for other in order.others(graph, column as usize) {
            let mut at = other;
            while at < column {
                let next = std::mem::replace(&mut ancestors[at as usize], column);
                if next == NONE {
                    parents[at as usize] = column;
                }
                at = next;
            }
        }
    }
    parents
}

/// The nodes of a tree, the descendants of each right before it.
fn postorder(parents: &[u32]) -> Vec<u32> {
    let mut children = vec![NONE; parents.len()];
    let mut siblings = vec![NONE; parents.len()];
    let mut stack = Vec::new();
    for (node, &parent) in parents.iter().enumerate().rev() {
        if parent == NONE {
            stack.push(node as u32);
        } else {
            siblings[node] = std::mem::replace(&mut children[parent as usize], node as u32);
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    while let Some(&node) = stack.last() {
        let child = children[node as usize];
        if child == NONE {
            order.push(node);
            stack.pop();
        } else {
            children[node as usize] = siblings[child as usize];
            stack.push(child);
        }
    }
    order
}

fn counts(graph: &Graph<'_>, order: &Order, parents: &[u32]) -> Vec<u32> {
    let size = graph.size();
    let mut first: Vec<u32> = (0..size as u32).collect();
    for column in 0..size {
        let descendant = first[column];
        if let Some(least) = first.get_mut(parents[column] as usize) {
            *least = descendant.min(*least);
        }
    }
    let mut counts = vec![0_i64; size];
    let mut ancestors: Vec<u32> = (0..size as u32).collect();
    // By row its last leaf, and what lies right of all that is below that leaf.
    let mut leaves = vec![NONE; size];
    let mut seen = vec![0; size];
    for column in 0..size {
        counts[column] += i64::from(first[column] == column as u32);
        for row in order.others(graph, column) {
            let at = row as usize;
            if at <= column || first[column] < seen[at] {
                continue;
            }
            seen[at] = column as u32 + 1;
            counts[column] += 1;
            let last = std::mem::replace(&mut leaves[at], column as u32);
            if last != NONE {
                counts[root(&mut ancestors, last) as usize] -= 1;
            }
        }
        if parents[column] != NONE {
            counts[parents[column] as usize] -= 1;
            ancestors[column] = parents[column];
        }
    }
    for column in 0..size {
        let below = counts[column];
        if let Some(count) = counts.get_mut(parents[column] as usize) {
            *count += below;
        }
    }
    counts.into_iter().map(|it| it as u32).collect()
}

/// Where the way up ends so far; it is shortened.
fn root(ancestors: &mut [u32], from: u32) -> u32 {
    let mut root = from;
    while ancestors[root as usize] != root {
        root = ancestors[root as usize];
    }
    let mut at = from;
    while at != root {
        at = std::mem::replace(&mut ancestors[at as usize], root);
    }
    root
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::pattern::Pattern;
    use super::*;

    /// Entries per column by elimination of a full matrix of flags.
    fn plain_counts(graph: &Graph<'_>, order: &Order) -> Vec<u32> {
        let size = graph.size();
        let mut linked = vec![vec![false; size]; size];
        for (column, links) in linked.iter_mut().enumerate() {
            for row in order.others(graph, column) {
                links[row as usize] = true;
            }
        }
        for column in 0..size {
            let rows: Vec<usize> = (column + 1..size)
                .filter(|&it| linked[column][it])
                .collect();
            for &a in &rows {
                for &b in &rows {
                    linked[a][b] = true;
                }
            }
        }
        let below = |column: usize| (column + 1..size).filter(|&it| linked[column][it]).count();
        (0..size).map(|it| 1 + below(it) as u32).collect()
    }

    proptest! {
        #[test]
        fn counts_are_those_of_plain_elimination(
            size in 1..30_u32,
            picked in proptest::collection::vec((0..30_u32, 0..30_u32), 0..80),
        ) {
            let picked = picked.iter().map(|&(a, b)| (a % size, b % size));
            let entries = picked.map(|(a, b)| (a.min(b), a.max(b))).collect();
            let pattern = Pattern::new(size as usize, entries);
            let graph = Graph::new(&pattern).unwrap();
            for unknowns in [(0..size).collect(), minimum_degree(&graph, &()).unwrap()] {
                let mut sorted: Vec<u32> = unknowns.clone();
                sorted.sort_unstable();
                prop_assert!(sorted.into_iter().eq(0..size));
                let found = Elimination::new(&graph, unknowns);
                let wanted = plain_counts(&graph, &found.order);
                prop_assert_eq!(found.counts, wanted);
            }
        }
    }

    /// Knots along time; at each, clocks that are coupled to the next one of a ring.
    fn ring(clocks: u32, knots: u32) -> Pattern {
        let size = clocks * knots;
        let around = (0..size).map(|at| (at, at / clocks * clocks + (at + 1) % clocks));
        let along = (clocks..size).map(|at| (at - clocks, at));
        let entries = around.chain(along).map(|(a, b)| (a.min(b), a.max(b)));
        Pattern::new(size as usize, entries.collect())
    }

    #[test]
    fn the_better_order_is_taken() {
        let work = |pattern: &Pattern| {
            let graph = Graph::new(pattern).unwrap();
            let own = Elimination::new(&graph, (0..graph.size() as u32).collect());
            (Elimination::best(&graph, &()).unwrap().work(), own.work())
        };
        // Many clocks and few knots, and the other way round.
        let (best, own) = work(&ring(200, 6));
        assert!(10 * best < own, "{best} {own}");
        let (best, own) = work(&ring(6, 200));
        assert!(best <= own, "{best} {own}");
    }
}
