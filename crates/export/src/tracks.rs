//! The tracks of a trace's locations: processes with threads.
//!
//! Viewers know threads by numbers that are unique in a file, and take the thread whose
//! number is that of its process for the first of it. So threads are numbered by location,
//! and a process bears the number of its first location that is shown.

use std::collections::BTreeMap;

use retime::{Location, LocationIndex, TraceInfo, without_exported_ids};

use crate::view::View;

/// A process of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) number: u32,
    pub(crate) name: String,
    /// True if one location of it is shown, and no more.
    pub(crate) is_single: bool,
}

/// A location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) location: LocationIndex,
    pub(crate) number: u32,
    /// The number of its process, and the position of that in the trace.
    pub(crate) process: u32,
    pub(crate) position: usize,
    pub(crate) name: String,
}

/// The number of the track of contradictions, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContradictionTrack {
    pub(crate) number: u32,
}

impl ContradictionTrack {
    pub(crate) const NAME: &str = "contradictions as recorded";
}

/// The tracks of a group, in the order of locations.
#[derive(Clone, Debug)]
pub(crate) struct Tracks<'a> {
    /// The title of the group.
    pub(crate) title: &'a str,
    /// True if the file shows another group, too.
    pub(crate) is_one_of_two: bool,
    /// The number of the group.
    pub(crate) number: u32,
    /// The track of contradictions, where there are any.
    pub(crate) contradictions: Option<ContradictionTrack>,
    /// The processes, by their position in the trace.
    pub(crate) processes: BTreeMap<usize, Process>,
    pub(crate) threads: Vec<Thread>,
}

/// The tracks of a view.
pub(crate) fn of<'a>(view: &View<'a>, info: &TraceInfo) -> Tracks<'a> {
    // After those of the group before it; 0 is the idle thread of viewers.
    let before = view.placement.tracks;
    let first = 1 + before + view.number * info.locations.len() as u32;
    let mut processes = BTreeMap::new();
    let mut threads = Vec::with_capacity(view.locations.len());
    for &location in view.locations {
        let Some(own) = info.locations.get(location.as_usize()) else {
            continue;
        };
        let number = first + location.0;
        let process = processes
            .entry(own.process)
            .and_modify(|it: &mut Process| it.is_single = false)
            .or_insert_with(|| Process {
                number,
                name: process_name(info, own),
                is_single: true,
            });
        let id = format!("location {}", own.id);
        let name = match without_exported_ids(&own.name) {
            "" => id,
            name if name.parse() == Ok(own.id) => id,
            name => format!("{name} ({id})"),
        };
        threads.push(Thread {
            location,
            number,
            process: process.number,
            position: own.process,
            name,
        });
    }
    // Behind those of all locations of both groups.
    let number = 1 + before + 2 * info.locations.len() as u32 + view.number;
    let is_any = !view.contradictions.is_empty();
    Tracks {
        title: view.title,
        is_one_of_two: view.is_one_of_two,
        number: before + view.number,
        contradictions: is_any.then_some(ContradictionTrack { number }),
        processes,
        threads,
    }
}

/// The name of the process of a location, with where it ran; if it has none, that of the location.
fn process_name(info: &TraceInfo, location: &Location) -> String {
    let own = info.processes.get(location.process);
    let name = own
        .map(|it| without_exported_ids(&it.name).to_owned())
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| format!("process of location {}", location.id));
    let node = own
        .and_then(|it| it.node)
        .and_then(|node| info.nodes.get(node));
    let place = node
        .filter(|it| !it.is_empty())
        .map_or_else(String::new, |it| format!(" ({it})"));
    format!("{name}{place}")
}
