//! Kinds of values, by which a field can be skipped whose number says nothing.

pub(crate) const VARINT: u8 = 0;
pub(crate) const EIGHT_BYTES: u8 = 1;
pub(crate) const BYTES: u8 = 2;
pub(crate) const GROUP_BEGINS: u8 = 3;
pub(crate) const GROUP_ENDS: u8 = 4;
pub(crate) const FOUR_BYTES: u8 = 5;
