//! Calls that communicate, as profilers record them.
//!
//! | event | what it covers | what it says |
//! |---|---|---|
//! | NCCL kernel (`cat` "kernel") with "Collective name" | from when the device takes part to when its part is done | operation, sizes, group with its ranks, newer ones a number ("Seq") |
//! | `gloo:all_reduce`, ... (`cat` "user_annotation") | the same, on a thread of the process group | operation and sizes; neither group nor root |
//! | `gloo:send`, `gloo:recv` | the posting; what is waited for comes later | nothing that could be used |
//! | `c10d::*`, `record_param_comms` | the call on the program's own thread, which may return at once | the root of a rooted operation |
//!
//! Only the first two order ranks: none of them ends before all it needs have begun.
//! A call says what it is by its *signature*: calls of one operation have equal ones.
//!
//! Source of the names: PyTorch's `saveNcclMeta` (torch/csrc/profiler/util.cpp) and Kineto's
//! `output_json.cpp`; of gloo: `ProcessGroupGloo.cpp`.

use retime_model::Operation;
use serde_json::Value;

use crate::header::{number, rank_list};
use crate::pass::Event;

/// A call as one rank recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its event, by its position in the [columns](crate::columns) of the file.
    pub(crate) event: u32,
    pub(crate) what: What,
    /// What calls of one operation have in common.
    pub(crate) signature: String,
    /// Its process group, if it says so.
    pub(crate) group: Option<Label>,
    /// Its number in the group, if it says so.
    pub(crate) sequence: Option<u64>,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It takes part in an operation of the whole group.
    Collective(Operation),
    /// It sends to a rank of the group.
    Send(u32),
    /// It receives from a rank of the group.
    Receive(u32),
}

/// A process group, as a call names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Label {
    pub(crate) name: String,
    /// The ranks of its members as text, maybe with some left out.
    pub(crate) ranks: String,
}

impl Label {
    /// The ranks of its members, if all are said.
    pub(crate) fn members(&self) -> Option<Vec<u32>> {
        rank_list(&self.ranks)
    }
}

/// What an event says of communication.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It is a call that orders ranks.
    Call(Call),
    /// An operation is asked for, maybe with a root: calls elsewhere tell none.
    Request(Operation, Option<u32>),
    /// It communicates, but proves nothing.
    Unused(&'static str),
}

/// Messages of gloo, in words that take a plural: only their posting is recorded.
const GLOO_MESSAGE: &str = "gloo message call";
/// Kernels whose operation is not known, or whose arguments are missing.
const UNKNOWN_KERNEL: &str = "unnamed NCCL kernel";

impl Said {
    /// What an event says, if it communicates.
    #[inline]
    pub(crate) fn of(event: &Event<'_>, number: u32) -> Option<Self> {
        let name = event.text(event.fields.name);
        match name {
            [b'n', b'c', b'c', b'l', ..] if event.text(event.fields.cat) == b"kernel" => {
                nccl(event, number)
            }
            [b'g', b'l', b'o', b'o', b':', operation @ ..] => gloo(event, number, operation),
            [b'c', b'1', b'0', b'd', b':', b':', operation @ ..] => request(event, operation),
            _ => None,
        }
    }
}

fn arguments(event: &Event<'_>) -> Value {
    serde_json::from_slice(event.fields.args.of(event.bytes)).unwrap_or_default()
}

/// A value as text, whatever it is.
fn text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn nccl(event: &Event<'_>, event_number: u32) -> Option<Said> {
    let args = arguments(event);
    let name = text(args.get("Collective name"));
    let peer = |key| number(args.get(key));
    let what = match &*normalised(&name) {
        "send" => peer("Dst Rank").map(What::Send),
        "recv" => peer("Src Rank").map(What::Receive),
        other => operation(other).map(What::Collective),
    };
    let Some(what) = what else {
        return Some(Said::Unused(UNKNOWN_KERNEL));
    };
    let group = text(args.get("Process Group Name"));
    let ranks = text(args.get("Process Group Ranks"));
    Some(Said::Call(Call {
        event: event_number,
        what,
        signature: signature(what, &name, || {
            let of = |key| text(args.get(key));
            [of("In msg nelems"), of("Out msg nelems"), of("dtype")].join(" ")
        }),
        group: (!group.is_empty() || !ranks.is_empty()).then_some(Label { name: group, ranks }),
        sequence: number(args.get("Seq")),
    }))
}

fn gloo(event: &Event<'_>, event_number: u32, name: &[u8]) -> Option<Said> {
    let name = String::from_utf8_lossy(name);
    let plain = normalised(&name);
    if matches!(&*plain, "send" | "recv" | "recvanysource") {
        return Some(Said::Unused(GLOO_MESSAGE));
    }
    let what = What::Collective(operation(&plain)?);
    Some(Said::Call(Call {
        event: event_number,
        what,
        signature: signature(what, &name, || {
            let args = arguments(event);
            let of = |key| text(args.get(key));
            [of("Input Dims"), of("Input type")].join(" ")
        }),
        group: None,
        sequence: None,
    }))
}

/// What a call on the program's thread asks for; the root is an argument of its own.
fn request(event: &Event<'_>, name: &[u8]) -> Option<Said> {
    let operation = operation(&normalised(&String::from_utf8_lossy(name)))?;
    let place = match operation {
        Operation::Bcast => 2,
        Operation::Reduce | Operation::Gather | Operation::Scatter => 3,
        _ => return Some(Said::Request(operation, None)),
    };
    let args = arguments(event);
    let root = args.get("Concrete Inputs").and_then(|it| it.get(place));
    Some(Said::Request(operation, number(root)))
}

/// A name without what versions write differently: `_allgather_base`, `all_gather`.
fn normalised(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|it| it.to_ascii_lowercase()).collect()
}

fn operation(normalised: &str) -> Option<Operation> {
    // Longer names come before those that they begin with.
    const NAMES: [(&str, Operation); 11] = [
        ("allreduce", Operation::Allreduce),
        ("sparseallreduce", Operation::Allreduce),
        ("allgather", Operation::Allgather),
        ("reducescatter", Operation::ReduceScatter),
        ("alltoallv", Operation::Alltoallv),
        ("alltoall", Operation::Alltoall),
        ("barrier", Operation::Barrier),
        ("broadcast", Operation::Bcast),
        ("reduce", Operation::Reduce),
        ("gather", Operation::Gather),
        ("scatter", Operation::Scatter),
    ];
    let named = |(name, _): &&(&str, Operation)| normalised.starts_with(name);
    NAMES.iter().find(named).map(|(_, operation)| *operation)
}

/// Name and sizes, but for operations of which each member may have sizes of its own.
fn signature(what: What, name: &str, sizes: impl FnOnce() -> String) -> String {
    match what {
        What::Collective(Operation::Gather | Operation::Scatter | Operation::Alltoallv) => {
            name.to_owned()
        }
        // Both ends of a message have one, and what one sends the other receives.
        What::Send(_) | What::Receive(_) => format!("message {}", sizes()),
        What::Collective(_) => format!("{name} {}", sizes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions_are_known() {
        for (name, expected) in [
            ("allreduce", Some(Operation::Allreduce)),
            ("all_reduce", Some(Operation::Allreduce)),
            ("allreduce_coalesced", Some(Operation::Allreduce)),
            ("_allgather_base", Some(Operation::Allgather)),
            ("all_gather_into_tensor_coalesced", Some(Operation::Allgather)),
            ("_reduce_scatter_base", Some(Operation::ReduceScatter)),
            ("reduce_scatter_tensor_coalesced", Some(Operation::ReduceScatter)),
            ("_reduce_oop", Some(Operation::Reduce)),
            ("_broadcast_oop", Some(Operation::Bcast)),
            ("all_to_all", Some(Operation::Alltoall)),
            ("all_to_allv", Some(Operation::Alltoallv)),
            ("barrier", Some(Operation::Barrier)),
            ("coalesced", None),
            ("", None),
        ] {
            assert_eq!(operation(&normalised(name)), expected, "{name}");
        }
    }
}
