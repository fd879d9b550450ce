//! What is shown of a trace's locations: processes with threads.
//!
//! Viewers know threads by numbers that are unique in a file, and take the thread whose
//! number is that of its process for the first of it. So threads are numbered by location,
//! and a process bears the number of its first location that is shown.

use std::collections::BTreeMap;

use retime::{LocationIndex, TraceInfo};

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
    /// By their position in the trace.
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
            name: process_name(info, own.process, view.title),
        });
        let name = match own.name.as_str() {
            "" => format!("location {}", own.id),
            name => format!("{name} (location {})", own.id),
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

fn process_name(info: &TraceInfo, process: usize, title: Option<&str>) -> String {
    let own = info.processes.get(process);
    let name = match own.map_or("", |it| it.name.as_str()) {
        "" => format!("process {process}"),
        name => name.to_owned(),
    };
    let node = own
        .and_then(|it| it.node)
        .and_then(|node| info.nodes.get(node));
    let place = node
        .filter(|it| !it.is_empty())
        .map_or_else(String::new, |it| format!(" ({it})"));
    let title = title.map_or_else(String::new, |it| format!("{it}: "));
    format!("{title}{name}{place}")
}
