//! Which event is computed next, and how.
//!
//! With a constant factor the order does not matter, and each clock goes on as
//! far as it can. Controllers see other clocks, so there the order is fixed, the
//! same as in [`retime_logical_clocks::regulated`]: among the clocks whose next event has
//! all its causes computed the one with the smallest raw time, ties by clock. A
//! clock whose next event has not come holds that up until it is certain to be
//! later.

use crate::clock::{Role, Waiting};
use crate::collectives::OperationNumber;
use crate::control::Now;
use crate::filter::Filter;
use crate::matching::{MessageNumber, UNKNOWN};
use crate::smoother::{Effect, Gate, Held, OPEN};
use retime_model::{ClockId, LocationIndex};

/// The step that a clock could take next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Compute the next event of this location.
    Go(LocationIndex),
    /// Its next event has to wait for a cause.
    Waits,
    /// Its next event has not come; it is not before this raw time.
    Idle(i64),
}

/// Times of the latest cause of an event: controlled and simple.
type Cause = Option<(i64, i64)>;

impl<P> Filter<P> {
    /// A clock may be able to go on.
    pub(crate) fn wake(&mut self, clock: ClockId) {
        self.ready.add(clock);
    }

    /// More of a clock may be certain.
    pub(crate) fn touch(&mut self, clock: ClockId) {
        self.touched.add(clock);
    }

    /// Computes all that can be computed, and passes on what is certain then.
    pub(crate) fn work(&mut self) {
        if self.law.is_constant() {
            self.in_any_order();
        } else {
            self.in_canonical_order();
        }
        while let Some(clock) = self.touched.pop() {
            self.settle(clock);
        }
    }

    fn in_any_order(&mut self) {
        while let Some(clock) = self.ready.pop() {
            while let Next::Go(location) = self.next(clock) {
                self.compute(clock, location);
            }
        }
    }

    fn in_canonical_order(&mut self) {
        while let Some(clock) = self.ready.pop() {
            self.pass_internal(clock);
        }
        while let Some((clock, location)) = self.first_in_order() {
            self.compute(clock, location);
            self.pass_internal(clock);
        }
        while self.ready.pop().is_some() {}
    }

    /// Events without edges are no business of controllers.
    fn pass_internal(&mut self, clock: ClockId) {
        while let Next::Go(location) = self.next(clock)
            && self.is_internal(location)
        {
            self.compute(clock, location);
        }
    }

    fn is_internal(&self, location: LocationIndex) -> bool {
        let head = self.locations[location.as_usize()].waiting.front();
        head.is_some_and(|head| matches!(head.role, Role::Internal))
    }

    /// The event that comes first in canonical order, if that is certain.
    fn first_in_order(&self) -> Option<(ClockId, LocationIndex)> {
        let mut first: Option<(i64, ClockId, LocationIndex)> = None;
        let mut certain = (i64::MAX, ClockId(u32::MAX));
        for clock in self.each_clock() {
            match self.next(clock) {
                Next::Go(location) => {
                    let raw = self.head(clock, location).map_or(i64::MAX, |head| head.0);
                    if first.is_none_or(|first| (raw, clock) < (first.0, first.1)) {
                        first = Some((raw, clock, location));
                    }
                }
                Next::Waits => {}
                Next::Idle(horizon) => certain = certain.min((horizon, clock)),
            }
        }
        let (raw, clock, location) = first?;
        ((raw, clock) < certain).then_some((clock, location))
    }

    /// Raw time of the next event of a location, not before what its clock has
    /// passed.
    fn head(&self, clock: ClockId, location: LocationIndex) -> Option<(i64, &Waiting<P>)> {
        let head = self.locations[location.as_usize()].waiting.front()?;
        Some((head.raw.max(self.clocks[clock.as_usize()].raw), head))
    }

    /// The step that a clock could take next.
    #[inline]
    fn next(&self, clock: ClockId) -> Next {
        match self.clocks[clock.as_usize()].locations[..] {
            [location] => match self.locations[location.as_usize()].waiting.front() {
                None => Next::Idle(self.horizon(location)),
                Some(head) if self.can_go(clock, head, false) => Next::Go(location),
                Some(_) => Next::Waits,
            },
            _ => self.next_of_shared(clock),
        }
    }

    /// The location of a clock with the smallest raw time; of several the first
    /// that need not wait.
    fn next_of_shared(&self, clock: ClockId) -> Next {
        let state = &self.clocks[clock.as_usize()];
        let idle = self.idle_until(clock);
        let Some((raw, _)) = state.heads.first_waiting() else {
            return Next::Idle(idle);
        };
        let first = raw.max(state.raw);
        if idle < first {
            return Next::Idle(idle);
        }
        let tied = state.heads.waiting_until(first);
        for among_clock in [true, false] {
            let mut locations = tied.iter().copied();
            let found = locations.find(|&location| {
                self.head(clock, location)
                    .is_some_and(|(_, head)| self.can_go(clock, head, among_clock))
            });
            if let Some(location) = found {
                return Next::Go(location);
            }
        }
        Next::Waits
    }

    /// Nothing comes before this from those of the locations of a clock that have no event.
    pub(crate) fn idle_until(&self, clock: ClockId) -> i64 {
        let idle = self.clocks[clock.as_usize()].heads.first_idle();
        idle.map_or(i64::MAX, |horizon| {
            self.floor().map_or(horizon, |floor| horizon.max(floor))
        })
    }

    /// Nothing comes from a location before this.
    pub(crate) fn horizon(&self, location: LocationIndex) -> i64 {
        let place = &self.locations[location.as_usize()];
        if place.is_ended {
            return i64::MAX;
        }
        let floor = self.floor();
        floor.map_or(place.horizon, |floor| place.horizon.max(floor))
    }

    /// True if the causes of an event are computed; those on its own clock count
    /// only if `among_clock`.
    fn can_go(&self, clock: ClockId, event: &Waiting<P>, among_clock: bool) -> bool {
        let ready = match event.role {
            Role::Internal | Role::Send(_) | Role::Begin(..) => true,
            Role::Receive(number) => {
                let message = self.matching.get(number);
                message.sent != UNKNOWN || message.has_send && message.from == clock && !among_clock
            }
            Role::End(number, what) => self.collectives.is_ready(number, &what),
        };
        ready || self.clocks[clock.as_usize()].is_overdue
    }

    /// Computes the next event of a location.
    fn compute(&mut self, clock: ClockId, location: LocationIndex) {
        let Some(event) = self.change(location, |place| place.waiting.pop_front()) else {
            return;
        };
        let state = &mut self.clocks[clock.as_usize()];
        state.waiting -= 1;
        if let Some(moved) = &mut self.moved {
            moved.push(clock);
        }
        let (lead, raw) = (state.lead, event.raw.max(state.raw));
        let own = self.law.own(clock, lead, raw);
        let cause = self.cause(clock, raw, &event.role);
        let bound = cause.map_or(i64::MIN, |cause| cause.0);
        let value = own.max(bound).max(self.watermark);
        self.report.late += u64::from(self.watermark > own.max(bound));
        let is_node = !matches!(event.role, Role::Internal);
        let is_gate = is_node || value > own;
        let gate = is_gate.then(|| {
            let simple = self.clocks[clock.as_usize()].simple.max(raw);
            let now = Now {
                raw,
                own,
                value,
                simple: cause.map_or(simple, |cause| simple.max(cause.1)),
            };
            self.pass_gate(clock, &event.role, now)
        });
        self.clocks[clock.as_usize()].raw = raw;
        self.clocks[clock.as_usize()].is_overdue = false;
        // Of events without gates no more is known where gamma changes.
        let least = if is_gate || self.law.is_constant() {
            value
        } else {
            raw
        };
        self.merge.lower(clock, least);
        self.smoothers[clock.as_usize()].push(
            Held {
                location,
                is_gate,
                raw: event.raw,
                effective: raw,
                least,
                arrived: event.arrived,
                value,
                payload: event.payload,
            },
            gate,
        );
        if let Role::Begin(number, _) = event.role {
            // The begin of the last rank of a scan may come after all ends.
            self.complete(number);
        }
        if is_node {
            self.note_end(clock);
        }
        self.touch(clock);
    }

    /// The gate of an event; the state of its clock, and what its effects wait for,
    /// are then those after it.
    fn pass_gate(&mut self, clock: ClockId, role: &Role, now: Now) -> Gate {
        let lead = self.clocks[clock.as_usize()].lead;
        let number = self.smoothers[clock.as_usize()].next_gate();
        let mut gate = self.gate(clock, lead, now);
        let state = &mut self.clocks[clock.as_usize()];
        state.simple = now.simple;
        state.nodes_waiting -= u32::from(!matches!(role, Role::Internal));
        state.lead = self.law.computed(clock, lead, now);
        gate.effect = self.publish(clock, number, role, now);
        if !matches!(gate.effect, Effect::None) {
            gate.limit = OPEN;
        }
        gate
    }

    /// The gate of an event, and its jump.
    fn gate(&mut self, clock: ClockId, lead: retime_logical_clocks::Lead, now: Now) -> Gate {
        if now.value > now.own {
            self.note_jump(now.value - now.own);
        }
        let state = &mut self.clocks[clock.as_usize()];
        state.sum += now.value - now.own;
        let previous = state.gate.replace(now.raw);
        Gate {
            x: now.value - state.sum,
            low: state.sum,
            limit: i64::MAX,
            effect: Effect::None,
            gone: previous.and_then(|previous| self.law.gone(lead, previous, now.raw)),
            up: i64::MAX,
        }
    }

    /// The bounds that the causes of an event set.
    fn cause(&mut self, clock: ClockId, raw: i64, role: &Role) -> Cause {
        let delay = self.options.min_delay.0;
        match role {
            Role::Receive(number) => {
                let message = self.matching.get(*number);
                if message.sent == UNKNOWN {
                    return None;
                }
                self.report.violated += u64::from(raw < message.sent_raw);
                (message.from != clock).then(|| (message.sent + delay, message.sent_simple + delay))
            }
            Role::End(number, what) => {
                let (value, simple) = self.collectives.bound(*number, what, clock)?;
                Some((value + delay, simple + delay))
            }
            _ => None,
        }
    }

    /// Tells those who wait for an event, or for whom it waited, that it is
    /// computed.
    fn publish(&mut self, clock: ClockId, gate: u64, role: &Role, now: Now) -> Effect {
        match *role {
            Role::Internal => Effect::None,
            Role::Send(number) => self.publish_send(number, gate, now),
            Role::Receive(number) => {
                self.publish_receive(clock, number, now);
                Effect::None
            }
            Role::Begin(number, what) => {
                let place = what.prefix.map_or(0, |prefix| prefix.place);
                let (place, woken) = self
                    .collectives
                    .begun(number, place, clock, now.value, now.simple, gate);
                for &waiting in woken {
                    self.ready.add(waiting);
                }
                Effect::Operation(number, place)
            }
            Role::End(number, what) => {
                self.publish_end(clock, number, &what, now.value);
                Effect::None
            }
        }
    }

    fn publish_send(&mut self, number: Option<MessageNumber>, gate: u64, now: Now) -> Effect {
        let Some(number) = number else {
            return Effect::None;
        };
        let message = self.matching.get_mut(number);
        if message.given_up {
            self.report.violated += u64::from(message.received_raw < now.raw);
            self.matching.finish(number);
            return Effect::None;
        }
        message.sent = now.value;
        message.sent_simple = now.simple;
        message.sent_raw = now.raw;
        message.gate = gate;
        if message.has_receive {
            let to = message.to;
            self.wake(to);
        }
        Effect::Message(number)
    }

    fn publish_receive(&mut self, clock: ClockId, number: MessageNumber, now: Now) {
        let delay = self.options.min_delay.0;
        let message = self.matching.get_mut(number);
        if message.sent == UNKNOWN {
            message.given_up = true;
            message.received_raw = now.raw;
            if !message.has_send {
                self.report.unmatched_receives += 1;
                self.keep_message(number);
            } else if message.from != clock {
                self.report.contradictions += 1;
            }
            return;
        }
        let limit = if message.from == clock {
            i64::MAX
        } else {
            now.value - delay - message.sent
        };
        let (from, gate) = (message.from, message.gate);
        self.matching.finish(number);
        self.limit(from, gate, limit);
    }

    fn publish_end(
        &mut self,
        clock: ClockId,
        number: OperationNumber,
        what: &crate::event::Collective,
        value: i64,
    ) {
        if !self.collectives.is_ready(number, what) {
            self.report.incomplete_collectives += 1;
        }
        self.collectives.ended(number, what, clock, value);
        self.complete(number);
        self.keep_operation(number);
    }

    /// Limits the begins of an operation if all of it is computed.
    fn complete(&mut self, number: OperationNumber) {
        let delay = self.options.min_delay.0;
        for (from, gate, limit) in self.collectives.completed(number, delay) {
            self.limit(from, gate, limit);
        }
    }

    /// The event of a gate may move so far.
    pub(crate) fn limit(&mut self, clock: ClockId, gate: u64, limit: i64) {
        let smoother = &mut self.smoothers[clock.as_usize()];
        smoother.limit(gate, limit);
        if smoother.waits_for(gate) {
            self.touch(clock);
        }
    }

    /// Controllers leave clocks out that have no event with edges left.
    pub(crate) fn note_end(&mut self, clock: ClockId) {
        let state = &self.clocks[clock.as_usize()];
        if state.nodes_waiting == 0 && state.live == 0 {
            self.law.ended(clock);
        }
    }
}
