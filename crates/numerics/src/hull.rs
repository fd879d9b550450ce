//! The lower convex hull of points: all that a line from below can touch.
//!
//! Points are taken from left to right; a vertex that does not lie below the line
//! from the one before it to the new point is none any more. What coordinates are
//! is left to [`Planar`], so that whole numbers are compared exactly.
//!
//! ```text
//! p[k] stays while  (x[k] - x[k-1]) (y[new] - y[k-1]) > (y[k] - y[k-1]) (x[new] - x[k-1])
//! ```
//!
//! ```
//! use retime_numerics::hull::lower_hull;
//! let points = [(0.0, 6.0), (1.0, 2.0), (2.0, 8.0), (3.0, 1.0), (5.0, 0.0)];
//! let mut hull = Vec::new();
//! lower_hull(&points, &mut hull);
//! assert_eq!(hull, [0, 1, 4]); // (3, 1) lies on the line from (1, 2) to (5, 0)
//! ```
//!
//! Source: A. M. Andrew, *Another efficient algorithm for convex hulls in two
//! dimensions*, Information Processing Letters 9 (1979).

/// Points that a hull can be made of.
pub trait Planar {
    /// True if another point, which comes later in the order, is at the same `x`.
    fn is_beside(&self, other: &Self) -> bool;

    /// True if this point lies below the line through `before` and `after`, which
    /// are to the left and to the right of it.
    fn is_below(&self, before: &Self, after: &Self) -> bool;
}

impl Planar for (f64, f64) {
    fn is_beside(&self, other: &Self) -> bool {
        self.0 >= other.0
    }

    fn is_below(&self, before: &Self, after: &Self) -> bool {
        let run = |to: &Self| to.0 - before.0;
        let rise = |to: &Self| to.1 - before.1;
        run(self) * rise(after) > rise(self) * run(after)
    }
}

/// The vertices of the lower hull as places in `points`, which are sorted by `x`
/// and then by `y`. Replaces what is in `hull`.
pub fn lower_hull<P: Planar>(points: &[P], hull: &mut Vec<u32>) {
    hull.clear();
    for (at, point) in (0..).zip(points) {
        // Of points at one `x` the first is the lowest.
        if let Some(&last) = hull.last()
            && points[last as usize].is_beside(point)
        {
            continue;
        }
        while let [.., before, last] = hull[..]
            && !points[last as usize].is_below(&points[before as usize], point)
        {
            hull.pop();
        }
        hull.push(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Planar for (i32, i32) {
        fn is_beside(&self, other: &Self) -> bool {
            self.0 == other.0
        }

        fn is_below(&self, before: &Self, after: &Self) -> bool {
            (self.0 - before.0) * (after.1 - before.1) > (self.1 - before.1) * (after.0 - before.0)
        }
    }

    #[test]
    fn what_lies_above_is_left_out_and_what_lies_on_a_side() {
        let points = [
            (0, 6),
            (1, 2),
            (1, 3),
            (2, 8),
            (3, 1),
            (4, 10),
            (5, 0),
            (5, 2),
        ];
        let mut hull = vec![7];
        lower_hull(&points, &mut hull);
        // (3, 1) is on the line from (1, 2) to (5, 0).
        assert_eq!(hull, [0, 1, 6]);
    }
}
