//! Calls that communicate, as profilers record them.
//!
//! | event | what it covers | what it says |
//! |---|---|---|
//! | NCCL kernel (`cat` "kernel") with "Collective name" | from when the device takes part to when its part is done | operation, sizes, group with its ranks, newer ones a number ("Seq") |
//! | communication kernel without it, as of PyTorch up to 2.1 | the same | nothing: the call that [launched](crate::launch) it does |
//! | `gloo:all_reduce`, ... (`cat` `user_annotation`) | the same, on a thread of the process group | operation and sizes; neither group nor root |
//! | `gloo:send`, `gloo:recv` | from when it is under way to when it was waited for | nothing: the [call](crate::posted) around its begin does |
//! | `c10d::*`, `record_param_comms`, `nccl:*` | the call on the program's own thread, which may return at once | the root of a rooted operation, the peer of a message; what the kernels are that it launches |
//!
//! Kernels and calls of gloo order ranks: none of them ends before all it needs have begun. Of a
//! message of gloo it is the call `c10d::send` that has begun: the data may be on their way
//! before `gloo:send` begins.
//! A call says what it is by its *signature*: calls of one operation have equal ones.
//!
//! Source of the names: `saveNcclMeta` of `torch/csrc/profiler/util.cpp` and Kineto's
//! `output_json.cpp`; of gloo: `ProcessGroupGloo.cpp`.

use memchr::memmem;
use retime_model::Operation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ascend;
use crate::header::{Header, HeaderGroup, Runs, number, rank_list, text};
use crate::iterations::Iteration;
use crate::kernels::{self, family, mutual};
use crate::peers::{MessageEnd, PEERLESS};
use crate::rank_prefix::without_rank;
use crate::recorded::Recorded;

/// A call as one rank recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Call {
    /// Its event, by its position in the [columns](crate::columns) of the file.
    pub(crate) event: u32,
    pub(crate) what: What,
    /// Text that all calls of one operation have in common, by which calls of ranks are compared.
    pub(crate) signature: String,
    /// Its process group, if it says so.
    pub(crate) group: Option<Label>,
    /// Its number in the group, if it says so.
    pub(crate) sequence: Option<u64>,
    /// How many members its group has, if it says so.
    pub(crate) members: Option<u32>,
    /// The members from whom nothing comes, by rank in the group: of an exchange of unequal sizes
    /// that says all sizes.
    pub(crate) nothing_from: Option<Box<[u32]>>,
    /// True if its own part is empty: nobody waits for it, and it may wait for nobody.
    pub(crate) is_empty: bool,
    /// Its root by rank in the group, if the call that [launched](crate::roots) it says so.
    pub(crate) root: Option<u32>,
    /// The number of the iteration in which its kernel was launched, or it began, if that is known.
    pub(crate) iteration: Option<u64>,
    /// A number that rises along its track, whatever its clock shows: that of its launch ("correlation"), or
    /// of the range that it is ("External id").
    pub(crate) counted: Option<u64>,
    /// The tag of a message: only those of one tag keep their order.
    pub(crate) tag: u32,
    /// The other event of a message of gloo: the range within a send, the call around a receive.
    pub(crate) other: Option<u32>,
    /// Where it was recorded.
    pub(crate) on: On,
}

impl Call {
    /// A call that says nothing of its group.
    pub(crate) fn unnamed(event: u32, what: What, signature: String, on: On) -> Self {
        Self {
            event,
            what,
            signature,
            group: None,
            sequence: None,
            members: None,
            nothing_from: None,
            is_empty: false,
            root: None,
            iteration: None,
            counted: None,
            tag: 0,
            other: None,
            on,
        }
    }

    /// The call with a number that rises along its track. Some profilers write 0 where they know none.
    pub(crate) fn counted_by(self, number: Option<u64>) -> Self {
        Self {
            counted: number.filter(|it| *it != 0),
            ..self
        }
    }

    /// The sizes of its tensors, if it is one of gloo: between its name and their types.
    pub(crate) fn sizes(&self) -> &str {
        let named = self.signature.split_once(' ');
        let sizes = named.and_then(|(_, sizes)| sizes.rsplit_once(' '));
        sizes.map_or("", |it| it.0)
    }

    /// The part of its signature that all calls of one operation have: of those to which each
    /// member may give a part of another size it is the name. Lists of tensors can be of unequal
    /// sizes (`all_gather`), which only numbers keep apart; those within one tensor are not.
    pub(crate) fn common(&self) -> &str {
        let signature = &*self.signature;
        let name = || signature.split(' ').next().unwrap_or(signature);
        let What::Collective(operation) = self.what else {
            return signature;
        };
        match operation {
            Operation::Gather | Operation::Scatter | Operation::Alltoallv => name(),
            Operation::Allgather | Operation::ReduceScatter
                if self.sequence.is_some() && matches!(name(), "all_gather" | "reduce_scatter") =>
            {
                name()
            }
            _ => signature,
        }
    }
}

/// Where a call was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum On {
    /// On a stream of a device, which does one call after the other.
    Stream,
    /// On a thread that takes calls from a queue.
    Thread,
    /// On a stream that nothing tells the group of: the order of such kernels is all there is.
    Order,
}

/// The effect of a call on ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum What {
    /// It takes part in an operation of the whole group.
    Collective(Operation),
    /// It sends to a rank of the group.
    Send(u32),
    /// It receives from a rank of the group.
    Receive(u32),
}

/// A process group, as a call names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Label {
    pub(crate) name: String,
    /// The ranks of its members as text, maybe with some left out.
    pub(crate) ranks: String,
}

impl Label {
    /// The group that a call is of whatever it is, since all groups with others in them have
    /// the same members in the same order; nothing if they have not, or one does not say its
    /// members, or is not listed.
    pub(crate) fn of_any(header: &Header) -> Option<Self> {
        Self::of_each(header, |_| true)
    }

    /// The group of so many members that a call is of; none if groups of different ranks have as many.
    pub(crate) fn of_size(header: &Header, members: u32) -> Option<Self> {
        Self::of_each(header, |it| it.ranks.len() == members as usize)
    }

    /// The group that a call of gloo is of, likewise among those that may run it.
    pub(crate) fn of_gloo(header: &Header) -> Option<Self> {
        Self::of_each(header, |it| it.runs != Runs::Others)
    }

    fn of_each(header: &Header, meant: impl Fn(&HeaderGroup) -> bool) -> Option<Self> {
        if header.lacks_groups() {
            return None;
        }
        let groups = header.groups.iter().filter(|it| it.ranks.len() != 1);
        let mut groups = groups.filter(|it| meant(it));
        let first = groups.next().filter(|it| !it.ranks.is_empty())?;
        groups.all(|it| it.ranks == first.ranks).then(|| Self {
            name: first.name.clone(),
            ranks: format!("{:?}", first.ranks),
        })
    }

    /// The ranks of its members, if all are said.
    pub(crate) fn members(&self) -> Option<Vec<u32>> {
        rank_list(&self.ranks)
    }
}

/// An event that tells of communication.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It is a call that orders ranks.
    Call(Call),
    /// An operation is asked for.
    Request(Request),
    /// A kernel that does not say which call it is part of.
    Kernel(Kernel),
    /// Kernels of this number are started.
    Launch(u64),
    /// A call on the program's own thread that tells of the kernels launched meanwhile.
    Around(Around),
    /// A message is asked for.
    Posting(Posting),
    /// A message of gloo is under way.
    UnderWay(u32),
    /// An iteration of the program.
    Iteration(Iteration),
}

impl Said {
    /// Reads an event, if it tells of communication.
    #[inline]
    pub(crate) fn of(event: &Recorded<'_>, number: u32) -> Option<Self> {
        let cat = event.category;
        let name = without_rank(event.name);
        if cat.eq_ignore_ascii_case(b"kernel") {
            let kind = family(name)?;
            return Some(kernel(event, number, name, kind));
        }
        match name {
            [b'g', b'l', b'o', b'o', b':', operation @ ..] => gloo(event, number, operation),
            [b'P', b'r', b'o', b'f', ..] if cat == b"user_annotation" => {
                Iteration::of(name, number).map(Self::Iteration)
            }
            [b'n', b'c', b'c', b'l', b':', operation @ ..] if cat == b"user_annotation" => {
                annotation(event, number, operation)
            }
            [b'c', b'1', b'0', b'd', b':', b':', operation @ ..] => {
                request(event, number, operation)
            }
            b"record_param_comms" => parameters(event, number),
            [b'h', b'c', b'o', b'm', b'_', ..] => {
                let kind = ascend::told(event)?;
                Some(kernel(event, number, name, kind))
            }
            // Of CUDA, HIP, and the runtime of SYCL (`urEnqueueKernelLaunch`).
            [b'c', b'u', ..] | [b'h', b'i', b'p', ..] | [b'u', b'r', b'E', ..] => {
                launch(event, name).map(Self::Launch)
            }
            _ => None,
        }
    }
}

/// A kernel that does not say which call it is part of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Its event.
    pub(crate) event: u32,
    /// The number that its launch has, too; in a file of several ranks one that no other rank has.
    pub(crate) launch: Option<u64>,
    /// That number as it stands in the file.
    pub(crate) counted: Option<u64>,
    /// How it is counted if nothing tells more.
    pub(crate) kind: &'static str,
    /// The call that its name alone makes it.
    pub(crate) by_name: Option<Call>,
}

/// A call on the program's own thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Around {
    /// Its event.
    pub(crate) event: u32,
    pub(crate) tells: Tells,
}

/// Facts that a call on the program's own thread tells of the kernels that it launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// All that newer kernels say themselves; the event is that of the request.
    All(Call),
    /// Operation and sizes of the input: a range `nccl:*`.
    Operation(Operation, String),
    /// How many elements go in and come out: `c10d::*`.
    Elements(Elements),
    /// It asks for a message, and does not say where to or where from.
    Peerless,
    /// Its kernel does [all that was asked for](crate::together) just before: `nccl:coalesced`.
    Together,
}

/// How many elements go into an operation and come out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// A call by which the program asks for an operation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    /// The root, if it has one: calls elsewhere tell none.
    pub(crate) root: Option<u32>,
    /// The sizes of its tensors, as calls of gloo say them; nothing if they were not recorded.
    pub(crate) sizes: String,
    pub(crate) elements: Option<Elements>,
    /// True if some tensor of a list that is exchanged is empty.
    pub(crate) has_empty: bool,
    /// Its own number ("External id"), which rises along its track.
    pub(crate) counted: Option<u64>,
}

/// A call by which the program asks for a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    /// Its event.
    pub(crate) event: u32,
    /// The act of the call, by ranks of a group that it does not name.
    pub(crate) what: What,
    pub(crate) signature: String,
    pub(crate) tag: u32,
}

fn kernel(event: &Recorded<'_>, event_number: u32, name: &[u8], kind: &'static str) -> Said {
    let args = event.arguments.all();
    let launch = number(args.get("correlation"));
    match described(&args, MessageEnd::peer_of_kernel, event_number) {
        Some(call) => Said::Call(call.counted_by(launch)),
        None => Said::Kernel(Kernel {
            event: event_number,
            launch,
            counted: launch,
            kind: MessageEnd::of(&args).map_or(kind, |_| PEERLESS),
            by_name: by_name(event_number, name, &args).map(|it| it.counted_by(launch)),
        }),
    }
}

/// The call that the name of a kernel makes it. How many blocks and threads it has follows
/// from sizes, and is equal for all ranks.
fn by_name(event_number: u32, name: &[u8], args: &Value) -> Option<Call> {
    let of = |key| text(args.get(key));
    let shape = [of("grid"), of("block")].join(" ");
    let what = What::Collective(mutual(name)?);
    let signature = format!("{} {shape}", String::from_utf8_lossy(name));
    Some(Call {
        members: kernels::members(name),
        ..Call::unnamed(event_number, what, signature, On::Order)
    })
}

/// The call that arguments describe as NCCL's kernels of newer versions have them.
fn described(
    args: &Value,
    peer: impl Fn(MessageEnd, &Value) -> Option<u32>,
    event_number: u32,
) -> Option<Call> {
    let name = text(args.get("Collective name"));
    let what = match MessageEnd::of(args) {
        Some(end) => peer(end, args).map(|peer| match end {
            MessageEnd::Sender => What::Send(peer),
            MessageEnd::Receiver => What::Receive(peer),
        }),
        None => operation(&normalised(&name)).map(What::Collective),
    };
    let what = match what? {
        What::Collective(Operation::Alltoall) if !is_even(args) => {
            What::Collective(Operation::Alltoallv)
        }
        other => other,
    };
    let group = text(args.get("Process Group Name"));
    let ranks = text(args.get("Process Group Ranks"));
    let of = |key| text(args.get(key));
    let sizes = [of("In msg nelems"), of("Out msg nelems"), of("dtype")].join(" ");
    let said = signature(what, &name, &sizes);
    Some(Call {
        group: (!group.is_empty() || !ranks.is_empty()).then_some(Label { name: group, ranks }),
        sequence: number(args.get("Seq")),
        members: number(args.get("Group size")),
        nothing_from: (what == What::Collective(Operation::Alltoallv))
            .then(|| nothing_from(args))
            .flatten(),
        is_empty: is_empty(what, args),
        ..Call::unnamed(event_number, what, said, On::Stream)
    })
}

/// True if an exchange can be of equal sizes: as much comes out as goes in. One between lists
/// of tensors has the same name, whatever their sizes are.
fn is_even(args: &Value) -> bool {
    args.get("In msg nelems") == args.get("Out msg nelems")
}

/// The members from whom nothing comes, if the sizes of all are named. What is empty is not sent.
fn nothing_from(args: &Value) -> Option<Box<[u32]>> {
    let size: Option<usize> = number(args.get("Group size"));
    let sizes = rank_list(&text(args.get("Out split size")))?;
    let empty = (0..).zip(&sizes).filter(|it| *it.1 == 0);
    (Some(sizes.len()) == size).then(|| empty.map(|it| it.0).collect())
}

/// True if the part of a member is empty, of operations whose parts can be of unequal sizes.
fn is_empty(what: What, args: &Value) -> bool {
    let is_0 = |key| number::<u64>(args.get(key)) == Some(0);
    match what {
        What::Collective(Operation::Allgather | Operation::ReduceScatter) => {
            is_0("In msg nelems") || is_0("Out msg nelems")
        }
        What::Collective(Operation::Alltoallv) => is_0("In msg nelems") && is_0("Out msg nelems"),
        _ => false,
    }
}

/// A range around the launches of one operation. Of those that are put together only the
/// whole has one, "coalesced".
fn annotation(event: &Recorded<'_>, event_number: u32, name: &[u8]) -> Option<Said> {
    if name == b"coalesced" {
        return Some(Said::Around(Around {
            event: event_number,
            tells: Tells::Together,
        }));
    }
    let operation = operation(&normalised(&String::from_utf8_lossy(name)))?;
    let args = event.arguments.all();
    let of = |key| text(args.get(key));
    let sizes = [of("Input Dims"), of("Input type")].join(" ");
    Some(Said::Around(Around {
        event: event_number,
        tells: Tells::Operation(operation, sizes),
    }))
}

fn parameters(event: &Recorded<'_>, event_number: u32) -> Option<Said> {
    let args = event.arguments.all();
    let call = described(&args, MessageEnd::peer_of_request, event_number).map(Tells::All);
    let peerless = || MessageEnd::of(&args).map(|_| Tells::Peerless);
    Some(Said::Around(Around {
        event: event_number,
        tells: call.or_else(peerless)?,
    }))
}

/// The number of a launch, which its kernels have, too.
#[inline]
fn launch(event: &Recorded<'_>, name: &[u8]) -> Option<u64> {
    memmem::find(name, b"Launch")?;
    event.arguments.correlation()
}

fn gloo(event: &Recorded<'_>, event_number: u32, name: &[u8]) -> Option<Said> {
    let name = String::from_utf8_lossy(name);
    let plain = normalised(&name);
    if matches!(&*plain, "send" | "recv" | "recvanysource") {
        return Some(Said::UnderWay(event_number));
    }
    let what = What::Collective(operation(&plain)?);
    let args = event.arguments.all();
    let of = |key| text(args.get(key));
    let sizes = [of("Input Dims"), of("Input type")].join(" ");
    let signature = signature(what, &name, &sizes);
    let call = Call::unnamed(event_number, what, signature, On::Thread);
    Some(Said::Call(call.counted_by(number(args.get("External id")))))
}

/// Reads the request that a call on the program's thread makes; the root is an argument of its own.
fn request(event: &Recorded<'_>, event_number: u32, name: &[u8]) -> Option<Said> {
    let name = normalised(&String::from_utf8_lossy(name));
    if matches!(&*name, "send" | "recv") {
        return posting(event, event_number, &name);
    }
    let operation = operation(&name)?;
    let args = event.arguments.all();
    let mut request = Request {
        operation,
        root: None,
        sizes: text(args.get("Input Dims").and_then(|it| it.get(0))),
        elements: elements(&name, event),
        has_empty: name == "alltoall" && has_empty(event),
        counted: number(args.get("External id")),
    };
    let place = match operation {
        Operation::Bcast => 2,
        Operation::Reduce | Operation::Gather | Operation::Scatter => 3,
        _ => return Some(Said::Request(request)),
    };
    request.root = number(args.get("Concrete Inputs").and_then(|it| it.get(place)));
    Some(Said::Request(request))
}

/// A message that is asked for: tensors, group, peer and tag are its arguments.
fn posting(event: &Recorded<'_>, event_number: u32, name: &str) -> Option<Said> {
    let args = event.arguments.all();
    let argument = |place: usize| args.get("Concrete Inputs")?.get(place);
    let peer = number(argument(2))?;
    let what = match name {
        "send" => What::Send(peer),
        _ => What::Receive(peer),
    };
    let tensors = args.get("Input Dims").and_then(|it| it.get(0));
    let elements = tensors.and_then(|it| it.get(0)).and_then(product);
    let sizes = text(elements.map(Value::from).as_ref());
    Some(Said::Posting(Posting {
        event: event_number,
        what,
        signature: signature(what, name, &sizes),
        tag: number(argument(3)).unwrap_or_default(),
    }))
}

/// The elements that go in and come out, of operations between two tensors.
fn elements(name: &str, event: &Recorded<'_>) -> Option<Elements> {
    if !matches!(name, "allgatherbase" | "reducescatterbase" | "alltoallbase") {
        return None;
    }
    let args = event.arguments.all();
    let count = |place: usize| product(args.get("Input Dims")?.get(place)?);
    // The tensor for the result comes first.
    Some(Elements {
        input: count(1)?,
        output: count(0)?,
    })
}

/// True if a tensor of the lists of an exchange is empty: of those that come, or of those that go.
fn has_empty(event: &Recorded<'_>) -> bool {
    let args = event.arguments.all();
    let lists = [0, 1].map(|place| args.get("Input Dims")?.get(place)?.as_array().cloned());
    let mut tensors = lists.into_iter().flatten().flatten();
    tensors.any(|it| product(&it) == Some(0))
}

/// How many elements a tensor of these dimensions has.
fn product(dims: &Value) -> Option<u64> {
    let product = |so_far: u64, it: &Value| so_far.checked_mul(it.as_u64()?);
    dims.as_array()?.iter().try_fold(1, product)
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

/// Name and sizes.
fn signature(what: What, name: &str, sizes: &str) -> String {
    match what {
        // Both ends of a message have one, and what one sends the other receives.
        What::Send(_) | What::Receive(_) => format!("message {sizes}"),
        What::Collective(_) => format!("{name} {sizes}"),
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
            (
                "all_gather_into_tensor_coalesced",
                Some(Operation::Allgather),
            ),
            ("_reduce_scatter_base", Some(Operation::ReduceScatter)),
            (
                "reduce_scatter_tensor_coalesced",
                Some(Operation::ReduceScatter),
            ),
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
