//! Values that are mostly final at once: each node by the highest way to it.
//!
//! Of passes it takes as many as the longest path turns round in time: in a grid of `n` clocks
//! some root of `n`. Where no way gains on its way, as no value exceeds that of its
//! parent, the node with the highest value of those that are reached has its final one, and
//! is left for good; so each is looked at once.
//!
//! Constraints are relative to the lines of an estimate that mostly satisfies them: few of
//! them gain, where clocks are curved or facts contradict each other. So what is found here are
//! lengths of ways, mostly of the longest, and a few passes of the
//! [search](super::Graph::solve) make them so. The solution is the same, as there is but one;
//! where there is none, which cycles are found depends on the order in which nodes are looked at.
//!
//! For example, from a source over slacks of 1, 1 and 3:
//!
//! ```text
//!   source --1--> a --1--> b        a is left with -1, then b with -2;
//!        `-------3---------^        that of -3 comes too late
//! ```
//!
//! Source: E. W. Dijkstra, *A note on two problems in connexion with graphs* (1959).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Budget, Graph, Parent, State};
use crate::pace::Pace;
use retime_model::Cancelled;

/// Nodes that were reached, the highest first, of equal ones the first.
type Reached = BinaryHeap<(i128, Reverse<u32>)>;

impl Graph {
    /// Raises what is reached from some nodes, each node once.
    pub(super) fn settle(
        &self,
        from: impl Iterator<Item = u32>,
        state: &mut State,
        budget: &mut Budget<'_>,
    ) -> Result<(), Cancelled> {
        let from = from.map(|node| (state.values[node as usize], Reverse(node)));
        let mut reached: Reached = from.collect();
        let mut is_left = vec![false; self.moments.len()];
        let mut pace = Pace::of(budget.monitor);
        while let Some((_, Reverse(node))) = reached.pop() {
            let node = node as usize;
            if std::mem::replace(&mut is_left[node], true) {
                continue;
            }
            // What it raises after they were left, only a pass passes on.
            state.dirty.insert(self.ranks[node] as usize);
            let mut steps = 1;
            for (to, value, parent) in self.ways_on(node, state.values[node]) {
                steps += 1;
                if !is_left[to] && value > state.values[to] && state.source != Some(to) {
                    state.values[to] = value;
                    state.parents[to] = parent;
                    reached.push((value, Reverse(to as u32)));
                }
            }
            budget.use_up(steps);
            pace.events(steps as usize)?;
        }
        Ok(())
    }

    /// Where ways lead to from a node of this value: along its clock, and by its arcs.
    fn ways_on(&self, node: usize, value: i128) -> impl Iterator<Item = (usize, i128, Parent)> {
        let (clock, piece, at) = self.moments[node];
        let before = node.checked_sub(1).map(|to| (to, Parent::After));
        let after = Some((node + 1, Parent::Before));
        let along = [before, after].into_iter().flatten();
        let along = along.filter_map(move |(to, parent)| {
            let &(of, other, end) = self.moments.get(to)?;
            let apart = i128::from(at.abs_diff(end));
            let carried = value.saturating_sub(self.slope.over(apart));
            ((of, other) == (clock, piece)).then_some((to, carried, parent))
        });
        let arcs = (self.outgoing[node]..self.outgoing[node + 1]).map(move |at| {
            let arc = self.arcs[at as usize];
            let raised = value.saturating_add(self.slope.scaled(arc.bound));
            (arc.to as usize, raised, Parent::Arc(at))
        });
        along.chain(arcs)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Bound, Ended, Solved};
    use super::*;
    use crate::edges::EdgeIndex;
    use crate::optimal::link::Slope;
    use retime_model::ClockId;

    /// Constraints that the clocks' true values satisfy, with these slacks; they are relative
    /// to lines that are off by `curved`.
    fn graph(links: &[(u32, u32, i64, i64, i64)], curved: i64) -> Graph {
        let beyond = |clock: u32| curved * i64::from(clock % 3);
        let bound = |&(from, to, at_from, at_to, slack): &(u32, u32, i64, i64, i64)| Bound {
            from: (ClockId(from), 0, at_from),
            to: (ClockId(to), 0, at_to),
            least: beyond(to) - beyond(from) - slack,
            edge: EdgeIndex(0),
        };
        let bounds: Vec<Bound> = links.iter().map(bound).collect();
        let slope = Slope { rise: 1, run: 100 };
        Graph::new(8, bounds.into_iter(), Some((ClockId(0), 0, 0)), slope, &()).unwrap()
    }

    fn links() -> impl Strategy<Value = Vec<(u32, u32, i64, i64, i64)>> {
        let link = (0..8_u32, 0..8_u32, 0..900_i64, 0..900_i64, 0..50_i64);
        proptest::collection::vec(link, 0..60)
    }

    proptest! {
        #[test]
        fn the_solution_is_that_of_passes_alone(links in links(), curved in 0..20_i64) {
            let graph = graph(&links, curved);
            let source = graph.node(&(ClockId(0), 0, 0));
            let least = |solved: Solved| match solved {
                Solved::Least(values) => Some(values),
                _ => None,
            };
            let budget = || Budget::of(u64::MAX, &());
            let passes = graph.solve(source, &mut budget()).unwrap();
            let passes = least(passes);
            prop_assert!(passes.is_some());
            let mut state = graph.begin(source);
            let from: Vec<u32> = source.iter().map(|&it| it as u32).collect();
            let both = graph.go_on(&from, &mut state, &mut budget()).unwrap();
            prop_assert!(matches!(both, Ended::Least));
            prop_assert_eq!(Some(state.values), passes);
        }
    }

    #[test]
    fn where_no_way_gains_all_is_settled_at_once() {
        let links = [
            (0, 1, 0, 0, 1),
            (1, 2, 0, 0, 1),
            (0, 2, 0, 0, 3),
            (2, 1, 0, 90, 0),
        ];
        let graph = graph(&links, 0);
        let source = graph.node(&(ClockId(0), 0, 0)).unwrap();
        let mut state = State::new(&graph, Some(source));
        let mut budget = Budget::of(u64::MAX, &());
        graph
            .settle([source as u32].into_iter(), &mut state, &mut budget)
            .unwrap();
        // Moments of clocks 0, 1, 1 and 2; from 0 to 90 a clock changes by nine tenths.
        assert_eq!(state.values, [0, -100, -190, -200]);
        assert!(!graph.pass(&mut state, &mut budget).unwrap());
    }

    /// A ring of clocks against whose order the way goes, for which passes need one each.
    #[test]
    fn work_grows_with_the_graph_alone() {
        let clocks = 2_000_u32;
        let bound = |from: u32| Bound {
            from: (ClockId(from), 0, 0),
            to: (ClockId(from - 1), 0, 0),
            least: -1,
            edge: EdgeIndex(0),
        };
        let bounds: Vec<Bound> = (1..clocks).map(bound).collect();
        let last = (ClockId(clocks - 1), 0, 0);
        let slope = Slope { rise: 1, run: 100 };
        let graph =
            Graph::new(clocks as usize, bounds.into_iter(), Some(last), slope, &()).unwrap();
        let mut budget = Budget::of(10 * u64::from(clocks), &());
        let source = graph.node(&last).unwrap();
        let mut state = graph.begin(Some(source));
        let ended = graph
            .go_on(&[source as u32], &mut state, &mut budget)
            .unwrap();
        assert!(matches!(ended, Ended::Least));
        assert_eq!(state.values[0], -100 * i128::from(clocks - 1));
        assert!(!budget.is_used_up());
    }
}
