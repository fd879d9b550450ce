//! All locations, some at a time, each chunk by chunk.
//!
//! ```text
//! locations  0 1 2 .. 15 | 16 ..       so many under way; where one ends the next begins
//! round 1    chunk of each, in parallel
//! round 2    chunk of each, in parallel, while those of round 1 are written in order
//! ```
//!
//! Which chunk comes when follows from what they hold alone, so that the file is the same
//! for any number of threads; at any time no more than two rounds of chunks are in memory,
//! and those effects that are at the times of their causes, which come behind all else.

use rayon::prelude::*;
use retime::Monitor;
use retime_gzip::{Output, Packed};

use crate::axis::Axis;
use crate::encoder::Scribe;
use crate::error::ExportError;
use crate::lane::Lane;
use crate::listing::Listing;
use crate::shown::Exported;
use crate::summary::Summary;
use crate::tracks;
use crate::view::View;

/// Locations under way at a time: more than there are cores in most machines, so that all
/// have work though some locations take longer.
const ABREAST: usize = 32;

/// Bytes of a chunk: enough that neither starting its work nor its compression counts.
const CHUNK: usize = 1 << 18;

/// About the bytes that a contradiction takes.
const LINE: usize = 1 << 7;

/// Writes all events of a view.
pub(crate) fn write_lanes<S: Scribe>(
    view: &View<'_>,
    exported: &Exported<'_>,
    axis: &Axis,
    output: &mut Output<'_>,
    monitor: &dyn Monitor,
) -> Result<Summary, ExportError> {
    let tracks = tracks::of(view, exported.info);
    let mut waiting = tracks.threads.iter();
    let mut lanes: Vec<Lane<'_, S::Encoder>> = Vec::new();
    let mut summary = Summary::default();
    let mut written: Vec<Packed> = Vec::new();
    let mut late: Vec<Vec<u8>> = Vec::new();
    let pace = Pace::of(view, exported);
    loop {
        while lanes.len() < ABREAST
            && let Some(thread) = waiting.next()
        {
            let encoder = S::encoder(thread.number, thread.process);
            let lane = Lane::open(view, exported, *axis, thread.location, encoder)?;
            lanes.push(lane);
        }
        monitor.check()?;
        let packing = output.packing();
        let fill = |lane: &mut Lane<'_, S::Encoder>| -> Result<Packed, ExportError> {
            let mut chunk = Vec::with_capacity(CHUNK + CHUNK / 8);
            let events = lane.fill(&mut chunk, CHUNK)?;
            monitor.advance(pace.bytes(events));
            Ok(packing.packed(chunk)?)
        };
        let (put, filled) = rayon::join(
            || written.iter().try_for_each(|it| output.put(it)),
            // Not into a `Result` at once: which of several errors that gives depends on threads.
            || lanes.par_iter_mut().map(fill).collect::<Vec<_>>(),
        );
        put?;
        written = filled.into_iter().collect::<Result<_, _>>()?;
        lanes.retain_mut(|lane| {
            if lane.is_over() {
                summary.add(&lane.summary);
                late.push(lane.late());
            }
            !lane.is_over()
        });
        if lanes.is_empty() && written.is_empty() {
            break;
        }
    }
    for chunk in late.into_iter().filter(|it| !it.is_empty()) {
        let packing = output.packing();
        output.put(&packing.packed(chunk)?)?;
    }
    Ok(summary)
}

/// Writes the contradictions of a view.
pub(crate) fn write_contradictions<S: Scribe>(
    view: &View<'_>,
    exported: &Exported<'_>,
    axis: &Axis,
    output: &mut Output<'_>,
    monitor: &dyn Monitor,
) -> Result<(), ExportError> {
    let Some(track) = tracks::of(view, exported.info).contradictions else {
        return Ok(());
    };
    let mut encoder = S::encoder(track.number, track.number);
    for some in view.contradictions.chunks(CHUNK / LINE) {
        monitor.check()?;
        let mut chunk = Vec::with_capacity(CHUNK);
        let listing = Listing {
            view,
            info: exported.info,
            axis,
            names: exported.trace,
        };
        listing.write(&mut chunk, some, &mut encoder);
        let packing = output.packing();
        output.put(&packing.packed(chunk)?)?;
    }
    Ok(())
}

/// The pace at which a monitor advances: in bytes of the trace, as far as they can be told from
/// events.
struct Pace {
    bytes: u64,
    events: u64,
}

impl Pace {
    fn of(view: &View<'_>, exported: &Exported<'_>) -> Self {
        let nodes = exported.causality.nodes();
        let events = (0..nodes.locations()).map(|it| nodes.event_count(it)).sum();
        let groups = if view.is_one_of_two { 2 } else { 1 };
        Self {
            bytes: exported.trace.bytes() / groups,
            events,
        }
    }

    fn bytes(&self, events: u64) -> u64 {
        let part = u128::from(self.bytes) * u128::from(events);
        (part / u128::from(self.events.max(1))) as u64
    }
}
