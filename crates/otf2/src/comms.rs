//! From the rank in a communicator to the location that it means.
//!
//! Events name their partners by rank. The communicator refers to a group,
//! and what the members of the group are depends on its kind:
//!
//! * a *communication group* lists indices into the one *communication
//!   locations* group of its paradigm, which lists locations; if it has the
//!   flag *global members*, it lists locations itself;
//! * in *communication with oneself* rank 0 is the location of the event;
//! * an inter-communicator has two groups, and ranks count in the one that
//!   the location of the event is not in.
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

use crate::definitions::{Comm, Group, InterComm, Table};
use crate::enums::{GroupFlags, GroupType, Paradigm};
use crate::refs::{CommRef, GroupRef};

/// Who communicates over a communicator. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Every location with itself.
    Own,
    /// The locations by rank.
    Intra(Arc<[u64]>),
    /// The locations of two groups by rank; partners are in the other group.
    Inter(Arc<[u64]>, Arc<[u64]>),
}

impl Members {
    /// The location of a rank, as seen by an event of the location `own`.
    pub fn location(&self, own: u64, rank: u32) -> Option<u64> {
        let partners = match self {
            Self::Own => return (rank == 0).then_some(own),
            Self::Intra(members) => members,
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
            Self::Intra(members) => position(members),
            Self::Inter(a, b) => position(a).or_else(|| position(b)),
        };
        rank.and_then(|rank| u32::try_from(rank).ok())
    }

    /// The number of locations that take part in a collective operation.
    pub fn size(&self) -> usize {
        match self {
            Self::Own => 1,
            Self::Intra(members) => members.len(),
            Self::Inter(a, b) => a.len() + b.len(),
        }
    }
}

/// The members of all communicators. Equal groups share one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comms {
    groups: HashMap<GroupRef, Arc<[u64]>>,
    members: HashMap<CommRef, Members>,
    unresolved: Vec<CommRef>,
}

impl Comms {
    pub(crate) fn resolve(
        groups: &Table<Group>,
        comms: &Table<Comm>,
        inter_comms: &Table<InterComm>,
    ) -> Self {
        let mut resolved = Self::default();
        let worlds = worlds(groups);
        let groups = for_communication(groups);
        for group in groups.values() {
            if let Some(members) = locations(group, &worlds) {
                resolved.groups.insert(group.id, members);
            }
        }
        for comm in comms {
            let members = resolved.intra(&groups, comm);
            resolved.put(comm.id, members);
        }
        for comm in inter_comms {
            let members = resolved.inter(comm);
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

    pub(crate) fn unresolved(&self) -> &[CommRef] {
        &self.unresolved
    }

    fn intra(&self, groups: &HashMap<GroupRef, &Group>, comm: &Comm) -> Option<Members> {
        let group = groups.get(&comm.group)?;
        if group.kind == GroupType::COMM_SELF {
            return Some(Members::Own);
        }
        self.groups.get(&comm.group).cloned().map(Members::Intra)
    }

    fn inter(&self, comm: &InterComm) -> Option<Members> {
        let a = self.groups.get(&comm.group_a)?;
        let b = self.groups.get(&comm.group_b)?;
        Some(Members::Inter(Arc::clone(a), Arc::clone(b)))
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

/// The locations that indices of a paradigm refer to.
fn worlds(groups: &Table<Group>) -> HashMap<Paradigm, Arc<[u64]>> {
    let mut worlds = HashMap::new();
    for group in groups {
        if group.kind == GroupType::COMM_LOCATIONS {
            let members = || Arc::clone(&group.members);
            worlds.entry(group.paradigm).or_insert_with(members);
        }
    }
    worlds
}

fn locations(group: &Group, worlds: &HashMap<Paradigm, Arc<[u64]>>) -> Option<Arc<[u64]>> {
    let lists_locations = match group.kind {
        GroupType::LOCATIONS | GroupType::COMM_LOCATIONS => true,
        GroupType::COMM_GROUP => group.flags.contains(GroupFlags::GLOBAL_MEMBERS),
        _ => return None,
    };
    if lists_locations {
        return Some(Arc::clone(&group.members));
    }
    let world = worlds.get(&group.paradigm)?;
    let location = |&index: &u64| world.get(usize::try_from(index).ok()?).copied();
    group.members.iter().map(location).collect()
}
