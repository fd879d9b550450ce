//! A cycle in happened-before, named by its events.

use std::fmt;

use super::law::Law;
use super::run::Run;
use super::times::UNKNOWN;
use crate::causality::{Causality, Place, Role};
use retime_model::TraceInfo;

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

/// Follows a run that has come to a halt until it meets itself.
pub(super) fn find_cycle<L: Law>(run: &Run<'_, L>) -> Cycle {
    let nodes = run.causality.nodes();
    let waiting =
        (0..nodes.locations()).find(|&location| run.next[location] < nodes.of(location).end);
    let mut path: Vec<u32> = Vec::new();
    let mut at = waiting.map(|location| run.next[location]);
    while let Some(node) = at {
        if let Some(start) = path.iter().position(|&seen| seen == node) {
            path.drain(..start);
            break;
        }
        path.push(node);
        at = awaited(run, node);
    }
    let event = |&node: &u32| {
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
fn awaited<L: Law>(run: &Run<'_, L>, node: u32) -> Option<u32> {
    let nodes = run.causality.nodes();
    let clock = run.clocks.of(nodes.location(node));
    let head_before = |cause: u32| run.next[nodes.location(cause).as_usize()];
    let cause = match nodes.role(node) {
        Role::Receive => run.causality.message_source(node),
        Role::CollectiveEnd => run.causality.slot(node).and_then(|slot| {
            let (instance, place) = run.causality.collectives().locate(slot);
            let across = run.collectives.causes(instance, place, clock);
            let within = run.collectives.causes_within(instance, place, clock);
            let tied = within.filter(|&cause| run.is_tied(cause, node));
            let mut causes = across.chain(tied);
            causes.find(|&cause| run.values[cause as usize] == UNKNOWN)
        }),
        Role::Send | Role::CollectiveBegin => None,
    };
    let missing = |cause: &u32| {
        run.values[*cause as usize] == UNKNOWN
            && (run.clocks.of(nodes.location(*cause)) != clock || run.is_tied(*cause, node))
    };
    if let Some(cause) = cause.filter(missing) {
        return Some(head_before(cause));
    }
    // Not waiting itself: another location of its clock has to come first.
    let siblings = run
        .clocks
        .locations(clock)
        .iter()
        .map(|location| location.as_usize());
    let heads = siblings.filter(|&location| run.next[location] < nodes.of(location).end);
    heads
        .map(|location| run.next[location])
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
