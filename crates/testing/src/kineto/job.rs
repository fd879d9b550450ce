//! A training job, and how it is recorded.

use retime_sim::Duration;

/// Which library communicates, and so what is recorded of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// GPUs: a kernel for each operation, described by its arguments.
    Nccl,
    /// Processors: an annotation on a thread of the process group, which names
    /// neither the group nor the instance.
    Gloo,
}

/// Among whom a step communicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// All ranks.
    World,
    /// Neighbours: ranks `k tensor .. (k + 1) tensor`.
    Tensor,
    /// Strides: ranks of a stage that are equal modulo `tensor`.
    Data,
    /// Pipelines: a rank of each stage; where there is but one stage, the ranks of a stride are stages.
    Stages,
    /// Parts of strides, which share out the experts of a layer.
    Experts,
}

/// The effect of a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Everybody gets the sum.
    AllReduce,
    /// Everybody gets everything.
    AllGather,
    /// Everybody gets a part of the sum.
    ReduceScatter,
    /// Everybody gets the sum, by a kernel that inference servers bring along.
    Custom,
    /// Everybody gets a part from each, all of one size.
    AllToAll,
    /// Everybody gets a part from each, of sizes that are drawn anew each time.
    AllToAllV {
        /// One of so many parts is empty; none if this is 0.
        empty: u32,
    },
    /// The root gets the sum, which is a place in the group.
    Reduce {
        /// The place.
        root: u32,
    },
    /// Nobody leaves before all have come.
    Barrier,
    /// All get what the root has, which is a place in the group.
    Broadcast {
        /// The place.
        root: u32,
    },
}

/// The type of the elements of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 32 bits.
    Float,
    /// 16 bits.
    BFloat16,
    /// 16 bits.
    Half,
    /// 64 bits.
    Long,
}

/// A step of an iteration, which each rank does one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Computes for so long, drawn anew each time.
    Compute(Duration),
    /// Takes part in a collective operation.
    Collective {
        /// The effect of the operation.
        class: Class,
        /// Among whom.
        among: Among,
        /// Elements that each member gives.
        elements: u64,
        /// The type of these elements.
        element: Element,
        /// True if the rank goes on before it has ended; it waits at the end of
        /// the iteration.
        asynchronous: bool,
    },
    /// GPUs do all that one launch starts: so many sums among neighbours, by kernels that
    /// say neither what they do nor who launched them. With Gloo nothing happens.
    Graph {
        /// How many.
        kernels: u32,
        /// The time that each GPU computes before each sum.
        between: Duration,
        /// Elements that each member gives.
        elements: u64,
    },
    /// Parameters of layers are shared out among strides of ranks, as by FSDP or ZeRO-3: each layer gathers
    /// its own before it computes, one layer ahead, and scatters sums of gradients when it has computed
    /// backward. With Gloo nothing happens.
    Sharded {
        /// How many.
        layers: u32,
        /// The time that a layer takes forward; backward it takes twice as long.
        forward: Duration,
        /// Elements of a layer that each rank has.
        elements: u64,
        /// True if sums have a stream of their own, as FSDP2 has it.
        own_streams: bool,
    },
    /// Stages of a pipeline take microbatches in the order 1F1B: forward,
    /// and as soon as the first has come through one forward and one backward by turns.
    Pipeline {
        /// Microbatches of an iteration.
        microbatches: u32,
        /// The time that a stage takes forward; backward it takes twice as long.
        forward: Duration,
        /// Elements of a message.
        elements: u64,
        /// True if one kernel sends and receives what goes both ways at once, as
        /// `batch_isend_irecv` has it.
        coalesced: bool,
    },
    /// Ranks send to their successors: first those with even numbers, then the
    /// others.
    Neighbours {
        /// Elements of a message.
        elements: u64,
        /// The type of these elements.
        element: Element,
    },
}

/// The time that the times of a file are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bases {
    /// All files the same.
    Same,
    /// Files differ by quarters of a year.
    Differing,
    /// Nothing: times are absolute.
    Absent,
}

/// The versions of `PyTorch` that write different things about an operation of NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 2.1 and older: ranges of the program say operation and sizes, kernels nothing.
    Ranges,
    /// 2.3 and 2.4: kernels say operation, sizes and group; peers of messages stand among the inputs
    /// of the call alone.
    Groups,
    /// 2.5 to 2.7: kernels say peers, too.
    Peers,
    /// 2.8 and newer: those that are waited for run on the stream of computations.
    Computing,
}

/// The names of hosts that files say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostNames {
    /// Each host has one of its own.
    Own,
    /// All have the same, as with containers that are called "localhost" wherever they run.
    One,
    /// None, as older profilers do.
    Absent,
}

/// Which part of the run each rank records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Windows {
    /// Up to so many iterations at either end are left out, drawn for each rank.
    pub left_out: u32,
    /// True if a recording starts and stops in the middle of an iteration.
    pub cut: bool,
}

/// A rank that is late again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Straggler {
    /// The rank.
    pub rank: u32,
    /// In each so manieth iteration.
    pub every: u32,
    /// Nanoseconds it computes longer then.
    pub late: u64,
}

/// The clock of a host is set in the middle of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetClock {
    /// The host.
    pub host: u32,
    /// True nanoseconds since the start.
    pub at: u64,
    /// Nanoseconds that it shows more from then on; less if they are negative.
    pub by: i64,
}

/// The clocks of devices, and what tells of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Devices {
    /// Nanoseconds that the clock of a device is ahead of that of its host, or behind, at most.
    pub offset: u64,
    /// Parts per billion that it is fast or slow by that of its host at most.
    pub drift: u64,
    /// True if hosts wait for their devices at the end of each iteration by a call that is
    /// recorded.
    pub awaited: bool,
}

/// A training job and how it is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct KinetoRun {
    /// Decides everything that is random.
    pub seed: u64,
    /// Processes, each with a file.
    pub ranks: u32,
    /// Processes on a host, which have one clock.
    pub ranks_per_host: u32,
    /// The library that communicates.
    pub style: Style,
    /// Ranks in a group of neighbours.
    pub tensor: u32,
    /// Stages of pipelines, each of as many successive ranks.
    pub stages: u32,
    /// Ranks of a stride that share out the experts of a layer.
    pub experts: u32,
    /// True if files of NCCL have the calls `c10d::*` around those that it records itself, with roots.
    pub says_requests: bool,
    /// True if each rank numbers its groups by itself, so that others have the same names.
    pub equal_names: bool,
    /// Times that all steps are taken.
    pub iterations: u32,
    /// The steps of an iteration.
    pub steps: Vec<Step>,
    /// Between the last begin of an operation, with its transfer, and its end on
    /// each rank.
    pub scatter: Duration,
    /// Nanoseconds that a host's clock is ahead or behind at most.
    pub offset: u64,
    /// Parts per billion that a host's clock is fast or slow at most.
    pub drift: u64,
    /// The clocks of hosts that are set meanwhile, in order of time.
    pub set_clocks: Vec<SetClock>,
    /// The clocks of devices.
    pub devices: Devices,
    /// True if files say the numbers of operations, as newer ones do.
    pub sequence_numbers: bool,
    /// The version that wrote the files of NCCL.
    pub version: Version,
    /// The names of hosts that files say.
    pub host_names: HostNames,
    /// The times that the times of files are relative to.
    pub bases: Bases,
    /// The part of the run that each rank records.
    pub windows: Windows,
    /// Ranks whose file is lost.
    pub missing: Vec<u32>,
    /// Who is late.
    pub stragglers: Vec<Straggler>,
    /// Groups of nested operators recorded for each computation.
    pub filler: u32,
}

impl KinetoRun {
    /// Training on 8 ranks of 2 hosts: gradients in buckets while the backward pass
    /// goes on, parameters gathered and scattered among strides of ranks,
    /// activations reduced among neighbours, and the rest now and then.
    pub fn training(style: Style) -> Self {
        let collective = |class, among, elements, element, asynchronous| Step::Collective {
            class,
            among,
            elements,
            element,
            asynchronous,
        };
        let compute = |least, mean| Step::Compute(Duration::heavy(least, mean));
        Self {
            seed: 1,
            ranks: 8,
            ranks_per_host: 4,
            style,
            tensor: 2,
            stages: 1,
            experts: 1,
            says_requests: false,
            equal_names: false,
            iterations: 20,
            steps: vec![
                compute(2_000_000, 200_000.0),
                collective(
                    Class::AllGather,
                    Among::Data,
                    65_664,
                    Element::BFloat16,
                    false,
                ),
                compute(3_000_000, 300_000.0),
                collective(
                    Class::AllReduce,
                    Among::Tensor,
                    8_192,
                    Element::BFloat16,
                    false,
                ),
                compute(2_000_000, 400_000.0),
                Step::Neighbours {
                    elements: 1_000,
                    element: Element::Half,
                },
                collective(
                    Class::AllReduce,
                    Among::World,
                    131_328,
                    Element::Float,
                    true,
                ),
                compute(1_000_000, 300_000.0),
                collective(
                    Class::AllReduce,
                    Among::World,
                    262_656,
                    Element::Float,
                    true,
                ),
                compute(1_500_000, 200_000.0),
                collective(
                    Class::ReduceScatter,
                    Among::Data,
                    131_328,
                    Element::Float,
                    false,
                ),
                collective(
                    Class::Broadcast { root: 0 },
                    Among::World,
                    1_000,
                    Element::Long,
                    false,
                ),
                collective(Class::Barrier, Among::World, 0, Element::Float, false),
            ],
            scatter: match style {
                Style::Nccl => Duration::uniform(1_000, 7_000),
                Style::Gloo => Duration::heavy(60_000, 1_500_000.0),
            },
            offset: 10_000_000,
            drift: 50_000,
            set_clocks: Vec::new(),
            devices: Devices::default(),
            sequence_numbers: true,
            version: Version::Peers,
            host_names: HostNames::Own,
            bases: Bases::Same,
            windows: Windows::default(),
            missing: Vec::new(),
            stragglers: Vec::new(),
            // One layer forward and one backward, with an arrow between them.
            filler: 2,
        }
    }

    /// An inference server on 4 GPUs of one host: each step launches a graph of sums, then
    /// gathers what came out.
    pub fn serving() -> Self {
        Self {
            ranks: 4,
            tensor: 4,
            iterations: 30,
            steps: vec![
                Step::Compute(Duration::heavy(300_000, 100_000.0)),
                Step::Graph {
                    kernels: 24,
                    between: Duration::uniform(40_000, 42_000),
                    elements: 8_192,
                },
                Step::Compute(Duration::heavy(50_000, 20_000.0)),
                Step::Collective {
                    class: Class::AllGather,
                    among: Among::World,
                    elements: 16_032,
                    element: Element::BFloat16,
                    asynchronous: false,
                },
            ],
            ..Self::training(Style::Nccl)
        }
    }

    /// Training by data parallelism alone: all compute, then sum up what came out. Whoever is
    /// late in each iteration is the last to come to all operations, and nothing else tells
    /// of its clock.
    pub fn data_parallel() -> Self {
        Self {
            iterations: 50,
            steps: vec![
                Step::Compute(Duration::heavy(3_000_000, 500_000.0)),
                Step::Collective {
                    class: Class::AllReduce,
                    among: Among::World,
                    elements: 131_328,
                    element: Element::BFloat16,
                    asynchronous: false,
                },
            ],
            ..Self::training(Style::Nccl)
        }
    }

    /// Training by pipelines of four stages with two ranks of tensor parallelism each, of which each pair
    /// of stages is on a host of its own.
    pub fn pipeline(coalesced: bool) -> Self {
        Self {
            iterations: 10,
            steps: vec![
                Step::Pipeline {
                    microbatches: 8,
                    forward: Duration::heavy(1_500_000, 200_000.0),
                    elements: 4_000_000,
                    coalesced,
                },
                Step::Collective {
                    class: Class::AllReduce,
                    among: Among::Tensor,
                    elements: 131_328,
                    element: Element::BFloat16,
                    asynchronous: false,
                },
            ],
            sequence_numbers: false,
            ..Self::training(Style::Nccl)
        }
    }

    /// The host that a rank runs on.
    pub(super) fn host(&self, rank: u32) -> u32 {
        rank / self.ranks_per_host
    }
}

/// The name of the file of a rank.
pub(super) fn file_name(rank: u32) -> String {
    format!("rank{rank}.pt.trace.json")
}
