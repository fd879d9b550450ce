//! Sends that wait for their receives, in order.

use crate::ids::{EventNode, PackedOption};
use crate::partner::Partner;

/// The waiting line of a channel.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    sends: u32,
    receives: u32,
    /// Oldest and newest send without a receive; linked through `partner`.
    head: PackedOption<EventNode>,
    tail: PackedOption<EventNode>,
}

impl Queue {
    pub(super) fn of(sends: u32, receives: u32) -> Self {
        Self {
            sends,
            receives,
            head: PackedOption::NONE,
            tail: PackedOption::NONE,
        }
    }

    pub(super) fn enqueue(&mut self, send: EventNode, partner: &mut [Partner]) {
        match self.tail.get() {
            Some(last) => partner[last.index()] = send.into(),
            None => self.head = send.into(),
        }
        self.tail = send.into();
    }

    /// Takes the oldest waiting send out.
    pub(super) fn dequeue(&mut self, partner: &[Partner]) -> Option<EventNode> {
        let send = self.head.get()?;
        if self.head == self.tail {
            (self.head, self.tail) = (PackedOption::NONE, PackedOption::NONE);
        } else {
            self.head = partner[send.index()].node().into();
        }
        Some(send)
    }

    /// Gives the oldest waiting send to `receive`, unless it must stay alone.
    pub(super) fn serve(&mut self, receive: EventNode, partner: &mut [Partner]) -> bool {
        if self.receives > self.sends {
            self.receives -= 1;
            return false;
        }
        let Some(send) = self.dequeue(partner) else {
            return false;
        };
        partner[send.index()] = receive.into();
        partner[receive.index()] = send.into();
        true
    }
}
