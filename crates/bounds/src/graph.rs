//! Difference constraints as a graph, and their least solution.
//!
//! A node is a moment of a clock, its value what has to be added there. An arc
//! says `value(to) >= value(from) + weight`; along a clock a value falls by no
//! more than the [`Slope`] from one node to the next, in either direction. The
//! least solution is the longest path to each node (Bellman 1958, Ford 1956),
//! found in passes: the nodes whose values rose pass them on, to their neighbours on the clock
//! and through their arcs, first in order of time and then against it (Yen 1970). Messages
//! mostly go one way in time, so a path takes as many passes as it turns round in time, however
//! often it changes clocks. Where a path could grow for
//! ever nothing satisfies all constraints, and the parents of the nodes, each
//! the node that raised it last, run in a circle: that is the proof.
//!
//! Source of the passes: J. Y. Yen, *An algorithm for finding shortest routes from all source
//! nodes to a given destination in general networks* (1970).
//!
//! One node may be the source: its value is 0, and all others follow from it. Where
//! there probably is a solution, the search begins with values that are mostly
//! [final](settled).

mod built;
mod ranks;
mod settled;

use std::sync;

use serde::{Deserialize, Serialize};

use self::built::{Arc, GraphNodes, dealt};
use self::ranks::{NodesInTime, Ranks};
use super::link::{Bound, Moment, Slope};
use retime_causality::edges::EdgeIndex;
use retime_model::ClockId;
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};

/// How much work a search may take: steps, not seconds, so that it ends where it
/// does on any other computer. Each is a look at a node or an arc; a core does some
/// hundred million per second. And whether it is still wanted.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    left: u64,
    monitor: &'a dyn Monitor,
}

impl<'a> Budget<'a> {
    pub(super) const fn of(steps: u64, monitor: &'a dyn Monitor) -> Self {
        Self {
            left: steps,
            monitor,
        }
    }

    pub(super) const fn monitor(&self) -> &'a dyn Monitor {
        self.monitor
    }

    pub(super) const fn use_up(&mut self, steps: u64) {
        self.left = self.left.saturating_sub(steps);
    }

    pub(super) const fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Asks two questions side by side; each may take what is left, and what the
    /// longer one took counts.
    pub(super) fn both<A: Send, B: Send>(
        &mut self,
        first: impl FnOnce(&mut Self) -> A + Send,
        second: impl FnOnce(&mut Self) -> B + Send,
    ) -> (A, B) {
        let (mut ours, mut theirs) = (*self, *self);
        let answers = rayon::join(|| first(&mut ours), || second(&mut theirs));
        self.left = ours.left.min(theirs.left);
        answers
    }
}

/// A value that nothing bounds.
pub(super) const UNBOUNDED: i128 = i128::MIN;

/// The constraints.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// Moments by clock, piece and place; shared with the graph turned round.
    moments: sync::Arc<[Moment]>,
    /// Nodes of clock `c` are `first[c]..first[c + 1]`.
    first: Vec<u32>,
    /// Sorted by `from`.
    arcs: Vec<Arc>,
    /// Arcs of node `n` are `outgoing[n]..outgoing[n + 1]`.
    outgoing: Vec<u32>,
    /// Nodes by place, whatever their clocks, once a pass needs them.
    in_time: sync::Arc<sync::OnceLock<NodesInTime>>,
    slope: Slope,
}

/// The result of solving.
#[derive(Clone, Debug)]
pub(super) enum SolvedGraph {
    /// The least solution, by node.
    Least(Vec<i128>),
    /// There is none: these cycles forbid it.
    Cycles(Vec<PositiveCycle>),
    /// The steps were used up; the values so far lie below those of the solution.
    Stopped(Vec<i128>),
}

/// A closed walk over clocks whose bounds add up to more than what the clocks
/// may change on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PositiveCycle {
    pub(super) parts: Vec<Part>,
}

/// A part of a [`PositiveCycle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Part {
    /// A dependency between two clocks, by its position in the list of those, and its bound.
    Dependency {
        clocks: (ClockId, ClockId),
        edge: EdgeIndex,
        bound: i64,
    },
    /// From one place of a clock to another.
    Stretch { clock: ClockId, from: i64, to: i64 },
}

impl PositiveCycle {
    /// The sum of all bounds.
    pub(super) fn bound(&self) -> i128 {
        self.parts.iter().map(Part::bound).sum()
    }

    /// The sum of all distances along clocks.
    pub(super) fn width(&self) -> i128 {
        self.parts.iter().map(Part::width).sum()
    }
}

impl Part {
    pub(super) fn bound(&self) -> i128 {
        match *self {
            Self::Dependency { bound, .. } => i128::from(bound),
            Self::Stretch { .. } => 0,
        }
    }

    pub(super) fn width(&self) -> i128 {
        match *self {
            Self::Dependency { .. } => 0,
            Self::Stretch { from, to, .. } => i128::from(from.abs_diff(to)),
        }
    }
}

/// Who raised a node last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parent {
    None,
    /// Its neighbour on the clock, before or after it.
    Before,
    After,
    Arc(u32),
}

impl Graph {
    /// The graph of `bounds`; `more` moments are nodes too.
    pub(super) fn new(
        clocks: usize,
        bounds: impl Iterator<Item = Bound> + Clone,
        more: Option<Moment>,
        slope: Slope,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let nodes = GraphNodes::of(clocks, bounds.clone(), more, monitor)?;
        let arcs = nodes.arcs(bounds);
        let (arcs, outgoing) = dealt(nodes.moments.len(), &arcs, monitor)?;
        Ok(Self {
            moments: nodes.moments.into(),
            first: nodes.first,
            arcs,
            outgoing,
            in_time: sync::Arc::default(),
            slope,
        })
    }

    /// This graph with all arcs turned round: its solution, negated, is the
    /// greatest of this one.
    pub(super) fn reversed(&self, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let turn = |arc: &Arc| Arc {
            from: arc.to,
            to: arc.from,
            ..*arc
        };
        let arcs: Vec<Arc> = self.arcs.iter().map(turn).collect();
        let (arcs, outgoing) = dealt(self.moments.len(), &arcs, monitor)?;
        Ok(Self {
            moments: self.moments.clone(),
            first: self.first.clone(),
            arcs,
            outgoing,
            in_time: self.in_time.clone(),
            slope: self.slope,
        })
    }

    /// The nodes in order of time; they are sorted when they are first asked for.
    fn in_time(&self, monitor: &dyn Monitor) -> Result<&NodesInTime, Cancelled> {
        if let Some(known) = self.in_time.get() {
            return Ok(known);
        }
        let sorted = NodesInTime::of(&self.moments, monitor)?;
        Ok(self.in_time.get_or_init(|| sorted))
    }

    /// Nodes of a clock.
    pub(super) fn nodes(&self, clock: ClockId) -> std::ops::Range<usize> {
        let clock = clock.as_usize();
        self.first[clock] as usize..self.first[clock + 1] as usize
    }

    /// The moment of a node.
    pub(super) fn moment(&self, node: usize) -> Moment {
        self.moments[node]
    }

    /// The node of a moment.
    pub(super) fn node(&self, moment: &Moment) -> Option<usize> {
        self.moments.binary_search(moment).ok()
    }

    /// The least solution: relative to a source, or without one the least of
    /// those that are nowhere negative. Goes on as long as the
    /// budget lasts, and looks at all nodes once at least.
    pub(super) fn solve(
        &self,
        source: Option<usize>,
        budget: &mut Budget<'_>,
    ) -> Result<SolvedGraph, Cancelled> {
        let mut state = GraphSearch::new(self, source);
        state.dirty = Ranks::full(self.moments.len());
        self.search(state, budget)
    }

    /// The least solution relative to a source, where there probably is one: values are mostly
    /// [final](settled) at once.
    pub(super) fn solve_from(
        &self,
        source: usize,
        budget: &mut Budget<'_>,
    ) -> Result<SolvedGraph, Cancelled> {
        let mut state = GraphSearch::new(self, Some(source));
        self.settle(source as u32, &mut state, budget)?;
        if state.late.is_empty() && state.closing.is_empty() {
            // Each value follows from one that was final before it: no cycle.
            return Ok(SolvedGraph::Least(state.values));
        }
        self.search(state, budget)
    }

    /// Goes on until nothing rises any more, or it is known that something always will.
    fn search(
        &self,
        mut state: GraphSearch,
        budget: &mut Budget<'_>,
    ) -> Result<SolvedGraph, Cancelled> {
        let in_time = self.in_time(budget.monitor)?;
        for node in state.late.drain(..) {
            state.dirty.insert(in_time.rank(node as usize));
        }
        // Without a cycle no path visits a node twice.
        for _ in 0..=self.moments.len() {
            let changed = self.pass(in_time, &mut state, budget)?;
            let cycles = self.cycles(&state);
            if !cycles.is_empty() {
                return Ok(SolvedGraph::Cycles(cycles));
            }
            if !changed {
                return Ok(SolvedGraph::Least(state.values));
            }
            if budget.is_used_up() {
                break;
            }
        }
        Ok(SolvedGraph::Stopped(state.values))
    }

    /// Passes on what rose, in order of time and then against it; whether anything rose that was
    /// not passed on.
    fn pass(
        &self,
        in_time: &NodesInTime,
        state: &mut GraphSearch,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Cancelled> {
        // To look for cycles afterwards.
        budget.use_up(self.moments.len() as u64);
        let mut pace = Pace::of(budget.monitor);
        let mut next = state.dirty.from(0);
        while let Some(rank) = next {
            budget.use_up(self.pass_on(rank, in_time, state));
            pace.event()?;
            next = state.dirty.from(rank + 1);
        }
        let mut next = state.dirty.before(self.moments.len());
        while let Some(rank) = next {
            budget.use_up(self.pass_on(rank, in_time, state));
            pace.event()?;
            next = state.dirty.before(rank);
        }
        Ok(state.dirty.from(0).is_some())
    }

    /// Passes the value of a node on, along its clock and through its arcs; how many others were
    /// looked at.
    fn pass_on(&self, rank: usize, in_time: &NodesInTime, state: &mut GraphSearch) -> u64 {
        state.dirty.remove(rank);
        let node = in_time.node(rank);
        if state.values[node] == UNBOUNDED {
            return 1;
        }
        if node > 0 {
            self.carry(node, node - 1, Parent::After, in_time, state);
        }
        if node + 1 < self.moments.len() {
            self.carry(node, node + 1, Parent::Before, in_time, state);
        }
        self.relax(node, in_time, state);
        2 + u64::from(self.outgoing[node + 1] - self.outgoing[node])
    }

    #[inline]
    fn carry(
        &self,
        from: usize,
        to: usize,
        parent: Parent,
        in_time: &NodesInTime,
        state: &mut GraphSearch,
    ) {
        let ((of, piece, start), (clock, other, end)) = (self.moments[from], self.moments[to]);
        if (of, piece) != (clock, other) {
            return;
        }
        let value = state.values[from];
        let carried = value.saturating_sub(self.slope.over(i128::from(start.abs_diff(end))));
        if carried > state.values[to] && state.source != Some(to) {
            state.values[to] = carried;
            state.parents[to] = parent;
            state.dirty.insert(in_time.rank(to));
        }
    }

    /// Raises others through the arcs of a node.
    fn relax(&self, node: usize, in_time: &NodesInTime, state: &mut GraphSearch) {
        for at in self.outgoing[node]..self.outgoing[node + 1] {
            let arc = self.arcs[at as usize];
            let to = arc.to as usize;
            let value = state.values[node].saturating_add(self.slope.scaled(arc.bound));
            if value > state.values[to] {
                if state.source == Some(to) {
                    state.closing.push(at);
                    continue;
                }
                state.values[to] = value;
                state.parents[to] = Parent::Arc(at);
                state.dirty.insert(in_time.rank(to));
            }
        }
    }

    /// The cycles that the parents form, and those through the source.
    fn cycles(&self, state: &GraphSearch) -> Vec<PositiveCycle> {
        let mut cycles = Vec::new();
        let mut visited = vec![0_u32; self.moments.len()];
        let mut round = 0;
        let starts = state
            .closing
            .iter()
            .map(|&at| (Some(at), self.arcs[at as usize].from));
        let nodes = (0..self.moments.len() as u32).map(|node| (None, node));
        for (closing, start) in starts.chain(nodes) {
            round += 1;
            let mut node = start as usize;
            let mut path = Vec::new();
            while visited[node] == 0 {
                visited[node] = round;
                let Some(parent) = self.parent(node, state) else {
                    break;
                };
                path.push(node);
                node = parent;
            }
            let circle = path.iter().position(|&it| it == node);
            let ends = self.parent(node, state).is_none();
            match (circle, closing) {
                (Some(start), _) => cycles.push(self.walk(&path[start..], None, state)),
                (None, Some(_)) if ends => cycles.push(self.walk(&path, closing, state)),
                _ => {}
            }
        }
        cycles
    }

    fn parent(&self, node: usize, state: &GraphSearch) -> Option<usize> {
        match state.parents[node] {
            Parent::None => None,
            Parent::Before => node.checked_sub(1),
            Parent::After => Some(node + 1),
            Parent::Arc(at) => Some(self.arcs[at as usize].from as usize),
        }
    }

    /// The parts of a walk given from its end to its start.
    fn walk(&self, path: &[usize], closing: Option<u32>, state: &GraphSearch) -> PositiveCycle {
        let mut parts: Vec<Part> = Vec::new();
        let link = |at: u32| {
            let arc = self.arcs[at as usize];
            let clock = |node: u32| self.moments[node as usize].0;
            Part::Dependency {
                clocks: (clock(arc.from), clock(arc.to)),
                edge: arc.edge,
                bound: arc.bound,
            }
        };
        for &node in path.iter().rev() {
            let (clock, _, to) = self.moments[node];
            let step = |neighbour: usize| self.moments[neighbour].2;
            let from = match state.parents[node] {
                Parent::None => continue,
                Parent::Arc(at) => {
                    parts.push(link(at));
                    continue;
                }
                Parent::Before => step(node - 1),
                Parent::After => step(node + 1),
            };
            match parts.last_mut() {
                Some(Part::Stretch {
                    clock: of, to: end, ..
                }) if *of == clock && *end == from => {
                    *end = to;
                }
                _ => parts.push(Part::Stretch { clock, from, to }),
            }
        }
        parts.extend(closing.map(link));
        join_ends(&mut parts);
        PositiveCycle { parts }
    }
}

/// Joins a stretch that the start of the walk cuts in two.
fn join_ends(parts: &mut Vec<Part>) {
    if let [
        Part::Stretch { clock, from, .. },
        ..,
        Part::Stretch {
            clock: of,
            from: start,
            to,
        },
    ] = &mut parts[..]
        && *of == *clock
        && *to == *from
    {
        *from = *start;
        parts.pop();
    }
}

/// A search under way.
struct GraphSearch {
    values: Vec<i128>,
    parents: Vec<Parent>,
    /// Nodes whose values were not passed on, by rank.
    dirty: Ranks,
    /// Nodes whose values were not passed on, as long as ranks are not known.
    late: Vec<u32>,
    source: Option<usize>,
    /// Arcs that would raise the source.
    closing: Vec<u32>,
}

impl GraphSearch {
    /// Before anything is passed on.
    fn new(graph: &Graph, source: Option<usize>) -> Self {
        let start = if source.is_some() { UNBOUNDED } else { 0 };
        let mut state = Self {
            values: vec![start; graph.moments.len()],
            parents: vec![Parent::None; graph.moments.len()],
            dirty: Ranks::none(graph.moments.len()),
            late: Vec::new(),
            source,
            closing: Vec::new(),
        };
        if let Some(source) = source {
            state.values[source] = 0;
        }
        state
    }
}
