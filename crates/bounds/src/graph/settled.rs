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
//! Where clocks have many partners, nearly all ways tell nothing: a clock hardly changes
//! within a run, so that the highest way to it is nearly the highest to each of its moments, and
//! hundreds of others lead to other moments of it. So two things are done before a way is
//! queued with all others. It is left out if the highest way so far that leads to its clock, carried
//! along that, is as high: the neighbour on the clock will pass it on.
//! And along a clock values go from moment to moment at once as long as none that is queued is
//! higher.
//!
//! ```text
//!   queued        --(-5)--> c@40       c@40, c@39, c@41, ... at once, until -5 has fallen
//!                 --(-9)--> c@90       to what is queued next; -9 at 90 is less than
//!                                      what -5 leaves there, and is never queued
//! ```
//!
//! Source: E. W. Dijkstra, *A note on two problems in connexion with graphs* (1959).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Budget, Graph, GraphSearch, Parent};
use crate::link::Moment;
use retime_model::Cancelled;
use retime_model::pace::Pace;

/// Nodes that were reached, the highest first, of equal ones the first.
type Reached = BinaryHeap<(i128, Reverse<u32>)>;

impl Graph {
    /// Raises all nodes that are reached from one, each once. A node that is raised again after it
    /// was left is late: a pass has to pass it on.
    pub(super) fn settle(
        &self,
        from: u32,
        state: &mut GraphSearch,
        budget: &mut Budget<'_>,
    ) -> Result<(), Cancelled> {
        let mut propagation = Propagation::new(self, from, state);
        let mut pace = Pace::of(budget.monitor);
        while let Some(node) = propagation.next() {
            let steps = propagation.leave_with_neighbours(node);
            budget.use_up(steps);
            pace.events(steps as usize)?;
        }
        Ok(())
    }
}

/// Values that are being settled.
struct Propagation<'a> {
    graph: &'a Graph,
    reached: Reached,
    is_left: Vec<bool>,
    /// Per clock: where the highest way to it so far has led, and its value.
    highest: Vec<Option<(Moment, i128)>>,
    state: &'a mut GraphSearch,
}

impl<'a> Propagation<'a> {
    fn new(graph: &'a Graph, from: u32, state: &'a mut GraphSearch) -> Self {
        let from = (state.values[from as usize], Reverse(from));
        Self {
            graph,
            reached: [from].into(),
            is_left: vec![false; graph.moments.len()],
            highest: vec![None; graph.first.len()],
            state,
        }
    }

    /// The highest node that was reached and is not left yet.
    fn next(&mut self) -> Option<usize> {
        loop {
            let (_, Reverse(node)) = self.reached.pop()?;
            if !self.is_left[node as usize] {
                return Some(node as usize);
            }
        }
    }

    /// Leaves a node, and those beside it on the clock as long as nothing that was reached is
    /// higher; how many nodes and arcs were looked at.
    fn leave_with_neighbours(&mut self, node: usize) -> u64 {
        let mut steps = self.leave(node);
        let mut sides = [
            self.beside(node, node.checked_sub(1), Parent::After),
            self.beside(node, Some(node + 1), Parent::Before),
        ];
        loop {
            let value = |side: &Option<NextMoment>| side.as_ref().map(|it| it.value);
            let side = usize::from(value(&sides[1]) > value(&sides[0]));
            let Some(next) = sides[side].take() else {
                return steps;
            };
            let waiting = self.reached.peek();
            if waiting.is_some_and(|(value, _)| *value > next.value) {
                let both = [Some(next), sides[1 - side].take()];
                for it in both.into_iter().flatten() {
                    self.reached.push((it.value, Reverse(it.node as u32)));
                }
                return steps;
            }
            steps += self.leave(next.node);
            let further = match next.parent {
                Parent::After => next.node.checked_sub(1),
                _ => Some(next.node + 1),
            };
            sides[side] = self.beside(next.node, further, next.parent);
        }
    }

    /// Raises a neighbour on the clock, if that has to go on from there.
    fn beside(&mut self, node: usize, to: Option<usize>, parent: Parent) -> Option<NextMoment> {
        let to = to?;
        let graph = self.graph;
        let (clock, piece, at) = graph.moments[node];
        let &(of, other, end) = graph.moments.get(to)?;
        let apart = i128::from(at.abs_diff(end));
        let value = self.state.values[node].saturating_sub(graph.slope.over(apart));
        let goes_on = (of, other) == (clock, piece) && self.raise(to, value, parent);
        goes_on.then_some(NextMoment {
            node: to,
            value,
            parent,
        })
    }

    /// Leaves a node for good, with what its arcs reach.
    fn leave(&mut self, node: usize) -> u64 {
        self.is_left[node] = true;
        let graph = self.graph;
        let value = self.state.values[node];
        let arcs = graph.outgoing[node]..graph.outgoing[node + 1];
        for at in arcs.clone() {
            let arc = graph.arcs[at as usize];
            let raised = value.saturating_add(graph.slope.scaled(arc.bound));
            self.reach(arc.to as usize, raised, at);
        }
        1 + arcs.len() as u64
    }

    /// A way leads to a node by an arc.
    fn reach(&mut self, to: usize, value: i128, arc: u32) {
        if self.state.source == Some(to) {
            if value > self.state.values[to] {
                self.state.closing.push(arc);
            }
            return;
        }
        let moment = self.graph.moments[to];
        let (clock, piece, at) = moment;
        let highest = &mut self.highest[clock.as_usize()];
        if let &mut Some(((_, of, end), most)) = highest
            && of == piece
        {
            let apart = i128::from(at.abs_diff(end));
            if value <= most.saturating_sub(self.graph.slope.over(apart)) {
                return;
            }
        }
        if highest.is_none_or(|(_, most)| value > most) {
            *highest = Some((moment, value));
        }
        if self.raise(to, value, Parent::Arc(arc)) {
            self.reached.push((value, Reverse(to as u32)));
        }
    }

    /// Raises a node; whether it is still to be left then.
    fn raise(&mut self, to: usize, value: i128, parent: Parent) -> bool {
        if value <= self.state.values[to] || self.state.source == Some(to) {
            return false;
        }
        self.state.values[to] = value;
        self.state.parents[to] = parent;
        if self.is_left[to] {
            self.state.late.push(to as u32);
        }
        !self.is_left[to]
    }
}

/// The next moment of a clock.
struct NextMoment {
    node: usize,
    value: i128,
    parent: Parent,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Bound, SolvedGraph};
    use super::*;
    use crate::link::Slope;
    use retime_causality::edges::EdgeIndex;
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
            let least = |solved: SolvedGraph| match solved {
                SolvedGraph::Least(values) => Some(values),
                _ => None,
            };
            let budget = || Budget::of(u64::MAX, &());
            let passes = graph.solve(source, &mut budget()).unwrap();
            let passes = least(passes);
            prop_assert!(passes.is_some());
            let both = graph.solve_from(source.unwrap(), &mut budget()).unwrap();
            prop_assert_eq!(least(both), passes);
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
        let mut state = GraphSearch::new(&graph, Some(source));
        let mut budget = Budget::of(u64::MAX, &());
        graph
            .settle(source as u32, &mut state, &mut budget)
            .unwrap();
        // Moments of clocks 0, 1, 1 and 2; from 0 to 90 a clock changes by nine tenths.
        assert_eq!(state.values, [0, -100, -190, -200]);
        assert!(state.late.is_empty() && state.closing.is_empty());
    }

    /// Clocks that all exchange messages with all others, at moments of their own.
    #[test]
    fn of_many_ways_to_a_clock_few_are_queued() {
        let clocks = 60_u32;
        let pairs = (0..clocks).flat_map(|from| (0..clocks).map(move |to| (from, to)));
        let pairs = pairs.filter(|(from, to)| from != to);
        let bound = |(from, to): (u32, u32)| Bound {
            from: (ClockId(from), 0, i64::from(to)),
            to: (ClockId(to), 0, i64::from(clocks + from)),
            least: -1_000 - i64::from((from * 31 + to * 17) % 997),
            edge: EdgeIndex(0),
        };
        let bounds: Vec<Bound> = pairs.map(bound).collect();
        let slope = Slope { rise: 1, run: 100 };
        let first = (ClockId(0), 0, 1);
        let bounds = bounds.into_iter();
        let graph = Graph::new(clocks as usize, bounds, None, slope, &()).unwrap();
        let source = graph.node(&first).unwrap();
        let mut state = GraphSearch::new(&graph, Some(source));
        let mut propagation = Propagation::new(&graph, source as u32, &mut state);
        let mut queued = 0;
        while let Some(node) = propagation.next() {
            queued += 1;
            propagation.leave_with_neighbours(node);
        }
        // Two ways along each clock, one to it, and those that came before a higher one: not one
        // for each of thousands of messages.
        assert!(queued < 10 * clocks, "{queued}");
        assert!(state.late.is_empty() && state.values.iter().all(|&it| it > -300_000));
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
        let solved = graph.solve_from(source, &mut budget).unwrap();
        let SolvedGraph::Least(values) = solved else {
            panic!("{solved:?}")
        };
        assert_eq!(values[0], -100 * i128::from(clocks - 1));
        assert!(!budget.is_used_up());
    }
}
