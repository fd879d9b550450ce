//! A cycle in happened-before, named by its events.

use std::fmt;

use crate::exchange::Exchange;
use crate::stepper::{causes, is_tied};
use retime_causality::{Causality, EventNode, Place, Role};
use retime_model::{Clocks, TraceInfo};

/// How many events of a cycle a message names.
const EVENTS_NAMED: usize = 8;

/// Events that all wait for each other: each depends on the next, the last on
/// the first. Only a defective trace has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The events, each before the one it waits for.
    pub events: Vec<(Place, &'static str)>,
}

impl Cycle {
    /// The cycle of a [mirrored](Causality::mirrored) trace, as events of the
    /// trace itself.
    #[must_use]
    pub fn mirrored(self, causality: &Causality) -> Self {
        let nodes = causality.nodes();
        let back = |(place, role): (Place, &'static str)| {
            let count = nodes.event_count(place.location.as_usize());
            let event = count.saturating_sub(place.event + 1);
            let role = match role {
                SEND => RECEIVE,
                RECEIVE => SEND,
                BEGIN => END,
                _ => BEGIN,
            };
            (Place { event, ..place }, role)
        };
        Self {
            events: self.events.into_iter().rev().map(back).collect(),
        }
    }

    /// The message with names of locations.
    pub fn describe(&self, info: &TraceInfo) -> String {
        let named = self.events.iter().take(EVENTS_NAMED).map(|(place, role)| {
            format!(
                "\n  {role}, event {} of {}",
                place.event,
                info.describe(place.location)
            )
        });
        let rest = self.events.len().saturating_sub(EVENTS_NAMED);
        let more = if rest > 0 {
            format!("\n  ... and {rest} more")
        } else {
            String::new()
        };
        format!("{self}{}{more}", named.collect::<String>())
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the trace contradicts itself: {} events wait for each other in a cycle, so no time fits them",
            self.events.len()
        )
    }
}

impl std::error::Error for Cycle {}

/// A run that has come to a halt before its end.
pub(super) struct Halt<'a> {
    pub(super) causality: &'a Causality,
    pub(super) clocks: &'a Clocks,
    pub(super) exchange: &'a Exchange<'a>,
    /// The next node of each location, if it has one left.
    pub(super) heads: Vec<Option<EventNode>>,
}

/// Follows who waits for whom until a node comes up again.
pub(super) fn find_cycle(halt: &Halt<'_>) -> Cycle {
    let nodes = halt.causality.nodes();
    let mut path: Vec<EventNode> = Vec::new();
    let mut at = halt.heads.iter().copied().flatten().next();
    while let Some(node) = at {
        if let Some(start) = path.iter().position(|&seen| seen == node) {
            path.drain(..start);
            break;
        }
        path.push(node);
        at = awaited(halt, node);
    }
    let event = |&node: &EventNode| {
        let place = Place {
            location: nodes.location(node),
            event: nodes.event(node),
        };
        (place, name(nodes.role(node)))
    };
    Cycle {
        events: path.iter().map(event).collect(),
    }
}

/// The node at which the run stands that keeps `node` from being computed.
fn awaited(halt: &Halt<'_>, node: EventNode) -> Option<EventNode> {
    let nodes = halt.causality.nodes();
    let clock_of = |node: EventNode| halt.clocks.of(nodes.location(node));
    let clock = clock_of(node);
    let missing = causes(halt.causality, node).filter(|&cause| {
        halt.exchange.published(cause).is_none()
            && (clock_of(cause) != clock || is_tied(nodes, cause, node))
    });
    if let Some(cause) = missing.min_by_key(|&cause| clock_of(cause) == clock) {
        return halt.heads[nodes.location(cause).as_usize()];
    }
    // Not waiting itself: another location of its clock has to come first.
    let siblings = halt.clocks.locations(clock).iter();
    let heads = siblings.filter_map(|location| halt.heads[location.as_usize()]);
    heads
        .filter(|&head| head != node)
        .min_by_key(|&head| nodes.time(head))
}

const SEND: &str = "send";
const RECEIVE: &str = "receive";
const BEGIN: &str = "begin of a collective";
const END: &str = "end of a collective";

fn name(role: Role) -> &'static str {
    match role {
        Role::Send => SEND,
        Role::Receive => RECEIVE,
        Role::CollectiveBegin => BEGIN,
        Role::CollectiveEnd => END,
    }
}
