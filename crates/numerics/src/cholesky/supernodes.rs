//! Columns that are eliminated together.
//!
//! A column whose pattern is that of its child less the child itself makes a *supernode*
//! with it. Dense blocks are so much faster that a child is also merged with its parent
//! if that stores a few zeros as if they were entries. With `c` columns and `r` rows of
//! the child's front, and `R` of the parent's, it is
//!
//! ```text
//! c (c + R - r)  more zeros, in  (c + C) (c + R) - (c + C)^2 / 2  entries
//! ```
//!
//! Sources: C. Ashcraft, R. Grimes, *The influence of relaxed supernode partitions on the
//! multifrontal method* (1989); the shares of zeros are those of CHOLMOD: Y. Chen,
//! T. A. Davis, W. W. Hager, S. Rajamanickam (2008), section 3.2.

use std::cmp::Reverse;

use super::elimination::Elimination;
use super::graph::NONE;

/// Children are merged up to so many columns if less than this share is zeros.
const RELAXED: [(usize, f64); 3] = [(16, 0.8), (48, 0.1), (usize::MAX, 0.05)];
/// Up to so many columns they always are.
const ALWAYS: usize = 4;

/// Columns that are eliminated together.
pub(super) struct Supernode {
    /// The places of its columns in the order of elimination, ascending.
    pub(super) columns: Vec<u32>,
    /// How many rows they have entries in, themselves among them.
    pub(super) front: usize,
    /// The supernode that its update is added to.
    pub(super) parent: Option<u32>,
}

#[derive(Clone, Copy)]
struct FundamentalNode {
    parent: u32,
    columns: usize,
    front: usize,
    zeros: usize,
}

impl FundamentalNode {
    /// With a child's columns before its own.
    fn with(self, child: Self) -> Self {
        let more = child.columns * (child.columns + self.front - child.front);
        Self {
            parent: self.parent,
            columns: self.columns + child.columns,
            front: self.front + child.columns,
            zeros: self.zeros + child.zeros + more,
        }
    }

    fn is_worth_it(self) -> bool {
        let entries = self.columns * self.front - self.columns * (self.columns - 1) / 2;
        let share = self.zeros as f64 / entries as f64;
        let allowed = |&(most, limit): &(usize, f64)| self.columns <= most && share < limit;
        self.columns <= ALWAYS || RELAXED.iter().any(allowed)
    }

    /// The entries of its update.
    fn update(self) -> u128 {
        let below = (self.front - self.columns) as u128;
        below * (below + 1) / 2
    }
}

/// Supernodes in an order in which the descendants of each come right before it.
pub(super) fn supernodes(elimination: &Elimination) -> Vec<Supernode> {
    let (of, mut nodes) = chains(elimination);
    let merged = merge(&mut nodes);
    let order = arrange(&nodes, &merged);
    let mut places = vec![NONE; nodes.len()];
    for (place, &node) in order.iter().enumerate() {
        places[node as usize] = place as u32;
    }
    let supernode = |&node: &u32| Supernode {
        columns: Vec::with_capacity(nodes[node as usize].columns),
        front: nodes[node as usize].front,
        parent: places.get(nodes[node as usize].parent as usize).copied(),
    };
    let mut supernodes: Vec<Supernode> = order.iter().map(supernode).collect();
    for (column, &node) in of.iter().enumerate() {
        let place = places[merged[node as usize] as usize];
        supernodes[place as usize].columns.push(column as u32);
    }
    supernodes
}

/// Columns whose patterns are the same: by column its node, and the nodes.
fn chains(elimination: &Elimination) -> (Vec<u32>, Vec<FundamentalNode>) {
    let Elimination {
        parents, counts, ..
    } = elimination;
    let mut of: Vec<u32> = Vec::with_capacity(parents.len());
    let mut nodes: Vec<FundamentalNode> = Vec::new();
    for column in 0..parents.len() {
        let is_same = column > 0
            && parents[column - 1] as usize == column
            && counts[column - 1] == counts[column] + 1;
        match nodes.last_mut() {
            Some(node) if is_same => node.columns += 1,
            _ => nodes.push(FundamentalNode {
                parent: NONE,
                columns: 1,
                front: counts[column] as usize,
                zeros: 0,
            }),
        }
        of.push(nodes.len() as u32 - 1);
    }
    for (column, &node) in of.iter().enumerate() {
        let above = of.get(parents[column] as usize);
        if let Some(&above) = above.filter(|&&it| it != node) {
            nodes[node as usize].parent = above;
        }
    }
    (of, nodes)
}

/// Merges children with their parents where that is worth it; returns which node each
/// belongs to afterwards.
fn merge(nodes: &mut [FundamentalNode]) -> Vec<u32> {
    let mut merged: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut children = vec![NONE; nodes.len()];
    let mut siblings = vec![NONE; nodes.len()];
    for at in 0..nodes.len() {
        let mut child = children[at];
        while child != NONE {
            let joint = nodes[at].with(nodes[child as usize]);
            if joint.is_worth_it() {
                nodes[at] = joint;
                merged[child as usize] = at as u32;
            }
            child = siblings[child as usize];
        }
        if let Some(first) = children.get_mut(nodes[at].parent as usize) {
            siblings[at] = std::mem::replace(first, at as u32);
        }
    }
    // From the top down, for those merged with may have been merged themselves.
    for at in (0..nodes.len()).rev() {
        merged[at] = merged[merged[at] as usize];
        let parent = nodes[at].parent;
        nodes[at].parent = merged.get(parent as usize).copied().unwrap_or(NONE);
    }
    merged
}

/// Puts the descendants of each node right before it. While one child is dealt with, the
/// updates of the others already lie in that of the parent; so the child that needs most
/// memory comes first, before there is any.
fn arrange(nodes: &[FundamentalNode], merged: &[u32]) -> Vec<u32> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    let mut needed = vec![0; nodes.len()];
    let mut roots = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        if merged[at] as usize != at {
            continue;
        }
        let own = &mut children[at];
        own.sort_by_key(|&it| Reverse(needed[it as usize]));
        needed[at] = node.update();
        for (place, &child) in own.iter().enumerate() {
            let before = if place == 0 { 0 } else { node.update() };
            let both = node.update() + nodes[child as usize].update();
            needed[at] = both.max(before + needed[child as usize]).max(needed[at]);
        }
        match children.get_mut(node.parent as usize) {
            Some(siblings) => siblings.push(at as u32),
            None => roots.push(at as u32),
        }
    }
    let mut order = Vec::new();
    let mut open = roots;
    open.reverse();
    while let Some(&at) = open.last() {
        let children = std::mem::take(&mut children[at as usize]);
        if children.is_empty() {
            order.push(at);
            open.pop();
        } else {
            open.extend(children.into_iter().rev());
        }
    }
    order
}
