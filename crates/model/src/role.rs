//! The part an event plays in happened-before.
//!
//! Four kinds of events order others: a message leaves or has arrived, a
//! collective operation is entered or left. What a collective orders depends on
//! its [class](Class):
//!
//! | class | operations | dependency |
//! |---|---|---|
//! | 1-to-N | Bcast, Scatter(v), fork of a team | root's begin -> every other end |
//! | N-to-1 | Reduce, Gather(v), join of a team | every other begin -> root's end |
//! | N-to-N | Barrier, Allreduce, Allgather(v), Alltoall, `Reduce_scatter(_block)`; a fence if anybody accessed memory of others since the last one | every other begin -> every end |
//! | prefix | Scan, Exscan | begins of lower ranks -> end |
//! | none | Alltoallv/w (totals do not prove who exchanged data), creation of communicators and windows (the standard does not prove that it synchronises; see [`Implementation`](crate::Implementation)), the rest | |
//!
//! Source: Linford 2007, section 3.4, for the classes.

use serde::{Deserialize, Serialize};

use crate::packed::Packed;
use crate::trace::LocationIndex;

/// The part an event plays in happened-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A message leaves.
    Send,
    /// A message has arrived.
    Receive,
    /// A collective operation is entered.
    CollectiveBegin,
    /// A collective operation is left.
    CollectiveEnd,
}

impl Role {
    /// The part it plays where time runs backwards.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Send => Self::Receive,
            Self::Receive => Self::Send,
            Self::CollectiveBegin => Self::CollectiveEnd,
            Self::CollectiveEnd => Self::CollectiveBegin,
        }
    }
}

impl Packed for Role {
    const BYTES: usize = 1;

    fn put(self, to: &mut [u8]) {
        (self as u8).put(to);
    }

    fn take(from: &[u8]) -> Option<Self> {
        let all = [
            Self::Send,
            Self::Receive,
            Self::CollectiveBegin,
            Self::CollectiveEnd,
        ];
        all.get(usize::from(u8::take(from)?)).copied()
    }
}

/// Envelope of a message as one side recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// Handle of the communicator in [`TraceInfo::communicators`].
    ///
    /// [`TraceInfo::communicators`]: crate::TraceInfo::communicators
    pub communicator: u32,
    /// Endpoint of the other side.
    pub peer: LocationIndex,
    /// Message tag.
    pub tag: u32,
}

/// The id that a send and its receive have in common, where a trace says which belongs
/// to which. Each id stands for one message of the trace: a number in a space of numbers,
/// of which a format may have one for each lock, say, or just one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId {
    /// The space of numbers in which it counts.
    pub space: u64,
    /// The number.
    pub number: u64,
}

impl MessageId {
    /// In a trace whose messages have numbers of one kind.
    pub const fn number(number: u64) -> Self {
        Self { space: 0, number }
    }
}

/// The id that all events of a collective operation have in common, where a trace says
/// which belong together. Each id stands for one operation of the trace, as with
/// [`MessageId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperationId {
    /// The space of numbers in which it counts.
    pub space: u64,
    /// The number.
    pub number: u64,
}

impl OperationId {
    /// In a trace whose operations have numbers of one kind.
    pub const fn number(number: u64) -> Self {
        Self { space: 0, number }
    }
}

/// A finished collective operation as one participant recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collective {
    /// Handle of the communicator in [`TraceInfo::communicators`].
    ///
    /// [`TraceInfo::communicators`]: crate::TraceInfo::communicators
    pub communicator: u32,
    /// Which operation.
    pub operation: Operation,
    /// Root of a rooted operation.
    pub root: Root,
    /// True if this participant gave any bytes.
    pub sent: bool,
    /// True if this participant got any bytes.
    pub received: bool,
}

/// Root of a collective as a participant recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Root {
    /// The operation has none, or none was recorded.
    None,
    /// A rank of the communicator (of the other side of an inter-communicator).
    Rank(u32),
    /// The recorder itself (`MPI_ROOT`).
    Own,
    /// Somebody else of the recorder's own group (`MPI_PROC_NULL`).
    OwnGroup,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are MPI's")]
pub enum Operation {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Allreduce,
    Reduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    /// Making of a communicator.
    CreateHandle,
    /// Freeing of a communicator.
    FreeHandle,
    /// A thread, the root, makes a team of threads; each begins to work in it.
    Fork,
    /// All threads of a team have come to its end; the root goes on alone.
    Join,
    /// Making of a window for one-sided communication.
    CreateWindow,
    /// Freeing of a window for one-sided communication.
    FreeWindow,
    /// Ends what was begun on a window, as far as participants [sent](Collective::sent):
    /// accessed the memory of others since the fence before.
    Fence,
    Other,
}

/// The order of its participants that an operation proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Root's begin before every other end.
    OneToAll,
    /// Every other begin before root's end.
    AllToOne,
    /// Every other begin before every end.
    AllToAll,
    /// Begins of lower ranks before the end.
    Prefix,
    /// Nothing.
    None,
}

impl Operation {
    /// The class of the operation alone; `dense_alltoallv` takes Alltoallv/w for N-to-N.
    pub const fn class(self, dense_alltoallv: bool) -> Class {
        match self {
            Self::Bcast | Self::Scatter | Self::Scatterv | Self::Fork => Class::OneToAll,
            Self::Gather | Self::Gatherv | Self::Reduce | Self::Join => Class::AllToOne,
            Self::Barrier
            | Self::Allgather
            | Self::Allgatherv
            | Self::Alltoall
            | Self::Allreduce
            | Self::ReduceScatter
            | Self::ReduceScatterBlock => Class::AllToAll,
            Self::Alltoallv | Self::Alltoallw if dense_alltoallv => Class::AllToAll,
            Self::Scan | Self::Exscan => Class::Prefix,
            Self::Alltoallv
            | Self::Alltoallw
            | Self::CreateHandle
            | Self::FreeHandle
            | Self::CreateWindow
            | Self::FreeWindow
            | Self::Fence
            | Self::Other => Class::None,
        }
    }

    /// True if it makes or frees what others communicate by, and communicates nothing itself.
    pub const fn is_of_handles(self) -> bool {
        matches!(
            self,
            Self::CreateHandle | Self::FreeHandle | Self::CreateWindow | Self::FreeWindow
        )
    }

    /// True if bytes say who took part; a barrier or a fork carries none.
    pub const fn carries_data(self) -> bool {
        !matches!(
            self,
            Self::Barrier
                | Self::CreateHandle
                | Self::FreeHandle
                | Self::CreateWindow
                | Self::FreeWindow
                | Self::Fence
                | Self::Fork
                | Self::Join
        )
    }
}
