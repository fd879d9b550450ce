//! Messages and operations that the trace itself names.
//!
//! Where both ends of a message carry an id, or all events of an operation do,
//! nothing has to be concluded from the order in which things were posted: what
//! carries the same id belongs together, wherever it was recorded. An id that
//! occurs once has lost its other end; one that more events carry than belong to
//! a message or an operation says nothing certain, and all of them are left out.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions, EventNode, LogBuilder, MessageId};
//! use retime_model::{LocationIndex, Timestamp};
//! # let info = retime_testing::trace("0:\n1:")?.info;
//! let mut client = LogBuilder::new(LocationIndex(0));
//! client.named_send(0, Timestamp(10), MessageId::number(70));
//! client.named_send(1, Timestamp(20), MessageId::number(80));
//! let mut server = LogBuilder::new(LocationIndex(1));
//! server.named_receive(0, Timestamp(31), MessageId::number(80)); // overtook the first
//! server.named_receive(1, Timestamp(35), MessageId::number(70));
//! let logs = vec![
//!     client.finish(2, Timestamp(10), Timestamp(20))?,
//!     server.finish(2, Timestamp(31), Timestamp(35))?,
//! ];
//! let causality = Causality::build(&info, logs, CausalityOptions::default())?;
//! assert_eq!((causality.message_source(EventNode(2)), causality.message_source(EventNode(3))), (Some(EventNode(1)), Some(EventNode(0))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use retime_model::{Class, Defect, LogColumns, NamedOperation, Role};

use crate::collectives::{Collectives, Participant};
use crate::nodes::Nodes;
use crate::noted::Noted;
use crate::partner::Partner;
use crate::{EventNode, PackedOption};
use retime_model::Cancelled;
use retime_model::pace::Pace;

/// Joins the ends of named messages in `partner`.
pub(super) fn pair(
    logs: &[LogColumns],
    nodes: &Nodes,
    partner: &mut [Partner],
    defects: &mut Noted<'_>,
    pace: &mut Pace<'_>,
) -> Result<(), Cancelled> {
    let named = logs.iter().enumerate().flat_map(|(position, log)| {
        let named = log.named_messages.iter();
        named.map(move |it| (it.id, nodes.of_log(position, it.node)))
    });
    let mut named: Vec<_> = named.collect();
    named.sort_unstable();
    for same in named.chunk_by(|a, b| a.0 == b.0) {
        pace.events(same.len())?;
        let role = |node: EventNode| nodes.role(node);
        match *same {
            [(_, a), (_, b)] if role(a) != role(b) => {
                // An event with several names belongs to one message.
                let free = |node: EventNode| partner[node.index()].node().is_none();
                if free(a) && free(b) {
                    partner[a.index()] = b.into();
                    partner[b.index()] = a.into();
                }
            }
            [(_, alone)] => {
                let defect = match role(alone) {
                    Role::Send => Defect::SendWithoutReceive,
                    _ => Defect::ReceiveWithoutSend,
                };
                defects.at(defect, alone);
            }
            _ => {
                for &(_, node) in same {
                    defects.at(Defect::IdNotUnique, node);
                }
            }
        }
    }
    Ok(())
}

/// A begin or end of an operation that has an id.
#[derive(Clone, Copy)]
struct Named<'a> {
    of: &'a NamedOperation,
    node: EventNode,
}

/// Adds the operations that have ids.
pub(super) fn join(
    logs: &[LogColumns],
    nodes: &Nodes,
    collectives: &mut Collectives,
    defects: &mut Noted<'_>,
    pace: &mut Pace<'_>,
) -> Result<(), Cancelled> {
    let named = logs.iter().enumerate().flat_map(|(position, log)| {
        let named = log.named_operations.iter();
        named.map(move |of| Named {
            of,
            node: nodes.of_log(position, of.node),
        })
    });
    let mut named: Vec<Named<'_>> = named.collect();
    named.sort_unstable_by_key(|it| (it.of.id, it.of.rank, it.node));
    for events in named.chunk_by(|a, b| a.of.id == b.of.id) {
        pace.events(events.len())?;
        let (class, first) = (events[0].of.class, events[0].node);
        if events.iter().any(|it| it.of.class != class) {
            defects.at(Defect::CollectiveMismatch, first);
            continue;
        }
        let Some(participants) = participants(events, nodes) else {
            defects.at(Defect::IdNotUnique, first);
            continue;
        };
        if is_incomplete(events, nodes) {
            // What is there belongs together all the same.
            defects.at(Defect::CollectiveIncomplete, first);
        }
        collectives.push(class, false, &participants);
    }
    Ok(())
}

/// Begin and end of each location that takes part, by rank; `None` if one has two of
/// either.
fn participants(events: &[Named<'_>], nodes: &Nodes) -> Option<Vec<Participant>> {
    let key = |it: &Named<'_>| (it.of.rank, nodes.location(it.node));
    let same = |a: &Named<'_>, b: &Named<'_>| key(a) == key(b);
    let participant = |own: &[Named<'_>]| {
        let mut participant = Participant {
            begin: PackedOption::NONE,
            end: PackedOption::NONE,
            side: 0,
        };
        for it in own {
            let place = match nodes.role(it.node) {
                Role::CollectiveBegin => &mut participant.begin,
                _ => &mut participant.end,
            };
            if std::mem::replace(place, it.node.into()).is_some() {
                return None;
            }
        }
        Some(participant)
    };
    events.chunk_by(same).map(participant).collect()
}

/// True if fewer begins or ends came than the operation has, or none at all of a kind that it cannot be
/// without. A root that sends to all has begun, and one that waits for all has ended, whoever else took
/// part; any other operation has both begins and ends.
fn is_incomplete(events: &[Named<'_>], nodes: &Nodes) -> bool {
    let of = |role: Role| events.iter().filter(move |it| nodes.role(it.node) == role);
    let [begins, ends] = [Role::CollectiveBegin, Role::CollectiveEnd].map(|role| {
        let expected = of(role).map(|it| it.of.expected).max().unwrap_or(0);
        (of(role).count() as u64, u64::from(expected))
    });
    let (no_begin, no_end) = (begins.0 == 0, ends.0 == 0);
    let lacks_all = match events.first().map(|it| it.of.class) {
        Some(Class::OneToAll) => no_begin,
        Some(Class::AllToOne) => no_end,
        _ => no_begin || no_end,
    };
    lacks_all || begins.0 < begins.1 || ends.0 < ends.1
}
