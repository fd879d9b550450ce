//! The corrected archive: written into its staging place, and read again.

use rayon::prelude::*;
use retime::{Correction, LocationIndex, Timestamp};
use retime_otf2::{Otf2Trace, Rewritten};

use crate::args::CorrectArgs;
use crate::error::CliError;
use crate::load::{Loaded, not_if_interrupted};
use crate::method::Method;
use crate::progress::Progress;
use crate::report::summary::plural;
use crate::saved::{SavedBounds, SavedCorrection, anchor_in};
use crate::staging::Staging;

/// Writes the archive with every time sent through the correction.
pub(super) fn write(
    args: &CorrectArgs,
    loaded: &Loaded,
    correction: &Correction,
    staging: &Staging,
) -> Result<Rewritten, CliError> {
    let progress = Progress::new("writing", loaded.trace.event_bytes(), args.run.quiet);
    loaded
        .trace
        .rewrite_in_order(correction, staging.directory(), &progress)
        .map_err(not_if_interrupted)
}

/// Reads the written copy again: the same events, in order. Returns the times
/// of all events that take part in happened-before.
pub(super) fn verify(
    args: &CorrectArgs,
    loaded: &Loaded,
    staging: &Staging,
) -> Result<Vec<Timestamp>, CliError> {
    let written = Otf2Trace::open(anchor_in(staging.directory(), loaded.trace.archive()))?;
    let nodes = loaded.causality.nodes();
    let progress = Progress::new("verifying", written.event_bytes(), args.run.quiet);
    let timeline = |location: u32| -> Result<Vec<Timestamp>, CliError> {
        let events = nodes.events(nodes.of(location as usize));
        let timeline = written
            .node_times(LocationIndex(location), events, &progress)
            .map_err(not_if_interrupted)?;
        let name = || loaded.trace.info().describe(LocationIndex(location));
        if timeline.counts != loaded.counts[location as usize] {
            return Err(CliError::Verification(format!(
                "other events at {}",
                name()
            )));
        }
        if timeline.backwards > 0 {
            let events = plural(timeline.backwards, "event");
            return Err(CliError::Verification(format!(
                "{events} out of order at {}",
                name()
            )));
        }
        Ok(timeline.times)
    };
    let timelines: Result<Vec<_>, _> = (0..nodes.locations() as u32)
        .into_par_iter()
        .map(timeline)
        .collect();
    Ok(timelines?.concat())
}

/// Writes the correction beside the archive.
pub(super) fn save(
    method: &Method,
    loaded: &Loaded,
    (correction, bounds): (&Correction, Option<SavedBounds>),
    rewritten: Rewritten,
    staging: &Staging,
) -> Result<(), CliError> {
    let gamma = method
        .gamma_max()
        .map_or(String::new(), |gamma| format!(", gamma {gamma}"));
    let rate = method
        .amortization()
        .map_or(String::new(), |rate| format!(", amortised at {rate}"));
    let name = format!("{method}{gamma}{rate}");
    let info = loaded.trace.info();
    let saved = SavedCorrection::new(correction, info, name, rewritten.undo).with_bounds(bounds);
    saved.write(&SavedCorrection::path_in(
        staging.directory(),
        loaded.trace.archive(),
    ))
}
