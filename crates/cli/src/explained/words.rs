//! The words by which events, rules and reasons are called.

use retime::causality::{
    Class, Collective, Defect, Fate, Operation, PairingDoubt, Recorded, Role, Unused,
};
use retime::{Location, TraceInfo, group_digits, plural, printable};
use retime_picture::Explanation;

use serde::Serialize;

/// Why something is so: a short name for programs, and words.
#[derive(Debug, Serialize)]
pub(crate) struct ReasonPart {
    pub(crate) kind: String,
    pub(crate) why: String,
}

/// All kinds of defects.
const KINDS: [Defect; 15] = [
    Defect::SendWithoutReceive,
    Defect::ReceiveWithoutSend,
    Defect::PlaceUnknown,
    Defect::LengthsDisagree,
    Defect::ReceiveNeverCompleted,
    Defect::ReceiveNotPosted,
    Defect::RequestUnknown,
    Defect::RequestReused,
    Defect::UnknownPeer,
    Defect::CollectiveWithoutBegin,
    Defect::CollectiveWithoutEnd,
    Defect::CollectiveIncomplete,
    Defect::CollectiveMismatch,
    Defect::IdNotUnique,
    Defect::TimeRunsBackwards,
];

/// The name of a kind of defect, as the JSON report has it.
pub(crate) fn name(kind: Defect) -> String {
    let value = serde_json::to_value(kind).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The names of all kinds.
pub(crate) fn names() -> Vec<String> {
    KINDS.map(name).into()
}

/// True if a kind of defect has this name.
pub(crate) fn is_name(text: &str) -> bool {
    names().iter().any(|it| it == text)
}

/// The name of a location, with that of its process where this is another one.
pub(crate) fn location(info: &TraceInfo, location: &Location) -> String {
    let own = printable(&location.name);
    let process = info.processes.get(location.process);
    match process.map(|it| printable(&it.name)) {
        Some(process) if process != own && !process.is_empty() => format!("{own} of {process}"),
        _ => own.into_owned(),
    }
}

/// The part that an event plays, by its records.
pub(crate) fn role(role: Role, recorded: &[Recorded]) -> &'static str {
    match (role, recorded) {
        (Role::Send, [Recorded::Entry { posted: 0 }]) => "entry of a call that can post receives",
        (Role::Send, [Recorded::Entry { .. }]) => "posting of receives",
        (Role::Receive, [Recorded::Accepted { .. }]) => "completion of a synchronous send",
        (Role::Send, _) => "send",
        (Role::Receive, _) => "receive",
        (Role::CollectiveBegin, _) => "begin of a collective operation",
        (Role::CollectiveEnd, _) => "end of a collective operation",
    }
}

/// The record of an event.
fn recorded(info: &TraceInfo, role: Role, recorded: &Recorded) -> String {
    match recorded {
        Recorded::InChannel {
            envelope,
            position,
            of,
            length,
        } => {
            let peer = info.locations.get(envelope.peer.as_usize());
            let peer = peer.map(|it| location(info, it));
            let way = if role == Role::Send { "to" } else { "from" };
            let bytes = match length.bytes() {
                Some(bytes) => format!(" of {}", plural(bytes, "byte")),
                None if length.is_known() => " of 4 GiB or more".into(),
                None => String::new(),
            };
            format!(
                "message{bytes} {way} {} with tag {} in {}: number {} of {} that this location \
                 posted in that channel",
                peer.unwrap_or_else(|| "an unknown location".into()),
                envelope.tag,
                communicator(info, envelope.communicator),
                group_digits(position + 1),
                group_digits(*of),
            )
        }
        Recorded::Named(id) => format!(
            "message that the trace tells by more than a channel, numbered {} in space {} here",
            id.number, id.space
        ),
        Recorded::Accepted { .. } => {
            "completion of a synchronous send, which its receive was posted before".into()
        }
        Recorded::Entry { posted: 0 } => "no receive was posted in the call".into(),
        Recorded::Entry { posted } => format!(
            "entry of a call that posts {}: a synchronous send to {} is complete only later",
            plural(*posted, "receive"),
            if *posted == 1 { "it" } else { "any of them" },
        ),
        Recorded::Call { what, position } => format!(
            "{} on {}: number {} of this location there{}",
            operation(what.operation),
            communicator(info, what.communicator),
            group_digits(position + 1),
            data(what),
        ),
        Recorded::NamedOperation {
            id,
            class,
            expected,
        } => format!(
            "{} operation that the trace tells by more than a communicator, numbered {} in space {} \
             here, with {}",
            class_name(*class),
            id.number,
            id.space,
            plural(
                (*expected).into(),
                if role == Role::CollectiveBegin {
                    "begin"
                } else {
                    "end"
                }
            ),
        ),
    }
}

fn data(what: &Collective) -> &'static str {
    match (what.sent, what.received) {
        (true, true) | (false, false) => "",
        (true, false) => ", where it gave bytes and got none",
        (false, true) => ", where it got bytes and gave none",
    }
}

fn communicator(info: &TraceInfo, handle: u32) -> String {
    match info.communicators.get(handle as usize) {
        Some(known) if known.name.is_empty() => format!("communicator {handle}"),
        Some(known) => printable(&known.name).into_owned(),
        // Recorders that name none have no handle to tell.
        None => "a communicator that is not defined".into(),
    }
}

fn operation(operation: Operation) -> String {
    format!("{operation:?}")
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::OneToAll => "1-to-N",
        Class::AllToOne => "N-to-1",
        Class::AllToAll => "N-to-N",
        Class::Prefix => "prefix",
        Class::None => "unordered",
    }
}

/// The records of an event, and by which rule its dependencies were found if it has any.
pub(crate) fn of_fate(info: &TraceInfo, fate: &Fate) -> Explanation {
    let is_used = !(fate.follows.is_empty() && fate.precedes.is_empty());
    let records = fate.role.iter().flat_map(|role| {
        let all = fate.recorded.iter();
        all.map(|it| recorded(info, *role, it))
    });
    Explanation {
        recorded_as: records.collect(),
        rule: rule(&fate.recorded, fate.doubt).filter(|_| is_used),
    }
}

/// The rule by which the other end was found.
fn rule(recorded: &[Recorded], doubt: Option<PairingDoubt>) -> Option<&'static str> {
    Some(match recorded.first()? {
        Recorded::InChannel { .. } => of_channel(doubt),
        Recorded::Named(_) | Recorded::NamedOperation { .. } => {
            "by what the trace records of both ends they have the same number (docs/DEPENDENCIES.md)"
        }
        Recorded::Accepted { .. } | Recorded::Entry { .. } => {
            "a synchronous send is complete only after its receive was posted"
        }
        Recorded::Call { .. } => {
            "all members of a communicator call its collective operations in one order"
        }
    })
}

/// The rule by which ends of messages of one channel are paired.
const fn of_channel(doubt: Option<PairingDoubt>) -> &'static str {
    match doubt {
        None => "MPI keeps messages of one channel in order (docs/DEPENDENCIES.md)",
        Some(PairingDoubt::AnotherPlace) => {
            "MPI keeps messages of one channel in order; which receive has which message is not certain \
             here, and this holds for whichever (docs/DEPENDENCIES.md)"
        }
        Some(PairingDoubt::SeveralThreads) => {
            "MPI keeps messages that one thread sends and one receives in order, and several threads \
             share this channel; which receive has which message is not certain, and this holds for \
             whichever (docs/DEPENDENCIES.md)"
        }
    }
}

/// A defect at an event.
pub(crate) fn defect(kind: Defect) -> ReasonPart {
    let text = kind.describe(1);
    ReasonPart {
        kind: name(kind),
        why: text.strip_prefix("1 ").unwrap_or(&text).to_owned(),
    }
}

/// Why an event is an end of no dependency.
pub(crate) fn unused(why: Unused) -> ReasonPart {
    let (kind, why) = match why {
        Unused::OrdersNothing(operation @ (Operation::Alltoallv | Operation::Alltoallw)) => {
            let why = format!(
                "{operation:?} does not prove who exchanged data with whom; --dense-alltoallv takes \
                 it that all did"
            );
            ("orders-nothing", why)
        }
        Unused::OrdersNothing(operation) => {
            let why = format!("{operation:?} does not prove that anybody waits for anybody");
            ("orders-nothing", why)
        }
        Unused::Alone => ("alone", "nobody else takes part".into()),
        Unused::GaveNothing => (
            "gave-nothing",
            "it gave no bytes, so nobody waits for it".into(),
        ),
        Unused::GotNothing => (
            "got-nothing",
            "it got no bytes, so it waits for nobody".into(),
        ),
        Unused::NotItsPart => (
            "not-its-part",
            "of a rooted operation only the root's begin, or its end, orders the others".into(),
        ),
        Unused::NotCertain => (
            "not-certain",
            "which event belongs to it is not certain: docs/DEPENDENCIES.md says when".into(),
        ),
    };
    ReasonPart {
        kind: kind.into(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_called_what_it_is() {
        let posting = [Recorded::Entry { posted: 2 }];
        assert_eq!(role(Role::Send, &posting), "posting of receives");
        assert_eq!(
            role(Role::Send, &[Recorded::Entry { posted: 0 }]),
            "entry of a call that can post receives"
        );
        let send = retime::causality::EventNode(3);
        assert_eq!(
            role(Role::Receive, &[Recorded::Accepted { send }]),
            "completion of a synchronous send"
        );
        assert_eq!(role(Role::Send, &[]), "send");
        assert_eq!(
            rule(&posting, None),
            Some("a synchronous send is complete only after its receive was posted")
        );
    }
}
