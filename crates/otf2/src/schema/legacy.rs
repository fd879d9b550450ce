//! Classifications of regions and groups as version 1.0 and 1.1 stored them.
//!
//! Then one number said what later became a role or type, a paradigm and
//! flags. The tables give those three for each old number.

/// Role or type, paradigm, flags.
type Triple = (u8, u8, u8);

/// Role, paradigm and flags of regions, indexed by the old region type.
const REGIONS: [Triple; 36] = [
    (0, 0, 0),
    (1, 0, 0),
    (3, 1, 0),
    (1, 0, 0),
    (27, 1, 0),
    (5, 3, 0),
    (3, 3, 0),
    (6, 3, 0),
    (7, 3, 0),
    (8, 3, 0),
    (9, 3, 0),
    (11, 3, 0),
    (12, 3, 0),
    (14, 3, 0),
    (15, 3, 0),
    (16, 3, 0),
    (17, 3, 0),
    (13, 3, 0),
    (10, 3, 0),
    (2, 3, 0),
    (20, 3, 0),
    (22, 3, 0),
    (15, 4, 0),
    (23, 4, 0),
    (24, 4, 0),
    (25, 4, 0),
    (26, 4, 0),
    (4, 1, 0),
    (4, 1, 1),
    (4, 1, 3),
    (3, 1, 1),
    (1, 1, 1),
    (3, 1, 3),
    (21, 3, 0),
    (18, 3, 0),
    (19, 3, 0),
];

/// Type, paradigm and flags of groups, indexed by the old group type.
const GROUPS: [Triple; 7] = [
    (0, 0, 0),
    (1, 0, 0),
    (2, 0, 0),
    (2, 0, 0),
    (5, 4, 0),
    (6, 4, 0),
    (4, 4, 0),
];

fn triple(table: &[Triple], old: u64) -> Triple {
    usize::try_from(old)
        .ok()
        .and_then(|old| table.get(old))
        .copied()
        .unwrap_or_default()
}

pub(super) fn region_role(old: u64) -> u64 {
    u64::from(triple(&REGIONS, old).0)
}

pub(super) fn region_paradigm(old: u64) -> u64 {
    u64::from(triple(&REGIONS, old).1)
}

pub(super) fn region_flags(old: u64) -> u64 {
    u64::from(triple(&REGIONS, old).2)
}

pub(super) fn group_type(old: u64) -> u64 {
    u64::from(triple(&GROUPS, old).0)
}

pub(super) fn group_paradigm(old: u64) -> u64 {
    u64::from(triple(&GROUPS, old).1)
}

pub(super) fn group_flags(old: u64) -> u64 {
    u64::from(triple(&GROUPS, old).2)
}
