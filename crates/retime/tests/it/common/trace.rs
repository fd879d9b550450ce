//! A recorded trace together with what is known to be true of it.

use retime::causality::{
    Causality, CausalityOptions, Collective, EventNode, Length, LocationLog, LogBuilder, Message,
    Role,
};
use retime::{Correction, LocationIndex, Timestamp, TraceInfo};

/// What a recorded event tells a [`LocationLog`].
#[derive(Clone, Copy, Debug)]
pub enum Call {
    Internal,
    Send(Message, Option<u64>),
    SendDone(u64),
    Receive(Message),
    Post(u64),
    Complete(Message, u64),
    Probe(Message, u64),
    ProbedReceive(u64),
    ProbedPost { message: u64, request: u64 },
    ProbedComplete(u64),
    Cancel(u64),
    Begin,
    End(Collective),
    PostCollective(u64),
    CompleteCollective(Collective, u64),
}

impl Call {
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Send(..) => Some(Role::Send),
            Self::Receive(_)
            | Self::Complete(..)
            | Self::ProbedReceive(_)
            | Self::ProbedComplete(_) => Some(Role::Receive),
            Self::Begin | Self::PostCollective(_) => Some(Role::CollectiveBegin),
            Self::End(_) | Self::CompleteCollective(..) => Some(Role::CollectiveEnd),
            _ => None,
        }
    }
}

/// One event: when it truly was, how it is stamped.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub truth: u64,
    pub raw: u64,
    pub call: Call,
}

/// A dependency by nodes.
pub type Edge = (EventNode, EventNode);

#[derive(Clone, Debug)]
pub struct Trace {
    pub info: TraceInfo,
    /// By location.
    pub events: Vec<Vec<Event>>,
    /// Send before receive, sorted.
    pub messages: Vec<Edge>,
    /// Begin before end of collectives, sorted; all of them, none contracted.
    pub collectives: Vec<Edge>,
    /// The physical clock of each location.
    pub physical: Vec<usize>,
}

impl Trace {
    pub fn logs(&self) -> Vec<LocationLog> {
        let logs = self.events.iter().enumerate();
        logs.map(|(location, events)| log_of(LocationIndex(location as u32), events))
            .collect()
    }

    pub fn causality(&self) -> Causality {
        let options = CausalityOptions {
            keep_lengths: true,
            ..CausalityOptions::default()
        };
        Causality::build(&self.info, self.logs(), options).unwrap()
    }

    /// All true dependencies, messages first.
    pub fn edges(&self) -> Vec<Edge> {
        [self.messages.as_slice(), &self.collectives].concat()
    }

    /// True times by node.
    pub fn truth(&self) -> Vec<u64> {
        self.nodes().map(|(_, _, event)| event.truth).collect()
    }

    /// All events with a role: location, event number, event.
    pub fn nodes(&self) -> impl Iterator<Item = (LocationIndex, u64, &Event)> {
        self.events
            .iter()
            .enumerate()
            .flat_map(|(location, events)| {
                let with_role = events.iter().enumerate();
                with_role
                    .filter(|(_, event)| event.call.role().is_some())
                    .map(move |(number, event)| {
                        (LocationIndex(location as u32), number as u64, event)
                    })
            })
    }

    /// The trace as a perfect clock would stamp it.
    pub fn at_truth(mut self) -> Self {
        for event in self.events.iter_mut().flatten() {
            event.raw = event.truth;
        }
        self
    }

    /// The stamps of all nodes after a correction.
    pub fn corrected(&self, correction: &Correction) -> Vec<Timestamp> {
        let map = |(location, number, event): (LocationIndex, u64, &Event)| {
            let mut cursor = correction.map_of(location).cursor(location);
            cursor.map(number, Timestamp(event.raw)).unwrap()
        };
        self.nodes().map(map).collect()
    }

    /// The trace with every stamp corrected.
    pub fn rewritten(&self, correction: &Correction) -> Self {
        let mut trace = self.clone();
        for (location, events) in trace.events.iter_mut().enumerate() {
            let location = LocationIndex(location as u32);
            let mut cursor = correction.map_of(location).cursor(location);
            for (number, event) in events.iter_mut().enumerate() {
                event.raw = cursor.map(number as u64, Timestamp(event.raw)).unwrap().0;
            }
        }
        trace
    }

    /// The trace with the nodes stamped as given; other events share the stamp
    /// of the node before them.
    pub fn restamped(&self, times: &[u64]) -> Self {
        let mut trace = self.clone();
        let mut times = times.iter().copied();
        for events in &mut trace.events {
            let mut last = None;
            for event in events.iter_mut() {
                if event.call.role().is_some() {
                    last = times.next();
                }
                event.raw = last.unwrap_or(0);
            }
            let first = events.iter().map(|event| event.raw).find(|&raw| raw > 0);
            for event in events.iter_mut().take_while(|event| event.raw == 0) {
                event.raw = first.unwrap_or(trace.physical.len() as u64);
            }
        }
        trace
    }
}

/// The bytes that the send with that number records, if it does. Receives record none.
pub fn length(location: LocationIndex, number: u64) -> Option<u64> {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9) ^ u64::from(location.0);
    (!mixed.is_multiple_of(7)).then_some(mixed % 4_001)
}

/// Tells a log all events of a location.
pub fn log_of(location: LocationIndex, events: &[Event]) -> LocationLog {
    let mut log = LogBuilder::new(location);
    for (number, event) in events.iter().enumerate() {
        let (number, time) = (number as u64, Timestamp(event.raw));
        match event.call {
            Call::Internal => {}
            Call::Send(message, request) => {
                log.send(number, time, message, request);
                log.sent(length(location, number).map_or(Length::UNKNOWN, Length::of));
            }
            Call::SendDone(request) => {
                log.send_completed(number, request);
            }
            Call::Receive(message) => log.receive(number, time, message),
            Call::Post(request) => log.receive_posted(number, time, request),
            Call::Complete(message, request) => {
                log.receive_completed(number, time, message, request);
            }
            Call::Probe(message, id) => log.message_probed(time, message, id),
            Call::ProbedReceive(id) => log.probed_received(number, time, id),
            Call::ProbedPost { message, request } => log.probed_receive_posted(message, request),
            Call::ProbedComplete(request) => log.probed_receive_completed(number, time, request),
            Call::Cancel(request) => log.request_cancelled(request),
            Call::Begin => log.collective_begin(number, time),
            Call::End(what) => log.collective_end(number, time, what),
            Call::PostCollective(request) => log.collective_posted(number, time, request),
            Call::CompleteCollective(what, request) => {
                log.collective_completed(number, time, what, request);
            }
        }
    }
    let stamp = |event: Option<&Event>| Timestamp(event.map_or(0, |event| event.raw));
    let ends = (stamp(events.first()), stamp(events.last()));
    log.finish(events.len() as u64, ends.0, ends.1).unwrap()
}
