//! A straight line per clock: constant drift.
//!
//! Per pair of clocks the least aligned latency there and back in each of 64
//! windows gives the difference of the clocks in that window, half of there minus
//! back; the median of the slopes between all windows (Theil-Sen) is their
//! relative drift, and the median of what is left their offset. It takes no
//! notice of up to a quarter of windows gone wrong. Pairs are joined to a
//! spanning tree, those first whose windows lie closest to their line, so that
//! each clock gets its line along the best pairs (Jezequel's idea).
//!
//! Twice, for with drifting clocks the least latency of a window mixes its
//! beginning and its end. The lines are kept if the sum of negative latencies
//! does not grow by them: for clocks that jump, a line can be worse than none.

use rayon::prelude::*;

use super::frame::{Frame, Line};
use super::links::{Link, Links};

const WINDOWS: usize = 64;
const ROUNDS: usize = 2;

/// Adds lines to the frame.
pub(super) fn add_lines(links: &Links<'_>, frame: &mut Frame) {
    let mut missing = negative(links, frame);
    for _ in 0..ROUNDS {
        let before = frame.lines.clone();
        let more = tree(links, frame);
        for (line, more) in frame.lines.iter_mut().zip(more) {
            line.intercept += more.intercept;
            line.drift += more.drift;
        }
        let now = negative(links, frame);
        if now > missing || !now.is_finite() {
            frame.lines = before;
            return;
        }
        missing = now;
    }
}

/// Sum of how far below zero aligned latencies are.
fn negative(links: &Links<'_>, frame: &Frame) -> f64 {
    let of = |link: &Link| {
        let latencies = links.of(link).map(|(_, edge)| frame.see(edge).latency);
        latencies.map(|it| (-it).max(0.0)).sum::<f64>()
    };
    let sums: Vec<f64> = links.list().par_iter().map(of).collect();
    sums.iter().sum()
}

/// The difference of two clocks as a line, and how far windows are from it.
struct Fit {
    low: usize,
    high: usize,
    /// To be added to `high` to show what `low` does.
    line: Line,
    spread: f64,
}

/// Lines along a spanning tree; zero at the first clock of each tree.
fn tree(links: &Links<'_>, frame: &Frame) -> Vec<Line> {
    let pairs = links.list().par_iter().filter(|link| link.from < link.to);
    let fit = |link: &Link| fit(links, frame, link, links.opposite(link)?);
    let mut fits: Vec<Fit> = pairs.filter_map(fit).collect();
    fits.sort_by(|a, b| {
        let spread = a.spread.total_cmp(&b.spread);
        spread.then((a.low, a.high).cmp(&(b.low, b.high)))
    });
    let mut group: Vec<usize> = (0..links.clocks()).collect();
    let mut lines = vec![Line::default(); links.clocks()];
    let mut members: Vec<Vec<usize>> = group.iter().map(|&it| vec![it]).collect();
    for fit in fits {
        let (low, high) = (group[fit.low], group[fit.high]);
        if low == high {
            continue;
        }
        // The whole tree of one end is tilted to fit the other's, the smaller one.
        let gap = Line {
            intercept: lines[fit.low].intercept + fit.line.intercept - lines[fit.high].intercept,
            drift: lines[fit.low].drift + fit.line.drift - lines[fit.high].drift,
        };
        let (kept, moved, sign) = if members[low].len() >= members[high].len() {
            (low, high, 1.0)
        } else {
            (high, low, -1.0)
        };
        let joining = std::mem::take(&mut members[moved]);
        for &clock in &joining {
            lines[clock].intercept += sign * gap.intercept;
            lines[clock].drift += sign * gap.drift;
            group[clock] = kept;
        }
        members[kept].extend(joining);
    }
    lines
}

fn fit(links: &Links<'_>, frame: &Frame, forth: &Link, back: &Link) -> Option<Fit> {
    let there = least(links, frame, forth);
    let back = least(links, frame, back);
    let middle = |window: usize| {
        let difference = (back[window] - there[window]) / 2.0;
        let time = (window as f64 + 0.5) * frame.span / WINDOWS as f64;
        difference.is_finite().then_some((time, difference))
    };
    let points: Vec<(f64, f64)> = (0..WINDOWS).filter_map(middle).collect();
    let line = theil_sen(&points)?;
    let mut rests: Vec<f64> = points
        .iter()
        .map(|&(x, y)| (y - line.at(x)).abs())
        .collect();
    // Few windows make any line look good.
    let spread = median(&mut rests)? + frame.span * 1e-9 / points.len() as f64;
    Some(Fit {
        low: forth.from,
        high: forth.to,
        line,
        spread,
    })
}

/// The least latency in each window; infinite where there is none.
fn least(links: &Links<'_>, frame: &Frame, link: &Link) -> [f64; WINDOWS] {
    let mut least = [f64::INFINITY; WINDOWS];
    for (_, edge) in links.of(link) {
        let seen = frame.see(edge);
        let time = f64::midpoint(seen.sent, seen.received);
        let window = (time * (WINDOWS as f64 / frame.span)) as usize;
        let least = &mut least[window.min(WINDOWS - 1)];
        *least = least.min(seen.latency);
    }
    least
}

/// The line of the median slope through points of rising `x`.
pub(super) fn theil_sen(points: &[(f64, f64)]) -> Option<Line> {
    let slope = |a: &(f64, f64), b: &(f64, f64)| (b.1 - a.1) / (b.0 - a.0);
    let pairs = points.iter().enumerate();
    let mut slopes: Vec<f64> = pairs
        .flat_map(|(at, a)| points[at + 1..].iter().map(move |b| slope(a, b)))
        .filter(|it| it.is_finite())
        .collect();
    let drift = median(&mut slopes).unwrap_or(0.0);
    let mut rests: Vec<f64> = points.iter().map(|&(x, y)| y - drift * x).collect();
    Some(Line {
        intercept: median(&mut rests)?,
        drift,
    })
}

/// The middle value, of an even number the mean of both; reorders.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}
