//! The tracks of a trace's locations: processes with threads.
//!
//! Viewers know threads by numbers that are unique in a file, and take the thread whose
//! number is that of its process for the first of it. So threads are numbered by location,
//! and a process bears the number of its first location that is shown.

use std::collections::BTreeMap;

use retime::{Location, LocationIndex, TraceInfo};

use crate::view::View;

/// A process of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) number: u32,
    pub(crate) name: String,
}

/// A location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) location: LocationIndex,
    pub(crate) number: u32,
    pub(crate) process: u32,
    pub(crate) name: String,
}

/// The tracks of a group, in the order of locations.
#[derive(Clone, Debug)]
pub(crate) struct Tracks {
    /// The processes, by their position in the trace.
    pub(crate) processes: BTreeMap<usize, Process>,
    pub(crate) threads: Vec<Thread>,
}

/// The tracks of a view.
pub(crate) fn of(view: &View<'_>, info: &TraceInfo) -> Tracks {
    // After those of the group before it; 0 is the idle thread of viewers.
    let first = 1 + view.number * info.locations.len() as u32;
    let mut processes = BTreeMap::new();
    let mut threads = Vec::with_capacity(view.locations.len());
    for &location in view.locations {
        let Some(own) = info.locations.get(location.as_usize()) else {
            continue;
        };
        let number = first + location.0;
        let process = processes.entry(own.process).or_insert_with(|| Process {
            number,
            name: process_name(info, own, view.title),
        });
        let id = format!("location {}", own.id);
        let name = match own.name.as_str() {
            "" => id,
            name if name.parse() == Ok(own.id) => id,
            name => format!("{name} ({id})"),
        };
        threads.push(Thread {
            location,
            number,
            process: process.number,
            name,
        });
    }
    Tracks { processes, threads }
}

/// That of the process of a location, with where it ran; if it has none, that of the location.
fn process_name(info: &TraceInfo, location: &Location, title: Option<&str>) -> String {
    let own = info.processes.get(location.process);
    let name = own
        .map(|it| it.name.clone())
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| format!("process of location {}", location.id));
    let node = own
        .and_then(|it| it.node)
        .and_then(|node| info.nodes.get(node));
    let place = node
        .filter(|it| !it.is_empty())
        .map_or_else(String::new, |it| format!(" ({it})"));
    let title = title.map_or_else(String::new, |it| format!("{it}: "));
    format!("{title}{name}{place}")
}
