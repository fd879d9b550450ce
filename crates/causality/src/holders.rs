//! The part of a trace that has a clock.
//!
//! A logical clock goes from node to node, so one part has to have all nodes of a clock.
//! Locations without nodes may be elsewhere.

use retime_model::{ClockId, Clocks};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::nodes::Nodes;
use crate::whole::NeedsWhole;

impl Nodes {
    /// True if the nodes of a clock are here.
    pub fn has_clock(&self, clocks: &Clocks, clock: ClockId) -> bool {
        self.whole().has(self.first_busy(clocks, clock))
    }

    /// The first location of a clock that has nodes, or else the first of all.
    fn first_busy(&self, clocks: &Clocks, clock: ClockId) -> usize {
        let locations = clocks.locations(clock).iter();
        let mut locations = locations.map(|it| it.as_usize());
        let first = locations.clone().next().unwrap_or(0);
        let busy = locations.find(|&it| self.count(it) > 0);
        busy.unwrap_or(first)
    }

    /// Says that the trace has to be in one piece if the nodes of a clock are in several.
    pub fn keep_clocks_together(&self, clocks: &Clocks) {
        // A clock that is alone has none to be compared with.
        if self.whole().is_here() || clocks.len() < 2 {
            return;
        }
        let is_apart = |clock: ClockId| {
            let domain = self.whole().domain(self.first_busy(clocks, clock));
            let locations = clocks.locations(clock).iter();
            let mut busy = locations.filter(|it| self.count(it.as_usize()) > 0);
            busy.any(|it| self.whole().domain(it.as_usize()) != domain)
        };
        if clocks.iter().any(is_apart) {
            self.whole().give_up(NeedsWhole::ClockInSeveral);
        }
    }

    /// Per clock: the answer of the part that has its nodes.
    pub fn by_clock<T>(&self, mine: Vec<T>, clocks: &Clocks) -> Vec<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        let has =
            |clock: usize| clock < clocks.len() && self.has_clock(clocks, ClockId(clock as u32));
        self.whole().by_number(mine, has)
    }
}
