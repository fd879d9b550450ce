//! Numbers for readers older than OTF2 1.2.
//!
//! Regions and groups begin with a type that later versions replaced by a
//! role, a paradigm and flags at the end of the record. Writers still fill the
//! old field. Newer readers ignore it.

use super::kinds::{GroupType, Paradigm, RegionRole};

/// The old type of a region, 0 where there was none.
pub(super) fn region_type(role: RegionRole, paradigm: Paradigm) -> u8 {
    match (role, paradigm) {
        (RegionRole::Barrier, Paradigm::Mpi) => 22,
        (RegionRole::Barrier, _) => 15,
        (RegionRole::Function, _) => 1,
        (RegionRole::Loop, _) => 3,
        (RegionRole::Code, _) => 27,
        (RegionRole::Parallel, _) => 5,
        (RegionRole::ImplicitBarrier, _) => 16,
        (RegionRole::CollOneToAll, _) => 23,
        (RegionRole::CollAllToOne, _) => 24,
        (RegionRole::CollAllToAll, _) => 25,
        (RegionRole::CollOther, _) => 26,
        _ => 0,
    }
}

/// The old type of a group, 0 where there was none.
pub(super) fn group_type(kind: GroupType, paradigm: Paradigm) -> u8 {
    match (kind, paradigm) {
        (GroupType::Locations, _) => 1,
        (GroupType::Regions, _) => 2,
        (GroupType::CommGroup, Paradigm::Mpi) => 4,
        (GroupType::CommSelf, Paradigm::Mpi) => 5,
        (GroupType::CommLocations, Paradigm::Mpi) => 6,
        _ => 0,
    }
}
