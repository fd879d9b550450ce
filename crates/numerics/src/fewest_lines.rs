//! The fewest straight stretches that keep within bounds, and where one ends and the next begins.
//!
//! A function that is straight but for a few moments, known by bounds from above and from below at
//! many places. From the left each stretch goes on as long as some line keeps all its bounds; no
//! other choice takes fewer. From the right the same number of stretches reach as far back as they can. So
//! the first way says how long a stretch can last at most, the second since when the next one can:
//!
//! ```text
//!   v v v v v v                      v  bounds from above       ^  from below
//!   ----------\   v v
//!   ^ ^ ^ ^ ^  \      v v
//!             ^ \  ^      v          from the left the first line ends at the latest here: |
//!                \____^_____^        from the right the second one can begin here: :
//!             :    |
//! ```
//!
//! The hulls of the bounds of a stretch tell whether some line keeps all: the lowest convex function
//! through those from above and the highest concave one through those from below must not cross.
//! Where they come nearest, a line in the middle keeps the furthest away from both.
//!
//! ```
//! use retime_numerics::fewest_lines::{Bound, BoundSide, fewest_lines};
//! // 0 up to 100, and from there on a rise of 2 for each 1; known to +-3.
//! let value = |at: i64| 2 * (at - 100).max(0);
//! let bound = |at: i64| match at % 2 {
//!     0 => Bound { at, value: value(at) + 3, side: BoundSide::Above },
//!     _ => Bound { at, value: value(at) - 3, side: BoundSide::Below },
//! };
//! let lines = fewest_lines((0..200).map(bound).collect(), 4).unwrap();
//! let [first, second] = &lines[..] else { panic!("{lines:?}") };
//! let slopes = [first, second].map(|it| it.line.map_or(f64::NAN, |line| line.slope));
//! assert!(slopes[0].abs() < 0.1 && (slopes[1] - 2.0).abs() < 0.1);
//! assert!(first.until <= 100 && 100 <= second.from);
//! ```
//!
//! Source: J. O'Rourke, *An on-line algorithm for fitting straight lines between data ranges*
//! (Communications of the ACM 24, 1981), for the first way.

use crate::hull::{Planar, lower_hull};
use std::cmp::Reverse;

/// From which side a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundSide {
    /// The function is at most that.
    Above,
    /// The function is at least that.
    Below,
}

/// A bound of a function at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The place.
    pub at: i64,
    /// The most or least that the function is there.
    pub value: i64,
    /// Which of both.
    pub side: BoundSide,
}

/// A straight stretch of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The first place with a bound that the line before cannot keep; the first place of all.
    pub from: i64,
    /// The last place with a bound that the line behind cannot keep; the last place of all.
    pub until: i64,
    /// The line in between that keeps the furthest away from all bounds; `None` if bounds from one side
    /// alone are there.
    pub line: Option<Line>,
    /// The slopes of two lines that keep all its bounds differ by no more than this; infinite where these
    /// do not tell.
    pub slopes_within: f64,
}

/// A straight function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// A place,
    pub place: i64,
    /// and its value there.
    pub value: f64,
    /// The amount by which it rises per place.
    pub slope: f64,
}

impl Line {
    /// Its value at a place.
    pub fn at(&self, place: i64) -> f64 {
        self.value + self.slope * place.saturating_sub(self.place) as f64
    }
}

/// The fewest stretches within these bounds, from left to right; `None` if they are more than `most`.
pub fn fewest_lines(mut bounds: Vec<Bound>, most: usize) -> Option<Vec<Stretch>> {
    sort(&mut bounds);
    let ends = ends(&bounds, most)?;
    let mirrored = |it: &Bound| Bound {
        at: it.at.saturating_neg(),
        ..*it
    };
    let mut mirror: Vec<Bound> = bounds.iter().map(mirrored).collect();
    sort(&mut mirror);
    let begins = self::ends(&mirror, most)?;
    let (first, last) = (bounds.first()?.at, bounds.last()?.at);
    // The one way has the ends of all stretches but the last, the other way their begins but the first's.
    let ended = ends.iter().map(|&it| bounds[it].at);
    let begun = begins
        .iter()
        .rev()
        .map(|&it| mirror[it].at.saturating_neg());
    let from = std::iter::once(first).chain(ended);
    let until = begun.chain(std::iter::once(last));
    let stretch = |(from, until): (i64, i64)| {
        let after = bounds.partition_point(|it| it.at < from);
        let before = bounds.partition_point(|it| it.at <= until);
        let certain = Corridor::of(bounds.get(after..before).unwrap_or(&[]));
        Stretch {
            from,
            until,
            line: certain.middle(),
            slopes_within: certain.slopes_within(),
        }
    };
    Some(from.zip(until).map(stretch).collect())
}

/// Sorts by place, and at one place the tightest of each side first.
fn sort(bounds: &mut [Bound]) {
    bounds.sort_unstable_by_key(|it| match it.side {
        BoundSide::Above => (it.at, it.side, it.value, Reverse(0)),
        BoundSide::Below => (it.at, it.side, 0, Reverse(it.value)),
    });
}

/// The first bound behind each stretch but the last, of those that last as long as can be.
fn ends(bounds: &[Bound], most: usize) -> Option<Vec<usize>> {
    let mut ends = Vec::new();
    let mut from = 0;
    loop {
        let length = longest(&bounds[from..]);
        from += length;
        if from >= bounds.len() {
            return Some(ends);
        }
        if length == 0 || ends.len() + 1 >= most {
            return None;
        }
        ends.push(from);
    }
}

/// The number of bounds from the first on that some line keeps: by doubling, and then by halving.
fn longest(bounds: &[Bound]) -> usize {
    let keeps = |count: usize| Corridor::of(&bounds[..count]).is_open();
    let mut kept = bounds.len().min(1);
    let mut excluded = loop {
        let more = (2 * kept).min(bounds.len());
        if !keeps(more) {
            break more;
        }
        kept = more;
        if kept == bounds.len() {
            return kept;
        }
    };
    while excluded - kept > 1 {
        let middle = usize::midpoint(kept, excluded);
        if keeps(middle) {
            kept = middle;
        } else {
            excluded = middle;
        }
    }
    kept
}

/// A point of a bound, relative to the first one.
#[derive(Clone, Copy)]
struct Point {
    at: f64,
    value: f64,
}

impl Planar for Point {
    fn is_beside(&self, other: &Self) -> bool {
        self.at >= other.at
    }

    fn is_below(&self, before: &Self, after: &Self) -> bool {
        (self.at - before.at) * (after.value - before.value)
            > (self.value - before.value) * (after.at - before.at)
    }
}

/// The hulls of bounds: the lowest convex function through those from above, and the negative of
/// the highest concave one through those from below.
struct Corridor {
    origin: Option<Bound>,
    above: Vec<Point>,
    below: Vec<Point>,
}

/// The slopes of a convex function left and right of a place, and its value there.
struct Support {
    value: f64,
    left: f64,
    right: f64,
}

impl Corridor {
    fn of(bounds: &[Bound]) -> Self {
        let origin = bounds.first().copied();
        let hull = |side: BoundSide, sign: f64| {
            let of_side = bounds.iter().filter(|it| it.side == side);
            let points = of_side
                .zip(std::iter::repeat(origin))
                .filter_map(|(it, origin)| {
                    let origin = origin?;
                    Some(Point {
                        at: it.at.saturating_sub(origin.at) as f64,
                        value: sign * it.value.saturating_sub(origin.value) as f64,
                    })
                });
            let points: Vec<Point> = points.collect();
            let mut vertices = Vec::new();
            lower_hull(&points, &mut vertices);
            vertices.iter().map(|&it| points[it as usize]).collect()
        };
        Self {
            origin,
            above: hull(BoundSide::Above, 1.0),
            below: hull(BoundSide::Below, -1.0),
        }
    }

    /// True if some line lies between both hulls.
    fn is_open(&self) -> bool {
        self.narrowest().is_none_or(|(_, open)| open >= 0.0)
    }

    /// The place at which both hulls come nearest, and how near; `None` if no place has both.
    fn narrowest(&self) -> Option<(f64, f64)> {
        let open = |place: f64| {
            let (above, below) = (support(&self.above, place)?, support(&self.below, place)?);
            Some((place, above.value + below.value))
        };
        let vertices = self.above.iter().chain(&self.below);
        let all = vertices.filter_map(|it| open(it.at));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The most by which slopes of lines between both hulls can differ; infinite where these do not tell.
    fn slopes_within(&self) -> f64 {
        let mirrored = |hull: &[Point]| -> Vec<Point> {
            let turned = |it: &Point| Point { at: -it.at, ..*it };
            hull.iter().rev().map(turned).collect()
        };
        let most = steepest(&self.above, &self.below);
        let least = steepest(&mirrored(&self.above), &mirrored(&self.below));
        match (most, least) {
            (Some(most), Some(least)) => most + least,
            _ => f64::INFINITY,
        }
    }

    /// The line that keeps the furthest away from both hulls.
    fn middle(&self) -> Option<Line> {
        let origin = self.origin?;
        let (place, open) = self.narrowest()?;
        let (above, below) = (support(&self.above, place)?, support(&self.below, place)?);
        // Slopes that touch the convex function there, and those that touch the concave one.
        let least = above.left.max(-below.right);
        let most = above.right.min(-below.left);
        let slope = match (least.is_finite(), most.is_finite()) {
            (true, true) => f64::midpoint(least, most),
            (true, false) => least,
            (false, true) => most,
            (false, false) => 0.0,
        };
        let middle = above.value - open / 2.0;
        Some(Line {
            place: origin.at,
            value: origin.value as f64 + middle - slope * place,
            slope,
        })
    }
}

/// The largest slope of a line below a convex function and above a concave one, which is given by its
/// negative: that of the flattest line from a vertex of the one to a later vertex of the other. `None` where
/// there are no such.
fn steepest(above: &[Point], below: &[Point]) -> Option<f64> {
    let slopes = below.iter().filter_map(|from| {
        let later = above.partition_point(|it| it.at <= from.at);
        let later = above.get(later..)?;
        let slope = |to: &Point| (to.value + from.value) / (to.at - from.at);
        // Seen from below, slopes to the vertices of a convex function fall up to one, and rise from there on.
        let (mut first, mut last) = (0, later.len().checked_sub(1)?);
        while first < last {
            let middle = usize::midpoint(first, last);
            if slope(&later[middle + 1]) < slope(&later[middle]) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        Some(slope(&later[first]))
    });
    slopes.min_by(f64::total_cmp)
}

/// A convex function through these vertices at a place; `None` beyond its ends.
fn support(vertices: &[Point], place: f64) -> Option<Support> {
    let (first, last) = (vertices.first()?, vertices.last()?);
    if place < first.at || place > last.at {
        return None;
    }
    let slope = |ends: &[Point]| (ends[1].value - ends[0].value) / (ends[1].at - ends[0].at);
    let after = vertices.partition_point(|it| it.at < place);
    let vertex = vertices[after];
    let left = match after.checked_sub(1) {
        Some(before) => slope(&vertices[before..=after]),
        None => f64::NEG_INFINITY,
    };
    if vertex.at > place {
        let value = vertex.value - left * (vertex.at - place);
        return Some(Support {
            value,
            left,
            right: left,
        });
    }
    let right = vertices.get(after..after + 2).map_or(f64::INFINITY, slope);
    Some(Support {
        value: vertex.value,
        left,
        right,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(at: i64, value: i64, room: i64) -> [Bound; 2] {
        [(BoundSide::Above, room), (BoundSide::Below, -room)].map(|(side, room)| Bound {
            at,
            value: value + room,
            side,
        })
    }

    #[test]
    fn a_line_is_one_stretch_whatever_its_bounds() {
        let bounds = (0..500).flat_map(|at| both(10 * at, 7 * at, 1 + at % 3));
        let lines = fewest_lines(bounds.collect(), 3).unwrap();
        let [line] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!((line.from, line.until), (0, 4_990));
        let line = line.line.unwrap();
        assert!((line.slope - 0.7).abs() < 0.002, "{line:?}");
        // 2 apart, or a little more, at either end.
        let within = lines[0].slopes_within * 4_990.0;
        assert!((4.0..4.1).contains(&within), "{within}");
        assert!((line.at(2_000) - 1_400.0).abs() < 1.5, "{line:?}");
    }

    /// Every line between two vertices is tried.
    #[test]
    fn slopes_of_a_stretch_are_within_those_of_the_outermost_lines() {
        for seed in 0..200_i64 {
            let room = |at: i64| 3 + (at * at * (seed + 7) + seed) % 23;
            let bounds: Vec<Bound> = (0..30).flat_map(|at| both(at, 0, room(at))).collect();
            let hulls = Corridor::of(&bounds);
            let keeps = |slope: f64, value: f64| {
                bounds.iter().all(|it| match it.side {
                    BoundSide::Above => value + slope * it.at as f64 <= it.value as f64 + 1e-9,
                    BoundSide::Below => value + slope * it.at as f64 >= it.value as f64 - 1e-9,
                })
            };
            let pairs = bounds
                .iter()
                .flat_map(|a| bounds.iter().map(move |b| (a, b)));
            let slopes = pairs.filter(|(a, b)| a.at < b.at).filter_map(|(a, b)| {
                let slope = (b.value - a.value) as f64 / (b.at - a.at) as f64;
                keeps(slope, a.value as f64 - slope * a.at as f64).then_some(slope)
            });
            let (least, most) = slopes
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| {
                    (least.min(it), most.max(it))
                });
            // Relative to the first bound, as hulls are.
            let within = hulls.slopes_within();
            assert!(
                (within - (most - least)).abs() < 1e-9,
                "{seed}: {within} {least} {most}"
            );
        }
    }

    #[test]
    fn a_jump_ends_a_stretch_at_once() {
        let value = |at: i64| if at < 300 { at } else { at + 1_000 };
        let bounds = (0..500).flat_map(|at| both(at, value(at), 4));
        let lines = fewest_lines(bounds.collect(), 3).unwrap();
        let [before, after] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!((before.until, after.from), (299, 300));
        let (before, after) = (before.line.unwrap(), after.line.unwrap());
        assert!((after.at(400) - before.at(400) - 1_000.0).abs() < 1.0);
    }

    #[test]
    fn what_bends_all_the_time_is_given_up() {
        let bounds = (0..1_000).flat_map(|at| both(at, at * at / 10, 2));
        assert_eq!(fewest_lines(bounds.collect(), 8), None);
        assert_eq!(fewest_lines(Vec::new(), 8), None);
        let above = (0..9).map(|at| both(at, 0, 2)[0]);
        let lines = fewest_lines(above.collect(), 8).unwrap();
        assert!(lines.len() == 1 && lines[0].line.is_none());
        assert!(lines[0].slopes_within.is_infinite());
    }
}
