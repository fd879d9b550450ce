//! Whom a message of NCCL goes to or comes from, as kernels and requests say it.
//!
//! | `PyTorch` | in a kernel, and in the `record_param_comms` that asked for it |
//! |---|---|
//! | 2.5 and newer | "Dst Rank", "Src Rank": the rank in the job |
//! | 2.3, 2.4 | nothing; with `record_shapes=True` the request has the rank in the group among "Concrete Inputs", and the group's members beside it |
//! | older | the same, but not whose rank it is |
//!
//! Source: `saveNcclMeta` of `torch/csrc/profiler/util.cpp`, `RECORD_PARAM_COMMS_DATA` of `ParamCommsUtils.hpp`.

use serde_json::Value;

use crate::header::{number, rank_list, text};

/// A kernel that sends or receives, and nothing says where to or where from: how it is counted, in words
/// that take a plural.
pub(crate) const PEERLESS: &str = "peerless communication kernel";

/// An end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageEnd {
    Sender,
    Receiver,
}

impl MessageEnd {
    /// The end that arguments describe, if they describe one.
    pub(crate) fn of(args: &Value) -> Option<Self> {
        match &*text(args.get("Collective name")) {
            "send" => Some(Self::Sender),
            "recv" => Some(Self::Receiver),
            _ => None,
        }
    }

    /// The peer by its rank in the job, as kernels name it.
    pub(crate) fn peer_of_kernel(self, args: &Value) -> Option<u32> {
        let key = match self {
            Self::Sender => "Dst Rank",
            Self::Receiver => "Src Rank",
        };
        number(args.get(key))
    }

    /// The peer by its rank in the job, as a request names it: older ones by its rank in the group, behind
    /// tensors, number and group.
    pub(crate) fn peer_of_request(self, args: &Value) -> Option<u32> {
        const PLACE: usize = 3;
        self.peer_of_kernel(args).or_else(|| {
            let members = rank_list(&text(args.get("Process Group Ranks")))?;
            let rank: usize = number(args.get("Concrete Inputs")?.get(PLACE))?;
            members.get(rank).copied()
        })
    }
}
