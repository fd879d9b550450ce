//! The part that one process has in a collective operation: whether others wait for it, and
//! whether it waits for them.
//!
//! | class | others wait for | waits |
//! |---|---|---|
//! | 1-to-N | the root | all but the root |
//! | N-to-1 | all but the root | the root |
//! | N-to-N, prefix | everybody | everybody |
//! | none | nobody | nobody |
//!
//! For which of the others it waits depends on the class, too: in a prefix operation these
//! are the lower ranks, and on an inter-communicator those of the other group.
//!
//! ```
//! use retime_causality::Class;
//! use retime_logical_clocks::TakingPart;
//! let root = TakingPart::of(Class::OneToAll, true);
//! assert!(root.gives && !root.gets);
//! ```
//!
//! Source: Linford 2007, section 3.4, for the classes.

use retime_model::Class;

/// The part that one process has in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakingPart {
    /// True if others do not leave before it has entered. It is false of a process that gave no
    /// bytes in an operation that carries data.
    pub gives: bool,
    /// True if it does not leave before others have entered. It is false of a process that got
    /// no bytes in an operation that carries data.
    pub gets: bool,
}

impl TakingPart {
    /// The part of the root, or of another process, in an operation of a class.
    #[must_use]
    pub const fn of(class: Class, is_root: bool) -> Self {
        let (gives, gets) = match class {
            Class::OneToAll => (is_root, !is_root),
            Class::AllToOne => (!is_root, is_root),
            Class::AllToAll | Class::Prefix => (true, true),
            Class::None => (false, false),
        };
        Self { gives, gets }
    }
}
