//! The controlled logical clock with a constant control factor.
//!
//! A clock keeps its physical time until a dependency forces it ahead; then it
//! falls back to physical time slowly, by advancing `gamma` times the physical
//! intervals:
//!
//! ```text
//! LC'(e) = max( LC'(s) + mu               over all dependencies s -> e,
//!               LC'(prev) + gamma * (C(e) - C(prev)),
//!               C(e) )
//! ```
//!
//! Between two dependencies that move it, a clock follows in closed form, so
//! only events with edges are visited; everything is integer arithmetic and
//! only maxima are taken, so the order of evaluation does not matter: each clock
//! runs until it needs a value of another that is not there yet, and is resumed
//! when it is. If all clocks wait, the events they wait for form a cycle.
//!
//! Locations of one clock are advanced together by raw time. Events of several
//! locations with *equal* raw stamps have no order that the clock could tell;
//! each location passes such a moment on its own, and the clock goes on from the
//! latest. Only a dependency between two of them orders them: an effect then
//! comes no earlier than its cause, or a tie would turn into a reversal.
//!
//! Example: the receive at 95 is pushed to the send at 100 plus 2. The next
//! event comes 1000 later; with gamma = 0.99 the lead of 7 has shrunk to nothing.
//!
//! ```
//! use retime::causality::{Causality, CausalityOptions, LocationLog, Message};
//! use retime::clock::{self, Gamma};
//! use retime::{Clocks, Grouping, LocationIndex, MinimalDelay, Ticks, Timestamp};
//! # use retime::{Communicator, Location, Members, Process, TickRate, TraceInfo};
//! # let location = |id: u32| Location { id: id.into(), name: String::new(), process: id as usize, endpoint: LocationIndex(id) };
//! # let info = TraceInfo {
//! #     rate: TickRate::per_second(1_000_000_000).unwrap(),
//! #     locations: vec![location(0), location(1)],
//! #     processes: vec![Process { name: String::new(), node: None }, Process { name: String::new(), node: None }],
//! #     nodes: vec![],
//! #     communicators: vec![Communicator { name: "world".into(), members: Members::Ranks([LocationIndex(0), LocationIndex(1)].into()) }],
//! # };
//! let message = |peer| Message { communicator: 0, peer: LocationIndex(peer), tag: 1 };
//! let mut sender = LocationLog::new(LocationIndex(0));
//! sender.send(0, Timestamp(100), message(1), None);
//! sender.receive(1, Timestamp(1_200), message(1));
//! sender.finish(2, Timestamp(100), Timestamp(1_200));
//! let mut receiver = LocationLog::new(LocationIndex(1));
//! receiver.receive(0, Timestamp(95), message(0));
//! receiver.send(1, Timestamp(1_095), message(0), None);
//! receiver.finish(2, Timestamp(95), Timestamp(1_095));
//!
//! let causality = Causality::build(&info, vec![sender, receiver], CausalityOptions::default())?;
//! let clocks = Clocks::group(&info, &causality, Grouping::Process);
//! let delay = MinimalDelay::Uniform(Ticks(2));
//! let times = clock::controlled(&causality, &clocks, &delay, "0.99".parse()?)?;
//! let corrected = |node| causality.nodes().base().0 as i64 + times.get(node).0;
//! assert_eq!([0, 1, 2, 3].map(corrected), [100, 1_200, 102, 1_095]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithm 3; Rabenseifner 1997, algorithm 2;
//! Linford 2007, equations 3.3 and 3.4. The event's own begin of a collective
//! is no dependency, and other dependencies within one clock are not enforced: no
//! map of that clock could move their ends apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::collective_state::CollectiveState;
use super::cycle::{Cycle, find_cycle};
use super::gamma::Gamma;
use super::lead::Lead;
use crate::causality::{Causality, Role};
use crate::clocks::{ClockId, Clocks};
use crate::delay::MinimalDelay;
use crate::time::Ticks;

/// Value of a node that is not computed yet.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// The corrected time of every node, before amortisation, relative to
/// [`crate::causality::Nodes::base`].
#[derive(Debug, PartialEq, Eq)]
pub struct LogicalTimes {
    pub(crate) values: Vec<i64>,
    pub(crate) largest_jump: i64,
    jumps: u64,
}

impl LogicalTimes {
    /// The time of `node`.
    pub fn get(&self, node: u32) -> Ticks {
        Ticks(self.values[node as usize])
    }

    /// How many events were forced ahead of their own clock.
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// How far an event was forced ahead of its own clock at most.
    pub fn largest_jump(&self) -> Ticks {
        Ticks(self.largest_jump)
    }
}

/// Runs the controlled logical clock over a trace.
///
/// Fails if happened-before has a cycle, naming its events.
pub fn controlled(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    gamma: Gamma,
) -> Result<LogicalTimes, Cycle> {
    let mut run = Run::new(causality, clocks, delay, gamma);
    run.run_to_the_end();
    if run.finished() {
        return Ok(LogicalTimes {
            values: run.values,
            largest_jump: run.largest_jump,
            jumps: run.jumps,
        });
    }
    Err(find_cycle(&run))
}

/// State of a run over all clocks.
pub(super) struct Run<'a> {
    pub(super) causality: &'a Causality,
    pub(super) clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    gamma: Gamma,
    pub(super) values: Vec<i64>,
    /// Next node of each location.
    pub(super) next: Vec<u32>,
    states: Vec<ClockState>,
    pub(super) collectives: CollectiveState<'a>,
    largest_jump: i64,
    jumps: u64,
    /// Clocks that may be able to go on, and whether each is among them.
    ready: Vec<ClockId>,
    is_ready: Vec<bool>,
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

impl<'a> Run<'a> {
    fn new(
        causality: &'a Causality,
        clocks: &'a Clocks,
        delay: &'a MinimalDelay,
        gamma: Gamma,
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
            gamma,
            values: vec![UNKNOWN; nodes.len()],
            next: (0..nodes.locations())
                .map(|location| nodes.first(location))
                .collect(),
            states: clocks.iter().map(state).collect(),
            collectives: CollectiveState::new(causality, clocks),
            largest_jump: 0,
            jumps: 0,
            ready: clocks.iter().collect(),
            is_ready: vec![true; clocks.len()],
            tied: false,
        }
    }

    fn run_to_the_end(&mut self) {
        while let Some(clock) = self.ready.pop() {
            self.is_ready[clock.as_usize()] = false;
            match self.clocks.locations(clock) {
                [location] => self.advance_location(clock, location.as_usize()),
                _ => self.advance_shared(clock),
            }
        }
    }

    fn finished(&self) -> bool {
        let nodes = self.causality.nodes();
        (0..nodes.locations()).all(|location| self.next[location] == nodes.of(location).end)
    }

    /// Runs a clock that one location reads until it has to wait.
    fn advance_location(&mut self, clock: ClockId, location: usize) {
        let end = self.causality.nodes().of(location).end;
        let mut lead = self.states[clock.as_usize()].lead;
        self.tied = false;
        while self.next[location] < end && self.pass(clock, location, &mut lead) {}
        self.states[clock.as_usize()].lead = lead;
    }

    /// Runs a clock that several locations read, moment by moment.
    fn advance_shared(&mut self, clock: ClockId) {
        let Some(mut moment) = self.states[clock.as_usize()].moment.take() else {
            return;
        };
        loop {
            let mut progress = false;
            let mut place = 0;
            self.tied = moment.tied;
            while let Some(&(location, mut lead)) = moment.passing.get(place) {
                let (moved, through) = self.pass_moment(clock, location, moment.raw, &mut lead);
                progress |= moved;
                if through {
                    moment.leave(place, lead, self.next_time(location), self.gamma);
                    progress = true;
                } else {
                    moment.passing[place].1 = lead;
                    place += 1;
                }
            }
            let moved_on = moment.passing.is_empty();
            if moved_on && !moment.enter_next() || !moved_on && !progress {
                break;
            }
        }
        self.states[clock.as_usize()].moment = Some(moment);
    }

    /// Passes the nodes of `location` stamped `raw`; says whether any was
    /// passed and whether all were.
    fn pass_moment(
        &mut self,
        clock: ClockId,
        location: usize,
        raw: i64,
        lead: &mut Lead,
    ) -> (bool, bool) {
        let mut moved = false;
        while self.next_time(location) == Some(raw) {
            if !self.pass(clock, location, lead) {
                return (moved, false);
            }
            moved = true;
        }
        (moved, true)
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
        let own = raw + lead.at(raw, self.gamma);
        let value = bound.map_or(own, |bound| bound.max(own));
        if value > own {
            self.jumps += 1;
            self.largest_jump = self.largest_jump.max(value - own);
            *lead = Lead::new(raw, value - raw);
        }
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
    /// The location at `place` has passed with `lead`; its next node comes at `next`.
    fn leave(&mut self, place: usize, lead: Lead, next: Option<i64>, gamma: Gamma) {
        let (location, _) = self.passing.swap_remove(place);
        if lead.at(self.raw, gamma) > self.passed.at(self.raw, gamma) {
            self.passed = lead;
        }
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
