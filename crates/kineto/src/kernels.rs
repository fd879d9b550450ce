//! Kernels that communicate, told by their names.
//!
//! Kernels of a CUDA graph have no launch of their own, and those that inference servers bring
//! along say nothing at all. Their names alone tell of some that nobody leaves before all have
//! come:
//!
//! | name contains | why all have begun before one ends |
//! |---|---|
//! | `ncclDevKernel_AllReduce`, `AllGather`, `ReduceScatter` (also `ncclKernel_`, `ncclSymkDevKernel_`) | what comes out needs something of everybody |
//! | `cross_device_reduce` | blocks of all ranks signal each other first (vLLM's `custom_all_reduce.cuh`, `barrier_at_start`) |
//! | `one_shot_all_reduce`, `two_shot_all_reduce`, `multimem_all_reduce` | the same (`sync_remote_blocks` in PyTorch's `CUDASymmetricMemoryOps.cu`) |
//! | `ShotAllReduceKernel`, `allreduce_fusion` | the sum of everybody's part (TensorRT-LLM, `FlashInfer`) |
//! | `notify_dispatch`, `cached_notify` (`DeepEP`) | `barrier_block` among the GPUs of a node, between nodes after `nvshmem_sync` of GPUs of one place, all threads of a block in step (`intranode.cu`, `internode.cu`) |
//!
//! Others are counted: `SendRecv` and `Generic` of NCCL can be anything; dispatch and combine of
//! mixtures of experts may be halves of an exchange that wait for nobody, as `DeepEP`'s with low
//! latency are, whose phases are asked for one by one (`internode_ll.cu`); and barriers of NVSHMEM
//! are of teams that no profile names.

use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::{self, Finder};
use retime_model::Operation;

/// Names of kernels that communicate, by what they have in common, with the words in which
/// they are counted: NCCL and its likes for other devices, all-reduces that inference servers
/// bring along, and dispatch and combine of mixtures of experts.
const FAMILIES: [(&str, &str); 12] = [
    ("nccl", "unnamed NCCL kernel"),
    ("rccl", "unnamed RCCL kernel"),
    ("hccl", "unnamed HCCL kernel"),
    ("msccl", "unnamed MSCCL kernel"),
    ("oneccl", "unnamed oneCCL kernel"),
    ("cross_device_reduce", "custom all-reduce kernel"),
    ("all_reduce", "custom all-reduce kernel"),
    ("allreduce_fusion", "custom all-reduce kernel"),
    ("ShotAllReduceKernel", "custom all-reduce kernel"),
    ("multimem_", "multicast kernel"),
    ("deep_ep", "DeepEP kernel"),
    ("nvshmem", "NVSHMEM kernel"),
];

/// Parts of names of kernels that nobody leaves before all have come, with what they do.
const MUTUAL: [(&str, Operation); 17] = [
    ("ncclDevKernel_AllReduce", Operation::Allreduce),
    ("ncclDevKernel_AllGather", Operation::Allgather),
    ("ncclDevKernel_ReduceScatter", Operation::ReduceScatter),
    ("ncclKernel_AllReduce", Operation::Allreduce),
    ("ncclKernel_AllGather", Operation::Allgather),
    ("ncclKernel_ReduceScatter", Operation::ReduceScatter),
    ("ncclSymkDevKernel_AllReduce", Operation::Allreduce),
    ("ncclSymkDevKernel_AllGather", Operation::Allgather),
    ("ncclSymkDevKernel_ReduceScatter", Operation::ReduceScatter),
    ("cross_device_reduce", Operation::Allreduce),
    ("one_shot_all_reduce", Operation::Allreduce),
    ("two_shot_all_reduce", Operation::Allreduce),
    ("multimem_all_reduce", Operation::Allreduce),
    ("ShotAllReduceKernel", Operation::Allreduce),
    ("allreduce_fusion", Operation::Allreduce),
    ("node::notify_dispatch", Operation::Barrier),
    ("node::cached_notify", Operation::Barrier),
];

/// Compiled kernels are named for what they fuse, which may be what comes before or after a
/// collective.
const FUSED: &[u8] = b"triton_";

/// The part of a name that stands for what has none, in parentheses that hold no arguments: PyTorch's own
/// kernels, `void (anonymous namespace)::multimem_all_reduce_kernel<...>(...)`, have it.
const UNNAMED: &[u8] = b"(anonymous namespace)";

/// The name of a kernel up to its arguments.
fn plain(name: &[u8]) -> &[u8] {
    let mut end = 0;
    while let Some(rest) = name.get(end..)
        && let Some(at) = memchr(b'(', rest)
    {
        end += at;
        if !rest.get(at..).unwrap_or_default().starts_with(UNNAMED) {
            return name.get(..end).unwrap_or(name);
        }
        end += UNNAMED.len();
    }
    name
}

/// How many ranks take part in a kernel, if its name says so: the last parameter of
/// `cross_device_reduce_1stage<__nv_bfloat16, 4>` does (`ngpus` of `custom_all_reduce.cuh`).
pub(crate) fn members(name: &[u8]) -> Option<u32> {
    let name = plain(name);
    memmem::find(name, b"cross_device_reduce")?;
    let parameters = name.strip_suffix(b">")?;
    let last = parameters.rsplit(|it| *it == b',').next()?;
    std::str::from_utf8(last).ok()?.trim().parse().ok()
}

/// The kind of communication that a kernel is.
pub(crate) fn family(name: &[u8]) -> Option<&'static str> {
    static FINDERS: LazyLock<Vec<(Finder<'static>, &'static str)>> = LazyLock::new(|| {
        let finder = |&(part, kind): &(&'static str, &'static str)| (Finder::new(part), kind);
        FAMILIES.iter().map(finder).collect()
    });
    if name.starts_with(FUSED) {
        return None;
    }
    let name = plain(name);
    let found = FINDERS.iter().find(|(part, _)| part.find(name).is_some());
    found.map(|(_, kind)| *kind)
}

/// The operation that a kernel does for certain, if it is one in which nobody ends before all
/// have begun.
pub(crate) fn mutual(name: &[u8]) -> Option<Operation> {
    let name = plain(name);
    let is_in = |part: &str| memmem::find(name, part.as_bytes()).is_some();
    let found = MUTUAL.iter().find(|(part, _)| is_in(part));
    found.map(|(_, operation)| *operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_communicates_and_what_orders() {
        for (name, kind, operation) in [
            (
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                Some("unnamed NCCL kernel"),
                Some(Operation::Allreduce),
            ),
            (
                "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)",
                Some("unnamed NCCL kernel"),
                None,
            ),
            (
                "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
                Some("unnamed NCCL kernel"),
                None,
            ),
            (
                "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
                Some("custom all-reduce kernel"),
                Some(Operation::Allreduce),
            ),
            (
                "void multimem_one_shot_all_reduce_kernel<c10::BFloat16>(float*)",
                Some("custom all-reduce kernel"),
                Some(Operation::Allreduce),
            ),
            (
                "oneccl_reduce_base<float, 2, 16, 1, 1, 2>",
                Some("unnamed oneCCL kernel"),
                None,
            ),
            // The sum of a block or a warp is none of ranks.
            (
                "void block_all_reduce_sum<float>(float*)",
                Some("custom all-reduce kernel"),
                None,
            ),
            (
                "void deep_ep::internode_ll::dispatch<true>(int)",
                Some("DeepEP kernel"),
                None,
            ),
            (
                "void deep_ep::intranode::notify_dispatch<8>(int const*, int*)",
                Some("DeepEP kernel"),
                Some(Operation::Barrier),
            ),
            (
                "void deep_ep::legacy::internode::cached_notify<false, 2>(int, int)",
                Some("DeepEP kernel"),
                Some(Operation::Barrier),
            ),
            (
                "void deep_ep::intranode::combine<__nv_bfloat16, 8>(int)",
                Some("DeepEP kernel"),
                None,
            ),
            (
                "nvshmemi_barrier_on_stream_kernel(int)",
                Some("NVSHMEM kernel"),
                None,
            ),
            (
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
                Some("custom all-reduce kernel"),
                Some(Operation::Allreduce),
            ),
            (
                "ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs4K)",
                Some("unnamed NCCL kernel"),
                Some(Operation::Allgather),
            ),
            (
                "void at::native::(anonymous namespace)::softmax<float>(all_reduce*)",
                None,
                None,
            ),
            ("triton_red_fused_all_reduce_add_0", None, None),
            (
                "void at::native::reduce_kernel<512>(at::native::ReduceOp)",
                None,
                None,
            ),
        ] {
            assert_eq!(family(name.as_bytes()), kind, "{name}");
            assert_eq!(mutual(name.as_bytes()), operation, "{name}");
        }
    }

    #[test]
    fn names_of_custom_kernels_tell_how_many_take_part() {
        let of = |name: &str| members(name.as_bytes());
        let name = "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*, 8)";
        assert_eq!(of(name), Some(4));
        for name in [
            "void vllm::cross_device_reduce_1stage<__hip_bfloat16>(vllm::RankData*)",
            "void vllm::cross_device_reduce_2stage",
            "void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
