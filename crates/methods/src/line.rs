//! Straight lines through points, and the estimate that lines make together.
//!
//! Through points `(x_i, y_i)` with means `x` and `y` the line of least squares is
//!
//! ```text
//! y + slope (stamp - x),   slope = sum (x_i - x)(y_i - y) / sum (x_i - x)^2
//! ```

use crate::clock_line::ClockLine;
use crate::sub_intervals::never_both_ways;
use retime::ClockId;
use retime::edges::Edges;
use retime::estimate::{Estimate, NoEstimate, Offset};

/// The least-squares line through `(stamp, ticks)`; level through points of one
/// stamp. `None` without points.
pub(crate) fn through(points: &[(i64, f64)]) -> Option<ClockLine> {
    let &(at, anchor) = points.first()?;
    let count = points.len() as f64;
    // Sums of products of stamps would leave no fraction in a float.
    let past = |stamp: i64| (i128::from(stamp) - i128::from(at)) as f64;
    let relative = points
        .iter()
        .map(|&(stamp, ticks)| (past(stamp), ticks - anchor));
    let sums = relative
        .clone()
        .fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let (x, y) = (sums.0 / count, sums.1 / count);
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (stamp, ticks) in relative {
        covariance += (stamp - x) * (ticks - y);
        variance += (stamp - x) * (stamp - x);
    }
    let slope = if variance > 0.0 {
        covariance / variance
    } else {
        0.0
    };
    let whole = anchor.floor();
    let rest = anchor - whole + y - slope * x;
    Some(ClockLine::new(at, whole as i128, rest, slope))
}

/// The line through the points of each of the clocks `of`; `None` for other clocks.
pub(crate) fn lines_through(
    edges: &Edges,
    of: &[ClockId],
    points: impl Fn(ClockId) -> Result<Vec<(i64, f64)>, NoEstimate>,
) -> Result<Vec<Option<ClockLine>>, NoEstimate> {
    let mut lines = vec![None; edges.clocks()];
    for &clock in of {
        let line = through(&points(clock)?).ok_or_else(never_both_ways)?;
        lines[clock.as_usize()] = Some(line);
    }
    Ok(lines)
}

/// The estimate that lines towards the reference make, by clock.
pub(crate) fn towards(
    reference: ClockId,
    edges: &Edges,
    mut lines: Vec<Option<ClockLine>>,
) -> Estimate {
    if let Some(own) = lines.get_mut(reference.as_usize()) {
        *own = Some(ClockLine::NONE);
    }
    relative_to(reference, edges, &lines)
}

/// The estimate that lines towards any common time make: each over the stamps of
/// its clock, and relative to the line of the reference. With `t = x + y(x)` on
/// both clocks that is
///
/// ```text
/// y'(x) = (y(x) - y_ref(x)) / (1 + rate of y_ref)
/// ```
pub(crate) fn relative_to(
    reference: ClockId,
    edges: &Edges,
    lines: &[Option<ClockLine>],
) -> Estimate {
    let own = lines.get(reference.as_usize()).copied().flatten();
    let own = own.unwrap_or(ClockLine::NONE);
    let offset = |(clock, line): (ClockId, &Option<ClockLine>)| {
        let line = (*line)?;
        let end = |stamp: i64| (stamp, line.above(&own, stamp) / (1.0 + own.rate()));
        let (first, last) = edges.extent(clock).unwrap_or_default();
        Some(Offset::line(end(first), end(last)))
    };
    Estimate {
        offsets: clocks(edges).zip(lines).map(offset).collect(),
        reference,
    }
}

/// The middle between two bounds.
pub(crate) fn middle(lower: i64, upper: i64) -> f64 {
    (i128::from(lower) + i128::from(upper)) as f64 / 2.0
}

/// The clocks that the trace has.
pub(crate) fn clocks(edges: &Edges) -> impl Iterator<Item = ClockId> + use<> {
    (0..edges.clocks() as u32).map(ClockId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_by_hand() {
        let line = through(&[(10, 1.0), (20, 3.0), (30, 2.0)]).unwrap();
        assert!((line.value(20) - 2.0).abs() < 1e-12);
        assert!((line.rate() - 0.05).abs() < 1e-12);
        let level = through(&[(5, 1.0), (5, 3.0)]).unwrap();
        assert!((level.value(1 << 60) - 2.0).abs() < 1e-12);
        assert_eq!(through(&[]), None);
    }

    #[test]
    fn any_clock_can_be_the_reference() {
        let far = 1_700_000_000_000_000_000;
        let run = (far, far + 1_000_000);
        let a = through(&[(run.0, 50.0), (run.1, 150.0)]).unwrap();
        let b = through(&[(run.0, -20.0), (run.1, 30.0)]).unwrap();
        let edges = Edges::new(Vec::new(), vec![Some(run); 2]);
        let estimate = relative_to(ClockId(1), &edges, &[Some(a), Some(b)]);
        let own = estimate.offsets[1].as_ref().unwrap();
        assert!(own.at(run.0).abs() < 1e-9 && own.at(run.1).abs() < 1e-9);
        // a shows `first` when b shows 70 more, but for b's rate of 5e-5.
        let other = estimate.offsets[0].as_ref().unwrap().at(run.0);
        assert!((other - 70.0 / (1.0 + 5e-5)).abs() < 1e-9, "{other}");
    }
}
