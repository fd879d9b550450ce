//! Numbers for readers older than OTF2 1.2.
//!
//! Regions and groups begin with a type that later versions replaced by a
//! role, a paradigm and flags at the end of the record. Writers still fill the
//! old field. Newer readers ignore it.

use crate::enums::{GroupType, Paradigm, RegionRole};

/// The old type of a region, 0 where there was none.
pub(super) fn region_type(role: RegionRole, paradigm: Paradigm) -> u8 {
    match (role, paradigm) {
        (RegionRole::BARRIER, Paradigm::MPI) => 22,
        (RegionRole::BARRIER, _) => 15,
        (RegionRole::FUNCTION, _) => 1,
        (RegionRole::LOOP, _) => 3,
        (RegionRole::CODE, _) => 27,
        (RegionRole::PARALLEL, _) => 5,
        (RegionRole::IMPLICIT_BARRIER, _) => 16,
        (RegionRole::COLL_ONE2ALL, _) => 23,
        (RegionRole::COLL_ALL2ONE, _) => 24,
        (RegionRole::COLL_ALL2ALL, _) => 25,
        (RegionRole::COLL_OTHER, _) => 26,
        _ => 0,
    }
}

/// The old type of a group, 0 where there was none.
pub(super) fn group_type(kind: GroupType, paradigm: Paradigm) -> u8 {
    match (kind, paradigm) {
        (GroupType::LOCATIONS, _) => 1,
        (GroupType::REGIONS, _) => 2,
        (GroupType::COMM_GROUP, Paradigm::MPI) => 4,
        (GroupType::COMM_SELF, Paradigm::MPI) => 5,
        (GroupType::COMM_LOCATIONS, Paradigm::MPI) => 6,
        _ => 0,
    }
}
