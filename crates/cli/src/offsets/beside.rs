//! The offsets that `libretime-pmpi` measured while the tracer recorded: they lie beside the
//! trace, under the name that it gives them, and are taken as those that an archive has itself.
//!
//! ```text
//! run/retime-offsets.txt      where the program ran,
//! run/scorep-run/traces.otf2  and its tracer
//! ```
//!
//! They are of this trace if they were measured by its clock and while it was recorded: ticks
//! per second are the same, and each location has events between its first and its last
//! measurement, or around these. A file of another run, or of another clock, is not heeded.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use retime::causality::Nodes;
use retime::pipeline::{MeasuredOffset, MeasuredOffsets};
use retime::{TraceInfo, printable_path};

use super::file;
use crate::error::CliError;
use crate::pipe;

/// The name that libretime-pmpi gives to its file, if it is told no other.
const NAME: &str = "retime-offsets.txt";
/// The beginning of its first line.
const BEGINNING: &str = "# retime offsets 1: clock ";

/// The file that lies in the directory of a trace, or in that around it.
pub(super) fn find(trace: &Path) -> Option<PathBuf> {
    let directory = if trace.is_dir() {
        trace
    } else {
        trace.parent()?
    };
    let around = match directory.components().next_back() {
        Some(Component::Normal(_)) => directory.parent()?.to_owned(),
        _ => std::path::absolute(directory).ok()?.parent()?.to_owned(),
    };
    let places = [directory.join(NAME), around.join(NAME)];
    places.into_iter().find(|it| is_of_libretime(it))
}

fn is_of_libretime(path: &Path) -> bool {
    let mut beginning = [0; BEGINNING.len()];
    path.is_file()
        && File::open(path).is_ok_and(|mut it| it.read_exact(&mut beginning).is_ok())
        && beginning == BEGINNING.as_bytes()
}

/// The offsets beside a trace whose first event has the time `base`, if they are of it.
pub(super) fn read(trace: &Path, info: &TraceInfo, nodes: &Nodes, base: i128) -> MeasuredOffsets {
    let missing = |why: String| {
        MeasuredOffsets::Missing(format!("the trace holds no clock offsets, and {why}"))
    };
    let Some(path) = find(trace) else {
        return missing(format!(
            "no {NAME} lies beside it; give measured ones with --offsets FILE"
        ));
    };
    match read_fitting(&path, info, nodes, base) {
        Ok(Some(measured)) => MeasuredOffsets::Known(measured),
        Ok(None) => {
            let named = printable_path(&path);
            missing(format!(
                "those of {named} are of another run or clock; to use them all the same give \
                 --offsets {named}"
            ))
        }
        // Nobody has named that file.
        Err(error) => missing(format!("those beside it cannot be used: {error}")),
    }
}

/// The offsets of a file; none if they are of another run or clock.
fn read_fitting(
    path: &Path,
    info: &TraceInfo,
    nodes: &Nodes,
    base: i128,
) -> Result<Option<Vec<MeasuredOffset>>, CliError> {
    let rate = ticks_per_second(&pipe::read_text(path)?);
    if rate != Some(info.rate.get()) {
        return Ok(None);
    }
    let measured = file::read(path, info, base)?;
    Ok(fits(&measured, nodes).then_some(measured))
}

/// The ticks per second that the first line names, such as `# retime offsets 1: clock monotonic, 1000000000 ticks per second`.
fn ticks_per_second(text: &str) -> Option<u64> {
    let (_, after) = text.lines().next()?.split_once(", ")?;
    after.split(' ').next()?.parse().ok()
}

/// True if each location has events between its measurements, or around them.
fn fits(measured: &[MeasuredOffset], nodes: &Nodes) -> bool {
    let since_base = |ticks: u64| i128::from(ticks) - i128::from(nodes.base().0);
    let mut locations: Vec<_> = measured.iter().map(|it| it.location).collect();
    locations.sort_unstable();
    locations.dedup();
    locations.into_iter().all(|location| {
        let Some(extent) = nodes.extent(location.as_usize()) else {
            return true;
        };
        let of_location = measured.iter().filter(|it| it.location == location);
        let stamps = of_location.map(|it| i128::from(it.stamp));
        let (first, last) = (stamps.clone().min(), stamps.max());
        first.is_none_or(|it| it <= since_base(extent.last.0))
            && last.is_none_or(|it| it >= since_base(extent.first.0))
    })
}
