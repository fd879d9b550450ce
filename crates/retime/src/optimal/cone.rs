//! Which dependencies of a route tell something that no other tells.
//!
//! A dependency at `(s, r)` with bound `b` implies at `(s', r')` the bound
//! `b - eps |s - s'| - eps |r - r'|`: a cone, since neither clock changes faster
//! than `eps`. Only dependencies on the upper envelope of all cones matter. They
//! are found by a scan forwards and one backwards, each of which compares with
//! the dependency whose cone reaches highest from behind. A dependency is left
//! out only if that cone covers it, so the scans are right in any order; sorted
//! by time they find nearly everything.

use super::link::{Link, Slope};

/// The envelope of `links`, which are sorted by time.
pub(super) fn prune<'a>(links: impl Iterator<Item = &'a Link>, slope: Slope) -> Vec<Link> {
    let mut highest = Highest::forwards(slope);
    let ahead = links.filter(|link| highest.rises(link));
    let mut kept: Vec<Link> = ahead.copied().collect();
    kept.reverse();
    let mut highest = Highest::backwards(slope);
    kept.retain(|link| highest.rises(link));
    kept.reverse();
    kept
}

/// The cone that reaches highest ahead.
pub(super) struct Highest {
    slope: Slope,
    /// 1 forwards in time, -1 backwards.
    direction: i128,
    cone: Option<(i128, Link)>,
}

impl Highest {
    /// For links that come by rising time.
    pub(super) fn forwards(slope: Slope) -> Self {
        Self {
            slope,
            direction: 1,
            cone: None,
        }
    }

    /// For links that come by falling time.
    pub(super) fn backwards(slope: Slope) -> Self {
        Self {
            direction: -1,
            ..Self::forwards(slope)
        }
    }

    /// Whether no cone so far covers the link.
    pub(super) fn rises(&mut self, link: &Link) -> bool {
        let bound = self.slope.scaled(link.bound);
        if let Some((_, cone)) = &self.cone {
            let apart = i128::from(cone.at_from.abs_diff(link.at_from))
                + i128::from(cone.at_to.abs_diff(link.at_to));
            let implied = self
                .slope
                .scaled(cone.bound)
                .saturating_sub(self.slope.over(apart));
            if implied >= bound {
                return false;
            }
        }
        let along = (i128::from(link.at_from) + i128::from(link.at_to)) * self.direction;
        let reach = bound.saturating_add(self.slope.over(along));
        if self.cone.is_none_or(|(highest, _)| reach > highest) {
            self.cone = Some((reach, *link));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::EdgeIndex;

    fn link(at: i64, bound: i64) -> Link {
        Link {
            at_from: at,
            at_to: at,
            bound,
            edge: EdgeIndex(at as u32),
        }
    }

    #[test]
    fn cones_cover_what_lies_below_them() {
        // One unit per hundred ticks on each of the two clocks.
        let slope = Slope { rise: 1, run: 100 };
        let links = [link(0, 5), link(100, 3), link(200, 2), link(300, 9)];
        // 3 at 100 and 2 at 200 lie under the cone of 5, or of 9.
        assert_eq!(prune(links.iter(), slope), [link(0, 5), link(300, 9)]);
    }

    #[test]
    fn constant_clocks_leave_the_largest_bound() {
        let slope = Slope { rise: 0, run: 1 };
        let links = [link(0, 5), link(100, 7), link(200, 7), link(300, 6)];
        assert_eq!(prune(links.iter(), slope), [link(100, 7)]);
    }
}
