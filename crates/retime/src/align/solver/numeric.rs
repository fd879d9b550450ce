//! The factor of one matrix, supernode by supernode.

use super::front::{self, Front};
use super::symbolic::{Node, Symbolic, room};
use super::update;
use retime_model::{Cancelled, Monitor};

/// The entries of the factor; `None` if the matrix is not positive definite, or if memory
/// does not suffice.
pub(super) fn factorise(
    symbolic: &Symbolic,
    values: &[f64],
    monitor: &dyn Monitor,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let ([even, odd], entries) = (symbolic.stacks, symbolic.entries);
    let (Some(mut factor), Some(even), Some(odd)) = (room(entries), room(even), room(odd)) else {
        return Ok(None);
    };
    factor.resize(symbolic.entries, 0.0);
    for (&place, value) in symbolic.places.iter().zip(values) {
        factor[place] = *value;
    }
    let mut stacks = [even, odd];
    for node in &symbolic.nodes {
        monitor.check()?;
        if eliminate(symbolic, node, &mut factor, &mut stacks, monitor).is_none() {
            // Not positive definite; or a long front that was told to give up.
            monitor.check()?;
            return Ok(None);
        }
    }
    Ok(Some(factor))
}

/// Eliminates the columns of a node, and adds its update to the front of the parent. Its
/// own update begins with the first child, if there is any, and is on top of one of the
/// stacks; that of the parent is on top of the other.
fn eliminate(
    symbolic: &Symbolic,
    node: &Node,
    factor: &mut [f64],
    stacks: &mut [Vec<f64>; 2],
    monitor: &dyn Monitor,
) -> Option<()> {
    let [even, odd] = stacks;
    let (own, other) = match node.stack {
        0 => (even, odd),
        _ => (odd, even),
    };
    if node.is_leaf {
        own.resize(own.len() + update::len(node.below)?, 0.0);
    }
    let start = own.len() - update::len(node.below)?;
    let front = Front {
        entries: entries(factor, node)?,
        columns: node.columns,
        rows: node.columns + node.below,
        update: &mut own[start..],
    };
    front::factorise(front, monitor)?;
    if let Some(parent) = node.parent {
        let parent = &symbolic.nodes[parent as usize];
        let len = update::len(parent.below)?;
        if node.is_first {
            other.resize(other.len() + len, 0.0);
        }
        let start_of_parent = other.len() - len;
        update::add(
            &own[start..],
            symbolic.lifts(node),
            &mut Front {
                entries: entries(factor, parent)?,
                columns: parent.columns,
                rows: parent.columns + parent.below,
                update: &mut other[start_of_parent..],
            },
        );
    }
    own.truncate(start);
    Some(())
}

/// Those of one front.
fn entries<'a>(factor: &'a mut [f64], node: &Node) -> Option<&'a mut [f64]> {
    let len = front::len(node.columns, node.columns + node.below)?;
    factor[node.entries..].get_mut(..len)
}
