//! Shifts of sequences told by how nearly their calls end together.
//!
//! Kernels of an operation in which nobody ends before all have begun end within microseconds of each
//! other (1 to 22 on V100 and H100, milliseconds in slow networks). By the right shift the differences of
//! ends are those of the clocks, a straight line, but for that spread; by a wrong one they differ as
//! iterations do:
//!
//! ```text
//! d_k       = end of b's call k - end of a's call k + shift
//! spread    = median of | d_k - line |              the line through the medians of the first and last third
//! ```
//!
//! That is no proof. So it only decides between shifts that are possible by proof, if one of them has a
//! [tenth](STANDS_OUT) of the spread of any other, and lays more than half of the calls of one rank on
//! those of the other.

use super::item::Item;

/// How many times as large the spread of any other shift has to be.
const STANDS_OUT: i64 = 10;

/// Spreads below which all are alike, in nanoseconds: the ends of kernels have as much.
const ALIKE: i64 = 1000;

/// Calls in pairs that a spread takes at least: among fewer chance makes a small one.
const LEAST_PAIRS: usize = 16;

/// The one of several shifts by which calls end together, if any stands out.
pub(super) fn told(pivot: &[Item], other: &[Item], shifts: &[i64]) -> Option<i64> {
    let is_whole = |shift: &&i64| is_most(pivot.len(), other.len(), **shift);
    let spread = |&shift: &i64| Some((spread(pivot, other, shift)?.max(ALIKE), shift));
    let mut spreads: Vec<(i64, i64)> = shifts.iter().filter(is_whole).filter_map(spread).collect();
    spreads.sort_unstable();
    match spreads[..] {
        [(least, shift), (next, _), ..] if next >= least.saturating_mul(STANDS_OUT) => Some(shift),
        _ => None,
    }
}

/// True if more than half of the shorter of two sequences lies on the other.
pub(super) fn is_most(pivot: usize, other: usize, shift: i64) -> bool {
    let (pivot, other) = (pivot as i64, other as i64);
    let common = pivot.min(other.saturating_add(shift)) - shift.max(0);
    2 * common > pivot.min(other)
}

/// The nanoseconds by which ends of calls differ from those that a shift lays them on, but for a line.
fn spread(pivot: &[Item], other: &[Item], shift: i64) -> Option<i64> {
    let from = usize::try_from(shift.max(0)).ok()?;
    let own = usize::try_from((-shift).max(0)).ok()?;
    let pairs = pivot.iter().skip(from).zip(other.iter().skip(own));
    let pairs = pairs.filter(|(a, b)| a.is_mutual() && b.is_mutual());
    let ends: Vec<(i64, i64)> = pairs
        .map(|(a, b)| (a.end, b.end.saturating_sub(a.end)))
        .collect();
    if ends.len() < LEAST_PAIRS {
        return None;
    }
    let third = ends.len() / 3;
    let middle = |part: &[(i64, i64)]| {
        let of = |it: fn(&(i64, i64)) -> i64| median(part.iter().map(it).collect());
        (of(|it| it.0), of(|it| it.1))
    };
    let (first, last) = (
        middle(ends.get(..third)?),
        middle(ends.get(ends.len() - third..)?),
    );
    let slope = (last.1 - first.1) as f64 / (last.0 - first.0).max(1) as f64;
    let line = |at: i64| {
        first
            .1
            .saturating_add((slope * (at - first.0) as f64) as i64)
    };
    let apart = ends
        .iter()
        .map(|&(at, by)| by.saturating_sub(line(at)).saturating_abs());
    Some(median(apart.collect()))
}

fn median(mut all: Vec<i64>) -> i64 {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of a rank whose clock is 7 ms ahead and 20 ppm fast, with ends that spread by so many
    /// nanoseconds: one every 2 ms, or up to `uneven` nanoseconds later than that.
    fn calls(rank: i64, count: i64, spread: i64, uneven: i64) -> Vec<Item> {
        let mut at = 0;
        let call = |number: i64| {
            at += 2_000_000 + (number * number * 7919 % 97) * uneven / 97;
            let noise = (number * number * 31 + rank * (number * 5 + 3)) % 11;
            let end = at + 150_000 + noise * spread / 11;
            let by_clock = |time: i64| time + rank * (7_000_000 + time / 50_000);
            Item {
                signature: 1,
                begin: by_clock(at),
                end: by_clock(end),
                is_cause: true,
                is_effect: true,
            }
        };
        (0..count).map(call).collect()
    }

    #[test]
    fn calls_that_end_together_belong_together() {
        let shifts: Vec<i64> = (-5..=5).collect();
        let told = |count, spread, uneven| {
            let [a, b] = [0, 1].map(|rank| calls(rank, count, spread, uneven));
            let all = [
                told(&a, &b, &shifts),
                told(&a, &b, &[2, -3]),
                told(&a, &b, &[0]),
            ];
            (all[0], all[1..] == [None, None])
        };
        assert_eq!(told(40, 10_000, 400_000), (Some(0), true));
        // Iterations are as even as ends are, or too few are compared.
        assert_eq!(told(40, 10_000, 20_000), (None, true));
        assert_eq!(told(40, 100_000, 400_000), (None, true));
        assert_eq!(told(15, 10_000, 400_000), (None, true));
        let [a, b] = [0, 1].map(|rank| calls(rank, 62, 10_000, 400_000));
        assert_eq!(super::told(&a[3..], &b, &shifts), Some(-3));
        // Most of neither lies on the other, or most of one.
        assert_eq!(super::told(&a[..40], &b[22..], &[21, 22, 23]), None);
        assert_eq!(super::told(&a[..40], &b[22..50], &[21, 22, 23]), Some(22));
    }
}
