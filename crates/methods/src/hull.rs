//! Which lines pass between two clouds of points.
//!
//! A line `y = a + b t` separates the clouds if no point of `below` lies above
//! it and none of `above` below it. Only the upper hull `L` of `below` and the
//! lower hull `U` of `above` matter:
//!
//! - there is one unless `L(t) > U(t)` somewhere, and the largest `L(t) - U(t)`
//!   is at a corner of either;
//! - the steepest touches a point of `below` and a later one of `above`. Let
//!   `g(b) = max (l - b t) - min (u - b t)`, by how much lines of slope `b` fail:
//!   convex in `b`. Starting with the line from the first corner of `L` to the
//!   last of `U`, Newton's method on `g(b) = 0` replaces each corner by the one
//!   that sticks out most against this slope; corners only ever move inwards, so
//!   all steps together take no longer than a walk along the hulls;
//! - the flattest is the steepest of the mirrored clouds.
//!
//! All in integers: nothing is ever nearly parallel.

use crate::clouds::Sample;
use retime_numerics::hull::{self, Planar};

/// The corners of one hull, by rising stamp.
pub(crate) type Hull = Vec<Sample>;

/// The least concave function above the points.
pub(crate) fn upper_hull(samples: Vec<Sample>) -> Hull {
    upside_down(lower_hull(upside_down(samples)))
}

/// The greatest convex function below the points.
pub(crate) fn lower_hull(mut samples: Vec<Sample>) -> Hull {
    samples.sort_unstable();
    let mut places = Vec::new();
    hull::lower_hull(&samples, &mut places);
    places
        .iter()
        .map(|&place| samples[place as usize])
        .collect()
}

impl Planar for Sample {
    fn is_beside(&self, other: &Self) -> bool {
        self.at == other.at
    }

    fn is_below(&self, before: &Self, after: &Self) -> bool {
        let chord = |to: &Self| Chord {
            from: *before,
            to: *to,
        };
        chord(after).rises_faster(chord(self))
    }
}

/// How far the clouds at most reach into each other, rounded up; 0 or less if
/// a line separates them; `None` if one lies before the other.
pub(crate) fn overlap(below: &Hull, above: &Hull) -> Option<i128> {
    let from_below = below.iter().filter_map(|corner| {
        let (height, run) = height_over(*corner, above)?;
        Some(-(-height).div_euclid(run))
    });
    let from_above = above.iter().filter_map(|corner| {
        let (height, run) = height_over(*corner, below)?;
        Some(-height.div_euclid(run))
    });
    from_below.chain(from_above).max()
}

/// The points that the steepest of all separating lines touches, the one of
/// `below` first; `None` if they may be as steep as they like. Clouds that
/// overlap have none.
pub(crate) fn steepest(below: &Hull, above: &Hull) -> Option<Chord> {
    let mut below = below.iter().copied().peekable();
    let mut above = above.iter().rev().copied().peekable();
    let (mut from, mut to) = (below.next()?, above.next()?);
    loop {
        if from.at >= to.at {
            return None;
        }
        let line = Chord { from, to };
        let rises = |from: Sample, to: Sample| Chord { from, to }.rises_faster(line);
        while let Some(next) = below.next_if(|next| rises(from, *next)) {
            from = next;
        }
        while let Some(next) = above.next_if(|next| rises(*next, to)) {
            to = next;
        }
        if line == (Chord { from, to }) {
            return Some(line);
        }
    }
}

/// The points that the flattest of all separating lines touches, likewise.
pub(crate) fn flattest(below: &Hull, above: &Hull) -> Option<Chord> {
    let Chord { from, to } = steepest(&mirrored(below), &mirrored(above))?;
    Some(Chord {
        from: mirror(from),
        to: mirror(to),
    })
}

/// A line between two points at different stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chord {
    pub(crate) from: Sample,
    pub(crate) to: Sample,
}

impl Chord {
    pub(crate) fn rise(&self) -> i128 {
        i128::from(self.to.ticks) - i128::from(self.from.ticks)
    }

    pub(crate) fn run(&self) -> i128 {
        i128::from(self.to.at) - i128::from(self.from.at)
    }

    /// True if this line, from an earlier to a later point, rises faster than another such line.
    fn rises_faster(self, other: Self) -> bool {
        // At most 2^63 times 2^62.
        self.rise() * other.run() > other.rise() * self.run()
    }
}

/// How high a point lies over a hull, as a fraction with positive denominator;
/// `None` before and after the hull.
fn height_over(point: Sample, hull: &Hull) -> Option<(i128, i128)> {
    let after = hull.partition_point(|corner| corner.at < point.at);
    let end = hull.get(after)?;
    if end.at == point.at {
        return Some((i128::from(point.ticks) - i128::from(end.ticks), 1));
    }
    let start = hull.get(after.checked_sub(1)?)?;
    let run = i128::from(end.at) - i128::from(start.at);
    let rise = i128::from(end.ticks) - i128::from(start.ticks);
    let along = i128::from(point.at) - i128::from(start.at);
    let up = i128::from(point.ticks) - i128::from(start.ticks);
    Some((up * run - rise * along, run))
}

fn upside_down(mut samples: Vec<Sample>) -> Vec<Sample> {
    for sample in &mut samples {
        sample.ticks = -sample.ticks;
    }
    samples
}

fn mirrored(hull: &Hull) -> Hull {
    hull.iter().rev().copied().map(mirror).collect()
}

fn mirror(sample: Sample) -> Sample {
    Sample {
        at: -sample.at,
        ..sample
    }
}
