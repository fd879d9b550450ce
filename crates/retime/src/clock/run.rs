//! Runs logical clocks over a trace: who waits for whom.
//!
//! Each clock goes from node to node until it needs a value of another clock that
//! is not there yet; computing that value wakes it. How a clock goes on by itself
//! between dependencies is the business of a [`Law`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::collective_state::CollectiveState;
use super::cycle::{Cycle, find_cycle};
use super::law::{Computed, Law};
use super::lead::Lead;
use super::times::{Jump, LogicalTimes, UNKNOWN};
use crate::causality::{Causality, Role};
use crate::delay::MinimalDelay;
use retime_model::{ClockId, Clocks};

/// State of a run over all clocks.
pub(super) struct Run<'a, L> {
    pub(super) causality: &'a Causality,
    pub(super) clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    pub(super) law: L,
    pub(super) values: Vec<i64>,
    /// Next node of each location.
    pub(super) next: Vec<u32>,
    states: Vec<ClockState>,
    pub(super) collectives: CollectiveState<'a>,
    jumps: Vec<Jump>,
    /// Clocks that may be able to go on, and whether each is among them.
    pub(super) ready: Vec<ClockId>,
    pub(super) is_ready: Vec<bool>,
    /// Whether other locations of the clock under way share its moment.
    tied: bool,
}

/// Where one clock stands.
struct ClockState {
    lead: Lead,
    /// For clocks that several locations read.
    moment: Option<Moment>,
}

/// The raw time that the locations of a clock are passing together.
#[derive(Default)]
struct Moment {
    raw: i64,
    /// Whether several locations have a node at `raw`.
    tied: bool,
    /// Locations with a node at `raw` ahead, each with its own lead.
    passing: Vec<(usize, Lead)>,
    /// The largest lead of the locations that have passed.
    passed: Lead,
    /// Next raw time of the other locations.
    later: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'a, L: Law> Run<'a, L> {
    pub(super) fn new(
        causality: &'a Causality,
        clocks: &'a Clocks,
        delay: &'a MinimalDelay,
        law: L,
    ) -> Self {
        let nodes = causality.nodes();
        let state = |clock: ClockId| {
            let locations = clocks.locations(clock);
            let mut moment = (locations.len() > 1).then(Moment::default);
            if let Some(moment) = &mut moment {
                let ahead = locations.iter().map(|location| location.as_usize());
                let ahead = ahead.filter(|&location| !nodes.of(location).is_empty());
                moment.later = ahead
                    .map(|location| Reverse((nodes.time(nodes.first(location)).0, location)))
                    .collect();
            }
            ClockState {
                lead: Lead::default(),
                moment,
            }
        };
        Self {
            causality,
            clocks,
            delay,
            law,
            values: vec![UNKNOWN; nodes.len()],
            next: (0..nodes.locations())
                .map(|location| nodes.first(location))
                .collect(),
            states: clocks.iter().map(state).collect(),
            collectives: CollectiveState::new(causality, clocks),
            jumps: Vec::new(),
            ready: clocks.iter().collect(),
            is_ready: vec![true; clocks.len()],
            tied: false,
        }
    }

    /// The times of all nodes, or the cycle that keeps some from being computed.
    pub(super) fn finish(mut self) -> Result<(LogicalTimes, L), Cycle> {
        let nodes = self.causality.nodes();
        let mut locations = 0..nodes.locations();
        if !locations.all(|location| self.next[location] == nodes.of(location).end) {
            return Err(find_cycle(&self));
        }
        self.jumps.sort_unstable();
        let times = LogicalTimes {
            values: self.values,
            jumps: self.jumps,
            gamma: self.law.constant(),
        };
        Ok((times, self.law))
    }

    /// Lets each clock run until it has to wait, until none can go on.
    pub(super) fn in_any_order(&mut self) {
        while let Some(clock) = self.ready.pop() {
            self.is_ready[clock.as_usize()] = false;
            match self.clocks.locations(clock) {
                [location] => self.advance_location(clock, location.as_usize()),
                _ => while self.step_shared(clock) {},
            }
        }
    }

    /// Computes one node of a clock; false if it has to wait, or has none left.
    pub(super) fn step(&mut self, clock: ClockId) -> bool {
        match self.clocks.locations(clock) {
            [location] => {
                let location = location.as_usize();
                let mut lead = self.states[clock.as_usize()].lead;
                self.tied = false;
                let passed =
                    self.next_time(location).is_some() && self.pass(clock, location, &mut lead);
                self.states[clock.as_usize()].lead = lead;
                passed
            }
            _ => self.step_shared(clock),
        }
    }

    /// The raw time of the next node of a clock; `None` at its end.
    pub(super) fn next_of(&self, clock: ClockId) -> Option<i64> {
        let locations = self.clocks.locations(clock).iter();
        locations
            .filter_map(|location| self.next_time(location.as_usize()))
            .min()
    }

    /// Runs a clock that one location reads until it has to wait.
    fn advance_location(&mut self, clock: ClockId, location: usize) {
        let end = self.causality.nodes().of(location).end;
        let mut lead = self.states[clock.as_usize()].lead;
        self.tied = false;
        while self.next[location] < end && self.pass(clock, location, &mut lead) {}
        self.states[clock.as_usize()].lead = lead;
    }

    /// Computes one node of a clock that several locations read.
    fn step_shared(&mut self, clock: ClockId) -> bool {
        let Some(mut moment) = self.states[clock.as_usize()].moment.take() else {
            return false;
        };
        let mut passed = self.pass_moment(clock, &mut moment);
        while !passed && moment.passing.is_empty() && moment.enter_next() {
            passed = self.pass_moment(clock, &mut moment);
        }
        self.states[clock.as_usize()].moment = Some(moment);
        passed
    }

    /// Passes the first node of a moment that does not have to wait.
    fn pass_moment(&mut self, clock: ClockId, moment: &mut Moment) -> bool {
        self.tied = moment.tied;
        for place in 0..moment.passing.len() {
            let (location, mut lead) = moment.passing[place];
            if self.pass(clock, location, &mut lead) {
                let next = self.next_time(location);
                if next == Some(moment.raw) {
                    moment.passing[place].1 = lead;
                } else {
                    let left = |lead| self.law.left(clock, lead, moment.raw);
                    if left(lead) > left(moment.passed) {
                        moment.passed = lead;
                    }
                    moment.leave(place, next);
                }
                return true;
            }
        }
        false
    }

    fn next_time(&self, location: usize) -> Option<i64> {
        let nodes = self.causality.nodes();
        let next = self.next[location];
        (next < nodes.of(location).end).then(|| nodes.time(next).0)
    }

    /// Computes the next node of `location`, unless it has to wait.
    #[inline]
    fn pass(&mut self, clock: ClockId, location: usize, lead: &mut Lead) -> bool {
        let node = self.next[location];
        let role = self.causality.nodes().role(node);
        let bound = match role {
            Role::Send | Role::CollectiveBegin => None,
            Role::Receive => match self.message_bound(clock, node) {
                Bound::Waits => return false,
                Bound::At(bound) => bound,
            },
            Role::CollectiveEnd => match self.collective_bound(clock, node) {
                Bound::Waits => return false,
                Bound::At(bound) => bound,
            },
        };
        let raw = self.causality.nodes().time(node).0;
        let own = self.law.own(clock, *lead, raw, node);
        let value = bound.map_or(own, |bound| bound.max(own));
        if value > own {
            self.jumps.push(Jump {
                node,
                size: value - own,
            });
        }
        *lead = self.law.computed(
            clock,
            *lead,
            Computed {
                node,
                raw,
                own,
                value,
            },
        );
        self.values[node as usize] = value;
        self.next[location] = node + 1;
        self.publish(node, role);
        true
    }

    /// The time before which the message that `receive` got cannot have arrived.
    #[inline]
    fn message_bound(&self, clock: ClockId, receive: u32) -> Bound {
        let Some(send) = self.causality.message_source(receive) else {
            return Bound::At(None);
        };
        let nodes = self.causality.nodes();
        let from = nodes.location(send);
        if self.clocks.of(from) == clock {
            return self.tied_bound(Some(send), receive);
        }
        let sent = self.values[send as usize];
        if sent == UNKNOWN {
            return Bound::Waits;
        }
        let delay = match self.delay {
            MinimalDelay::Uniform(delay) => *delay,
            MinimalDelay::PerPair(table) => table.between(from, nodes.location(receive)),
        };
        Bound::At(Some(sent.saturating_add(delay.0)))
    }

    fn collective_bound(&self, clock: ClockId, end: u32) -> Bound {
        let Some(slot) = self.causality.slot(end) else {
            return Bound::At(None);
        };
        if !self.collectives.is_ready(&self.values, slot, clock) {
            return Bound::Waits;
        }
        let across = self
            .collectives
            .bound(&self.values, self.delay, slot, clock);
        if !self.tied {
            return Bound::At(across);
        }
        let (instance, place) = self.causality.collectives().locate(slot);
        let causes = self.collectives.causes_within(instance, place, clock);
        match self.tied_bound(causes, end) {
            Bound::At(within) => Bound::At(across.max(within)),
            waits @ Bound::Waits => waits,
        }
    }

    /// The time before which `effect` cannot lie for the sake of `causes` on the
    /// same clock.
    fn tied_bound(&self, causes: impl IntoIterator<Item = u32>, effect: u32) -> Bound {
        if !self.tied {
            return Bound::At(None);
        }
        let mut latest = None;
        for cause in causes {
            if self.is_tied(cause, effect) {
                match self.values[cause as usize] {
                    UNKNOWN => return Bound::Waits,
                    value => latest = latest.max(Some(value)),
                }
            }
        }
        Bound::At(latest)
    }

    /// Whether only their dependency tells which of two nodes of one clock is
    /// the earlier one.
    pub(super) fn is_tied(&self, cause: u32, effect: u32) -> bool {
        let nodes = self.causality.nodes();
        nodes.time(cause) == nodes.time(effect) && nodes.location(cause) != nodes.location(effect)
    }

    /// Lets those go on that waited for `node`.
    #[inline]
    fn publish(&mut self, node: u32, role: Role) {
        match role {
            Role::Send => {
                if let Some(receive) = self.causality.message_target(node) {
                    self.wake(receive);
                }
            }
            Role::CollectiveBegin => {
                if let Some(slot) = self.causality.slot(node) {
                    let woken = self.collectives.begun(&self.values, slot);
                    let (instance, _) = self.causality.collectives().locate(slot);
                    for place in woken {
                        let effect = self.causality.collectives().slots(instance)[place].effect();
                        if let Some(end) = effect {
                            self.wake(end);
                        }
                    }
                }
            }
            Role::Receive | Role::CollectiveEnd => {}
        }
    }

    /// Marks the clock of `node` ready if its location stands there.
    #[inline]
    fn wake(&mut self, node: u32) {
        let location = self.causality.nodes().location(node);
        if self.next[location.as_usize()] == node {
            let clock = self.clocks.of(location);
            if !std::mem::replace(&mut self.is_ready[clock.as_usize()], true) {
                self.ready.push(clock);
            }
        }
    }
}

/// What a dependency says of an event.
enum Bound {
    /// Nothing yet.
    Waits,
    /// Not before this, if anything.
    At(Option<i64>),
}

impl Moment {
    /// The location at `place` has passed; its next node comes at `next`.
    fn leave(&mut self, place: usize, next: Option<i64>) {
        let (location, _) = self.passing.remove(place);
        self.later.extend(next.map(|raw| Reverse((raw, location))));
    }

    /// Moves on to the next raw time; false at the end.
    fn enter_next(&mut self) -> bool {
        let Some(&Reverse((raw, _))) = self.later.peek() else {
            return false;
        };
        self.raw = raw;
        while let Some(&Reverse((at, location))) = self.later.peek()
            && at == raw
        {
            self.later.pop();
            self.passing.push((location, self.passed));
        }
        self.tied = self.passing.len() > 1;
        true
    }
}
