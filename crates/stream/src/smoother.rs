//! The amortisation of one clock, one event at a time.
//!
//! In [`retime_logical_clocks`] the amortised clock is the taut string through the gates
//! `[S, up]` of all events with edges. A gate's `up` is known as soon as the clock
//! has gone on by the length of a ramp, and the effect of the gate's event, if
//! any, is computed. From then on the gate narrows the funnel; whatever lies
//! before the last bend of the string is final. A gate with `S = up` pins the
//! string at once: where no jump follows, an event waits for one ramp and no
//! longer.
//!
//! The start of the string needs the lowest `up` of all gates. It is known as
//! soon as `S` has reached it, since `up >= S` and `S` never falls.
//!
//! Where time runs out first, the string is bent where it would go if the stream
//! ended at the last gate in the funnel. That is within the corridor, and no
//! later gate can ask for less.

use std::collections::VecDeque;

use crate::collectives::OperationNumber;
use crate::matching::MessageNumber;
use crate::way::{Knot, Way};
use retime_model::LocationIndex;
use retime_numerics::taut_string::{Bend, Funnel, interpolate};

/// The limit of a gate whose effect is not computed yet.
pub(crate) const OPEN: i64 = i64::MIN;

/// An event that is computed and waits for its final time.
#[derive(Clone, Debug)]
pub(crate) struct Held<P> {
    pub(crate) location: LocationIndex,
    pub(crate) is_gate: bool,
    pub(crate) raw: i64,
    /// The raw time it counts with: not before that of the previous event.
    pub(crate) effective: i64,
    /// A time before which it cannot be.
    pub(crate) least: i64,
    /// The newest raw time when it arrived.
    pub(crate) arrived: i64,
    /// Its logical time; once final, its corrected time.
    pub(crate) value: i64,
    pub(crate) payload: P,
}

/// An event that the string has to respect.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// The clock without its jumps.
    pub(crate) x: i64,
    /// The sum of its jumps.
    pub(crate) low: i64,
    /// How far the event may move, [`OPEN`], or `i64::MAX`.
    pub(crate) limit: i64,
    /// The message or operation that says so.
    pub(crate) effect: Effect,
    /// Raw time since the previous gate at which a lead was gone.
    pub(crate) gone: Option<i64>,
    /// The highest the string may be; known once the gate is in the funnel.
    pub(crate) up: i64,
}

/// Who wants to know when an event leaves before its effect is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    None,
    Message(MessageNumber),
    /// With the place of the event among the begins.
    Operation(OperationNumber, u32),
}

/// An event with a gate that left at a time later than its logical one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) effect: Effect,
    pub(crate) time: i64,
}

/// Logical times up to which events have waited long enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    /// Up to here events whose corridor is known have,
    pub(crate) known: i64,
    /// and up to here all.
    pub(crate) any: i64,
}

/// Where the string stands.
#[derive(Debug)]
enum Stage {
    /// Its start is not known; the lowest `up` so far.
    Start(i64),
    Under(Funnel),
}

/// The amortisation of one clock.
#[derive(Debug)]
pub(crate) struct Smoother<P> {
    held: VecDeque<Held<P>>,
    /// So many at the front of `held` are final.
    finished: usize,
    gates: VecDeque<Gate>,
    /// Number of the first of `gates`; the first of all is 1.
    first: u64,
    /// Gates before this one are in the funnel.
    next: u64,
    /// Gates before this one lie within the ramp of `next`.
    beyond: u64,
    stage: Stage,
    bends: Vec<Bend>,
    /// The last final point of the string.
    last: Option<Knot>,
    /// The sum of the jumps there.
    low: i64,
    /// The last final time.
    last_time: i64,
    /// Events that left before their effect was computed.
    pub(crate) left: Vec<Left>,
    /// Events that had to leave before their time was certain.
    pub(crate) forced: u64,
}

impl<P> Default for Smoother<P> {
    fn default() -> Self {
        Self {
            held: VecDeque::new(),
            finished: 0,
            gates: VecDeque::new(),
            first: 1,
            next: 1,
            beyond: 1,
            stage: Stage::Start(i64::MAX),
            bends: Vec::new(),
            last: None,
            low: 0,
            last_time: i64::MIN,
            left: Vec::new(),
            forced: 0,
        }
    }
}

impl<P> Smoother<P> {
    /// The number that the next gate gets.
    pub(crate) fn next_gate(&self) -> u64 {
        self.first + self.gates.len() as u64
    }

    /// An event was computed.
    #[inline]
    pub(crate) fn push(&mut self, event: Held<P>, gate: Option<Gate>) {
        self.held.push_back(event);
        self.gates.extend(gate);
    }

    /// How far the event of a gate may move has become known.
    pub(crate) fn limit(&mut self, gate: u64, limit: i64) {
        if let Some(index) = gate.checked_sub(self.first)
            && let Some(gate) = self.gates.get_mut(index as usize)
        {
            gate.limit = limit;
            gate.effect = Effect::None;
        }
    }

    /// True if the first gate outside of the funnel may be waiting for `gate`.
    pub(crate) fn waits_for(&self, gate: u64) -> bool {
        gate == self.next
    }

    /// True if it holds no event.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The first event, if its time is final.
    #[inline]
    pub(crate) fn front(&self) -> Option<i64> {
        (self.finished > 0).then(|| self.held.front().map(|held| held.value))?
    }

    /// The first event whose time is not final.
    #[inline]
    pub(crate) fn unfinished(&self) -> Option<&Held<P>> {
        self.held.get(self.finished)
    }

    pub(crate) fn last_time(&self) -> i64 {
        self.last_time
    }

    /// Takes the first event, if its time is final.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Held<P>> {
        if self.finished == 0 {
            return None;
        }
        self.finished -= 1;
        self.held.pop_front()
    }

    /// Passes all gates that are known well enough. No later event lies before
    /// `position` on the clock without jumps, whose ramps are `ramp` long.
    #[inline]
    pub(crate) fn advance(&mut self, position: impl FnOnce() -> i64, ramp: i64) {
        if self.next == self.next_gate() {
            return;
        }
        let position = position();
        while let Some(up) = self.highest(position, ramp) {
            self.pass(up);
        }
    }

    /// The `up` of the next gate, if it is known.
    fn highest(&mut self, position: i64, ramp: i64) -> Option<i64> {
        let gate = self.gates.get((self.next - self.first) as usize)?;
        if gate.limit <= 0 && gate.limit != OPEN {
            return Some(gate.low);
        }
        let horizon = gate.x.saturating_add(ramp);
        let reached = self.reached(horizon);
        if self.beyond == self.next_gate() && position < horizon {
            return None;
        }
        let gate = &self.gates[(self.next - self.first) as usize];
        if reached == gate.low {
            return Some(reached);
        }
        (gate.limit != OPEN).then(|| reached.min(gate.low.saturating_add(gate.limit.max(0))))
    }

    /// The sum of the jumps at the last gate before `horizon`, but not before
    /// the next one.
    fn reached(&mut self, horizon: i64) -> i64 {
        self.beyond = self.beyond.max(self.next + 1);
        let mut last = &self.gates[(self.beyond - 1 - self.first) as usize];
        while let Some(gate) = self.gates.get((self.beyond - self.first) as usize)
            && gate.x < horizon
        {
            last = gate;
            self.beyond += 1;
        }
        last.low
    }

    /// Lets the next gate narrow the funnel.
    fn pass(&mut self, up: i64) {
        let index = (self.next - self.first) as usize;
        let gate = &mut self.gates[index];
        gate.up = up;
        let (x, low) = (gate.x, gate.low);
        self.next += 1;
        match &mut self.stage {
            Stage::Start(lowest) => {
                *lowest = up.min(*lowest);
                let lowest = *lowest;
                if lowest <= low {
                    self.start(lowest);
                }
            }
            Stage::Under(_) => self.narrow(self.next - 1, x, low, up),
        }
    }

    /// Starts the string at a height, and passes the gates that have come.
    fn start(&mut self, height: i64) {
        let (Some(gate), first) = (self.gates.front(), self.first) else {
            return;
        };
        let start = Bend {
            gate: first as usize,
            x: gate.x,
            y: height,
        };
        self.stage = Stage::Under(Funnel::new(start));
        self.settle(start, start);
        for number in first + 1..self.next {
            if let Some(gate) = self.gates.get((number - self.first) as usize) {
                let (x, low, up) = (gate.x, gate.low, gate.up);
                self.narrow(number, x, low, up);
            }
        }
    }

    /// Narrows the funnel by a gate, and makes final what is certain then.
    #[inline]
    fn narrow(&mut self, number: u64, x: i64, low: i64, up: i64) {
        let Stage::Under(funnel) = &mut self.stage else {
            return;
        };
        let at = |y| Bend {
            gate: number as usize,
            x,
            y,
        };
        let mut from = funnel.apex();
        let mut bends = std::mem::take(&mut self.bends);
        funnel.pass(at(up), at(low), &mut bends);
        if low == up {
            // Nothing but this point is left to see.
            bends.push(at(low));
            *funnel = Funnel::new(at(low));
        }
        for to in bends.drain(..) {
            self.settle(from, to);
            from = to;
        }
        self.bends = bends;
    }

    /// The string is certain from one bend to another.
    fn settle(&mut self, from: Bend, to: Bend) {
        while self.first <= to.gate as u64
            && let Some(gate) = self.gates.pop_front()
        {
            let height = if self.first == to.gate as u64 {
                to.y
            } else if from.x == to.x {
                from.y.max(gate.low)
            } else {
                from.y + interpolate(gate.x - from.x, to.y - from.y, to.x - from.x)
            };
            self.leave(&gate, height);
        }
    }

    /// The time of the first gate is certain, and so are those of the events
    /// before it.
    fn leave(&mut self, gate: &Gate, height: i64) {
        self.first += 1;
        let time = gate.x + height;
        let mut held = self.held.range(self.finished..);
        let Some(ahead) = held.position(|held| held.is_gate) else {
            return;
        };
        let knot = Knot {
            raw: self.held[self.finished + ahead].effective,
            x: gate.x,
            height,
        };
        if ahead > 0 {
            let way = Way::new(self.last, self.low, gate.gone, knot);
            for at in self.finished..self.finished + ahead {
                let raw = self.held[at].effective;
                self.finish(at, way.at(raw));
            }
        }
        self.finish(self.finished + ahead, time);
        self.finished += ahead + 1;
        self.last = Some(knot);
        self.low = gate.low;
        if gate.limit == OPEN {
            self.left.push(Left {
                effect: gate.effect,
                time,
            });
        }
    }

    #[inline]
    fn finish(&mut self, at: usize, time: i64) {
        let time = time.max(self.last_time).max(self.held[at].least);
        self.last_time = time;
        self.held[at].value = time;
    }

    /// Makes final what has waited long enough, certain or not; `limit` tells what
    /// is known of an open limit.
    pub(crate) fn force(&mut self, until: Until, ramp: i64, limit: impl Fn(Effect) -> i64) {
        while let Some(front) = self.unfinished() {
            let is_gate = front.is_gate;
            let is_known = self.next > self.first || !is_gate && self.gates.is_empty();
            let until = if is_known { until.known } else { until.any };
            if front.value > until {
                break;
            }
            self.forced += 1;
            if self.force_start() {
                continue;
            }
            if is_gate {
                self.force_gate(ramp, &limit);
            } else {
                self.force_internal();
            }
        }
    }

    fn force_gate(&mut self, ramp: i64, limit: impl Fn(Effect) -> i64) {
        let number = self.first;
        if self.next == number {
            let Gate { low, effect, .. } = self.gates[0];
            let limit = match self.gates[0].limit {
                OPEN => limit(effect),
                known => known,
            };
            let reached = self.reached(self.gates[0].x.saturating_add(ramp));
            self.pass(reached.min(low.saturating_add(limit.max(0))));
        }
        if self.force_start() || self.first > number {
            return;
        }
        let Stage::Under(funnel) = &mut self.stage else {
            return;
        };
        let gate = &self.gates[0];
        let height = funnel
            .height_at(gate.x)
            .clamp(gate.low, gate.up.max(gate.low));
        let from = funnel.apex();
        let bend = Bend {
            gate: number as usize,
            x: gate.x,
            y: height,
        };
        funnel.bend_at(bend);
        self.settle(from, bend);
    }

    /// Starts the string with what is known, if it is not started yet.
    fn force_start(&mut self) -> bool {
        match self.stage {
            Stage::Start(lowest) if self.next > self.first => {
                let last = &self.gates[(self.next - 1 - self.first) as usize];
                self.start(lowest.min(last.low));
                true
            }
            _ => false,
        }
    }

    fn force_internal(&mut self) {
        let before = self.first - 1;
        let Some((raw, value)) = self.unfinished().map(|held| (held.effective, held.value)) else {
            return;
        };
        let x = value - self.low;
        let at = |y| Bend {
            gate: before as usize,
            x,
            y,
        };
        let height = match &mut self.stage {
            Stage::Start(_) => {
                self.stage = Stage::Under(Funnel::new(at(0)));
                0
            }
            Stage::Under(funnel) => {
                let height = funnel.height_at(x);
                funnel.bend_at(at(height));
                height
            }
        };
        self.finish(self.finished, x + height);
        self.last = Some(Knot { raw, x, height });
        self.finished += 1;
    }

    /// Nothing comes any more. Makes the events behind the last gate final:
    /// shifted like it, or at their logical times.
    pub(crate) fn end(&mut self, is_shift: bool) {
        if self.next != self.next_gate() || !self.gates.is_empty() {
            return;
        }
        let shift = self.last.map_or(0, |last| last.time() - last.raw);
        for at in self.finished..self.held.len() {
            let held = &self.held[at];
            let time = if is_shift {
                held.effective + shift
            } else {
                held.value
            };
            self.finish(at, time);
        }
        self.finished = self.held.len();
    }
}
