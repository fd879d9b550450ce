//! Columns with the same pattern are eliminated together.

use super::tree::NONE;

/// Columns that are eliminated together.
pub(super) struct Group {
    /// Ascending, by place in the order.
    pub(super) columns: Vec<u32>,
    /// How many rows their columns have entries in, these columns among them.
    pub(super) front: usize,
    /// How many groups are merged into the next one up: its children.
    pub(super) children: usize,
    /// How far from the root.
    pub(super) depth: usize,
}

/// Merged where few of the entries are zero: up to so many columns, up to this share.
const RELAXED: [(usize, f64); 3] = [(16, 0.8), (48, 0.1), (usize::MAX, 0.05)];
/// In any case up to so many columns.
const ALWAYS: usize = 4;

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    columns: usize,
    front: usize,
    zeros: usize,
}

impl Node {
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
        let area = self.columns * self.front - self.columns * (self.columns - 1) / 2;
        let share = self.zeros as f64 / area as f64;
        let relaxed = |&(most, allowed): &(usize, f64)| self.columns <= most && share < allowed;
        self.columns <= ALWAYS || RELAXED.iter().any(relaxed)
    }
}

/// Groups in an order in which descendants come right before.
pub(super) fn groups(parents: &[u32], counts: &[u32]) -> Vec<Group> {
    let (mut of, mut nodes) = chains(parents, counts);
    let merged = merge(&mut nodes);
    for node in &mut of {
        *node = merged[*node as usize];
    }
    arrange(&nodes, &merged, &of)
}

/// Columns that only lack the one before: their nodes, and by column its node.
fn chains(parents: &[u32], counts: &[u32]) -> (Vec<u32>, Vec<Node>) {
    let mut of: Vec<u32> = Vec::with_capacity(parents.len());
    let mut nodes: Vec<Node> = Vec::new();
    for column in 0..parents.len() {
        let same = column > 0
            && parents[column - 1] as usize == column
            && counts[column - 1] == counts[column] + 1;
        match nodes.last_mut() {
            Some(node) if same => node.columns += 1,
            _ => nodes.push(Node {
                parent: NONE,
                columns: 1,
                front: counts[column] as usize,
                zeros: 0,
            }),
        }
        of.push(nodes.len() as u32 - 1);
    }
    for (column, &parent) in parents.iter().enumerate() {
        if parent != NONE {
            let (own, above) = (of[column], of[parent as usize]);
            if own != above {
                nodes[own as usize].parent = above;
            }
        }
    }
    (of, nodes)
}

/// Merges children into their parents; returns where each node is now.
fn merge(nodes: &mut [Node]) -> Vec<u32> {
    let mut into: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut first = vec![NONE; nodes.len()];
    let mut next = vec![NONE; nodes.len()];
    for parent in 0..nodes.len() {
        let mut child = first[parent];
        while child != NONE {
            let joint = nodes[parent].with(nodes[child as usize]);
            if joint.is_worth_it() {
                nodes[parent] = joint;
                into[child as usize] = parent as u32;
            }
            child = next[child as usize];
        }
        let above = nodes[parent].parent;
        if above != NONE {
            next[parent] = std::mem::replace(&mut first[above as usize], parent as u32);
        }
    }
    // From the top down, for parents may have been merged themselves.
    for node in (0..nodes.len()).rev() {
        into[node] = into[into[node] as usize];
        let parent = nodes[node].parent;
        if parent != NONE {
            nodes[node].parent = into[parent as usize];
        }
    }
    into
}

/// Lays groups out such that little has to be kept at a time (Liu 1986): what needs
/// most comes first.
fn arrange(nodes: &[Node], merged: &[u32], of: &[u32]) -> Vec<Group> {
    let live = |node: &usize| merged[*node] as usize == *node;
    let update = |node: usize| {
        let rest = nodes[node].front - nodes[node].columns;
        rest * (rest + 1) / 2
    };
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    let mut needed = vec![0_usize; nodes.len()];
    let mut roots = Vec::new();
    for node in (0..nodes.len()).filter(live) {
        let list = &mut children[node];
        list.sort_by_key(|&it| std::cmp::Reverse(needed[it as usize] - update(it as usize)));
        let mut kept = 0;
        let mut most = 0;
        for &child in list.iter() {
            most = most.max(kept + needed[child as usize]);
            kept += update(child as usize);
        }
        needed[node] = most.max(kept + update(node));
        match nodes[node].parent {
            NONE => roots.push(node as u32),
            parent => children[parent as usize].push(node as u32),
        }
    }
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (column, &node) in of.iter().enumerate() {
        columns[node as usize].push(column as u32);
    }
    let mut groups = Vec::new();
    let mut stack: Vec<(u32, usize)> = roots.iter().rev().map(|&it| (it, 0)).collect();
    let mut depth = 0;
    while let Some((node, done)) = stack.last_mut() {
        let at = *node as usize;
        if let Some(&child) = children[at].get(*done) {
            *done += 1;
            depth += 1;
            stack.push((child, 0));
        } else {
            stack.pop();
            groups.push(Group {
                columns: std::mem::take(&mut columns[at]),
                front: nodes[at].front,
                children: children[at].len(),
                depth,
            });
            depth = depth.saturating_sub(1);
        }
    }
    groups
}
