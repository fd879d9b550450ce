//! How fast clocks reach each other in a window, directly or over others.
//!
//! Directly, or over one other clock, is soon found. Over as many as it takes is not: in a ring of
//! `n` clocks the way back passes all others, and there are `n` such ways. But it is only asked
//! whether there is one that takes less than some time, which is short; so the search ends
//! where all ways are longer, and in a ring after the few clocks that can be reached in that time.
//!
//! Lengths may be negative, as clocks are not quite aligned. What is searched for are the
//! same ways with *reduced* lengths, of which none is negative:
//!
//! ```text
//! reduced(a, b) = length(a, b) + p(a) - p(b),    p(a) the length of the shortest way to a
//! ```
//!
//! so that the length of any way from `a` to `b` changes by `p(a) - p(b)`. If a cycle is negative there
//! is no shortest way, and all steps are taken to last longer by as little as makes none
//! negative.
//!
//! Sources: E. W. Dijkstra (1959); D. B. Johnson, *Efficient algorithms for shortest paths in
//! sparse networks* (1977), on reduced lengths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::components::components;
use super::latency::{TOLERANCE, WindowedWay, least_cycle_mean};
use retime_model::{Cancelled, ClockId, Monitor};
use retime_numerics::paths::{Arc, Start, shortest_paths};

/// Steps that a search looks at, at most. Of a window with fewer it sees all; of one with more, a
/// search in which so many are fast enough to matter would take as many for each pair.
const MOST_STEPS: usize = 1 << 14;

/// The steps of one window, by where they start and end.
pub(super) struct Ways<'a> {
    steps: &'a [WindowedWay],
    clocks: Vec<ClockId>,
    /// Positions of steps, by where they end and start.
    arriving: Vec<u32>,
    component: Vec<usize>,
    reduced: OnceLock<ReducedLengths>,
}

/// Lengths that are reduced so that none is negative.
struct ReducedLengths {
    /// The amount by which each step is taken to last longer.
    longer: f64,
    /// One entry per clock.
    potential: Vec<f64>,
}

/// A length, to be compared.
#[derive(Clone, Copy, PartialEq)]
struct Length(f64);

impl Eq for Length {}

impl PartialOrd for Length {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Length {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<'a> Ways<'a> {
    /// The ways of these steps between clocks, each pair once.
    pub(super) fn new(steps: &'a [WindowedWay]) -> Self {
        let mut clocks: Vec<ClockId> = steps.iter().flat_map(|it| [it.from, it.to]).collect();
        clocks.sort_unstable();
        clocks.dedup();
        let mut arriving: Vec<u32> = (0..steps.len() as u32).collect();
        arriving.sort_unstable_by_key(|&at| {
            let step = &steps[at as usize];
            (step.to, step.from)
        });
        let mut ways = Self {
            steps,
            clocks,
            arriving,
            component: Vec::new(),
            reduced: OnceLock::new(),
        };
        let pairs = steps
            .iter()
            .map(|it| (ways.number(it.from), ways.number(it.to)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        ways.component = components(ways.clocks.len(), &pairs);
        ways
    }

    fn number(&self, clock: ClockId) -> usize {
        self.clocks.partition_point(|&it| it < clock)
    }

    /// The step between two clocks.
    pub(super) fn find(&self, from: ClockId, to: ClockId) -> Option<&WindowedWay> {
        let steps = self.steps;
        let at = steps.binary_search_by_key(&(from, to), |step| (step.from, step.to));
        steps.get(at.ok()?)
    }

    /// The steps away from a clock.
    fn away(&self, from: ClockId) -> &'a [WindowedWay] {
        let first = self.steps.partition_point(|step| step.from < from);
        let rest = &self.steps[first..];
        &rest[..rest.partition_point(|step| step.from <= from)]
    }

    /// The steps to a clock.
    fn towards(&self, to: ClockId) -> impl ExactSizeIterator<Item = &'a WindowedWay> {
        let (steps, arriving) = (self.steps, &self.arriving);
        let end_of = |at: &u32| steps[*at as usize].to;
        let first = arriving.partition_point(|at| end_of(at) < to);
        let rest = &arriving[first..];
        let those = &rest[..rest.partition_point(|at| end_of(at) <= to)];
        those.iter().map(move |&at| &steps[at as usize])
    }

    /// True if there is a way back, between clocks that a step leads from and to.
    pub(super) fn return_from(&self, from: ClockId, to: ClockId) -> bool {
        self.component.get(self.number(from)) == self.component.get(self.number(to))
    }

    /// How long the fastest way takes directly or over one other clock, if there is any.
    pub(super) fn short(&self, from: ClockId, to: ClockId) -> Option<f64> {
        let direct = self.find(from, to).map(|step| step.fastest);
        let (away, towards) = (self.away(from), self.towards(to));
        let sum = |first: &WindowedWay, second: &WindowedWay| first.fastest + second.fastest;
        // A clock may have steps to all others.
        let over_one = if away.len() < towards.len() {
            let ways = away
                .iter()
                .filter_map(|it| Some(sum(it, self.find(it.to, to)?)));
            ways.reduce(f64::min)
        } else {
            let ways = towards.filter_map(|it| Some(sum(self.find(from, it.from)?, it)));
            ways.reduce(f64::min)
        };
        [direct, over_one].into_iter().flatten().reduce(f64::min)
    }

    /// Tells if no way over any other clocks takes less than `limit`; `None` if it takes too
    /// long to tell. Fails only if `monitor` says to give up.
    pub(super) fn none_below(
        &self,
        from: ClockId,
        to: ClockId,
        limit: f64,
        monitor: &dyn Monitor,
    ) -> Result<Option<bool>, Cancelled> {
        let reduced = if let Some(known) = self.reduced.get() {
            known
        } else {
            let found = ReducedLengths::new(self, monitor)?;
            self.reduced.get_or_init(|| found)
        };
        let potential = |clock: ClockId| reduced.potential[self.number(clock)];
        let limit = limit + potential(from) - potential(to);
        let mut known = FxHashMap::from_iter([(from, 0.0)]);
        let mut reached = BinaryHeap::from([Reverse((Length(0.0), from))]);
        let mut looked_at = 0;
        while let Some(Reverse((Length(so_far), clock))) = reached.pop() {
            if so_far >= limit {
                break;
            }
            if clock == to {
                return Ok(Some(false));
            }
            if known.get(&clock).is_some_and(|&known| known < so_far) {
                continue;
            }
            let away = self.away(clock);
            looked_at += away.len();
            if looked_at > MOST_STEPS {
                return Ok(None);
            }
            for step in away {
                let length = step.fastest + reduced.longer;
                let length = length + potential(clock) - potential(step.to);
                let length = so_far + length.max(0.0);
                let other = known.entry(step.to).or_insert(f64::INFINITY);
                if length < *other {
                    *other = length;
                    reached.push(Reverse((Length(length), step.to)));
                }
            }
        }
        Ok(Some(true))
    }
}

impl ReducedLengths {
    fn new(ways: &Ways<'_>, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let of = |longer: f64| {
            let arc = |step: &WindowedWay| Arc {
                from: ways.number(step.from) as u32,
                to: ways.number(step.to) as u32,
                length: step.fastest + longer,
            };
            let arcs: Vec<Arc<f64>> = ways.steps.iter().map(arc).collect();
            let found = shortest_paths(ways.clocks.len(), Start::Everywhere, &arcs, TOLERANCE);
            found.ok().map(|potential| Self {
                longer,
                potential: potential.into_iter().map(|it| it.unwrap_or(0.0)).collect(),
            })
        };
        if let Some(found) = of(0.0) {
            return Ok(found);
        }
        let least = least_cycle_mean(ways.steps.iter(), monitor)?;
        let longer = TOLERANCE - least.unwrap_or(0.0).min(0.0);
        Ok(of(longer).unwrap_or_else(|| Self {
            longer,
            potential: vec![0.0; ways.clocks.len()],
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn step((from, to, fastest): (u32, u32, i32)) -> WindowedWay {
        WindowedWay::of(ClockId(from), ClockId(to), f64::from(fastest))
    }

    proptest! {
        /// Compared with all shortest ways; each clock is off by something, so that lengths are
        /// negative and cycles are not.
        #[test]
        fn ways_are_none_below_the_shortest(
            picked in proptest::collection::btree_map((0..7_u32, 0..7_u32), 1..40_i32, 1..20),
            off in proptest::collection::vec(-100..100_i32, 7),
            limit in -300..300_i32,
        ) {
            let shifted = |((from, to), takes): ((u32, u32), i32)| {
                step((from, to, takes + off[to as usize] - off[from as usize]))
            };
            let picked = picked.into_iter().filter(|&((from, to), _)| from != to);
            let steps: Vec<WindowedWay> = picked.map(shifted).collect();
            let ways = Ways::new(&steps);
            let mut shortest = [[f64::INFINITY; 7]; 7];
            for step in &steps {
                shortest[step.from.as_usize()][step.to.as_usize()] = step.fastest;
            }
            for (at, from) in shortest.iter_mut().enumerate() {
                from[at] = 0.0;
            }
            for via in 0..7 {
                for from in 0..7 {
                    for to in 0..7 {
                        let over = shortest[from][via] + shortest[via][to];
                        shortest[from][to] = shortest[from][to].min(over);
                    }
                }
            }
            let limit = f64::from(limit) + 0.5;
            for it in &steps {
                let back = shortest[it.to.as_usize()][it.from.as_usize()];
                prop_assert_eq!(ways.return_from(it.from, it.to), back.is_finite());
                let found = ways.none_below(it.to, it.from, limit, &()).unwrap();
                prop_assert_eq!(found, Some(back >= limit));
                let short = ways.short(it.from, it.to).unwrap();
                prop_assert!(short <= it.fastest && short >= shortest[it.from.as_usize()][it.to.as_usize()]);
            }
        }
    }

    #[test]
    fn steps_that_contradict_each_other_are_taken_to_last_longer() {
        let steps = [(0, 1, -30), (1, 2, 10), (2, 0, 10)].map(step);
        let ways = Ways::new(&steps);
        // Each by 3 1/3.
        let below = |limit| ways.none_below(ClockId(1), ClockId(0), limit, &()).unwrap();
        assert_eq!((below(26.0), below(27.0)), (Some(true), Some(false)));
    }

    /// A ring in which every clock is asked for the way back, over all others.
    #[test]
    fn a_ring_is_not_gone_round_for_each_of_its_clocks() {
        let count = 50_000;
        let mut steps: Vec<WindowedWay> = (0..count)
            .map(|at| step((at, (at + 1) % count, 5)))
            .collect();
        steps.sort_unstable_by_key(|it| (it.from, it.to));
        let ways = Ways::new(&steps);
        for it in &steps {
            let found = ways.none_below(it.to, it.from, 1_000.0, &()).unwrap();
            assert_eq!(found, Some(true));
        }
    }
}
