//! Which process holds a clock.
//!
//! A logical clock goes from node to node, so one process has to hold all nodes of a clock.
//! Locations without nodes may be elsewhere.

use retime_model::{ClockId, Clocks};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::nodes::Nodes;
use crate::share::NeedsWhole;

impl Nodes {
    /// Whether this process holds a clock.
    pub(crate) fn owns_clock(&self, clocks: &Clocks, clock: ClockId) -> bool {
        self.owner_of_clock(clocks, clock) == self.share().place().0
    }

    /// Which process holds a clock.
    pub(crate) fn owner_of_clock(&self, clocks: &Clocks, clock: ClockId) -> usize {
        let locations = clocks.locations(clock).iter();
        let mut locations = locations.map(|it| it.as_usize());
        let first = locations.clone().next().unwrap_or(0);
        let busy = locations.find(|&it| self.count(it) > 0);
        self.share().owner(busy.unwrap_or(first))
    }

    /// Says that the trace has to be in one process if the nodes of a clock are in several.
    pub(crate) fn keep_clocks_together(&self, clocks: &Clocks) {
        // A clock that is alone has none to be compared with.
        if self.share().is_whole() || clocks.len() < 2 {
            return;
        }
        let is_apart = |clock: ClockId| {
            let owner = self.owner_of_clock(clocks, clock);
            let locations = clocks.locations(clock).iter();
            let mut busy = locations.filter(|it| self.count(it.as_usize()) > 0);
            busy.any(|it| self.share().owner(it.as_usize()) != owner)
        };
        if clocks.iter().any(is_apart) {
            self.share().needs_whole(NeedsWhole::ClockInSeveral);
        }
    }

    /// By clock, what the process that holds it says.
    pub(crate) fn by_clock<T>(&self, mut mine: Vec<T>, clocks: &Clocks) -> Vec<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        if self.share().is_whole() {
            return mine;
        }
        let own = clocks.iter().zip(&mine);
        let own: Vec<(ClockId, T)> = own
            .filter(|(clock, _)| self.owns_clock(clocks, *clock))
            .map(|(clock, it)| (clock, it.clone()))
            .collect();
        for (clock, it) in self.share().gathered(own).into_iter().flatten() {
            if let Some(known) = mine.get_mut(clock.as_usize()) {
                *known = it;
            }
        }
        mine
    }
}
