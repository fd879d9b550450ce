//! Where the locations and clocks of a filter stand.

use std::collections::VecDeque;

use crate::collectives::OperationNumber;
use crate::event::Collective;
use crate::heads::{Head, Heads};
use crate::matching::MessageNumber;
use retime_logical_clocks::Lead;
use retime_model::{ClockId, LocationIndex};

/// The role of an event: which cause it waits for, and which effects wait for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Internal,
    /// With the number of its message, if its receive is not gone.
    Send(Option<MessageNumber>),
    Receive(MessageNumber),
    /// With the number of its operation.
    Begin(OperationNumber, Collective),
    End(OperationNumber, Collective),
}

/// An event that is not computed yet.
#[derive(Debug)]
pub(crate) struct Waiting<P> {
    pub(crate) raw: i64,
    /// The newest raw time when it arrived.
    pub(crate) arrived: i64,
    pub(crate) role: Role,
    pub(crate) payload: P,
}

/// A location.
#[derive(Debug)]
pub(crate) struct Location<P> {
    pub(crate) clock: ClockId,
    pub(crate) waiting: VecDeque<Waiting<P>>,
    /// Nothing comes before this any more.
    pub(crate) horizon: i64,
    pub(crate) is_ended: bool,
}

impl<P> Location<P> {
    pub(crate) fn new(clock: ClockId) -> Self {
        Self {
            clock,
            waiting: VecDeque::new(),
            horizon: i64::MIN,
            is_ended: false,
        }
    }

    /// The state of its next event.
    pub(crate) fn head(&self) -> Head {
        match self.waiting.front() {
            Some(head) => Head::Waiting(head.raw),
            None if self.is_ended => Head::Ended,
            None => Head::Idle(self.horizon),
        }
    }
}

/// A clock.
#[derive(Debug)]
pub(crate) struct Clock {
    pub(crate) locations: Vec<LocationIndex>,
    /// Locations by what comes next.
    pub(crate) heads: Heads,
    pub(crate) lead: Lead,
    /// The simple logical clock.
    pub(crate) simple: i64,
    /// Raw time of the last event computed.
    pub(crate) raw: i64,
    /// Raw time of the last event with a gate.
    pub(crate) gate: Option<i64>,
    /// Sum of the jumps.
    pub(crate) sum: i64,
    /// How many events wait, and how many of them have edges.
    pub(crate) waiting: u32,
    pub(crate) nodes_waiting: u32,
    /// How many of its locations have not ended.
    pub(crate) live: u32,
    /// The next event has waited long enough.
    pub(crate) is_overdue: bool,
}

impl Clock {
    pub(crate) fn new(locations: Vec<LocationIndex>) -> Self {
        Self {
            live: locations.len() as u32,
            heads: Heads::of(&locations),
            locations,
            lead: Lead::default(),
            simple: i64::MIN,
            raw: i64::MIN,
            gate: None,
            sum: 0,
            waiting: 0,
            nodes_waiting: 0,
            is_overdue: false,
        }
    }
}
