//! What a trace is made of, without its events.

use std::ffi::{CString, c_char};
use std::path::Path;

use retime_cli::library::{self, AskedFormat};

use crate::border::{giving, making, path, seen, text, unmade};
use crate::failed::Failed;
use crate::texts::c_text;
use crate::watch::{Watch, call};

/// A trace that was opened.
pub struct Trace {
    format: CString,
    path: CString,
    ticks_per_second: u64,
    places: Vec<Place>,
}

/// A location, by what it is called.
struct Place {
    id: u64,
    process: u64,
    name: CString,
    process_name: CString,
    node_name: Option<CString>,
}

/// A location of a trace: a thread, a stream of an accelerator. Its texts stay as long as the
/// trace is open.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Location {
    /// The id of the location in the trace.
    pub id: u64,
    /// The position of its process among all, from 0.
    pub process: u64,
    /// The name of the location.
    pub name: *const c_char,
    /// The name of its process.
    pub process_name: *const c_char,
    /// The name of the node that it ran on; NULL if that is not known.
    pub node_name: *const c_char,
}

impl Trace {
    fn open(
        path: &Path,
        format: Option<&str>,
        call: library::Call,
    ) -> Result<Self, library::Failure> {
        let trace = library::open(
            path,
            &[],
            format.map_or(AskedFormat::Shown, AskedFormat::Named),
        )?;
        let info = library::describe(&*trace, call)?;
        let place = |it: &::library::Location| {
            let process = info.processes.get(it.process);
            let node = process.and_then(|it| info.nodes.get(it.node?));
            Place {
                id: it.id,
                process: it.process as u64,
                name: c_text(&it.name),
                process_name: c_text(process.map_or("", |it| &it.name)),
                node_name: node.map(|it| c_text(it)),
            }
        };
        Ok(Self {
            format: c_text(trace.format()),
            path: c_text(&trace.path().to_string_lossy()),
            ticks_per_second: info.rate.get(),
            places: info.locations.iter().map(place).collect(),
        })
    }
}

/// Opens a trace to see what it is made of; its events are read only where its format has no other
/// way. `format` is the name of its format as for `--format`, or NULL to tell it by the path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_trace_open(
    trace_path: *const c_char,
    format: *const c_char,
    watch: *const Watch,
    trace: *mut *mut Trace,
) -> crate::failed::Status {
    let open = || {
        // SAFETY: a text, as the header asks for.
        let path = unsafe { path(trace_path, "the path of the trace") }?;
        let format = if format.is_null() {
            None
        } else {
            // SAFETY: a text, as the header asks for.
            let name = unsafe { text(format, "the format") }?;
            Some(name.to_string_lossy().into_owned())
        };
        // SAFETY: a watcher, as the header asks for.
        let call = unsafe { call(Vec::new(), watch) }?;
        Ok(Trace::open(path, format.as_deref(), call)?)
    };
    // SAFETY: room for a handle, as the header asks for.
    unsafe { making(trace, "the place for the trace", open) }
}

/// Closes a trace; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_trace_close(trace: *mut Trace) {
    // SAFETY: a handle, as the header asks for.
    unsafe { unmade(trace) }
}

/// The name of the format of a trace; NULL if the trace is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_trace_format(trace: *const Trace) -> *const c_char {
    // SAFETY: a handle, as the header asks for.
    let trace = unsafe { seen(trace, "the trace") };
    trace.map_or(std::ptr::null(), |it| it.format.as_ptr())
}

/// The file that stands for a trace; NULL if the trace is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_trace_path(trace: *const Trace) -> *const c_char {
    // SAFETY: a handle, as the header asks for.
    let trace = unsafe { seen(trace, "the trace") };
    trace.map_or(std::ptr::null(), |it| it.path.as_ptr())
}

/// The ticks of a trace in a second; 0 if the trace is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_trace_ticks_per_second(trace: *const Trace) -> u64 {
    // SAFETY: a handle, as the header asks for.
    unsafe { seen(trace, "the trace") }.map_or(0, |it| it.ticks_per_second)
}

/// The number of locations of a trace; 0 if the trace is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_trace_locations(trace: *const Trace) -> usize {
    // SAFETY: a handle, as the header asks for.
    unsafe { seen(trace, "the trace") }.map_or(0, |it| it.places.len())
}

/// Describes the location at a position, from 0 on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_trace_location(
    trace: *const Trace,
    position: usize,
    location: *mut Location,
) -> crate::failed::Status {
    let find = || {
        // SAFETY: a handle, as the header asks for.
        let trace = unsafe { seen(trace, "the trace") }?;
        let found = trace.places.get(position);
        let found = found.ok_or_else(|| no_location(position, trace.places.len()))?;
        Ok(Location {
            id: found.id,
            process: found.process,
            name: found.name.as_ptr(),
            process_name: found.process_name.as_ptr(),
            node_name: found
                .node_name
                .as_ref()
                .map_or(std::ptr::null(), |it| it.as_ptr()),
        })
    };
    // SAFETY: room for a location, as the header asks for.
    unsafe { giving(location, "the place for the location", find) }
}

/// There are fewer locations than asked for.
pub(crate) fn no_location(position: usize, count: usize) -> Failed {
    Failed::argument(format!(
        "there is no location {position}: there are {count}"
    ))
}
