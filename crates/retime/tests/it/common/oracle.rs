//! The controlled logical clock once more: slowly, from the formula, over an
//! explicit list of dependencies.
//!
//! `LC'(e) = max( LC'(s) + mu over all edges s -> e of two clocks, C(e) + lead )`,
//! where the lead is what the last jump left: `amount - lost over the time
//! since`, at least 0, and the part of a tick that is lost at a jump counts on. An edge within one clock cannot be repaired, but where
//! both ends share a stamp `LC'(e) >= LC'(s)` keeps them in order.

use std::cmp::Reverse;
use std::collections::VecDeque;

use retime::causality::EventNode;
use retime::clock::Gamma;
use retime::{Clocks, LocationIndex, MinimalDelay};

use super::trace::{Call, Edge, Event, Trace, length};

/// What the library needs to run on a trace, and what the oracle needs too.
pub struct Plain {
    /// Location and raw stamp by node.
    pub location: Vec<usize>,
    pub raw: Vec<i64>,
    pub edges: Vec<Edge>,
    pub clock: Vec<usize>,
    /// The bytes of each message, by the node of its send, as far as they are recorded.
    pub bytes: Vec<Option<u64>>,
    pub base: u64,
}

/// Since when, and by how much, a clock is ahead; and how much of a tick it had lost then.
type Lead = (i64, i64, u64);

/// The lead that is left, and how much of a tick is lost besides.
pub fn left((since, amount, lost): Lead, raw: i64, gamma: Gamma) -> (i64, u64) {
    if amount == 0 {
        return (0, 0);
    }
    let sum = gamma.lost_over((raw - since) as u64) + u128::from(lost);
    match i128::from(amount) - (sum >> 64) as i128 {
        left if left > 0 => (left as i64, sum as u64),
        _ => (0, 0),
    }
}

/// The bytes that an event records.
fn bytes(location: LocationIndex, number: u64, event: &Event) -> Option<u64> {
    let sends = matches!(event.call, Call::Send(..));
    sends.then(|| length(location, number))?
}

impl Plain {
    pub fn new(trace: &Trace, clocks: &Clocks) -> Self {
        let all = trace.events.iter().flatten();
        let base = all.map(|event| event.raw).min().unwrap_or(0);
        let nodes: Vec<_> = trace.nodes().collect();
        Self {
            location: nodes.iter().map(|node| node.0.as_usize()).collect(),
            raw: nodes
                .iter()
                .map(|node| (node.2.raw - base) as i64)
                .collect(),
            edges: trace.edges(),
            clock: nodes
                .iter()
                .map(|node| clocks.of(node.0).as_usize())
                .collect(),
            bytes: nodes
                .iter()
                .map(|&(location, number, event)| bytes(location, number, event))
                .collect(),
            base,
        }
    }

    /// All events of a trace, where a node is an event: `edges` are told by the events.
    pub fn of_all_events(trace: &Trace, clocks: &Clocks) -> Self {
        let base = trace.events.iter().flatten().map(|event| event.raw).min();
        let base = base.unwrap_or(0);
        let mut all = Self {
            location: Vec::new(),
            raw: Vec::new(),
            edges: Vec::new(),
            clock: Vec::new(),
            bytes: Vec::new(),
            base,
        };
        // The events that are nodes of the trace.
        let mut nodes = Vec::new();
        for (location, events) in trace.events.iter().enumerate() {
            for (number, event) in (0..).zip(events) {
                let here = LocationIndex(location as u32);
                all.bytes.push(bytes(here, number, event));
                if event.call.role().is_some() {
                    nodes.push(EventNode(all.raw.len() as u32));
                }
                all.location.push(location);
                all.raw.push((event.raw - base) as i64);
                all.clock
                    .push(clocks.of(LocationIndex(location as u32)).as_usize());
            }
        }
        let number = |node: EventNode| nodes[node.index()];
        let edges = trace.edges().into_iter();
        all.edges = edges.map(|(from, to)| (number(from), number(to))).collect();
        all
    }

    pub fn delay(&self, delay: &MinimalDelay, (cause, effect): Edge) -> i64 {
        let location = |node: EventNode| LocationIndex(self.location[node.index()] as u32);
        let line = match delay {
            MinimalDelay::Uniform(ticks) => return ticks.0,
            MinimalDelay::ByLength(line) => *line,
            MinimalDelay::PerPair(table) => table.entry(location(cause), location(effect)),
        };
        // Of a message one end is the send, in the mirror the effect; of a collective none is.
        let bytes = self.bytes[cause.index()].or(self.bytes[effect.index()]);
        let transfer = bytes.zip(line.bandwidth());
        let ticks = transfer.map(|(bytes, per_second)| bytes * 1_000_000_000 / per_second.get());
        line.latency.0 + ticks.unwrap_or(0) as i64
    }

    /// Edges between two clocks.
    pub fn across(&self) -> impl Iterator<Item = Edge> {
        let clock = |node: EventNode| self.clock[node.index()];
        let edges = self.edges.iter().copied();
        edges.filter(move |&(cause, effect)| clock(cause) != clock(effect))
    }

    /// The causes of every node and the least distance from each.
    fn bounds(&self, delay: &MinimalDelay) -> Vec<Vec<(usize, i64)>> {
        let mut bounds = vec![Vec::new(); self.raw.len()];
        for &(cause, effect) in &self.edges {
            let (from, to) = (cause.index(), effect.index());
            if self.clock[from] != self.clock[to] {
                bounds[to].push((from, self.delay(delay, (cause, effect))));
            } else if self.raw[from] == self.raw[to] && self.location[from] != self.location[to] {
                bounds[to].push((from, 0));
            }
        }
        bounds
    }

    /// The corrected times relative to `base`; `None` if there is a cycle.
    pub fn controlled(&self, delay: &MinimalDelay, gamma: Gamma) -> Option<Vec<i64>> {
        let bounds = self.bounds(delay);
        let clocks = self.clock.iter().max().map_or(0, |last| last + 1);
        let locations = self.location.iter().max().map_or(0, |last| last + 1);
        let mut value: Vec<Option<i64>> = vec![None; self.raw.len()];
        // Of each clock: its raw time, the lead with which it got there, and
        // the largest with which a location went on from there.
        let mut entered: Vec<(i64, Lead, Lead)> = vec![(i64::MIN, (0, 0, 0), (0, 0, 0)); clocks];
        // Of each location: raw time and lead after its last node.
        let mut own: Vec<(i64, Lead)> = vec![(i64::MIN, (0, 0, 0)); locations];
        // The larger one has lost less.
        let at = |lead: Lead, raw: i64| {
            let (left, lost) = left(lead, raw, gamma);
            (left, Reverse(lost))
        };
        // The next node of each location.
        let of = |location: usize| {
            let nodes = (0..self.raw.len()).filter(move |&node| self.location[node] == location);
            nodes.collect::<VecDeque<usize>>()
        };
        let mut ahead: Vec<VecDeque<usize>> = (0..locations).map(of).collect();
        loop {
            let heads: Vec<usize> = ahead
                .iter()
                .filter_map(|nodes| nodes.front().copied())
                .collect();
            let open = heads.iter().copied().find(|&node| {
                let earlier = |&other: &usize| {
                    self.clock[other] == self.clock[node] && self.raw[other] < self.raw[node]
                };
                let known = |&(cause, _): &(usize, i64)| value[cause].is_some();
                !heads.iter().any(earlier) && bounds[node].iter().all(known)
            });
            let Some(node) = open else { break };
            let (raw, clock, location) = (self.raw[node], self.clock[node], self.location[node]);
            if entered[clock].0 != raw {
                entered[clock] = (raw, entered[clock].2, entered[clock].2);
            }
            let mut lead = if own[location].0 == raw {
                own[location].1
            } else {
                entered[clock].1
            };
            let physical = raw + at(lead, raw).0;
            let least = bounds[node]
                .iter()
                .map(|&(cause, delay)| value[cause].unwrap_or(0) + delay);
            let result = least.max().map_or(physical, |least| least.max(physical));
            if result > physical {
                lead = (raw, result - raw, at(lead, raw).1.0);
            }
            own[location] = (raw, lead);
            if at(lead, raw) > at(entered[clock].2, raw) {
                entered[clock].2 = lead;
            }
            value[node] = Some(result);
            ahead[location].pop_front();
        }
        value.into_iter().collect()
    }
}
