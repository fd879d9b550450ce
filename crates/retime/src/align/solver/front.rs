//! Dense kernels.

/// So many rows lie together.
pub(super) const PANEL: usize = 8;
/// So many columns are computed at a time,
const WIDE: usize = 4;
/// and so many before what follows is updated.
const BLOCK: usize = 128;

type Lanes = [f64; PANEL];

/// The room for these columns of a front.
pub(super) fn panel_len(columns: usize, rows: usize) -> Option<usize> {
    rows.checked_next_multiple_of(PANEL)?.checked_mul(columns)
}

pub(super) fn update_start(column: usize, below: usize) -> usize {
    column * (2 * below + 1 - column) / 2
}

/// Factorises the columns and subtracts from the update.
pub(super) fn factorise(
    entries: &mut [f64],
    columns: usize,
    rows: usize,
    update: &mut [f64],
) -> Option<()> {
    let stride = columns * PANEL;
    let mut start = 0;
    while start < columns {
        let end = columns.min(start + BLOCK);
        factorise_block(entries, stride, start, end)?;
        update_rest(entries, stride, start, end, rows, update);
        start = end;
    }
    Some(())
}

#[inline(always)]
fn lanes(of: &[f64]) -> &[Lanes] {
    of.as_chunks().0
}

#[inline(always)]
fn lanes_mut(of: &mut [f64]) -> &mut [Lanes] {
    of.as_chunks_mut().0
}

#[inline(always)]
fn product<const HALF: usize>(left: &[Lanes], right: &[Lanes]) -> [Lanes; WIDE] {
    let mut sums = [[0.0; PANEL]; WIDE];
    for (left, right) in left.iter().zip(right) {
        for column in 0..WIDE {
            let factor = right[HALF * WIDE + column];
            for lane in 0..PANEL {
                sums[column][lane] += left[lane] * factor;
            }
        }
    }
    sums
}

fn tile(left: &[Lanes], right: &[Lanes], half: usize) -> [Lanes; WIDE] {
    if half == 0 {
        product::<0>(left, right)
    } else {
        product::<1>(left, right)
    }
}

fn factorise_block(entries: &mut [f64], stride: usize, start: usize, end: usize) -> Option<()> {
    let mut at = start;
    while at < end {
        let wide = WIDE.min(end - at);
        let diagonal = at / PANEL;
        let half = at % PANEL / WIDE;
        let (head, tail) = entries[diagonal * stride..].split_at_mut(stride);
        // The diagonal panel.
        let (known, own) = lanes_mut(head).split_at_mut(at);
        let sums = tile(&known[start..], &known[start..], half);
        let mut values = [[0.0; PANEL]; WIDE];
        for column in 0..wide {
            for lane in 0..PANEL {
                values[column][lane] = own[column][lane] - sums[column][lane];
            }
        }
        let offset = at % PANEL;
        let mut triangle = [[0.0; WIDE]; WIDE];
        let mut inverse = [0.0; WIDE];
        for column in 0..wide {
            let pivot = values[column][offset + column];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            let root = pivot.sqrt();
            inverse[column] = 1.0 / root;
            for lane in 0..PANEL {
                values[column][lane] *= inverse[column];
            }
            values[column][offset + column] = root;
            for next in column + 1..wide {
                let factor = values[column][offset + next];
                triangle[column][next] = factor;
                for lane in 0..PANEL {
                    values[next][lane] -= factor * values[column][lane];
                }
            }
        }
        for column in 0..wide {
            for lane in 0..offset + column {
                values[column][lane] = 0.0;
            }
            own[column] = values[column];
        }
        let known = &known[start..];
        for panel in tail.chunks_exact_mut(stride) {
            let (before, own) = lanes_mut(panel).split_at_mut(at);
            let sums = tile(&before[start..], known, half);
            let mut values = [[0.0; PANEL]; WIDE];
            for column in 0..wide {
                for lane in 0..PANEL {
                    values[column][lane] = own[column][lane] - sums[column][lane];
                }
            }
            for column in 0..wide {
                for lane in 0..PANEL {
                    values[column][lane] *= inverse[column];
                }
                for next in column + 1..wide {
                    for lane in 0..PANEL {
                        values[next][lane] -= triangle[column][next] * values[column][lane];
                    }
                }
            }
            own[..wide].copy_from_slice(&values[..wide]);
        }
        at += wide;
    }
    Some(())
}

fn update_rest(
    entries: &mut [f64],
    stride: usize,
    start: usize,
    end: usize,
    rows: usize,
    update: &mut [f64],
) {
    let columns = stride / PANEL;
    let below = rows - columns;
    for row in (end / PANEL..rows.div_ceil(PANEL)).map(|it| it * PANEL) {
        let (before, from) = entries.split_at_mut(row / PANEL * stride);
        let own = lanes_mut(&mut from[..stride]);
        for column in (end / WIDE * WIDE..rows.min(row + PANEL)).step_by(WIDE) {
            let half = column % PANEL / WIDE;
            let sums = if column >= row {
                tile(&own[start..end], &own[start..end], half)
            } else {
                let other = &before[column / PANEL * stride..][..stride];
                tile(&own[start..end], &lanes(other)[start..end], half)
            };
            for (column, sums) in (column..rows).zip(sums) {
                if column < end {
                    continue;
                }
                if column < columns {
                    for (value, sum) in own[column].iter_mut().zip(sums) {
                        *value -= sum;
                    }
                    continue;
                }
                let base = update_start(column - columns, below);
                let from = row.max(column);
                let until = rows.min(row + PANEL);
                if from >= until {
                    continue;
                }
                let target = &mut update[base + from - column..base + until - column];
                if target.len() == PANEL {
                    for (value, sum) in target.iter_mut().zip(sums) {
                        *value -= sum;
                    }
                } else {
                    for (value, sum) in target.iter_mut().zip(&sums[from - row..]) {
                        *value -= sum;
                    }
                }
            }
        }
    }
}
