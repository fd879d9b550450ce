//! The solution of `L L' x = b`: forwards for `L y = b`, backwards for `L' x = y`.

use super::front::{self, LANES};
use super::node::Node;
use super::symbolic::Symbolic;

/// The solution for a right side.
pub(super) fn substitute(symbolic: &Symbolic, factor: &[f64], right: &[f64]) -> Vec<f64> {
    let sorted = symbolic.unknowns.iter().map(|&it| right[it as usize]);
    let mut x: Vec<f64> = sorted.collect();
    for node in &symbolic.nodes {
        forwards(node, symbolic.rows(node), &factor[node.entries..], &mut x);
    }
    let mut sums = Vec::new();
    for node in symbolic.nodes.iter().rev() {
        let rows = symbolic.rows(node);
        backwards(node, rows, &factor[node.entries..], &mut x, &mut sums);
    }
    let mut solution = vec![0.0; x.len()];
    for (&unknown, x) in symbolic.unknowns.iter().zip(x) {
        solution[unknown as usize] = x;
    }
    solution
}

/// Solves for the columns of a node and subtracts them from the rows below.
fn forwards(node: &Node, rows: &[u32], entries: &[f64], x: &mut [f64]) {
    let end = node.columns + rows.len();
    let panels = front::panels(entries, node.columns, end);
    for (panel, top) in panels.zip((0..end).step_by(LANES)) {
        let bottom = end.min(top + LANES);
        let own = &mut x[node.first..][..node.columns];
        let known = own.len().min(top);
        let mut sums = [0.0; LANES];
        for (column, x) in panel.iter().zip(&own[..known]) {
            add(&mut sums, column, *x);
        }
        for at in known..own.len().min(bottom) {
            own[at] = (own[at] - sums[at - top]) * panel[at][at - top];
            add(&mut sums, &panel[at], own[at]);
        }
        for row in node.columns.max(top)..bottom {
            x[rows[row - node.columns] as usize] -= sums[row - top];
        }
    }
}

/// Solves for the columns of a node, given the rows below.
fn backwards(
    node: &Node,
    rows: &[u32],
    entries: &[f64],
    x: &mut [f64],
    sums: &mut Vec<[f64; LANES]>,
) {
    let end = node.columns + rows.len();
    // By column what the rows contribute, by lane.
    sums.clear();
    sums.resize(node.columns, [0.0; LANES]);
    let panels = front::panels(entries, node.columns, end);
    for (panel, top) in panels.zip((0..end).step_by(LANES)).rev() {
        let bottom = end.min(top + LANES);
        let mut values = [0.0; LANES];
        for row in node.columns.max(top)..bottom {
            values[row - top] = x[rows[row - node.columns] as usize];
        }
        let own = &mut x[node.first..][..node.columns];
        let known = own.len().min(top);
        for at in (known..own.len().min(bottom)).rev() {
            let products = panel[at].iter().zip(values).map(|(a, b)| a * b);
            let sum = sums[at].iter().sum::<f64>() + products.sum::<f64>();
            own[at] = (own[at] - sum) * panel[at][at - top];
            values[at - top] = own[at];
        }
        for (sums, column) in sums.iter_mut().zip(&panel[..known]) {
            for ((sum, a), b) in sums.iter_mut().zip(column).zip(values) {
                *sum += a * b;
            }
        }
    }
}

fn add(sums: &mut [f64; LANES], column: &[f64; LANES], factor: f64) {
    for (sum, value) in sums.iter_mut().zip(column) {
        *sum += value * factor;
    }
}
