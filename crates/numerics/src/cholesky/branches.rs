//! Branches of the tree: parts of an elimination that have nothing to do with each other.
//!
//! A node and all its descendants change nothing but what the node hands up. So several
//! such branches can be eliminated at a time; what they hand up is added to the *trunk*, the
//! rest of the tree, in the order in which it would have been otherwise, so that the
//! result is the same to the last digit. With the work `w` of a node and its descendants,
//! branches are the nodes with
//!
//! ```text
//! W / 64 <= w(node) <= W / 16 < w(parent)        W the work of all
//! ```
//!
//! There are enough of them for some threads, and not so many that what they hand up takes
//! much memory. For example, a root over twenty leaves that are as heavy as itself has twenty
//! branches; over two, it has none.

use std::ops::Range;

use super::node::Node;
use super::update;

/// Work (products, about) that is not worth to be shared by threads: a millisecond.
const LITTLE: u64 = 1 << 21;
/// A branch is at most such a part of all work,
const LARGEST: u64 = 16;
/// and at least such a part.
const SMALLEST: u64 = 64;

/// A node with all its descendants.
pub(super) struct Branch {
    /// Its nodes, the root last.
    pub(super) nodes: Range<usize>,
    /// Where the entries of its fronts lie.
    pub(super) entries: Range<usize>,
    /// How many numbers there are on each stack at most.
    pub(super) stacks: [usize; 2],
}

/// The branches of a tree, whose fronts have so many entries. `None` if memory does not
/// suffice for its updates.
pub(super) fn branches(nodes: &[Node], entries: usize) -> Option<Vec<Branch>> {
    let (mut work, mut sizes) = (vec![0_u64; nodes.len()], vec![1_usize; nodes.len()]);
    let mut all = 0_u64;
    for (at, node) in nodes.iter().enumerate() {
        let rows = (node.columns + node.below) as u64;
        let own = rows
            .saturating_mul(rows)
            .saturating_mul(node.columns as u64);
        all = all.saturating_add(own);
        work[at] = work[at].saturating_add(own);
        if let Some(parent) = node.parent {
            work[parent as usize] = work[parent as usize].saturating_add(work[at]);
            sizes[parent as usize] += sizes[at];
        }
    }
    if all < LITTLE {
        return Some(Vec::new());
    }
    let is_light = |work: u64| work <= all / LARGEST;
    let is_root = |at: &usize| {
        let heavy_above = nodes[*at]
            .parent
            .is_none_or(|it| !is_light(work[it as usize]));
        is_light(work[*at]) && heavy_above && work[*at] >= all / SMALLEST
    };
    let branch = |root: usize| {
        let of = root + 1 - sizes[root]..root + 1;
        let end = nodes.get(root + 1).map_or(entries, |it| it.entries);
        Some(Branch {
            entries: nodes[of.start].entries..end,
            stacks: most_on_stacks(nodes, of.clone())?,
            nodes: of,
        })
    };
    (0..nodes.len()).filter(is_root).map(branch).collect()
}

/// How many numbers there are on each stack at most while these nodes are eliminated, of
/// which the last one hands up to none of them.
pub(super) fn most_on_stacks(nodes: &[Node], of: Range<usize>) -> Option<[usize; 2]> {
    let (mut most, mut used) = ([0_usize; 2], [0_usize; 2]);
    for node in &nodes[of.clone()] {
        let len = update::len(node.below)?;
        if node.is_leaf {
            used[node.stack] = used[node.stack].checked_add(len)?;
        }
        let parent = node.parent.map(|it| it as usize);
        if let Some(parent) = parent.filter(|it| node.is_first && of.contains(it)) {
            let above = update::len(nodes[parent].below)?;
            used[1 - node.stack] = used[1 - node.stack].checked_add(above)?;
        }
        for (most, used) in most.iter_mut().zip(used) {
            *most = used.max(*most);
        }
        used[node.stack] -= len;
    }
    Some(most)
}
