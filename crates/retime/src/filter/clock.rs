//! Where the locations and clocks of a filter stand.

use std::collections::VecDeque;

use super::collectives::OperationNumber;
use super::event::Collective;
use super::heads::Heads;
use super::matching::MessageNumber;
use crate::clock::Lead;
use retime_model::{ClockId, LocationIndex};

/// What an event waits for, and who waits for it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
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
pub(super) struct Waiting<P> {
    pub(super) raw: i64,
    /// The newest raw time when it arrived.
    pub(super) arrived: i64,
    pub(super) role: Role,
    pub(super) payload: P,
}

/// A location.
#[derive(Debug)]
pub(super) struct Location<P> {
    pub(super) clock: ClockId,
    pub(super) waiting: VecDeque<Waiting<P>>,
    /// Nothing comes before this any more.
    pub(super) horizon: i64,
    pub(super) is_ended: bool,
}

impl<P> Location<P> {
    pub(super) fn new(clock: ClockId) -> Self {
        Self {
            clock,
            waiting: VecDeque::new(),
            horizon: i64::MIN,
            is_ended: false,
        }
    }
}

/// A clock.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) locations: Vec<LocationIndex>,
    /// The same by what comes next.
    pub(super) heads: Heads,
    pub(super) lead: Lead,
    /// The simple logical clock.
    pub(super) simple: i64,
    /// Raw time of the last event computed.
    pub(super) raw: i64,
    /// Raw time of the last event with a gate.
    pub(super) gate: Option<i64>,
    /// Sum of the jumps.
    pub(super) sum: i64,
    /// How many events wait, and how many of them have edges.
    pub(super) waiting: u32,
    pub(super) nodes_waiting: u32,
    /// How many of its locations have not ended.
    pub(super) live: u32,
    /// The next event has waited long enough.
    pub(super) is_overdue: bool,
}

impl Clock {
    pub(super) fn new(locations: Vec<LocationIndex>) -> Self {
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
