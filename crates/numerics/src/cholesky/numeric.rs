//! The factor of one matrix, supernode by supernode; branches of the tree by several threads.

use std::mem::take;

use rayon::prelude::*;

use super::branches::Branch;
use super::front::{self, Front};
use super::node::Node;
use super::symbolic::{Symbolic, room};
use super::update;
use retime_model::{Cancelled, Monitor};

/// Makes `factor` the entries of the factor; `None` if the matrix is not positive definite, or
/// if memory does not suffice. What was there before gives its room.
pub(super) fn factorise(
    symbolic: &Symbolic,
    values: &[f64],
    factor: &mut Vec<f64>,
    monitor: &dyn Monitor,
) -> Result<Option<()>, Cancelled> {
    factor.clear();
    if factor.try_reserve_exact(symbolic.entries).is_err() {
        return Ok(None);
    }
    factor.resize(symbolic.entries, 0.0);
    for (&place, value) in symbolic.places.iter().zip(values) {
        factor[place] = *value;
    }
    let done = fill(symbolic, factor, monitor);
    if done.is_none() {
        // It was not positive definite; or was told to give up.
        monitor.check()?;
    }
    Ok(done)
}

/// Makes the factor of the entries of the matrix.
fn fill(symbolic: &Symbolic, factor: &mut [f64], monitor: &dyn Monitor) -> Option<()> {
    let mut branches = in_branches(symbolic, factor, monitor)?.into_iter();
    let mut trunk = NumericElimination::new(symbolic, factor, 0, symbolic.stacks)?;
    let mut next = branches.next();
    for (at, node) in symbolic.nodes.iter().enumerate() {
        match next.take_if(|(branch, _)| branch.nodes.end == at + 1) {
            Some((_, update)) => {
                trunk.stacks[node.stack].extend_from_slice(&update);
                next = branches.next();
            }
            None if is_in(next.as_ref(), at) => continue,
            None => trunk.eliminate(node, monitor)?,
        }
        trunk.hand_up(node)?;
    }
    Some(())
}

/// A branch that was eliminated, and what its root hands up.
type Eliminated<'a> = (&'a Branch, Vec<f64>);

fn is_in(branch: Option<&Eliminated<'_>>, node: usize) -> bool {
    branch.is_some_and(|(branch, _)| branch.nodes.contains(&node))
}

/// Eliminates the branches, several at a time.
fn in_branches<'a>(
    symbolic: &'a Symbolic,
    factor: &mut [f64],
    monitor: &dyn Monitor,
) -> Option<Vec<Eliminated<'a>>> {
    let (mut rest, mut before) = (factor, 0);
    let mut parts = Vec::with_capacity(symbolic.branches.len());
    for branch in &symbolic.branches {
        let entries = branch.entries.clone();
        let (_, own) = take(&mut rest).split_at_mut(entries.start - before);
        let (own, others) = own.split_at_mut(entries.len());
        parts.push((branch, own));
        (rest, before) = (others, entries.end);
    }
    let eliminated = parts.into_par_iter().map(|(branch, entries)| {
        let first = branch.entries.start;
        let mut own = NumericElimination::new(symbolic, entries, first, branch.stacks)?;
        let (root, others) = symbolic.nodes[branch.nodes.clone()].split_last()?;
        for node in others {
            own.eliminate(node, monitor)?;
            own.hand_up(node)?;
        }
        own.eliminate(root, monitor)?;
        Some((branch, take(&mut own.stacks[root.stack])))
    });
    // All of them, so that it does not depend on threads what is cancelled.
    let eliminated: Vec<Option<_>> = eliminated.collect();
    eliminated.into_iter().collect()
}

/// The elimination of nodes that follow each other.
struct NumericElimination<'a> {
    symbolic: &'a Symbolic,
    /// Entries of the factor, from this one on.
    factor: &'a mut [f64],
    first: usize,
    /// Updates that are not handed up yet. That of a node begins with its first child, if
    /// there is any, and is on top of one of the stacks; that of the parent is on top of the
    /// other.
    stacks: [Vec<f64>; 2],
}

impl<'a> NumericElimination<'a> {
    /// With room on the stacks; `None` if memory does not suffice.
    fn new(
        symbolic: &'a Symbolic,
        factor: &'a mut [f64],
        first: usize,
        [even, odd]: [usize; 2],
    ) -> Option<Self> {
        Some(Self {
            symbolic,
            factor,
            first,
            stacks: [room(even)?, room(odd)?],
        })
    }

    /// Eliminates the columns of a node.
    fn eliminate(&mut self, node: &Node, monitor: &dyn Monitor) -> Option<()> {
        if monitor.cancelled() {
            return None;
        }
        let own = &mut self.stacks[node.stack];
        let len = update::len(node.below)?;
        if node.is_leaf {
            own.resize(own.len() + len, 0.0);
        }
        let start = own.len() - len;
        let front = Front {
            entries: entries(self.factor, self.first, node)?,
            columns: node.columns,
            rows: node.columns + node.below,
            update: &mut own[start..],
        };
        front::factorise(front, monitor)
    }

    /// Adds the update of a node to the front of the parent.
    fn hand_up(&mut self, node: &Node) -> Option<()> {
        let [even, odd] = &mut self.stacks;
        let (own, other) = match node.stack {
            0 => (even, odd),
            _ => (odd, even),
        };
        let start = own.len() - update::len(node.below)?;
        if let Some(parent) = node.parent {
            let parent = &self.symbolic.nodes[parent as usize];
            let len = update::len(parent.below)?;
            if node.is_first {
                other.resize(other.len() + len, 0.0);
            }
            let start_of_parent = other.len() - len;
            update::add(
                &own[start..],
                self.symbolic.lifts(node),
                &mut Front {
                    entries: entries(self.factor, self.first, parent)?,
                    columns: parent.columns,
                    rows: parent.columns + parent.below,
                    update: &mut other[start_of_parent..],
                },
            );
        }
        own.truncate(start);
        Some(())
    }
}

/// The entries of one front, where all from its first on are given.
fn entries<'a>(factor: &'a mut [f64], first: usize, node: &Node) -> Option<&'a mut [f64]> {
    let len = front::len(node.columns, node.columns + node.below)?;
    factor.get_mut(node.entries - first..)?.get_mut(..len)
}
