//! A trace that all processes of a team work on, as far as its format allows.

use std::path::Path;
use std::sync::Arc;

use retime_model::Monitor;
use retime_model::format::{Format, FormatError, Trace};

use crate::dealt::open_in_parts;
use crate::in_files::open_in_files;
use crate::team::Team;

/// Opens a trace on all processes. Where the format knows no parts, they work on its files if it is
/// to be analysed `by_files`; else this process works on it [alone](Team::worked_alone).
pub fn open(
    team: &Arc<Team>,
    format: &'static dyn Format,
    path: &Path,
    by_files: bool,
    monitor: &dyn Monitor,
) -> Result<Box<dyn Trace>, FormatError> {
    if let Some(dealt) = open_in_parts(team, format, path, monitor)? {
        return Ok(Box::new(dealt));
    }
    if by_files && let Some(trace) = open_in_files(team, format, path, monitor)? {
        return Ok(trace);
    }
    team.work_alone();
    format.open_watched(path, monitor)
}
