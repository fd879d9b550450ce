//! Where every entry of the factor goes: what depends on the pattern alone.

use std::ops::Range;

use super::branches::{Branch, branches, most_on_stacks};
use super::elimination::{Elimination, Order};
use super::front;
use super::graph::{Graph, NONE};
use super::node::Node;
use super::pattern::Pattern;
use super::supernodes::{Supernode, supernodes};
use retime_model::{Cancelled, Monitor};

/// The plan of a factorisation.
pub(super) struct Symbolic {
    /// Descendants come right before each node.
    pub(super) nodes: Vec<Node>,
    /// The unknowns in the order of elimination.
    pub(super) unknowns: Vec<u32>,
    /// Rows below the columns of each node, ascending; where they are in the parent's front.
    rows: Vec<u32>,
    lifts: Vec<u32>,
    /// The place in the factor of each entry of the pattern.
    pub(super) places: Vec<usize>,
    /// How many products a factor takes, about.
    pub(super) work: u128,
    /// How many entries the factor has, and each stack at most.
    pub(super) entries: usize,
    pub(super) stacks: [usize; 2],
    /// Branches that can be eliminated at the same time, in the order of nodes.
    pub(super) branches: Vec<Branch>,
}

impl Symbolic {
    /// Plans the factorisation of a pattern; `None` if the factor exceeds what memory could hold.
    /// Fails only if `monitor` says to give up.
    pub(super) fn new(pattern: &Pattern, monitor: &dyn Monitor) -> Result<Option<Self>, Cancelled> {
        let Some(graph) = Graph::new(pattern) else {
            return Ok(None);
        };
        let elimination = Elimination::best(&graph, monitor)?;
        monitor.check()?;
        Ok(Self::of(&graph, &elimination))
    }

    fn of(graph: &Graph<'_>, elimination: &Elimination) -> Option<Self> {
        let supernodes = supernodes(elimination);
        let columns = supernodes.iter().flat_map(|it| it.columns.iter().copied());
        let order = elimination.order.of(columns);
        let mut below = supernodes.iter().map(|it| it.front - it.columns.len());
        let below = below.try_fold(0, usize::checked_add)?;
        let mut planned = Self {
            nodes: Vec::with_capacity(supernodes.len()),
            unknowns: Vec::new(),
            rows: room(below)?,
            lifts: room(below)?,
            places: vec![0; graph.entries()],
            work: elimination.work(),
            entries: 0,
            stacks: [0; 2],
            branches: Vec::new(),
        };
        planned.lifts.resize(below, NONE);
        let mut planner = Planner {
            graph,
            order: &order,
            local: vec![NONE; graph.size()],
            last: vec![NONE; graph.size()],
            open: Vec::new(),
        };
        for supernode in &supernodes {
            planner.add(&mut planned, supernode)?;
        }
        planned.assign_stacks();
        planned.stacks = most_on_stacks(&planned.nodes, 0..planned.nodes.len())?;
        planned.branches = branches(&planned.nodes, planned.entries)?;
        planned.unknowns = order.unknowns;
        Some(planned)
    }

    /// The rows below the columns of a node.
    pub(super) fn rows(&self, node: &Node) -> &[u32] {
        &self.rows[node.rows..node.rows + node.below]
    }

    /// Where these are in the front of the parent.
    pub(super) fn lifts(&self, node: &Node) -> &[u32] {
        &self.lifts[node.rows..node.rows + node.below]
    }

    /// Assigns stacks from the roots on.
    fn assign_stacks(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[at].parent {
                self.nodes[at].stack = 1 - self.nodes[parent as usize].stack;
            }
        }
    }
}

/// Lays out nodes one after the other.
struct Planner<'a> {
    graph: &'a Graph<'a>,
    order: &'a Order,
    /// The place of each row in the front at hand; stale for rows that are not in it.
    local: Vec<u32>,
    /// The last node that each row was listed for.
    last: Vec<u32>,
    /// Nodes whose parents are still to come.
    open: Vec<u32>,
}

impl Planner<'_> {
    fn add(&mut self, planned: &mut Symbolic, supernode: &Supernode) -> Option<()> {
        let name = planned.nodes.len() as u32;
        let is_child = |&&it: &&u32| planned.nodes[it as usize].parent == Some(name);
        let children = self.open.iter().rev().take_while(is_child).count();
        let children = self.open.split_off(self.open.len() - children);
        let columns = supernode.columns.len();
        let first = planned.nodes.last().map_or(0, |it| it.first + it.columns);
        let rows = planned.rows.len();
        self.list_rows(planned, first..first + columns, &children);
        let node = Node {
            first,
            columns,
            rows,
            below: planned.rows.len() - rows,
            entries: planned.entries,
            parent: supernode.parent,
            is_first: false,
            is_leaf: children.is_empty(),
            stack: 0,
        };
        self.place(planned, &node);
        if let Some(&child) = children.first() {
            planned.nodes[child as usize].is_first = true;
        }
        for child in children {
            let Node { rows, below, .. } = planned.nodes[child as usize];
            for at in rows..rows + below {
                planned.lifts[at] = self.local[planned.rows[at] as usize];
            }
        }
        let len = front::len(columns, columns + node.below)?;
        planned.entries = planned.entries.checked_add(len)?;
        planned.nodes.push(node);
        self.open.push(name);
        Some(())
    }

    /// Rows below these columns in which the matrix or a child's update has entries.
    fn list_rows(&mut self, planned: &mut Symbolic, columns: Range<usize>, children: &[u32]) {
        let (name, start) = (planned.nodes.len() as u32, planned.rows.len());
        let end = columns.end;
        let mut list = |row: u32, rows: &mut Vec<u32>| {
            let last = &mut self.last[row as usize];
            if row as usize >= end && *last != name {
                *last = name;
                rows.push(row);
            }
        };
        for &unknown in &self.order.unknowns[columns] {
            for (other, _) in self.graph.of(unknown as usize) {
                list(self.order.places[other as usize], &mut planned.rows);
            }
        }
        for &child in children {
            let Node { rows, below, .. } = planned.nodes[child as usize];
            for at in rows..rows + below {
                list(planned.rows[at], &mut planned.rows);
            }
        }
        planned.rows[start..].sort_unstable();
    }

    /// Where the rows of a node are in its front, and where entries of the matrix in its
    /// columns belong.
    fn place(&mut self, planned: &mut Symbolic, node: &Node) {
        let columns = node.first as u32..(node.first + node.columns) as u32;
        let below = planned.rows[node.rows..].iter().copied();
        for (local, row) in columns.clone().chain(below).enumerate() {
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

/// An empty list with room for so many; `None` if memory does not suffice.
pub(super) fn room<T>(len: usize) -> Option<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).ok()?;
    Some(list)
}
