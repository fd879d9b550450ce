//! The names that `PyTorch`, Gloo and NCCL give to types and operations.

use super::{
    happened::{Role, What},
    job::{Class, Element},
};

impl Element {
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Float => 4,
            Self::BFloat16 | Self::Half => 2,
            Self::Long => 8,
        }
    }

    /// The name that `dtype` has in the arguments of a kernel.
    pub(super) fn dtype(self) -> &'static str {
        match self {
            Self::Float => "Float",
            Self::BFloat16 => "BFloat16",
            Self::Half => "Half",
            Self::Long => "Long",
        }
    }

    /// The name that `Input type` of an operator has.
    pub(super) fn c_type(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::BFloat16 => "c10::BFloat16",
            Self::Half => "c10::Half",
            Self::Long => "long int",
        }
    }

    /// In the name of a kernel.
    fn short(self) -> &'static str {
        match self {
            Self::Float => "f32",
            Self::BFloat16 => "bf16",
            Self::Half => "f16",
            Self::Long => "i64",
        }
    }
}

/// The names of one kind of operation, as each kind of event has them.
pub(super) struct Names {
    /// The call of the main thread, with its arguments as Gloo has them.
    pub(super) call: &'static str,
    pub(super) arguments: String,
    /// The annotation of Gloo.
    pub(super) gloo: &'static str,
    /// In the arguments of a kernel.
    pub(super) collective: &'static str,
    /// The kernel.
    pub(super) kernel: String,
}

impl Names {
    /// `place` is where the peer of a message is in its group.
    pub(super) fn new(what: What, role: Role, element: Element) -> Self {
        let kernel = |name: &str| format!("ncclDevKernel_{name}(ncclDevKernelArgsStorage<4096ul>)");
        let reducing = |name: &str| kernel(&format!("{name}_Sum_{}_RING_LL", element.short()));
        let (call, arguments, gloo, collective, kernel) = match (what, role) {
            (What::Message, Role::Receiver { from }) => (
                "c10d::recv_",
                format!(r#""", "", "{from}", "0""#),
                "gloo:recv",
                "recv",
                kernel("SendRecv"),
            ),
            (What::Message, Role::Sender { to }) => (
                "c10d::send",
                format!(r#""", "", "{to}", "0""#),
                "gloo:send",
                "send",
                kernel("SendRecv"),
            ),
            (What::Collective(Class::AllGather), _) => (
                "c10d::allgather_",
                r#""", "", "", "False", "-1""#.to_owned(),
                "gloo:all_gather",
                "_allgather_base",
                kernel("AllGather_RING_LL"),
            ),
            (What::Collective(Class::ReduceScatter), _) => (
                "c10d::reduce_scatter_",
                r#""", "", "", "", "False", "-1""#.to_owned(),
                "gloo:reduce_scatter",
                "_reduce_scatter_base",
                reducing("ReduceScatter"),
            ),
            (What::Collective(Class::Broadcast { root }), _) => (
                "c10d::broadcast_",
                format!(r#""", "", "{root}", "0", "False", "-1""#),
                "gloo:broadcast",
                "broadcast",
                kernel("Broadcast_RING_LL"),
            ),
            (What::Collective(Class::AllToAll | Class::AllToAllV { .. }), _) => (
                "c10d::alltoall_base_",
                r#""", "", "", "[]", "[]", "True", "-1""#.to_owned(),
                "gloo:all_to_all",
                if what == What::Collective(Class::AllToAll) {
                    "all_to_all"
                } else {
                    "all_to_allv"
                },
                kernel("SendRecv"),
            ),
            (What::Collective(Class::Reduce { root }), _) => (
                "c10d::reduce_",
                format!(r#""", "", "", "{root}", "0", "-1""#),
                "gloo:reduce",
                "reduce",
                reducing("Reduce"),
            ),
            (What::Collective(Class::Barrier), _) => (
                "c10d::barrier",
                r#""", "", "[]", "False", "-1""#.to_owned(),
                "gloo:barrier",
                "barrier",
                reducing("AllReduce"),
            ),
            (What::Collective(Class::Custom), _) => (
                "_C_custom_ar::all_reduce",
                String::new(),
                "",
                "",
                format!(
                    "void vllm::cross_device_reduce_1stage<{}, 8>(vllm::RankData*, vllm::RankSignals)",
                    element.c_type()
                ),
            ),
            (What::Collective(Class::AllReduce) | What::Message, _) => (
                "c10d::allreduce_",
                r#""", "", "", "", "True", "-1""#.to_owned(),
                "gloo:all_reduce",
                "allreduce",
                reducing("AllReduce"),
            ),
        };
        Self {
            call,
            arguments,
            gloo,
            collective,
            kernel,
        }
    }
}

/// Elements that go in and out of a member of a group of so many.
pub(super) fn elements(what: What, elements: u64, members: u64) -> (u64, u64) {
    match what {
        What::Collective(Class::AllGather) => (elements, elements * members),
        What::Collective(Class::ReduceScatter) => (elements * members, elements),
        _ => (elements, elements),
    }
}

/// Ranks as the profiler writes them: lists of more than 30 are abbreviated, by
/// newer versions with the last at the end.
pub(super) fn abbreviated(ranks: &[u32], newer: bool) -> String {
    const MOST: usize = 30;
    let list = |ranks: &[u32]| {
        ranks
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match ranks {
        [first @ .., last] if ranks.len() > MOST && newer => {
            format!("[{}, ..., {last}]", list(&first[..MOST - 1]))
        }
        _ if ranks.len() > MOST => format!("[{}, ...]", list(&ranks[..MOST])),
        _ => format!("[{}]", list(ranks)),
    }
}
