//! The events of a run in true time: nanoseconds since its start.

use super::job::{Class, Element, Style};

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Span {
    /// The time after so many of `parts` equal parts.
    pub(super) fn part(self, number: u64, parts: u64) -> u64 {
        self.begin + (self.end - self.begin) * number / parts
    }

    pub(super) fn is_within(self, outer: Self) -> bool {
        outer.begin <= self.begin && self.end <= outer.end
    }
}

/// The kind of an operation of several ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Collective(Class),
    /// One member sent, the other received.
    Message,
}

/// The tensor that an operation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) elements: u64,
    pub(super) element: Element,
}

impl Payload {
    pub(super) fn bytes(self) -> u64 {
        self.elements * self.element.bytes()
    }
}

/// An operation, with the call of each member.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) group: usize,
    pub(super) what: What,
    pub(super) payload: Payload,
    /// How many elements each member gets from each, of an exchange of unequal sizes.
    pub(super) parts: Vec<Vec<u64>>,
    /// Ranks and the numbers of their calls.
    pub(super) members: Vec<(u32, usize)>,
}

/// The role of a rank in an operation. Peers are ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Member,
    Sender { to: u32 },
    Receiver { from: u32 },
}

/// The call of a rank in an operation.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) instance: usize,
    pub(super) role: Role,
    /// On the main thread.
    pub(super) host: Span,
    /// The operation itself: a kernel, or an annotation.
    pub(super) event: Span,
    /// Which of the threads of the group did it, or which of its streams.
    pub(super) thread: usize,
    /// The calls that its kernel does, if these were put together.
    pub(super) batch: Option<Batch>,
    /// The number of the operation in its group; for messages, the number of the
    /// rank's own messages there.
    pub(super) sequence: u64,
}

impl Call {
    /// The span that proves something of the clocks: of a send of Gloo the call itself, since data
    /// may leave before anything else is noted.
    pub(super) fn proof(&self, style: Style) -> Span {
        match (style, self.role) {
            (Style::Gloo, Role::Sender { .. }) => self.host,
            _ => self.event,
        }
    }
}

/// Calls that one kernel does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    /// The number of the first, and of the last.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The range that starts the kernel.
    pub(super) launch: Span,
}

/// An entry in the course of a main thread.
#[derive(Debug)]
pub(super) enum Item {
    Iteration { number: u32, span: Span },
    Compute { host: Span, device: Option<Span> },
    Call(usize),
}

/// The course of a rank.
#[derive(Debug, Default)]
pub(super) struct RankLog {
    /// In order of time.
    pub(super) items: Vec<Item>,
    pub(super) calls: Vec<Call>,
}

impl RankLog {
    pub(super) fn iterations(&self) -> impl Iterator<Item = Span> {
        self.items.iter().filter_map(|item| match *item {
            Item::Iteration { span, .. } => Some(span),
            _ => None,
        })
    }
}

/// The operations of a run, and the course of each rank.
#[derive(Debug)]
pub(super) struct Happened {
    pub(super) instances: Vec<Instance>,
    /// For each rank.
    pub(super) ranks: Vec<RankLog>,
}
