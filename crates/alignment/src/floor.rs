//! The floor of what goes one way between clocks.
//!
//! A line below all latencies, which touches them on both sides of the middle of the run, shows how
//! clocks differ *if* the fastest dependencies all took about the same. Whether they did shows over
//! time: what delays them, a queue or a process that does not come to run, comes and goes. So the time
//! from the first of them to the last is cut into 64 windows, however short a part of the run that is,
//! and of the fastest in each the eight next to the line are looked at. Sixteen, if they were as far
//! apart, would reach up to `d` above it, `15 / 7` of what these do, and by about as much the line
//! may lie above where nothing waited: it measures the difference to within `d`. That is not divided
//! by how many they are, since delays last, and windows share them. Where fewer than sixteen windows have
//! any, only that is known that nothing takes longer than the run.
//!
//! Source: the hull of message clouds is Duda's (Duda, Harrus, Haddad, Bernard 1987), here for one
//! cloud; that the spacing of the lowest values tells how far the end of their distribution lies below
//! them, P. Hall, *On Estimating the Endpoint of a Distribution*, Annals of Statistics 10 (1982).

use super::line::Line;
use super::options::OPTIONS;
use retime_numerics::hull::lower_hull;

/// A point of a cloud: time and aligned latency.
pub(super) type CloudPoint = (f64, f64);

/// A line below a cloud.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CloudFloor {
    pub(super) line: Line,
    /// How far sixteen windows would reach above it that lie as far apart as the lowest eight, or
    /// the length of the run.
    pub(super) spread: f64,
    /// The middle between the first point and the last,
    pub(super) middle: f64,
    /// and the time between them, at least one tick.
    pub(super) length: f64,
}

impl CloudFloor {
    /// The line below all points in a run of the length `span`; none below no points.
    pub(super) fn below(points: &[CloudPoint], span: f64) -> Option<Self> {
        let start = points.iter().map(|it| it.0).min_by(f64::total_cmp)?;
        let end = points.iter().map(|it| it.0).max_by(f64::total_cmp)?;
        let length = (end - start).max(1.0);
        let windows = lowest_by_window(points, start, length);
        let line = match side(&windows) {
            Some(drift) => {
                let rests = points.iter().map(|&(x, y)| y - drift * x);
                let intercept = rests.min_by(f64::total_cmp)?;
                Line { intercept, drift }
            }
            None => constant(points)?,
        };
        let mut above: Vec<f64> = windows.iter().map(|&(x, y)| y - line.at(x)).collect();
        let spread = if above.len() < OPTIONS.spread {
            span
        } else {
            let last = OPTIONS.fewest - 1;
            let (_, at, _) = above.select_nth_unstable_by(last, f64::total_cmp);
            *at * (OPTIONS.spread - 1) as f64 / last as f64
        };
        Some(Self {
            line,
            spread,
            middle: f64::midpoint(start, end),
            length,
        })
    }
}

/// The constant below all points.
pub(super) fn constant(points: &[CloudPoint]) -> Option<Line> {
    let lowest = points.iter().map(|it| it.1).min_by(f64::total_cmp)?;
    Some(Line {
        intercept: lowest,
        drift: 0.0,
    })
}

/// The slope of the side of the lower hull that spans the middle, if there are enough points.
fn side(windows: &[CloudPoint]) -> Option<f64> {
    if windows.len() < OPTIONS.fewest {
        return None;
    }
    let mut hull = Vec::new();
    lower_hull(windows, &mut hull);
    let hull: Vec<CloudPoint> = hull.iter().map(|&at| windows[at as usize]).collect();
    let middle = windows.iter().map(|it| it.0).sum::<f64>() / windows.len() as f64;
    let side = hull.windows(2).find(|side| side[1].0 >= middle);
    let &[a, b] = side? else {
        return None;
    };
    Some(((b.1 - a.1) / (b.0 - a.0)).clamp(-OPTIONS.proven, OPTIONS.proven))
}

/// The lowest point of each window of the time from `start` on that has this length, by time.
fn lowest_by_window(points: &[CloudPoint], start: f64, length: f64) -> Vec<CloudPoint> {
    let per_tick = OPTIONS.windows as f64 / length;
    let mut lowest = [(0.0, f64::INFINITY); OPTIONS.windows];
    for &point in points {
        let window = ((point.0 - start) * per_tick) as usize;
        let lowest = &mut lowest[window.min(OPTIONS.windows - 1)];
        if point.1 < lowest.1 {
            *lowest = point;
        }
    }
    lowest.into_iter().filter(|it| it.1.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_known_as_well_as_eight_windows_share_it() {
        // Every second window of 64 has a point by a rising floor, the others ones far above.
        let floor = |x: f64| 100.0 + 1e-4 * x;
        let point = |at: usize| {
            let x = 1_000.0 * at as f64 + 500.0;
            let above = if at.is_multiple_of(2) {
                (at % 8) as f64
            } else {
                1e6
            };
            (x, floor(x) + above)
        };
        let points: Vec<CloudPoint> = (0..64).map(point).collect();
        let found = CloudFloor::below(&points, 64_000.0).unwrap();
        assert!((found.line.drift - 1e-4).abs() < 1e-9, "{found:?}");
        assert!((found.line.at(0.0) - 100.0).abs() < 1e-6, "{found:?}");
        // Eight each are 0, 2, 4 and 6 above it.
        assert!(found.spread.abs() < 1e-6, "{found:?}");
        // Of sixteen windows every second counts: two are 0, 2, 4 and 6 above it.
        let few = CloudFloor::below(&points[..16], 64_000.0).unwrap();
        assert!((few.spread - 6.0 * 15.0 / 7.0).abs() < 1e-6, "{few:?}");
        let fewer = CloudFloor::below(&points[..15], 64_000.0).unwrap();
        assert!((fewer.spread - 64_000.0).abs() < 1e-6, "{fewer:?}");
        assert_eq!(CloudFloor::below(&[], 64_000.0), None);
    }

    /// Sixty-four messages in the last hundredth of a run.
    #[test]
    fn a_floor_is_known_as_well_however_long_nothing_goes() {
        let point = |at: usize| (6_336_000.0 + 1_000.0 * at as f64, 100.0 + (at % 8) as f64);
        let points: Vec<CloudPoint> = (0..64).map(point).collect();
        let found = CloudFloor::below(&points, 6_400_000.0).unwrap();
        // Eight are 0 above it.
        assert!(found.spread.abs() < 1e-6, "{found:?}");
        assert!(
            (found.line.at(6_336_000.0) - 100.0).abs() < 1e-6,
            "{found:?}"
        );
    }

    #[test]
    fn a_floor_is_no_steeper_than_clocks_are() {
        // A queue that grows looks as if a clock ran by 2000 ppm faster.
        let points: Vec<CloudPoint> = (0..64)
            .map(|at| 1_000.0 * f64::from(at))
            .map(|x| (x, 2e-3 * x))
            .collect();
        let found = CloudFloor::below(&points, 64_000.0).unwrap();
        assert!(
            (found.line.drift - OPTIONS.proven).abs() < 1e-12,
            "{found:?}"
        );
        assert!(points.iter().all(|&(x, y)| found.line.at(x) <= y));
        assert!(found.spread > 10.0, "{found:?}");
    }
}
