//! The part of this process in one collective operation.

use retime_logical_clocks::TakingPart;
use retime_model::Class;

/// A collective operation, as one of its participants calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// The communicator, by a number that all members know it by.
    pub(crate) communicator: u64,
    /// The number of operations on the communicator before.
    pub(crate) number: u64,
    pub(crate) class: Class,
    pub(crate) is_root: bool,
    pub(crate) rank: u32,
    pub(crate) participants: u32,
}

impl Operation {
    pub(crate) fn part(&self) -> TakingPart {
        TakingPart::of(self.class, self.is_root)
    }

    /// The name that `retime stream` has for the class.
    pub(crate) fn class_name(&self) -> &'static str {
        match self.class {
            Class::OneToAll => "from-root",
            Class::AllToOne => "to-root",
            Class::Prefix => "scan",
            Class::AllToAll | Class::None => "all-to-all",
        }
    }
}
