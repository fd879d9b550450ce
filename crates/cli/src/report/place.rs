//! Where in a trace something is, as reports say it.

use serde::Serialize;

/// An event: the id of its location, and its number there, from 0.
#[derive(Debug, Serialize)]
pub(crate) struct PlacePart {
    pub(crate) location: u64,
    pub(crate) event: u64,
}
