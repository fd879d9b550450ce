//! The correction of each clock over time, and how sure it is.
//!
//! A map or a band with more corners than can be seen is thinned: the time is cut into
//! equal parts, and of each the first, lowest, highest and last corner stay, so that no
//! jump gets lost.

use retime::optimal::ErrorKnot;
use retime::{ClockId, Timestamp};
use serde::Serialize;

use crate::{Lanes, Subject};

/// Corners of all curves together: 64 for each of 64. With as many of the bands they take
/// some 250 kB.
const TOGETHER: usize = 1 << 12;
/// Corners of each curve at least.
const LEAST: usize = 4;

/// One clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Its number.
    pub clock: u32,
    /// Who reads it, in words.
    pub name: String,
    /// The ticks that were added, by rising time; linear in between.
    pub points: Vec<CurvePoint>,
    /// How far the truth can be; empty where nothing is known.
    pub band: Vec<BandPoint>,
    /// When it was set during the run.
    pub steps: Vec<Step>,
}

/// A recorded time, and what was added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CurvePoint(pub i64, pub i64);

/// A recorded time, and by how much the truth may lie before and after, if anything
/// bounds that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BandPoint(pub i64, pub Option<f64>, pub Option<f64>);

/// A clock was set: between these recorded times it gained so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// It showed this before
    pub after: i64,
    /// and this afterwards.
    pub until: i64,
    /// How it may have [gained](retime::pipeline::ClockSet::how)
    pub how: &'static str,
    /// these ticks,
    pub by: i64,
    /// and how far bounds know them, if they do.
    pub known_to: Option<u64>,
}

/// The curves of the clocks that are shown of a trace.
pub fn curves(subject: &Subject<'_>) -> Vec<Curve> {
    of(subject, &Lanes::of(subject))
}

/// The curves of the clocks that lanes read.
pub(crate) fn of(subject: &Subject<'_>, lanes: &Lanes) -> Vec<Curve> {
    let mut clocks: Vec<u32> = lanes.shown.iter().map(|it| it.clock).collect();
    clocks.sort_unstable();
    clocks.dedup();
    let most = (TOGETHER / clocks.len().max(1)).max(LEAST);
    clocks
        .into_iter()
        .map(|clock| Curve::of(ClockId(clock), subject, most))
        .collect()
}

impl Curve {
    /// The ticks that were added at a recorded time, on the line between the points around it.
    pub fn at(&self, time: f64) -> f64 {
        let after = self.points.partition_point(|it| it.0 as f64 <= time);
        let before = after.checked_sub(1).and_then(|it| self.points.get(it));
        match (before, self.points.get(after)) {
            (Some(from), Some(to)) => {
                let share = (time - from.0 as f64) / (to.0 - from.0) as f64;
                from.1 as f64 + share * (to.1 - from.1) as f64
            }
            (Some(end), None) | (None, Some(end)) => end.1 as f64,
            (None, None) => 0.0,
        }
    }

    fn of(clock: ClockId, subject: &Subject<'_>, most: usize) -> Self {
        let nodes = subject.nodes();
        let relative = |stamp: Timestamp| nodes.relative(stamp).0;
        let locations = subject.clocks.locations(clock);
        let extents = locations
            .iter()
            .filter_map(|it| nodes.extent(it.as_usize()));
        let first = extents.clone().map(|it| it.first).min();
        let last = extents.map(|it| it.last).max();
        let steps = subject.corrected.map_or(&[][..], |it| it.steps).iter();
        let steps = steps.filter(|it| it.clock == clock).map(|it| {
            let it = subject
                .bounds
                .map_or_else(|| it.clone(), |bounds| bounds.of_step(it));
            Step {
                after: relative(it.after),
                until: relative(it.until),
                how: it.how(),
                by: it.by.0,
                known_to: it.known_to(),
            }
        });
        let bound = subject
            .bounds
            .and_then(|it| it.errors.clocks.get(clock.as_usize())?.as_ref());
        let knots = bound.map_or(&[][..], |it| it.knots());
        let band = |knot: &ErrorKnot| BandPoint(relative(Timestamp(knot.0)), knot.1, knot.2);
        let width = |it: &BandPoint| it.1.unwrap_or(f64::MAX).max(it.2.unwrap_or(f64::MAX));
        Self {
            clock: clock.0,
            name: subject.clocks.describe(subject.info, clock),
            points: first.zip(last).map_or(Vec::new(), |(first, last)| {
                points(clock, subject, first, last, most)
            }),
            band: thinned(knots.iter().map(band).collect(), most, |it| it.0, width),
            steps: steps.collect(),
        }
    }
}

/// The points of a clock's curve between its first and its last event, thinned to about `most`.
fn points(
    clock: ClockId,
    subject: &Subject<'_>,
    first: Timestamp,
    last: Timestamp,
    most: usize,
) -> Vec<CurvePoint> {
    let nodes = subject.nodes();
    let relative = |stamp: Timestamp| nodes.relative(stamp).0;
    let point = |raw: Timestamp, corrected: Timestamp| {
        let raw = relative(raw);
        CurvePoint(raw, relative(corrected) - raw)
    };
    let Some(corrected) = subject.corrected else {
        return vec![point(first, first), point(last, last)];
    };
    let map = corrected.correction.map(clock);
    let location = subject
        .clocks
        .locations(clock)
        .first()
        .copied()
        .unwrap_or_default();
    let end = |raw: Timestamp| {
        let corrected = map.cursor(location).map_time(raw);
        corrected.map(|corrected| point(raw, corrected))
    };
    let inside = |raw: Timestamp| first < raw && raw < last;
    let knots = map
        .knots()
        .iter()
        .filter(|it| inside(it.raw))
        .flat_map(|it| {
            let both = [point(it.raw, it.arrive), point(it.raw, it.leave)];
            both.into_iter()
                .take(if it.arrive == it.leave { 1 } else { 2 })
        });
    let all = end(first).into_iter().chain(knots).chain(end(last));
    thinned(all.collect(), most, |it| it.0, |it| it.1 as f64)
}

/// At most so many of the corners of a curve, or few more.
fn thinned<T: Copy>(
    all: Vec<T>,
    most: usize,
    time: impl Fn(&T) -> i64,
    height: impl Fn(&T) -> f64,
) -> Vec<T> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return all;
    };
    if all.len() <= most {
        return all;
    }
    let (from, parts) = (time(first), (most / 4).max(1));
    let length = i128::from(time(last)) - i128::from(from) + 1;
    let part = |it: &T| (i128::from(time(it)) - i128::from(from)) * parts as i128 / length;
    let mut kept = Vec::new();
    for corners in all.chunk_by(|one, other| part(one) == part(other)) {
        let by_height = |one: &usize, other: &usize| {
            height(&corners[*one]).total_cmp(&height(&corners[*other]))
        };
        let mut stay = vec![0, corners.len() - 1];
        stay.extend((0..corners.len()).min_by(by_height));
        stay.extend((0..corners.len()).max_by(by_height));
        stay.sort_unstable();
        stay.dedup();
        kept.extend(stay.into_iter().map(|it| corners[it]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_ends_and_peaks() {
        let mut all: Vec<(i64, i64)> = (0..10_000).map(|it| (it * 3, it)).collect();
        all[4_321].1 = 1_000_000;
        all[7_654].1 = -5;
        let kept = thinned(all.clone(), 100, |it| it.0, |it| it.1 as f64);
        assert!(kept.len() <= 104, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (all.first(), all.last()));
        assert!(kept.contains(&all[4_321]) && kept.contains(&all[7_654]));
        assert!(kept.is_sorted_by_key(|it| it.0));
        let few = thinned(all[..90].to_vec(), 100, |it| it.0, |it| it.1 as f64);
        assert_eq!(few, all[..90]);
    }
}
