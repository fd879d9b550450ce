//! Pairwise offsets: one constant per clock, in the middle of what the
//! dependencies allow.
//!
//! A dependency from clock `i` to clock `k` of latency `l` says
//! `y_i - y_k <= l + relax`, so with the least latency of each pair the largest
//! and the smallest value each clock can have against a root are shortest paths
//! from and to the root. Both solutions satisfy all dependencies, hence so does
//! their mean, which is taken. Where clocks drift no constants satisfy them; then
//! all are relaxed by the same amount, the least possible: minus the least mean
//! latency of any cycle of clocks.
//!
//! Sources: for shortest paths between pair bounds Hofmann & Hilgers in
//! Rabenseifner 2000, section 7.5; the cycle is found by improvement (Dinkelbach
//! 1967), each negative one giving a better mean.

use super::links::Link;
use retime_model::{Cancelled, Monitor};
use retime_numerics::paths::{Arc, Start, shortest_paths};

/// How often the relaxation is raised; each time at least one cycle closes.
const MOST_CYCLES: usize = 1_000;

/// A bound between two clocks of a component: `value[to] <= value[from] + length`.
type Bound = Arc<i128>;

/// The constants to add to each clock; `least` is the smallest latency of each link. The
/// root is the reference, or the busiest clock of a component without it.
/// Clocks that are alone in their component get 0. Fails only if `monitor` says to give up.
pub(super) fn pairwise_offsets(
    links: &[Link],
    least: &[i64],
    component: &[usize],
    reference: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let inside = |(link, _): &(&Link, &i64)| component[link.from] == component[link.to];
    let mut arcs: Vec<(usize, Bound)> = links
        .iter()
        .zip(least)
        .filter(inside)
        .map(|(link, &least)| {
            let arc = Arc {
                from: link.to as u32,
                to: link.from as u32,
                length: i128::from(least),
            };
            (component[link.from], arc)
        })
        .collect();
    arcs.sort_by_key(|&(component, _)| component);
    let mut values = vec![0; component.len()];
    for part in arcs.chunk_by(|a, b| a.0 == b.0) {
        // Numbered from 0, or each of many components would have room for all clocks.
        let mut clocks: Vec<u32> = part
            .iter()
            .flat_map(|(_, arc)| [arc.from, arc.to])
            .collect();
        clocks.sort_unstable();
        clocks.dedup();
        let number = |clock: u32| clocks.partition_point(|&it| it < clock) as u32;
        let arc = |&(_, arc): &(usize, Bound)| Arc {
            from: number(arc.from),
            to: number(arc.to),
            ..arc
        };
        let reference = clocks.iter().position(|&it| it as usize == reference);
        let arcs = part.iter().map(arc).collect();
        for (at, value) in middle(clocks.len(), arcs, reference, monitor)? {
            values[clocks[at] as usize] = value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        }
    }
    Ok(values)
}

/// The middle for the clocks of one component.
fn middle(
    clocks: usize,
    mut arcs: Vec<Bound>,
    reference: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Vec<(usize, i128)>, Cancelled> {
    let root = reference.unwrap_or_else(|| busiest(clocks, &arcs));
    let paths = |arcs: &[Bound]| shortest_paths(clocks, Start::At(root), arcs, 0);
    let mut above = paths(&arcs);
    for _ in 0..MOST_CYCLES {
        let Err(cycle) = &above else {
            break;
        };
        let (sum, steps) = (
            cycle.iter().map(|arc| arc.length).sum::<i128>(),
            cycle.len() as i128,
        );
        // Rounded up, so that the cycle is negative no more.
        let relax = (-sum).div_euclid(steps) + i128::from((-sum).rem_euclid(steps) > 0);
        for arc in &mut arcs {
            arc.length += relax;
        }
        monitor.check()?;
        above = paths(&arcs);
    }
    monitor.check()?;
    for arc in &mut arcs {
        (arc.from, arc.to) = (arc.to, arc.from);
    }
    let (Ok(above), Ok(below)) = (above, paths(&arcs)) else {
        return Ok(Vec::new());
    };
    let pairs = above.into_iter().zip(below).enumerate();
    let middle = |(above, below): (i128, i128)| (above - below).div_euclid(2);
    let found = pairs.filter_map(|(clock, (above, below))| Some((clock, middle((above?, below?)))));
    Ok(found.collect())
}

/// The clock with the most arcs; of several the first.
fn busiest(clocks: usize, arcs: &[Bound]) -> usize {
    let mut degree = vec![0_usize; clocks];
    for arc in arcs {
        degree[arc.from as usize] += 1;
    }
    let most = degree.iter().copied().max();
    degree
        .iter()
        .position(|&it| Some(it) == most)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::components::components;
    use crate::links::Links;
    use crate::reduced::LinkPoint;
    use retime_causality::edges::{Edge, Edges};
    use retime_model::ClockId;

    fn component(clocks: usize, links: &Links) -> Vec<usize> {
        let pairs: Vec<_> = links.list().iter().map(|it| (it.from, it.to)).collect();
        components(clocks, &pairs)
    }

    /// The constants for pairs of least latencies, and these, ordered by pair.
    fn of(clocks: usize, latencies: &[(u32, u32, i64)]) -> Vec<i64> {
        let edge = |&(from, to, latency): &(u32, u32, i64)| {
            Edge::message(ClockId(from), 0, ClockId(to), latency)
        };
        let edges = latencies.iter().map(edge).collect();
        let edges = Edges::new(edges, vec![None; clocks]);
        let links = Links::of_list(&edges);
        let least = |link: &Link| links.of(link).iter().map(LinkPoint::latency).min().unwrap();
        let least: Vec<i64> = links.list().iter().map(least).collect();
        let component = component(clocks, &links);
        pairwise_offsets(links.list(), &least, &component, 0, &()).unwrap()
    }

    #[test]
    fn the_middle_of_what_two_clocks_allow() {
        // Clock 1 is at most 30 late and at least 10: 20.
        assert_eq!(of(2, &[(0, 1, -10), (1, 0, 30)]), [0, 20]);
        // No constant fits; both miss it by 10.
        assert_eq!(of(2, &[(0, 1, -30), (1, 0, 10)]), [0, 20]);
        // Over a third clock it can be told better than directly.
        let latencies = [
            (0, 1, 90),
            (1, 0, 90),
            (0, 2, 1),
            (2, 0, 1),
            (1, 2, -49),
            (2, 1, 51),
        ];
        assert_eq!(of(3, &latencies), [0, -50, 0]);
    }

    #[test]
    fn one_way_says_nothing_here() {
        assert_eq!(of(3, &[(0, 1, 500), (0, 1, 400), (1, 2, 3)]), [0, 0, 0]);
    }

    proptest! {
        #[test]
        fn bounds_are_kept_where_they_can_be(
            truth in proptest::collection::vec(-1_000_000..1_000_000_i64, 2..8),
            picked in proptest::collection::vec((0..8_u32, 0..8_u32, 0..500_i64), 0..60),
        ) {
            let clocks = truth.len();
            let of_truth = |&(from, to, delay): &(u32, u32, i64)| {
                let (from, to) = (from % clocks as u32, to % clocks as u32);
                (from, to, delay - truth[to as usize] + truth[from as usize])
            };
            let latencies: Vec<_> = picked.iter().map(of_truth).filter(|it| it.0 != it.1).collect();
            let values = of(clocks, &latencies);
            let edges: Vec<Edge> = latencies
                .iter()
                .map(|&(from, to, _)| Edge::message(ClockId(from), 0, ClockId(to), 0))
                .collect();
            let edges = Edges::new(edges, vec![None; clocks]);
            let component = component(clocks, &Links::of_list(&edges));
            for &(from, to, latency) in &latencies {
                let (from, to) = (from as usize, to as usize);
                // Halves are rounded to whole ticks, once for each end.
                if component[from] == component[to] {
                    prop_assert!(latency + values[to] - values[from] >= -1);
                }
            }
        }
    }
}
