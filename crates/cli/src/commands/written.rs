//! The corrected trace, read again from where it was written.

use std::path::Path;

use retime::format::Undo;
use retime::pipeline::Method;
use retime::{Correction, LocationIndex, Timestamp};

use crate::analysed::Analysed;
use crate::args::CorrectArgs;
use crate::error::CliError;
use crate::formats;
use crate::progress::Progress;
use crate::report::summary::plural;
use crate::saved::{SavedBounds, SavedCorrection};
use crate::staging::Staging;

/// Reads the written copy again: the same events, in order, those that take part in
/// happened-before at the given times.
pub(super) fn verify(
    args: &CorrectArgs,
    analysed: &Analysed,
    copy: &Path,
    mut times: &[Timestamp],
) -> Result<(), CliError> {
    let format = formats::of(&args.trace, args.format.format)?;
    let written = formats::open(copy, format, args.format.team.as_ref())?;
    let nodes = analysed.analysis.causality().nodes();
    let events: Vec<&[u32]> = (0..nodes.locations())
        .map(|location| nodes.events(&nodes.of(location)))
        .collect();
    let progress = Progress::new("verifying", written.bytes(), args.run.quiet);
    let timelines = written.timelines(&events, &progress)?;
    let expected = analysed.opened.contents.iter();
    for ((location, timeline), expected) in (0..).zip(timelines).zip(expected) {
        let name = || analysed.analysis.info().describe(LocationIndex(location));
        if timeline.contents != *expected {
            let what = format!("other events at {}", name());
            return Err(CliError::Verification(what));
        }
        if timeline.backwards > 0 {
            let events = plural(timeline.backwards, "event");
            let what = format!("{events} out of order at {}", name());
            return Err(CliError::Verification(what));
        }
        let own = times.split_off(..timeline.times.len());
        if own != Some(&timeline.times) {
            let what = format!("an event with another time than computed at {}", name());
            return Err(CliError::Verification(what));
        }
    }
    Ok(())
}

/// Writes the correction beside the copy.
pub(super) fn save(
    method: &Method,
    analysed: &Analysed,
    (correction, bounds): (&Correction, Option<SavedBounds>),
    undo: Undo,
    staging: &Staging,
) -> Result<(), CliError> {
    let gamma = method
        .gamma_max()
        .map_or(String::new(), |gamma| format!(", gamma {gamma}"));
    let rate = method
        .amortization()
        .map_or(String::new(), |rate| format!(", amortised at {rate}"));
    let name = format!("{method}{gamma}{rate}");
    let info = analysed.analysis.info();
    let saved = SavedCorrection::new(correction, info, name, undo)?.with_bounds(bounds);
    let trace = &*analysed.opened.trace;
    staging.written(saved.write(&staging.correction(trace), trace.path()))
}
