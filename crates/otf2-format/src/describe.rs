//! From definitions of the format to the trace as retime sees it.
//!
//! | retime | OTF2 |
//! | --- | --- |
//! | location | location, in order of definition |
//! | process | location group, made by the process of its creating location group; a stream of an accelerator in a group that is not the accelerator's: one of its own, made by that group |
//! | node | nearest node of the system tree above the process that shares memory: by its domain, or by its class being called `node` |
//! | communicator | communicator or inter-communicator, by handles from 0; of paradigms that number no processes it is a team of threads |
//!
//! A trace may say nothing of nodes; then processes have none. The *endpoint*
//! of a location is who communicates for it: itself if it is a rank, or else, say
//! for a worker thread, the one location of its process that is. Ranks are those of
//! MPI, whose records messages and collectives are; other paradigms number threads
//! (OpenMP, Pthreads), streams (CUDA) or all there is (the measurement system), and
//! a worker thread does not become a rank by that.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use retime_model::{Communicator, Location, LocationIndex, Process, TickRate, TraceInfo};

use retime_otf2::definitions::SystemTreeNode;
use retime_otf2::{
    CommRef, Definitions, LocationGroupRef, LocationGroupType, LocationType, Members, Paradigm,
    RmaWinRef, SystemTreeDomain, SystemTreeNodeRef,
};

use crate::error::TraceError;

/// The paradigms that number processes. The first whose ranks an archive lists says
/// who they are: MPI if it can; the last two are those of writers that name none.
const OF_PROCESSES: [Paradigm; 6] = [
    Paradigm::MPI,
    Paradigm::SHMEM,
    Paradigm::GASPI,
    Paradigm::UPC,
    Paradigm::UNKNOWN,
    Paradigm::NONE,
];

/// The description that follows from the definitions, and the handles of communicators and windows
/// by their ids.
pub(crate) struct Description {
    pub(crate) info: TraceInfo,
    pub(crate) handles: HashMap<CommRef, u32>,
    pub(crate) windows: HashMap<RmaWinRef, Window>,
}

/// A window of one-sided communication: its operations have an order of their own, as if
/// it were a communicator.
pub(crate) struct Window {
    pub(crate) handle: u32,
    /// True if what is recorded as a barrier is one, and not a fence.
    pub(crate) has_barriers: bool,
}

/// Describes the trace that `definitions`, read from `path`, define.
pub(crate) fn describe(definitions: &Definitions, path: &Path) -> Result<Description, TraceError> {
    let rate = definitions
        .clock
        .and_then(|clock| TickRate::per_second(clock.ticks_per_second));
    let rate = rate.ok_or_else(|| TraceError::NoTickRate {
        path: path.to_owned(),
    })?;
    let mut places = SystemTree::find(definitions);
    let locations = locations(definitions, &mut places);
    let (mut communicators, handles) = communicators(definitions, &places.index);
    let windows = windows(definitions, &handles, &mut communicators);
    Ok(Description {
        info: TraceInfo {
            rate,
            locations,
            processes: places.processes,
            nodes: places.nodes,
            communicators,
            streams: Vec::new(),
            set_back: Vec::new(),
        },
        handles,
        windows,
    })
}

/// Processes, nodes, and where things are.
#[derive(Default)]
struct SystemTree {
    index: HashMap<u64, LocationIndex>,
    processes: Vec<Process>,
    process_of_group: HashMap<LocationGroupRef, usize>,
    nodes: Vec<String>,
    node_of_tree: HashMap<SystemTreeNodeRef, usize>,
}

impl SystemTree {
    fn find(definitions: &Definitions) -> Self {
        let mut places = Self::default();
        for (position, id) in definitions.location_ids().into_iter().enumerate() {
            places.index.insert(id, LocationIndex(position as u32));
        }
        for group in &definitions.location_groups {
            if places.process_of_group.contains_key(&group.id) {
                continue;
            }
            let node = group
                .system_tree_parent
                .and_then(|leaf| sharing_memory(definitions, leaf))
                .map(|node| places.node(definitions, node));
            places
                .process_of_group
                .insert(group.id, places.processes.len());
            places.processes.push(Process {
                name: definitions.text(group.name).into_owned(),
                node,
                creator: None,
            });
        }
        places.find_creators(definitions);
        places
    }

    /// A group may be defined before the one that made it.
    fn find_creators(&mut self, definitions: &Definitions) {
        let mut named = HashSet::new();
        for group in &definitions.location_groups {
            // Of groups that share an id the first counts.
            if !named.insert(group.id) {
                continue;
            }
            let creator = group.creating_location_group;
            let creator = creator.and_then(|id| self.process_of_group.get(&id));
            if let (Some(&creator), Some(&own)) = (creator, self.process_of_group.get(&group.id)) {
                self.processes[own].creator = Some(creator).filter(|&creator| creator != own);
            }
        }
    }

    /// The process of a location; a new one if no location group is given,
    /// for nobody knows what shares memory with it.
    fn process(&mut self, group: Option<LocationGroupRef>) -> usize {
        let known = group.and_then(|group| self.process_of_group.get(&group));
        if let Some(&process) = known {
            return process;
        }
        self.processes.push(Process {
            name: String::new(),
            node: None,
            creator: None,
        });
        self.processes.len() - 1
    }

    /// A process for a stream among the threads of the one that gives it work. Its device
    /// has a clock of its own, which somebody has converted to that of the process.
    fn process_of_stream(&mut self, name: String, host: usize) -> usize {
        self.processes.push(Process {
            name,
            node: self.processes.get(host).and_then(|it| it.node),
            creator: Some(host),
        });
        self.processes.len() - 1
    }

    fn node(&mut self, definitions: &Definitions, node: &SystemTreeNode) -> usize {
        *self.node_of_tree.entry(node.id).or_insert_with(|| {
            self.nodes.push(definitions.text(node.name).into_owned());
            self.nodes.len() - 1
        })
    }
}

/// The nearest node of the system tree, from `leaf` up, that shares memory.
fn sharing_memory(definitions: &Definitions, leaf: SystemTreeNodeRef) -> Option<&SystemTreeNode> {
    let mut next = Some(leaf);
    // A damaged tree may have a cycle.
    for _ in 0..definitions.system_tree.len() {
        let node = definitions.system_tree.get(next?)?;
        let class = definitions.text(node.class_name);
        if node.domains.contains(&SystemTreeDomain::SHARED_MEMORY)
            || class.eq_ignore_ascii_case("node")
        {
            return Some(node);
        }
        next = node.parent;
    }
    None
}

fn locations(definitions: &Definitions, places: &mut SystemTree) -> Vec<Location> {
    let endpoints = Endpoints::find(definitions, places);
    let defined = definitions.location_ids().into_iter();
    let defined = defined.filter_map(|id| definitions.locations.get(id));
    let mut locations = Vec::new();
    for (position, location) in defined.enumerate() {
        let own = LocationIndex(position as u32);
        let name = definitions.text(location.name).into_owned();
        let mut process = places.process(location.group);
        let group = location
            .group
            .and_then(|it| definitions.location_groups.get(it));
        if location.kind == LocationType::ACCELERATOR_STREAM
            && group.is_some_and(|it| it.kind != LocationGroupType::ACCELERATOR)
        {
            process = places.process_of_stream(name.clone(), process);
        }
        locations.push(Location {
            id: location.id,
            name,
            process,
            endpoint: endpoints.of(location.id, location.group, own),
        });
    }
    locations
}

/// Which locations communicate.
struct Endpoints {
    ranks: HashSet<u64>,
    /// The endpoint of each location group that has just one.
    only: HashMap<LocationGroupRef, Option<LocationIndex>>,
}

impl Endpoints {
    fn find(definitions: &Definitions, places: &SystemTree) -> Self {
        let listed = OF_PROCESSES.iter().find_map(|&it| definitions.ranks(it));
        let ranks: HashSet<u64> =
            listed.map_or_else(HashSet::new, |it| it.iter().copied().collect());
        let mut only = HashMap::new();
        for (&id, &index) in &places.index {
            let group = definitions.locations.get(id).and_then(|it| it.group);
            if let Some(group) = group
                && ranks.contains(&id)
            {
                only.entry(group)
                    .and_modify(|one| *one = None)
                    .or_insert(Some(index));
            }
        }
        Self { ranks, only }
    }

    fn of(
        &self,
        location: u64,
        group: Option<LocationGroupRef>,
        own: LocationIndex,
    ) -> LocationIndex {
        if self.ranks.contains(&location) {
            return own;
        }
        group
            .and_then(|group| self.only.get(&group).copied().flatten())
            .unwrap_or(own)
    }
}

/// All communicators whose ranks are known, and their handles by id.
fn communicators(
    definitions: &Definitions,
    index: &HashMap<u64, LocationIndex>,
) -> (Vec<Communicator>, HashMap<CommRef, u32>) {
    let intra = definitions.comms.iter().map(|comm| (comm.id, comm.name));
    let inter = definitions
        .inter_comms
        .iter()
        .map(|comm| (comm.id, comm.name));
    let mut lists = Lists {
        index,
        known: HashMap::new(),
    };
    let mut communicators = Vec::new();
    let mut handles = HashMap::new();
    for (id, name) in intra.chain(inter) {
        let members = definitions.comm_members(id);
        let of_threads = is_of_threads(definitions, id);
        let convert = |members| lists.convert(members, of_threads);
        if let Some(members) = members.and_then(convert)
            && !handles.contains_key(&id)
        {
            handles.insert(id, communicators.len() as u32);
            communicators.push(Communicator {
                name: called(definitions.text(name), "communicator", id.0),
                members,
            });
        }
    }
    (communicators, handles)
}

/// The name of a definition, and of one without a name what other tools call it by: its id. A
/// handle counts definitions in the order in which they come, so it need not be that.
fn called(name: Cow<'_, str>, kind: &str, id: u32) -> String {
    if name.is_empty() {
        return format!("{kind} {id}");
    }
    name.into_owned()
}

/// All windows of processes whose ranks are known; each is a communicator, too.
fn windows(
    definitions: &Definitions,
    handles: &HashMap<CommRef, u32>,
    communicators: &mut Vec<Communicator>,
) -> HashMap<RmaWinRef, Window> {
    let mut windows = HashMap::new();
    for window in &definitions.windows {
        let handle = handles.get(&window.comm);
        let known = handle.and_then(|&handle| communicators.get(handle as usize));
        let Some(known) =
            known.filter(|it| !matches!(it.members, retime_model::Members::Threads(_)))
        else {
            continue;
        };
        let comm = definitions.comms.get(window.comm);
        let group = comm.and_then(|it| definitions.groups.get(it.group));
        if windows.contains_key(&window.id) {
            continue;
        }
        let described = Window {
            handle: communicators.len() as u32,
            has_barriers: group.is_some_and(|it| it.paradigm == Paradigm::SHMEM),
        };
        let communicator = Communicator {
            name: called(definitions.text(window.name), "window", window.id.0),
            members: known.members.clone(),
        };
        windows.insert(window.id, described);
        communicators.push(communicator);
    }
    windows
}

/// True if the members of a communicator are threads or streams: its paradigm numbers
/// no processes.
fn is_of_threads(definitions: &Definitions, id: CommRef) -> bool {
    let group = definitions
        .comms
        .get(id)
        .and_then(|it| definitions.groups.get(it.group));
    group.is_some_and(|group| !OF_PROCESSES.contains(&group.paradigm))
}

/// Lists of ranks; equal ones stay shared, since every communicator that
/// spans a large trace would have its own otherwise.
struct Lists<'a> {
    index: &'a HashMap<u64, LocationIndex>,
    known: HashMap<*const u64, Option<Arc<[LocationIndex]>>>,
}

impl Lists<'_> {
    fn convert(&mut self, members: &Members, of_threads: bool) -> Option<retime_model::Members> {
        Some(match members {
            Members::Own => retime_model::Members::Own,
            Members::Intra(threads) if of_threads => {
                retime_model::Members::Threads(self.list(threads)?)
            }
            Members::Intra(ranks) => retime_model::Members::Ranks(self.list(ranks)?),
            // Only windows use some of all ranks without numbers of their own.
            Members::Global { all, members } if all != members => return None,
            Members::Global { all, .. } => retime_model::Members::Ranks(self.list(all)?),
            Members::Inter(a, b) => retime_model::Members::Inter {
                a: self.list(a)?,
                b: self.list(b)?,
            },
        })
    }

    /// `None` if a member is not defined.
    fn list(&mut self, ids: &Arc<[u64]>) -> Option<Arc<[LocationIndex]>> {
        let index = self.index;
        self.known
            .entry(ids.as_ptr())
            .or_insert_with(|| ids.iter().map(|id| index.get(id).copied()).collect())
            .clone()
    }
}
