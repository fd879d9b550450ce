//! The factor of one matrix, supernode by supernode.

use super::front::{self, Front};
use super::symbolic::{Node, Symbolic};
use super::update::{self, Destination};

/// The entries of the factor; `None` if the matrix is not positive definite, or if memory
/// does not suffice.
pub(super) fn factorise(symbolic: &Symbolic, values: &[f64]) -> Option<Vec<f64>> {
    let mut factor = zeros(symbolic.entries)?;
    for (&place, value) in symbolic.places.iter().zip(values) {
        factor[place] = *value;
    }
    let mut stacks = Stacks {
        updates: [room(symbolic.stacks[0])?, room(symbolic.stacks[1])?],
        local: vec![0; symbolic.unknowns.len()],
        destination: Destination::default(),
        open: Vec::new(),
    };
    for node in &symbolic.nodes {
        stacks.eliminate(symbolic, node, &mut factor)?;
    }
    Some(factor)
}

/// Updates that were not yet added to a front. A node's update is on one stack, those of
/// its children are on top of the other.
struct Stacks<'a> {
    updates: [Vec<f64>; 2],
    /// By row, its place in the front at hand.
    local: Vec<u32>,
    destination: Destination,
    open: Vec<&'a Node>,
}

impl<'a> Stacks<'a> {
    fn eliminate(
        &mut self,
        symbolic: &'a Symbolic,
        node: &'a Node,
        factor: &mut [f64],
    ) -> Option<()> {
        let (columns, rows) = (node.columns, node.columns + node.below);
        let len = front::len(columns, rows)?;
        let entries = &mut factor[node.entries..][..len];
        let [even, odd] = &mut self.updates;
        let (own, others) = match node.stack {
            0 => (even, odd),
            _ => (odd, even),
        };
        let start = own.len();
        own.resize(start + update::len(node.below)?, 0.0);
        let update = &mut own[start..];
        for (local, row) in (0..).zip(&mut self.local[node.first..][..columns]) {
            *row = local;
        }
        for (local, &row) in (columns as u32..).zip(symbolic.rows(node)) {
            self.local[row as usize] = local;
        }
        for child in self.open.drain(self.open.len() - node.children..).rev() {
            let rows = symbolic.rows(child).iter();
            let local = rows.map(|&row| self.local[row as usize] as usize);
            self.destination.set(local);
            let start = others.len() - update::len(child.below)?;
            self.destination
                .add(&others[start..], entries, columns, update, node.below);
            others.truncate(start);
        }
        self.open.push(node);
        front::factorise(Front {
            entries,
            columns,
            rows,
            update,
        })
    }
}

fn zeros(len: usize) -> Option<Vec<f64>> {
    let mut zeros = room(len)?;
    zeros.resize(len, 0.0);
    Some(zeros)
}

/// An empty list with room for so many numbers.
fn room(len: usize) -> Option<Vec<f64>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).ok()?;
    Some(list)
}
