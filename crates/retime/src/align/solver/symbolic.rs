//! What is the same for all matrices of a pattern.

use super::Pattern;
use super::front::{PANEL, panel_len};
use super::graph::Graph;
use super::ordering::minimum_degree;
use super::supernodes::{Group, groups};
use super::tree::{NONE, Order, counts, parents, postorder};

/// A front.
pub(super) struct Node {
    /// The first of its columns.
    pub(super) first: usize,
    pub(super) columns: usize,
    /// Where its rows below these begin.
    pub(super) rows: usize,
    pub(super) below: usize,
    /// Where its entries begin.
    pub(super) entries: usize,
    pub(super) children: usize,
    /// Which stack its update goes to.
    pub(super) side: usize,
}

/// Where everything goes.
pub(super) struct Symbolic {
    pub(super) nodes: Vec<Node>,
    /// The unknowns in their order.
    pub(super) order: Vec<u32>,
    pub(super) rows: Vec<u32>,
    /// By value of the pattern, its place among the entries of the factor.
    pub(super) places: Vec<usize>,
    pub(super) entries: usize,
    pub(super) stacks: [usize; 2],
}

impl Symbolic {
    pub(super) fn new(pattern: &Pattern) -> Option<Self> {
        let graph = Graph::new(pattern);
        let (order, groups) = grouped(&graph)?;
        let mut symbolic = Self {
            nodes: Vec::with_capacity(groups.len()),
            order: Vec::new(),
            rows: Vec::new(),
            places: vec![0; pattern.len()],
            entries: 0,
            stacks: [0; 2],
        };
        symbolic.lay_out(&graph, &order, &groups)?;
        symbolic.size_stacks();
        symbolic.order = order.nodes;
        Some(symbolic)
    }

    fn lay_out(&mut self, graph: &Graph<'_>, order: &Order, groups: &[Group]) -> Option<()> {
        let mut local = vec![NONE; graph.size()];
        let mut marked = vec![NONE; graph.size()];
        let mut pending: Vec<usize> = Vec::new();
        let mut first = 0;
        for (name, group) in groups.iter().enumerate() {
            let columns = group.columns.len();
            let (end, start) = (first + columns, self.rows.len());
            for column in first..end {
                for (other, _) in graph.of(order.nodes[column] as usize) {
                    let row = order.places[other as usize];
                    if row as usize >= end && marked[row as usize] != name as u32 {
                        marked[row as usize] = name as u32;
                        self.rows.push(row);
                    }
                }
            }
            for child in pending.drain(pending.len() - group.children..) {
                let child: &Node = &self.nodes[child];
                for at in child.rows..child.rows + child.below {
                    let row = self.rows[at];
                    if row as usize >= end && marked[row as usize] != name as u32 {
                        marked[row as usize] = name as u32;
                        self.rows.push(row);
                    }
                }
            }
            pending.push(name);
            self.rows[start..].sort_unstable();
            let below = self.rows.len() - start;
            debug_assert_eq!(below + columns, group.front);
            for column in first..end {
                local[column] = (column - first) as u32;
            }
            for (at, &row) in self.rows[start..].iter().enumerate() {
                local[row as usize] = (columns + at) as u32;
            }
            for column in first..end {
                let node = order.nodes[column] as usize;
                let base = self.entries + (column - first) * PANEL;
                let place = |row: u32| {
                    let at = local[row as usize] as usize;
                    base + at / PANEL * PANEL * columns + at % PANEL
                };
                self.places[graph.diagonal(node)] = place(column as u32);
                for (other, position) in graph.of(node) {
                    let row = order.places[other as usize];
                    if row as usize > column {
                        self.places[position as usize] = place(row);
                    }
                }
            }
            self.nodes.push(Node {
                first,
                columns,
                rows: start,
                below,
                entries: self.entries,
                children: group.children,
                side: group.depth % 2,
            });
            self.entries = self
                .entries
                .checked_add(panel_len(columns, columns + below)?)?;
            first = end;
        }
        Some(())
    }

    fn size_stacks(&mut self) {
        let mut used = [0_usize; 2];
        let mut pending: Vec<usize> = Vec::new();
        for node in &self.nodes {
            let size = node.below * (node.below + 1) / 2;
            let side = node.side;
            used[side] += size;
            self.stacks[side] = self.stacks[side].max(used[side]);
            let children: usize = pending.drain(pending.len() - node.children..).sum();
            used[1 - side] -= children;
            pending.push(size);
        }
    }
}

/// The order in which to eliminate, and the groups of columns.
fn grouped(graph: &Graph<'_>) -> Option<(Order, Vec<Group>)> {
    let order = Order::new(minimum_degree(graph)?);
    let tree = parents(graph, &order);
    let post = Order::new(postorder(&tree));
    let order = Order::new(
        post.nodes
            .iter()
            .map(|&it| order.nodes[it as usize])
            .collect(),
    );
    let up = |&it: &u32| match tree[it as usize] {
        NONE => NONE,
        parent => post.places[parent as usize],
    };
    let tree: Vec<u32> = post.nodes.iter().map(up).collect();
    let groups = groups(&tree, &counts(graph, &order, &tree));
    let columns = groups.iter().flat_map(|it| &it.columns);
    let order = Order::new(columns.map(|&it| order.nodes[it as usize]).collect());
    Some((order, groups))
}
