//! Traces for viewers: Perfetto's `TrackEvent` packets and Chrome's JSON.
//!
//! ```text
//!  Trace::rows of each location, Correction
//!    | lane                  what is entered and left, balanced; which events have arrows
//!    v
//!  dyn Encoder               perfetto: packets; chrome: lines of JSON
//!    | batches               some locations at a time, in parallel, by chunks
//!    v
//!  output                    plain, or gzip
//! ```
//!
//! Regions become slices, dependencies arrows between them, locations threads of
//! the processes they belong to, and what was added to a clock a curve beside
//! these. What is shown where is the same for both kinds of file; `docs/EXPORT.md` says it
//! for those who look at them.
//!
//! Memory is bounded by the locations that are under way at a time, not by the trace, and
//! the same trace gives the same bytes for any number of threads.

mod arrows;
mod axis;
mod batches;
mod chrome;
mod contradictions;
mod curves;
mod encoder;
mod error;
mod facts;
mod lane;
mod listing;
mod nesting;
mod perfetto;
mod placement;
mod recognised;
mod sequence;
mod shown;
mod summary;
mod tracks;
mod view;
mod window;

use std::io::Write;

use retime::Monitor;

pub use arrows::{Dependency, dependencies};
pub use error::ExportError;
pub use placement::Placement;
pub use recognised::is_export;
pub use shown::{Exported, Kind, Shown, Times};
pub use summary::Summary;

use axis::Axis;
use batches::{write_contradictions, write_lanes};
use encoder::Scribe;
use retime_gzip::{Effort, Output};
use view::View;

/// Writes what is `shown` of a trace to `out`.
pub fn export(
    exported: &Exported<'_>,
    shown: &Shown,
    out: &mut (dyn Write + Send),
    monitor: &dyn Monitor,
) -> Result<Summary, ExportError> {
    let alone = Placement::default();
    match shown.kind {
        Kind::Perfetto => export_by::<perfetto::Packets>(exported, shown, &alone, out, monitor),
        Kind::Chrome => export_by::<chrome::Json>(exported, shown, &alone, out, monitor),
    }
}

/// Writes what is `shown` of a trace to `out` as packets for a file that has others, too.
pub fn export_packets(
    exported: &Exported<'_>,
    shown: &Shown,
    placement: &Placement,
    out: &mut (dyn Write + Send),
    monitor: &dyn Monitor,
) -> Result<Summary, ExportError> {
    export_by::<perfetto::Packets>(exported, shown, placement, out, monitor)
}

fn export_by<S: Scribe>(
    exported: &Exported<'_>,
    shown: &Shown,
    placement: &Placement,
    out: &mut (dyn Write + Send),
    monitor: &dyn Monitor,
) -> Result<Summary, ExportError> {
    let axis = Axis::of(exported, shown)?;
    let views = View::all(exported, shown, placement, &axis, monitor)?;
    let effort = shown.gzip.then_some(Effort::Fast);
    let mut output = Output::new(out, effort)?;
    let mut summary = Summary::default();
    let mut preamble = Vec::new();
    S::open(&mut preamble);
    let mut is_first = true;
    for view in &views {
        let tracks = tracks::of(view, exported.info);
        let curves = curves::of(view, &axis, &tracks);
        summary.curves += curves.len() as u64;
        summary.threads += tracks.threads.len() as u64;
        S::describe(&mut preamble, &tracks, &curves, &axis, &mut is_first);
    }
    let packing = output.packing();
    output.put(&packing.packed(preamble)?)?;
    for view in &views {
        write_contradictions::<S>(view, exported, &axis, &mut output, monitor)?;
        let found = write_lanes::<S>(view, exported, &axis, &mut output, monitor)?;
        summary.add(&found);
    }
    let mut end = Vec::new();
    S::close(&mut end);
    output.put(&packing.packed(end)?)?;
    summary.bytes = output.finish()?;
    Ok(summary)
}
