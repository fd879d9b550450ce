//! Curves: what was added to each clock over time, and how far it can be from the truth.
//!
//! Both are piecewise linear in recorded time and can have very many pieces; viewers draw
//! each point as a step. So each curve is looked at in [`POINTS`] moments that are evenly
//! spread over what is shown, and as many knots of the map, which are where it bends.

use retime::{ClockId, ClockMap, Knot, LocationIndex, Timestamp};

use crate::axis::Axis;
use crate::tracks::Tracks;
use crate::view::View;

/// Twice as many are about as many as a screen has columns of some width.
const POINTS: usize = 500;

/// A curve of a clock, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// The name of the curve; no two curves of one process have the same.
    pub(crate) name: String,
    /// No other of the file has it.
    pub(crate) number: u32,
    /// The number of the process that it is shown beside.
    pub(crate) process: u32,
    /// The number of the first location of it that reads the clock.
    pub(crate) thread: u32,
    /// The values of the curve, by rising time.
    pub(crate) points: Vec<(Timestamp, f64)>,
}

/// The curves of a view: of each clock that is read by a location that is shown, beside
/// the first of them.
pub(crate) fn of(view: &View<'_>, axis: &Axis, tracks: &Tracks<'_>) -> Vec<Curve> {
    let mut curves = Vec::new();
    let mut seen = vec![false; view.clocks.len()];
    let mut of_process = None;
    for thread in &tracks.threads {
        let clock = view.clocks.of(thread.location);
        if std::mem::replace(&mut seen[clock.as_usize()], true) {
            continue;
        }
        // A process with several clocks has curves of the same kind.
        let which = if of_process.replace(thread.process) == Some(thread.process) {
            format!(" of {}", thread.name)
        } else {
            String::new()
        };
        let before = view.placement.tracks + view.number * view.clocks.len() as u32;
        let first = 2 * (before + clock.0);
        let looks = looks(view, clock);
        let named = |what: &str, number, points: Vec<_>| Curve {
            name: format!("{what}{which}"),
            number,
            process: thread.process,
            thread: thread.number,
            points,
        };
        if view.correction.is_some() {
            let points = looks.iter().map(|&(raw, shown)| {
                let added = shown.0 as f64 - raw.0 as f64;
                (shown, axis.drawn(added))
            });
            curves.push(named("clock offset", first, points.collect()));
        }
        let bound = view.bounds.and_then(|it| it.clocks.get(clock.as_usize()));
        if let Some(bound) = bound.and_then(Option::as_ref) {
            let points = looks.iter().filter_map(|&(raw, shown)| {
                let (before, after) = bound.at(raw);
                let furthest = before.max(after);
                furthest.is_finite().then(|| (shown, axis.drawn(furthest)))
            });
            curves.push(named("error bound", first + 1, points.collect()));
        }
    }
    curves
}

/// Recorded stamps of a clock at which its curves are looked at, with the times shown,
/// both rising.
fn looks(view: &View<'_>, clock: ClockId) -> Vec<(Timestamp, Timestamp)> {
    let identity = ClockMap::default();
    let map = view.correction.map_or(&identity, |it| it.map(clock));
    let nodes = view.recorded.nodes();
    let extents = view.clocks.locations(clock).iter();
    let extents = extents.filter_map(|it| nodes.extent(it.as_usize()));
    let Some((first, last)) = extents
        .map(|it| (it.first, it.last))
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    else {
        return Vec::new();
    };
    let (from, to) = (map.invert(view.window.from), map.invert(view.window.to));
    let (first, last) = (
        first.max(from.unwrap_or(first)).0,
        last.min(to.unwrap_or(last)).0,
    );
    if first > last {
        return Vec::new();
    }
    let mut cursor = map.cursor(LocationIndex(u32::MAX));
    let along = |part: usize| {
        let part = u128::from(last - first) * part as u128 / POINTS as u128;
        Timestamp(first + part as u64)
    };
    let grid = (0..=POINTS).map(along);
    let mut found: Vec<_> = grid
        .filter_map(|raw| Some((raw, cursor.map_time(raw)?)))
        .collect();
    let inside = |knot: &&Knot| (first..=last).contains(&knot.raw.0);
    let knots: Vec<_> = map.knots().iter().filter(inside).collect();
    for knot in knots.iter().step_by(knots.len().div_ceil(POINTS).max(1)) {
        found.extend([(knot.raw, knot.arrive), (knot.raw, knot.leave)]);
    }
    found.retain(|&(_, shown)| view.window.holds(shown));
    found.sort_unstable();
    found.dedup();
    found
}
