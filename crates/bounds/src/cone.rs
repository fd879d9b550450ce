//! Which dependencies of a route tell something that no other tells.
//!
//! A dependency at `(s, r)` with bound `b` implies at `(s', r')` the bound
//! `b - eps |s - s'| - eps |r - r'|`: a cone, since neither clock changes faster
//! than `eps`. Only dependencies on the upper envelope of all cones matter. They
//! are found by a scan forwards and one backwards, each of which compares with
//! the dependency whose cone reaches highest from behind. A dependency is left
//! out only if that cone covers it, so the scans are right in any order; sorted
//! by time they find nearly everything. What they miss where links cross is found
//! by [`maximal`]: a link of another in its quadrant, `s <= s'` and `r <= r'` say, covers it
//! if
//!
//! ```text
//! b / eps + s + r >= b' / eps + s' + r'
//! ```
//!
//! so in each of the four quadrants it is a question of three numbers that are all larger or
//! equal (Kung, Luccio, Preparata 1975), answered in the order of the first by a tree of
//! largest values over the second. Cones that cover cones form an order, so what is maximal of
//! several lists is what is maximal of the maximal links of each.

use super::link::{Dependency, Slope};

/// The envelope of `links`, which are sorted by time.
pub(super) fn prune<'a>(
    links: impl Iterator<Item = &'a Dependency>,
    slope: Slope,
) -> Vec<Dependency> {
    let mut highest = Highest::forwards(slope);
    let ahead = links.filter(|link| highest.rises(link));
    let mut kept: Vec<Dependency> = ahead.copied().collect();
    kept.reverse();
    let mut highest = Highest::backwards(slope);
    kept.retain(|link| highest.rises(link));
    kept.reverse();
    kept
}

/// The links that no other one covers, of `links` sorted by [time](Dependency::time); of equal ones
/// the first.
pub(super) fn maximal(links: &[Dependency], slope: Slope) -> Vec<Dependency> {
    if slope.rise == 0 {
        // Whatever their distance, the largest bound covers all.
        let largest = links.iter().rev().max_by_key(|it| it.bound);
        return largest.copied().into_iter().collect();
    }
    // Where both clocks go forward from link to link, distances add up, and a second scan,
    // which meets none that another scan has dropped, is exact.
    let kept = prune(prune(links.iter(), slope).iter(), slope);
    let both_rise =
        |pair: &[Dependency]| pair[0].at_from <= pair[1].at_from && pair[0].at_to <= pair[1].at_to;
    if kept.windows(2).all(both_rise) {
        return kept;
    }
    uncovered(kept, slope)
}

/// The links that no other one covers, of links that cross.
fn uncovered(mut links: Vec<Dependency>, slope: Slope) -> Vec<Dependency> {
    links.sort_by_key(|it| (it.at_from, it.at_to, std::cmp::Reverse(it.bound)));
    links.dedup_by_key(|it| (it.at_from, it.at_to));
    let mut is_covered = vec![false; links.len()];
    for (along_from, along_to) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
        let from = |it: &Dependency| i128::from(it.at_from) * along_from;
        let to = |it: &Dependency| i128::from(it.at_to) * along_to;
        let mut ranks: Vec<i128> = links.iter().map(to).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let mut order: Vec<usize> = (0..links.len()).collect();
        order.sort_unstable_by_key(|&it| (from(&links[it]), to(&links[it])));
        let mut behind = LargestBelow::new(ranks.len());
        for link in order {
            let it = &links[link];
            let reach = slope
                .scaled(it.bound)
                .saturating_add(slope.over(from(it) + to(it)));
            let rank = ranks.partition_point(|&rank| rank < to(it));
            is_covered[link] |= behind.up_to(rank) >= Some(reach);
            behind.insert(rank, reach);
        }
    }
    let mut covered = is_covered.into_iter();
    links.retain(|_| !covered.next().unwrap_or(false));
    links.sort_by_key(Dependency::time);
    links
}

/// The largest of the values so far whose rank is not above a given one: a Fenwick tree.
struct LargestBelow(Vec<Option<i128>>);

impl LargestBelow {
    fn new(ranks: usize) -> Self {
        Self(vec![None; ranks + 1])
    }

    fn insert(&mut self, rank: usize, value: i128) {
        let mut at = rank + 1;
        while let Some(largest) = self.0.get_mut(at) {
            *largest = (*largest).max(Some(value));
            at += at & at.wrapping_neg();
        }
    }

    fn up_to(&self, rank: usize) -> Option<i128> {
        let (mut at, mut largest) = (rank + 1, None);
        while at > 0 {
            largest = largest.max(self.0[at]);
            at &= at - 1;
        }
        largest
    }
}

/// The cone that reaches highest ahead.
pub(super) struct Highest {
    slope: Slope,
    /// 1 forwards in time, -1 backwards.
    direction: i128,
    cone: Option<(i128, Dependency)>,
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

    /// True if no cone so far covers the link.
    pub(super) fn rises(&mut self, link: &Dependency) -> bool {
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
    use proptest::prelude::*;

    use super::*;
    use retime_causality::edges::EdgeIndex;

    fn link(at: i64, bound: i64) -> Dependency {
        Dependency {
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

    fn covers(a: &Dependency, b: &Dependency, slope: Slope) -> bool {
        let apart = a.at_from.abs_diff(b.at_from) + a.at_to.abs_diff(b.at_to);
        slope.scaled(a.bound) - slope.over(apart.into()) >= slope.scaled(b.bound)
    }

    proptest! {
        #[test]
        fn maximal_links_are_those_that_no_other_covers(
            ends in proptest::collection::vec((0_i64..40, 0_i64..40, 0_i64..12), 0..60),
            rise in 0_i128..4,
            parts in 1_usize..4,
        ) {
            let slope = Slope { rise, run: 7 };
            let link = |(edge, &(at_from, at_to, bound)): (u32, &(i64, i64, i64))| Dependency {
                at_from,
                at_to,
                bound,
                edge: EdgeIndex(edge),
            };
            let mut links: Vec<Dependency> = (0..).zip(&ends).map(link).collect();
            links.sort_by_key(Dependency::time);
            let is_first = |(place, it): &(usize, &Dependency)| {
                let others = links.iter().enumerate();
                others.filter(|(other, _)| other != place).all(|(other, by)| {
                    !covers(by, it, slope) || covers(it, by, slope) && other > *place
                })
            };
            let known = |it: &Dependency| (it.at_from, it.at_to, it.bound);
            let expected: Vec<_> = links.iter().enumerate().filter(is_first).map(|it| known(it.1)).collect();
            let found = maximal(&links, slope);
            prop_assert_eq!(found.iter().map(known).collect::<Vec<_>>(), &expected[..]);
            // The maximal of the maximal of parts are the same.
            let mut of_parts: Vec<Dependency> = (0..parts)
                .flat_map(|part| {
                    let own: Vec<Dependency> = links.iter().skip(part).step_by(parts).copied().collect();
                    maximal(&own, slope)
                })
                .collect();
            of_parts.sort_by_key(Dependency::time);
            let found = maximal(&of_parts, slope);
            prop_assert_eq!(found.iter().map(known).collect::<Vec<_>>(), expected);
        }
    }
}
