//! The codes of records that are written, or looked for by name.
//!
//! Those of events and snapshots come with their tables.

pub(crate) const CLOCK_PROPERTIES: u8 = 5;
pub(crate) const PARADIGM: u8 = 6;
pub(crate) const STRING: u8 = 10;
pub(crate) const ATTRIBUTE: u8 = 11;
pub(crate) const SYSTEM_TREE_NODE: u8 = 12;
pub(crate) const LOCATION_GROUP: u8 = 13;
pub(crate) const LOCATION: u8 = 14;
pub(crate) const REGION: u8 = 15;
pub(crate) const GROUP: u8 = 18;
pub(crate) const COMM: u8 = 22;
pub(crate) const SYSTEM_TREE_NODE_DOMAIN: u8 = 27;
pub(crate) const INTER_COMM: u8 = 43;

// Local definitions and markers have numbers of their own.
pub(crate) const MAPPING_TABLE: u8 = 5;
pub(crate) const CLOCK_OFFSET: u8 = 6;
pub(crate) const DEF_MARKER: u8 = 5;
pub(crate) const MARKER: u8 = 6;
