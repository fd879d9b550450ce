//! Factors and solutions.

use super::front::{PANEL, factorise, update_start};
use super::symbolic::{Node, Symbolic};

/// The factor.
pub(super) struct Numeric<'a> {
    symbolic: &'a Symbolic,
    entries: Vec<f64>,
}

fn zeros(len: usize) -> Option<Vec<f64>> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).ok()?;
    all.resize(len, 0.0);
    Some(all)
}

impl<'a> Numeric<'a> {
    pub(super) fn new(symbolic: &'a Symbolic, values: &[f64]) -> Option<Self> {
        let mut entries = zeros(symbolic.entries)?;
        for (value, &place) in values.iter().zip(&symbolic.places) {
            entries[place] = *value;
        }
        let mut stacks = [Vec::new(), Vec::new()];
        for (stack, &size) in stacks.iter_mut().zip(&symbolic.stacks) {
            stack.try_reserve_exact(size).ok()?;
        }
        let mut local = vec![0_u32; symbolic.order.len()];
        let mut pending: Vec<&Node> = Vec::new();
        let mut relative = Vec::new();
        for node in &symbolic.nodes {
            let [even, odd] = &mut stacks;
            let (own, others) = if node.side == 0 {
                (even, odd)
            } else {
                (odd, even)
            };
            let (columns, below) = (node.columns, node.below);
            let rows = columns + below;
            let start = own.len();
            own.resize(start + update_start(below, below), 0.0);
            let panel = &mut entries[node.entries..][..rows.next_multiple_of(PANEL) * columns];
            for (at, place) in local[node.first..][..columns].iter_mut().enumerate() {
                *place = at as u32;
            }
            for (at, &row) in symbolic.rows[node.rows..][..below].iter().enumerate() {
                local[row as usize] = (columns + at) as u32;
            }
            for child in pending.drain(pending.len() - node.children..).rev() {
                let list = &symbolic.rows[child.rows..][..child.below];
                relative.clear();
                relative.extend(list.iter().map(|&row| local[row as usize] as usize));
                let from = others.len() - update_start(child.below, child.below);
                add(
                    &others[from..],
                    &relative,
                    panel,
                    columns,
                    &mut own[start..],
                    below,
                );
                others.truncate(from);
            }
            factorise(panel, columns, rows, &mut own[start..])?;
            pending.push(node);
        }
        Some(Self { symbolic, entries })
    }

    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let symbolic = self.symbolic;
        let mut x: Vec<f64> = symbolic
            .order
            .iter()
            .map(|&it| right[it as usize])
            .collect();
        let mut local = Vec::new();
        for node in &symbolic.nodes {
            let list = &symbolic.rows[node.rows..][..node.below];
            self.forward(node, list, &mut x, &mut local);
        }
        for node in symbolic.nodes.iter().rev() {
            let list = &symbolic.rows[node.rows..][..node.below];
            self.backward(node, list, &mut x, &mut local);
        }
        let mut solution = vec![0.0; x.len()];
        for (&node, x) in symbolic.order.iter().zip(x) {
            solution[node as usize] = x;
        }
        solution
    }

    fn forward(&self, node: &Node, list: &[u32], x: &mut [f64], _local: &mut Vec<f64>) {
        let stride = node.columns * PANEL;
        let panels = self.entries[node.entries..].chunks_exact(stride);
        let rows = node.columns + node.below;
        for (panel, top) in panels.zip((0..rows).step_by(PANEL)) {
            let columns = panel.as_chunks::<PANEL>().0;
            let known = node.columns.min(top);
            let mut sums = [0.0; PANEL];
            let own = &mut x[node.first..];
            for (column, x) in columns[..known].iter().zip(&own[..]) {
                for lane in 0..PANEL {
                    sums[lane] += column[lane] * x;
                }
            }
            for at in known..node.columns.min(top + PANEL) {
                let column = &columns[at];
                own[at] = (own[at] - sums[at - top]) / column[at - top];
                for lane in 0..PANEL {
                    sums[lane] += column[lane] * own[at];
                }
            }
            for row in node.columns.max(top)..rows.min(top + PANEL) {
                x[list[row - node.columns] as usize] -= sums[row - top];
            }
        }
    }

    fn backward(&self, node: &Node, list: &[u32], x: &mut [f64], sums: &mut Vec<f64>) {
        let stride = node.columns * PANEL;
        let rows = node.columns + node.below;
        sums.clear();
        sums.resize(stride, 0.0);
        let panels = &self.entries[node.entries..][..rows.div_ceil(PANEL) * stride];
        let panels = panels.chunks_exact(stride);
        for (panel, top) in panels.zip((0..rows).step_by(PANEL)).rev() {
            let columns = panel.as_chunks::<PANEL>().0;
            let mut values = [0.0; PANEL];
            for row in node.columns.max(top)..rows.min(top + PANEL) {
                values[row - top] = x[list[row - node.columns] as usize];
            }
            let own = &mut x[node.first..];
            let sums = sums.as_chunks_mut::<PANEL>().0;
            for at in (top..node.columns.min(top + PANEL)).rev() {
                let column = &columns[at];
                let mut dot = sums[at].iter().sum::<f64>();
                for lane in 0..PANEL {
                    dot += column[lane] * values[lane];
                }
                own[at] = (own[at] - dot) / column[at - top];
                values[at - top] = own[at];
            }
            for (column, sums) in columns[..node.columns.min(top)].iter().zip(sums) {
                for lane in 0..PANEL {
                    sums[lane] += column[lane] * values[lane];
                }
            }
        }
    }
}

/// Adds a child's update to a front.
fn add(
    child: &[f64],
    relative: &[usize],
    panel: &mut [f64],
    columns: usize,
    update: &mut [f64],
    below: usize,
) {
    // Runs of rows that follow each other.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, &row) in relative.iter().enumerate() {
        if at == 0 || relative[at - 1] + 1 != row {
            runs.push((at, 0));
        }
        if let Some(run) = runs.last_mut() {
            run.1 = at + 1;
        }
    }
    let mut run = 0;
    let mut start = 0;
    for (at, &column) in relative.iter().enumerate() {
        let len = relative.len() - at;
        let values = &child[start..start + len];
        start += len;
        if column < columns {
            for (value, row) in values.iter().zip(&relative[at..]) {
                panel[row / PANEL * PANEL * columns + column * PANEL + row % PANEL] += value;
            }
            continue;
        }
        while at >= runs[run].1 {
            run += 1;
        }
        let base = update_start(column - columns, below);
        let target = &mut update[base..base + below - (column - columns)];
        for &(from, until) in &runs[run..] {
            let from = from.max(at);
            let row = relative[from] - column;
            let target = &mut target[row..row + until - from];
            for (target, value) in target.iter_mut().zip(&values[from - at..]) {
                *target += value;
            }
        }
    }
}
