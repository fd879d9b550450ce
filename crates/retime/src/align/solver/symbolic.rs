//! Where every entry of the factor goes: what depends on the pattern alone.

use super::Pattern;
use super::elimination::{Elimination, Order};
use super::front;
use super::graph::{Graph, NONE};
use super::supernodes::{Supernode, supernodes};
use super::update;

/// A supernode, and where its front lies.
pub(super) struct Node {
    /// The first of its columns, and how many there are.
    pub(super) first: usize,
    pub(super) columns: usize,
    /// Where the list of its rows below these begins, and how many there are.
    pub(super) rows: usize,
    pub(super) below: usize,
    /// Where its entries begin.
    pub(super) entries: usize,
    /// How many of the nodes before it hand it their updates.
    pub(super) children: usize,
    /// On which of two stacks its update goes; those of its children are on the other.
    pub(super) stack: usize,
}

/// The plan of a factorisation.
pub(super) struct Symbolic {
    /// Descendants come right before each node.
    pub(super) nodes: Vec<Node>,
    /// The unknowns in the order of elimination.
    pub(super) unknowns: Vec<u32>,
    /// Rows below the columns of each node, ascending.
    rows: Vec<u32>,
    /// By entry of the pattern, where it belongs in the factor.
    pub(super) places: Vec<usize>,
    /// How many entries the factor has, and each stack at most.
    pub(super) entries: usize,
    pub(super) stacks: [usize; 2],
}

impl Symbolic {
    /// Of a pattern; `None` if the factor exceeds what memory could hold.
    pub(super) fn new(pattern: &Pattern) -> Option<Self> {
        let graph = Graph::new(pattern)?;
        let elimination = Elimination::best(&graph);
        let supernodes = supernodes(&elimination);
        let columns = supernodes.iter().flat_map(|it| it.columns.iter().copied());
        let order = elimination.order.of(columns);
        let mut below = supernodes.iter().map(|it| it.front - it.columns.len());
        let below = below.try_fold(0, usize::checked_add)?;
        let mut rows = Vec::new();
        rows.try_reserve_exact(below).ok()?;
        let mut planned = Self {
            nodes: Vec::with_capacity(supernodes.len()),
            unknowns: Vec::new(),
            rows,
            places: vec![0; pattern.len()],
            entries: 0,
            stacks: [0; 2],
        };
        let mut planner = Planner {
            graph: &graph,
            order: &order,
            local: vec![NONE; graph.size()],
            last: vec![NONE; graph.size()],
            open: Vec::new(),
        };
        for supernode in &supernodes {
            planner.add(&mut planned, supernode)?;
        }
        planned.size_stacks()?;
        planned.unknowns = order.unknowns;
        Some(planned)
    }

    /// The rows below the columns of a node.
    pub(super) fn rows(&self, node: &Node) -> &[u32] {
        &self.rows[node.rows..node.rows + node.below]
    }

    /// Follows the stacks through a factorisation.
    fn size_stacks(&mut self) -> Option<()> {
        let mut used = [0_usize; 2];
        let mut open = Vec::new();
        for node in &self.nodes {
            let len = update::len(node.below)?;
            used[node.stack] = used[node.stack].checked_add(len)?;
            self.stacks[node.stack] = self.stacks[node.stack].max(used[node.stack]);
            let children = open.drain(open.len() - node.children..);
            used[1 - node.stack] -= children.sum::<usize>();
            open.push(len);
        }
        Some(())
    }
}

/// Lays out nodes one after the other.
struct Planner<'a> {
    graph: &'a Graph<'a>,
    order: &'a Order,
    /// By row, its place in the front at hand; stale for rows that are not in it.
    local: Vec<u32>,
    /// By row, the last node it was listed for.
    last: Vec<u32>,
    /// Nodes whose parents are still to come.
    open: Vec<u32>,
}

impl Planner<'_> {
    fn add(&mut self, planned: &mut Symbolic, supernode: &Supernode) -> Option<()> {
        let columns = supernode.columns.len();
        let first = planned.nodes.last().map_or(0, |it| it.first + it.columns);
        let rows = planned.rows.len();
        self.list_rows(planned, first + columns, first, supernode.children);
        let below = planned.rows.len() - rows;
        let node = Node {
            first,
            columns,
            rows,
            below,
            entries: planned.entries,
            children: supernode.children,
            stack: supernode.depth % 2,
        };
        self.place(planned, &node);
        let len = front::len(columns, columns + below)?;
        planned.entries = planned.entries.checked_add(len)?;
        planned.nodes.push(node);
        Some(())
    }

    /// Rows in which the matrix or a child's update has entries.
    fn list_rows(&mut self, planned: &mut Symbolic, end: usize, first: usize, children: usize) {
        let name = planned.nodes.len() as u32;
        let start = planned.rows.len();
        let mut list = |row: u32, rows: &mut Vec<u32>| {
            let last = &mut self.last[row as usize];
            if row as usize >= end && *last != name {
                *last = name;
                rows.push(row);
            }
        };
        for &unknown in &self.order.unknowns[first..end] {
            for (other, _) in self.graph.of(unknown as usize) {
                list(self.order.places[other as usize], &mut planned.rows);
            }
        }
        for child in self.open.drain(self.open.len() - children..) {
            let Node { rows, below, .. } = planned.nodes[child as usize];
            for at in rows..rows + below {
                list(planned.rows[at], &mut planned.rows);
            }
        }
        self.open.push(name);
        planned.rows[start..].sort_unstable();
    }

    /// Where entries of the matrix in these columns belong.
    fn place(&mut self, planned: &mut Symbolic, node: &Node) {
        let columns = node.first as u32..(node.first + node.columns) as u32;
        let below = &planned.rows[node.rows..];
        for (local, row) in columns.clone().chain(below.iter().copied()).enumerate() {
            self.local[row as usize] = local as u32;
        }
        for (column, row) in columns.enumerate() {
            let place = |row: u32| {
                let local = self.local[row as usize] as usize;
                node.entries + front::place(node.columns, column, local)
            };
            let unknown = self.order.unknowns[row as usize] as usize;
            planned.places[self.graph.diagonal(unknown)] = place(row);
            for (other, position) in self.graph.of(unknown) {
                let other = self.order.places[other as usize];
                if other > row {
                    planned.places[position as usize] = place(other);
                }
            }
        }
    }
}
