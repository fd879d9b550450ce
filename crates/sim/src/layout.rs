//! Where the processes run: nodes, ranks, threads.

use retime_model::{Communicator, Location, LocationIndex, Members, Process, TickRate, TraceInfo};
use retime_otf2::writer::DefinitionsWriter;
use retime_otf2::{
    CommRef, GroupType, LocationGroupRef, LocationGroupType, LocationType, Paradigm, ParadigmClass,
    SystemTreeDomain, SystemTreeNodeRef,
};

/// The communicator of all ranks.
pub const WORLD: CommRef = CommRef(0);

/// Ranks on nodes, with threads.
///
/// Each thread is a location of the trace. Locations are numbered rank by
/// rank; their ids are made as Score-P makes them, `thread << 32 | rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of processes.
    pub ranks: u32,
    /// Threads of each process, at least 1.
    pub threads: u32,
    /// Processes on each node, at least 1; the last node may have fewer.
    pub ranks_per_node: u32,
}

/// Where a rank stands in the definitions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) node: Option<SystemTreeNodeRef>,
    pub(crate) process: LocationGroupRef,
}

impl Layout {
    /// All ranks on one node.
    pub fn one_node(ranks: u32) -> Self {
        Self {
            ranks,
            threads: 1,
            ranks_per_node: ranks.max(1),
        }
    }

    /// Each rank on a node of its own.
    pub fn node_per_rank(ranks: u32) -> Self {
        Self {
            ranks,
            threads: 1,
            ranks_per_node: 1,
        }
    }

    /// Number of locations.
    pub fn locations(&self) -> usize {
        self.ranks as usize * self.threads as usize
    }

    /// Position of a thread among the locations.
    pub fn location(&self, rank: u32, thread: u32) -> usize {
        rank as usize * self.threads as usize + thread as usize
    }

    /// The rank a location belongs to.
    pub fn rank_of(&self, location: usize) -> u32 {
        (location / self.threads as usize) as u32
    }

    /// The id a location has in the trace.
    pub fn id(&self, location: usize) -> u64 {
        let thread = (location % self.threads as usize) as u64;
        thread << 32 | u64::from(self.rank_of(location))
    }

    /// The id of what a rank has beside its threads, by number.
    pub(crate) fn beside(&self, rank: u32, number: u32) -> u64 {
        u64::from(self.threads + number) << 32 | u64::from(rank)
    }

    /// The node a rank runs on.
    pub fn node(&self, rank: u32) -> u32 {
        rank / self.ranks_per_node.max(1)
    }

    /// Defines nodes, processes, threads and the communicator of all ranks; where
    /// each rank was put.
    pub(crate) fn define(&self, definitions: &mut DefinitionsWriter) -> Vec<Placed> {
        definitions.paradigm(Paradigm::MPI, "MPI", ParadigmClass::PROCESS);
        let machine = definitions.system_tree_node("simulation", "machine", None);
        definitions.system_tree_domain(machine, SystemTreeDomain::MACHINE);
        let nodes: Vec<_> = (0..self.nodes())
            .map(|node| {
                let node =
                    definitions.system_tree_node(&format!("node{node}"), "node", Some(machine));
                definitions.system_tree_domain(node, SystemTreeDomain::SHARED_MEMORY);
                node
            })
            .collect();
        let mut placed = Vec::new();
        for rank in 0..self.ranks {
            let node = nodes.get(self.node(rank) as usize).copied();
            let name = format!("MPI Rank {rank}");
            let process = definitions.location_group(&name, LocationGroupType::PROCESS, node);
            for thread in 0..self.threads {
                let name = thread_name(thread);
                let id = self.id(self.location(rank, thread));
                definitions.location(id, &name, LocationType::CPU_THREAD, process);
            }
            placed.push(Placed { node, process });
        }
        self.define_world(definitions);
        placed
    }

    /// Nodes, processes, threads and the communicator as a scan of the trace describes them.
    pub(crate) fn describe(&self, rate: TickRate) -> TraceInfo {
        let master = |rank: u32| LocationIndex(self.location(rank, 0) as u32);
        let ranks: Vec<_> = (0..self.ranks).map(master).collect();
        let location = |number: usize| Location {
            id: self.id(number),
            name: thread_name(number as u32 % self.threads),
            process: self.rank_of(number) as usize,
            endpoint: master(self.rank_of(number)),
        };
        let process = |rank: u32| Process {
            name: format!("MPI Rank {rank}"),
            node: Some(self.node(rank) as usize),
            creator: None,
        };
        TraceInfo {
            rate,
            locations: (0..self.locations()).map(location).collect(),
            processes: (0..self.ranks).map(process).collect(),
            nodes: (0..self.nodes())
                .map(|node| format!("node{node}"))
                .collect(),
            streams: Vec::new(),
            set_back: Vec::new(),
            communicators: vec![Communicator {
                name: "MPI_COMM_WORLD".to_owned(),
                members: Members::Ranks(ranks.into()),
            }],
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.ranks.div_ceil(self.ranks_per_node.max(1))
    }

    /// A process takes part in communication as its first thread.
    fn define_world(&self, definitions: &mut DefinitionsWriter) {
        let masters: Vec<_> = (0..self.ranks)
            .map(|rank| self.id(self.location(rank, 0)))
            .collect();
        definitions.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &masters);
        let ranks: Vec<_> = (0..u64::from(self.ranks)).collect();
        let group = definitions.group("", GroupType::COMM_GROUP, Paradigm::MPI, &ranks);
        definitions.comm("MPI_COMM_WORLD", group, None);
    }
}

fn thread_name(thread: u32) -> String {
    match thread {
        0 => "Master thread".to_owned(),
        other => format!("Thread {other}"),
    }
}
