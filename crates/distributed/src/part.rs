//! The part of a trace that a process has: what it exchanges with whom.
//!
//! Ghosts and participants of operations of other processes are numbered differently in each
//! process, but in the same order. So both sides of an exchange keep a list of what they
//! exchange, and only values are sent.

use retime::causality::{EventNode, Slot};

use crate::distribution::Distribution;

/// The events and slots that this process exchanges with each other one.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) distribution: Distribution,
    /// Own events of which there are ghosts elsewhere, rising.
    pub(crate) sent: Vec<Vec<EventNode>>,
    /// Ghosts of others' events, rising.
    pub(crate) ghosts: Vec<Vec<EventNode>>,
    /// Others' participants in operations that this process owns.
    pub(crate) owned: Vec<Vec<Slot>>,
    /// Own participants in operations that others own, as these have them in `owned`.
    pub(crate) away: Vec<Vec<Slot>>,
    /// True if any operation has an owner, which all know alike.
    pub(crate) joins_apart: bool,
}

impl Part {
    /// Before anything is exchanged.
    pub(crate) fn new(distribution: Distribution) -> Self {
        Self {
            distribution,
            sent: Vec::new(),
            ghosts: Vec::new(),
            owned: Vec::new(),
            away: Vec::new(),
            joins_apart: false,
        }
    }

    /// The owner of the operation of an own participant, and where in its order that is; `None`
    /// for an operation that this process owns.
    pub(crate) fn owner_of(&self, slot: Slot) -> Option<(usize, usize)> {
        let mut owners = self.away.iter().enumerate();
        owners.find_map(|(owner, away)| Some((owner, away.binary_search(&slot).ok()?)))
    }
}
