//! Assumptions about what recordings leave open.

use retime_model::Implementation;
use serde::{Deserialize, Serialize};

/// How doubtful operations are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CausalityOptions {
    /// Take Alltoallv and Alltoallw for N-to-N operations.
    pub dense_alltoallv: bool,
    /// Use what this implementation of MPI does though the standard does not promise it.
    pub trusted: Option<Implementation>,
}
