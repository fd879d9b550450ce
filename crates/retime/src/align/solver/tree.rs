//! The elimination tree and the number of entries in each column of the factor.

use super::graph::Graph;

/// Stands for no column.
pub(super) const NONE: u32 = u32::MAX;

/// An order, and for each unknown its place in it.
pub(super) struct Order {
    pub(super) nodes: Vec<u32>,
    pub(super) places: Vec<u32>,
}

impl Order {
    pub(super) fn new(nodes: Vec<u32>) -> Self {
        let mut places = vec![0; nodes.len()];
        for (place, &node) in nodes.iter().enumerate() {
            places[node as usize] = place as u32;
        }
        Self { nodes, places }
    }

    /// The columns in which a column has entries, in no order.
    fn others<'a>(&'a self, graph: &'a Graph<'_>, column: usize) -> impl Iterator<Item = u32> + 'a {
        let neighbours = graph.of(self.nodes[column] as usize);
        neighbours.map(|(node, _)| self.places[node as usize])
    }
}

/// By column, the next one its elimination changes: the row of the first entry below
/// the diagonal of the factor.
pub(super) fn parents(graph: &Graph<'_>, order: &Order) -> Vec<u32> {
    let mut parents = vec![NONE; graph.size()];
    // Ways up, shortened as they are walked.
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

/// The children of each node before it, all those of one right after each other.
pub(super) fn postorder(parents: &[u32]) -> Vec<u32> {
    let mut first = vec![NONE; parents.len()];
    let mut next = vec![NONE; parents.len()];
    let mut stack = Vec::new();
    for (node, &parent) in parents.iter().enumerate().rev() {
        if parent == NONE {
            stack.push(node as u32);
        } else {
            next[node] = std::mem::replace(&mut first[parent as usize], node as u32);
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    while let Some(&node) = stack.last() {
        let child = first[node as usize];
        if child == NONE {
            order.push(node);
            stack.pop();
        } else {
            first[node as usize] = next[child as usize];
            stack.push(child);
        }
    }
    order
}

/// How many entries each column of the factor has, for an order in which descendants
/// come right before.
pub(super) fn counts(graph: &Graph<'_>, order: &Order, parents: &[u32]) -> Vec<u32> {
    let size = graph.size();
    // The first descendant of each column.
    let mut first: Vec<u32> = (0..size as u32).collect();
    for column in 0..size {
        if let Some(parent) = first.get(parents[column] as usize).copied() {
            first[parents[column] as usize] = parent.min(first[column]);
        }
    }
    let mut counts = vec![0_i64; size];
    let mut ancestors: Vec<u32> = (0..size as u32).collect();
    // By row: the first descendant seen last, plus one; and the last leaf.
    let mut seen = vec![0_u32; size];
    let mut leaves = vec![NONE; size];
    for column in 0..size {
        counts[column] += i64::from(first[column] as usize == column);
        for row in order.others(graph, column) {
            let at = row as usize;
            if at <= column || first[column] < seen[at] {
                continue;
            }
            seen[at] = first[column] + 1;
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
        if parents[column] != NONE {
            counts[parents[column] as usize] += counts[column];
        }
    }
    counts.into_iter().map(|it| it as u32).collect()
}

/// Where the way up ends; the way is shortened.
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
