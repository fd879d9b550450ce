//! A search that goes on when others have raised some of its nodes.
//!
//! Of a graph that several processes share each has the nodes of its own clocks, all arcs that
//! lead to them, and the nodes where these begin. What others raise, it hears of and
//! passes on. Values only rise, and none exceeds the longest way to its node, so in whatever
//! order they are passed on, the same least solution is left when nobody has raised anything.

use super::{Budget, Cycle, Graph, Parent, State, dealt};
use retime_model::{Cancelled, ClockId, Monitor};

/// How a search ended.
pub(in super::super) enum Ended {
    /// With the least solution.
    Least,
    /// There is none: these cycles forbid it.
    Cycles(Vec<Cycle>),
    /// The steps were used up; the values so far lie below those of the solution.
    Stopped,
}

impl Graph {
    /// The same without the arcs to nodes that other processes raise. They all know the source.
    pub(in super::super) fn without_arcs_to_others(
        mut self,
        is_own: impl Fn(ClockId) -> bool,
        source: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let moments = &self.moments;
        let own = |to: u32| to as usize == source || is_own(moments[to as usize].0);
        let all = self.arcs.len();
        self.arcs.retain(|arc| own(arc.to));
        if self.arcs.len() < all {
            (self.arcs, self.outgoing) = dealt(self.moments.len(), &self.arcs, monitor)?;
        }
        Ok(self)
    }

    /// Nodes of the clocks of others, from which arcs lead on.
    pub(in super::super) fn borrowed(
        &self,
        is_own: impl Fn(ClockId) -> bool,
        source: usize,
    ) -> impl Iterator<Item = u32> {
        (0..self.moments.len() as u32).filter(move |&node| {
            let at = node as usize;
            let leads_on = self.outgoing[at] < self.outgoing[at + 1];
            leads_on && at != source && !is_own(self.moments[at].0)
        })
    }

    /// A search before anything is passed on.
    pub(in super::super) fn begin(&self, source: Option<usize>) -> State {
        State::new(self, source)
    }

    /// Passes on what was raised at some nodes, until nothing rises any more.
    pub(in super::super) fn go_on(
        &self,
        raised: &[u32],
        state: &mut State,
        budget: &mut Budget<'_>,
    ) -> Result<Ended, Cancelled> {
        self.settle(raised.iter().copied(), state, budget)?;
        if state.late.is_empty() && state.closing.is_empty() {
            // What was raised has its value from what was left before it: no circle.
            return Ok(Ended::Least);
        }
        self.search(state, budget)
    }

    /// By node where the way to it enters this process: at a node that was heard of, if at any.
    /// Nothing may run in a circle here.
    pub(in super::super) fn entries(&self, state: &State) -> Vec<Option<u32>> {
        let mut entries: Vec<Option<u32>> = vec![None; self.moments.len()];
        let mut is_known = vec![false; self.moments.len()];
        let mut way = Vec::new();
        for start in 0..self.moments.len() {
            let mut node = start;
            while !is_known[node] {
                is_known[node] = true;
                way.push(node);
                if let Some(parent) = self.parent(node, state) {
                    node = parent;
                } else if state.parents[node] == Parent::Other {
                    entries[node] = Some(node as u32);
                }
            }
            let entry = entries[node];
            for node in way.drain(..) {
                entries[node] = entry;
            }
        }
        entries
    }
}

impl State {
    /// What another process has raised a node to; whether that is news, which has to be
    /// [passed on](Graph::go_on).
    pub(in super::super) fn hear(&mut self, node: u32, value: i128) -> bool {
        let at = node as usize;
        let is_news = value > self.values[at];
        if is_news {
            self.values[at] = value;
            self.parents[at] = Parent::Other;
        }
        is_news
    }

    /// By node, its value so far.
    pub(in super::super) fn values(&self) -> &[i128] {
        &self.values
    }
}
