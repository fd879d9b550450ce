//! Assumptions about what recordings leave open.

use retime_model::{Class, Defects, Implementation, Operation};
use serde::{Deserialize, Serialize};

/// How doubtful operations are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CausalityOptions {
    /// Take Alltoallv and Alltoallw for N-to-N operations.
    pub dense_alltoallv: bool,
    /// Use what this implementation of MPI does though the standard does not promise it.
    pub trusted: Option<Implementation>,
    /// Keep the lengths of messages, by which minimal delays may differ.
    pub keep_lengths: bool,
    /// Keep the place of each defect, instead of the first few of each kind.
    pub keep_all_places: bool,
}

impl CausalityOptions {
    /// The order of its participants that an operation is taken to prove.
    pub(super) fn class(self, operation: Operation) -> Class {
        match self.trusted {
            Some(it) if it.synchronises(operation) => Class::AllToAll,
            _ => operation.class(self.dense_alltoallv),
        }
    }

    /// A list for defects that keeps as many places as are wanted.
    pub(super) fn no_defects(self) -> Defects {
        if self.keep_all_places {
            Defects::keeping(usize::MAX)
        } else {
            Defects::default()
        }
    }
}
