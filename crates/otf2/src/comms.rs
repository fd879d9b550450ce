//! From the rank in a communicator to the location that it means.
//!
//! Events name their partners by rank. The communicator refers to a group,
//! and what the members of the group are depends on its kind:
//!
//! * each paradigm has one list of all its ranks: *communication locations*, or
//!   since version 3.2 *communication location groups*, where a rank is a whole
//!   process and any of its threads may speak for it;
//! * a *communication group* lists indices into the list of its own paradigm,
//!   never of another; if it has the flag *global members*, the ranks in events
//!   are such indices, too, and not positions in the group;
//! * in *communication with oneself* rank 0 is the location of the event;
//! * an inter-communicator has two groups, and ranks count in the one that
//!   the location of the event is not in.
//!
//! For a process that is a rank stands one of its locations, the first thread of
//! a CPU in order of definition, so that a rank is a location in any case.
//!
//! ```
//! use retime_otf2::Members;
//! use std::sync::Arc;
//!
//! let clients: Arc<[u64]> = Arc::from([10, 11]);
//! let servers: Arc<[u64]> = Arc::from([20]);
//! let between = Members::Inter(clients, servers);
//! assert_eq!(between.location(10, 0), Some(20));
//! assert_eq!(between.location(20, 1), Some(11));
//! assert_eq!(between.location(20, 2), None);
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use crate::definitions::{Comm, Group, InterComm, Location, Table};
use crate::enums::{GroupFlags, GroupType, LocationType, Paradigm};
use crate::refs::{CommRef, GroupRef, LocationGroupRef};

/// Who communicates over a communicator. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Every location with itself.
    Own,
    /// The locations by rank.
    Intra(Arc<[u64]>),
    /// Some of all ranks of a paradigm, which keep the numbers they have among
    /// all.
    Global {
        /// The locations of all ranks of the paradigm.
        all: Arc<[u64]>,
        /// The locations of those that communicate.
        members: Arc<[u64]>,
    },
    /// The locations of two groups by rank; partners are in the other group.
    Inter(Arc<[u64]>, Arc<[u64]>),
}

impl Members {
    /// The location of a rank, as seen by an event of the location `own`.
    pub fn location(&self, own: u64, rank: u32) -> Option<u64> {
        let partners = match self {
            Self::Own => return (rank == 0).then_some(own),
            Self::Intra(ranks) | Self::Global { all: ranks, .. } => ranks,
            Self::Inter(a, b) if a.contains(&own) => b,
            Self::Inter(a, _) => a,
        };
        partners.get(usize::try_from(rank).ok()?).copied()
    }

    /// The rank of a location in the group that it belongs to.
    pub fn rank(&self, location: u64) -> Option<u32> {
        let position = |members: &[u64]| members.iter().position(|&member| member == location);
        let rank = match self {
            Self::Own => Some(0),
            Self::Intra(ranks) | Self::Global { all: ranks, .. } => position(ranks),
            Self::Inter(a, b) => position(a).or_else(|| position(b)),
        };
        rank.and_then(|rank| u32::try_from(rank).ok())
    }

    /// The number of locations that take part in a collective operation.
    pub fn size(&self) -> usize {
        match self {
            Self::Own => 1,
            Self::Intra(members) | Self::Global { members, .. } => members.len(),
            Self::Inter(a, b) => a.len() + b.len(),
        }
    }
}

/// The definitions that communicators are resolved from.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) locations: &'a Table<Location>,
    pub(crate) groups: &'a Table<Group>,
    pub(crate) comms: &'a Table<Comm>,
    pub(crate) inter_comms: &'a Table<InterComm>,
}

/// The members of all communicators. Equal groups share one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comms {
    worlds: HashMap<Paradigm, Arc<[u64]>>,
    groups: HashMap<GroupRef, Arc<[u64]>>,
    members: HashMap<CommRef, Members>,
    unresolved: Vec<CommRef>,
}

impl Comms {
    pub(crate) fn resolve(parts: Parts<'_>) -> Self {
        let speakers = speakers(parts);
        let mut resolved = Self {
            worlds: worlds(parts.groups, &speakers),
            ..Self::default()
        };
        let groups = for_communication(parts.groups);
        for group in groups.values() {
            if let Some(members) = resolved.locations(group, &speakers) {
                resolved.groups.insert(group.id, members);
            }
        }
        for comm in parts.comms {
            let members = resolved.intra(&groups, comm);
            resolved.put(comm.id, members);
        }
        for comm in parts.inter_comms {
            let members = resolved.inter(&groups, comm);
            resolved.put(comm.id, members);
        }
        resolved
    }

    pub(crate) fn get(&self, comm: CommRef) -> Option<&Members> {
        self.members.get(&comm)
    }

    pub(crate) fn group(&self, group: GroupRef) -> Option<&Arc<[u64]>> {
        self.groups.get(&group)
    }

    pub(crate) fn world(&self, paradigm: Paradigm) -> Option<&Arc<[u64]>> {
        self.worlds.get(&paradigm)
    }

    pub(crate) fn unresolved(&self) -> &[CommRef] {
        &self.unresolved
    }

    /// The locations of a group of locations or ranks.
    fn locations(&self, group: &Group, speakers: &Speakers) -> Option<Arc<[u64]>> {
        match group.kind {
            GroupType::LOCATIONS | GroupType::COMM_LOCATIONS => Some(Arc::clone(&group.members)),
            GroupType::COMM_LOCATION_GROUPS => speaking_for(group, speakers),
            GroupType::COMM_GROUP => {
                let world = self.worlds.get(&group.paradigm)?;
                let location = |&index: &u64| world.get(usize::try_from(index).ok()?).copied();
                group.members.iter().map(location).collect()
            }
            _ => None,
        }
    }

    fn intra(&self, groups: &HashMap<GroupRef, &Group>, comm: &Comm) -> Option<Members> {
        let group = groups.get(&comm.group)?;
        if group.kind == GroupType::COMM_SELF {
            return Some(Members::Own);
        }
        let members = self.groups.get(&comm.group).cloned()?;
        if !keeps_numbers(group) {
            return Some(Members::Intra(members));
        }
        let all = self.worlds.get(&group.paradigm).cloned()?;
        Some(Members::Global { all, members })
    }

    /// Nobody says what ranks mean between groups whose members keep the numbers
    /// they have among all.
    fn inter(&self, groups: &HashMap<GroupRef, &Group>, comm: &InterComm) -> Option<Members> {
        let side = |id: GroupRef| {
            let local = groups.get(&id).is_some_and(|group| !keeps_numbers(group));
            self.groups.get(&id).filter(|_| local).cloned()
        };
        Some(Members::Inter(side(comm.group_a)?, side(comm.group_b)?))
    }

    /// The first definition of an id counts.
    fn put(&mut self, comm: CommRef, members: Option<Members>) {
        match members {
            Some(members) => {
                self.members.entry(comm).or_insert(members);
            }
            None => self.unresolved.push(comm),
        }
    }
}

/// True if ranks in events are those among all of the paradigm.
fn keeps_numbers(group: &Group) -> bool {
    group.kind == GroupType::COMM_GROUP && group.flags.contains(GroupFlags::GLOBAL_MEMBERS)
}

/// The definition of each group that a communicator means. Where an id is
/// defined twice, a list of ranks is meant rather than the list of all
/// locations that those ranks are indices into.
fn for_communication(groups: &Table<Group>) -> HashMap<GroupRef, &Group> {
    let lists_ranks =
        |group: &Group| [GroupType::COMM_GROUP, GroupType::COMM_SELF].contains(&group.kind);
    let mut chosen: HashMap<GroupRef, &Group> = HashMap::new();
    for group in groups {
        let known = chosen.entry(group.id).or_insert(group);
        if lists_ranks(group) && !lists_ranks(known) {
            *known = group;
        }
    }
    chosen
}

/// The location that stands for each location group.
type Speakers = HashMap<LocationGroupRef, u64>;

/// The first thread of a CPU, or where there is none, as on an accelerator, the
/// first location.
fn speakers(parts: Parts<'_>) -> Speakers {
    // Most traces have no ranks that are location groups.
    let mut kinds = parts.groups.iter().map(|group| group.kind);
    if !kinds.any(|kind| kind == GroupType::COMM_LOCATION_GROUPS) {
        return Speakers::new();
    }
    let is_thread = |location: &&Location| location.kind == LocationType::CPU_THREAD;
    let threads = parts.locations.iter().filter(is_thread);
    let mut speakers = Speakers::new();
    for location in threads.chain(parts.locations) {
        if let Some(group) = location.group {
            speakers.entry(group).or_insert(location.id);
        }
    }
    speakers
}

/// The locations that stand for the members of a group of location groups; `None`
/// if one of these has no location.
fn speaking_for(group: &Group, speakers: &Speakers) -> Option<Arc<[u64]>> {
    let speaker = |&member: &u64| {
        let member = LocationGroupRef(u32::try_from(member).ok()?);
        speakers.get(&member).copied()
    };
    group.members.iter().map(speaker).collect()
}

/// The locations that indices of a paradigm refer to.
fn worlds(groups: &Table<Group>, speakers: &Speakers) -> HashMap<Paradigm, Arc<[u64]>> {
    let mut worlds = HashMap::new();
    for group in groups {
        let members = match group.kind {
            GroupType::COMM_LOCATIONS => Some(Arc::clone(&group.members)),
            GroupType::COMM_LOCATION_GROUPS => speaking_for(group, speakers),
            _ => None,
        };
        if let Some(members) = members {
            worlds.entry(group.paradigm).or_insert(members);
        }
    }
    worlds
}
