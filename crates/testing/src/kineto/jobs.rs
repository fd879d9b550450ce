//! Jobs of several kinds of parallelism.

use retime_sim::Duration;

use super::job::{Among, Class, Element, KinetoRun, Step, Style, Version};

/// An operation of elements of 16 bits.
fn collective(class: Class, among: Among, elements: u64, asynchronous: bool) -> Step {
    Step::Collective {
        class,
        among,
        elements,
        element: Element::BFloat16,
        asynchronous,
    }
}

impl KinetoRun {
    /// Training of a model whose layers share out parameters among all ranks, and sum up the norm of
    /// gradients, as by FSDP2.
    pub fn sharded() -> Self {
        Self {
            tensor: 1,
            steps: vec![
                Step::Sharded {
                    layers: 6,
                    forward: Duration::heavy(800_000, 100_000.0),
                    elements: 400_000,
                    own_streams: true,
                },
                collective(Class::AllReduce, Among::World, 1, false),
            ],
            version: Version::Computing,
            ..Self::training(Style::Nccl)
        }
    }

    /// Training of a recommender whose tables are shared out, as by `TorchRec`: lengths of lists are
    /// exchanged, then indices and what tables have for them, of as many as each rank needs, and back.
    pub fn embeddings() -> Self {
        let exchange = |elements| {
            let class = Class::AllToAllV { empty: 0 };
            collective(class, Among::World, elements, true)
        };
        let compute = |least, mean| Step::Compute(Duration::heavy(least, mean));
        Self {
            steps: vec![
                compute(500_000, 100_000.0),
                collective(Class::AllToAll, Among::World, 4_096, false),
                exchange(60_000),
                compute(1_500_000, 200_000.0),
                exchange(500_000),
                compute(2_000_000, 300_000.0),
                exchange(500_000),
                compute(1_000_000, 200_000.0),
                collective(Class::AllReduce, Among::World, 200_000, true),
            ],
            ..Self::training(Style::Nccl)
        }
    }

    /// Training by `ZeRO`: sums of gradients are reduced to who keeps them, and parameters gathered.
    pub fn reduced_to_owners() -> Self {
        let compute = |least, mean| Step::Compute(Duration::heavy(least, mean));
        let mut steps = Vec::new();
        for root in 0..4 {
            steps.push(compute(1_000_000, 200_000.0));
            steps.push(collective(
                Class::Reduce { root },
                Among::World,
                200_000,
                true,
            ));
        }
        steps.push(collective(Class::AllReduce, Among::World, 1, false));
        steps.push(compute(300_000, 50_000.0));
        steps.push(collective(Class::AllGather, Among::World, 100_000, false));
        Self {
            steps,
            says_requests: true,
            ..Self::training(Style::Nccl)
        }
    }

    /// Training of a mixture of experts on 16 ranks of 4 hosts: two stages, tensors shared by two, experts by
    /// two of the four ranks that compute the same.
    pub fn experts() -> Self {
        let dispatched = || {
            let class = Class::AllToAllV { empty: 6 };
            collective(class, Among::Experts, 100_000, false)
        };
        let compute = |least, mean| Step::Compute(Duration::heavy(least, mean));
        Self {
            ranks: 16,
            stages: 2,
            experts: 2,
            steps: vec![
                compute(1_000_000, 200_000.0),
                collective(Class::AllReduce, Among::Tensor, 50_000, false),
                dispatched(),
                compute(800_000, 200_000.0),
                dispatched(),
                Step::Pipeline {
                    microbatches: 4,
                    forward: Duration::heavy(700_000, 100_000.0),
                    elements: 200_000,
                    coalesced: true,
                },
                collective(Class::ReduceScatter, Among::Data, 200_000, true),
                collective(Class::AllGather, Among::Data, 200_000, false),
                collective(Class::AllReduce, Among::World, 1, false),
            ],
            ..Self::training(Style::Nccl)
        }
    }
}
