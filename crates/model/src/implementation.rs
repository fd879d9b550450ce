//! Guarantees of implementations beyond what the MPI standard promises.
//!
//! A collective operation may return before the others have entered it unless what it
//! returns depends on them. Implementations often synchronise all the same, say to agree
//! on the number of a new communicator. Who knows which one a trace is of can have that
//! used; for another it would be false.
//!
//! Measured with Open MPI 4.1: one process enters 30 ms late; these are operations that no
//! other has ever left before, also with all assertions and where the late one is not to
//! be a member:
//!
//! | Open MPI | |
//! |---|---|
//! | creation of communicators (dup, split, `split_type`, create, Cart) | synchronises |
//! | creation of windows (create, allocate), their release, fences | synchronises |
//! | release of communicators, reductions of nothing | does not |
//!
//! ```
//! use retime_model::{Implementation, Operation};
//! assert!(Implementation::OpenMpi.synchronises(Operation::CreateHandle));
//! assert!(!Implementation::OpenMpi.synchronises(Operation::Allreduce));
//! ```

use serde::{Deserialize, Serialize};

use crate::role::Operation;

/// An implementation of MPI whose habits are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Implementation {
    /// Open MPI, as of version 4.1.
    OpenMpi,
}

impl Implementation {
    /// True if every participant waits for all others in an operation of which the
    /// standard does not promise it.
    pub const fn synchronises(self, operation: Operation) -> bool {
        match self {
            Self::OpenMpi => matches!(
                operation,
                Operation::CreateHandle
                    | Operation::CreateWindow
                    | Operation::FreeWindow
                    | Operation::Fence
            ),
        }
    }
}
