//! The locations that speak for one endpoint of messages and calls.

use rustc_hash::FxHashMap;

use retime_model::{LocationIndex, LogColumns, TraceInfo};

/// Positions of the logs that speak for the same endpoint, in order of logs.
pub fn by_endpoint(info: &TraceInfo, logs: &[LogColumns]) -> Vec<Vec<usize>> {
    let mut group_of = FxHashMap::default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, log) in logs.iter().enumerate() {
        let group = *group_of
            .entry(endpoint(info, log.location))
            .or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[group].push(position);
    }
    groups
}

/// The endpoint under which a location communicates.
pub fn endpoint(info: &TraceInfo, location: LocationIndex) -> LocationIndex {
    let known = info.locations.get(location.as_usize());
    known.map_or(location, |location| location.endpoint)
}
