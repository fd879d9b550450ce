//! The corrected trace, read again from where it was written.

use std::path::Path;

use retime::format::{Difference, Trace, Undo};
use retime::pipeline::Method;
use retime::{Correction, LocationIndex, Timestamp};
use retime_parallel::Opened;

use crate::analysed::Analysed;
use crate::args::CorrectArgs;
use crate::error::CliError;
use crate::formats;
use crate::origin::Origin;
use crate::progress::{Interrupts, Progress, Stage};
use crate::report::summary::plural;
use crate::saved::{SavedBounds, SavedCorrection};
use crate::staging::Staging;

/// Reads the written copy again: the same events, in order, those that take part in
/// happened-before at the given times, by node.
pub(super) fn verify(
    args: &CorrectArgs,
    analysed: &Analysed,
    copy: &Path,
    times: &[Timestamp],
) -> Result<(), CliError> {
    let found = difference(args, analysed, copy, times)?;
    found.map_or(Ok(()), |(location, how)| {
        let name = analysed.analysis.info().describe(location);
        let what = match how {
            Difference::OtherEvents => format!("other events at {name}"),
            Difference::Backwards(count) => {
                format!("{} out of order at {name}", plural(count, "event"))
            }
            Difference::OtherTime => {
                format!("an event with another time than computed at {name}")
            }
        };
        Err(CliError::Verification(what))
    })
}

/// The first location of a copy that is not as computed, and how.
fn difference(
    args: &CorrectArgs,
    analysed: &Analysed,
    copy: &Path,
    times: &[Timestamp],
) -> Result<Option<(LocationIndex, Difference)>, CliError> {
    let format = formats::of(&args.trace, args.format.format)?;
    let nodes = analysed.analysis.causality().nodes();
    let contents = &analysed.opened.contents;
    let verifying = |bytes| Progress::new(Stage::Verifying, bytes, args.run.quiet);
    let team = args.format.team.as_ref();
    if let Some(team) = team.filter(|_| !nodes.share().is_whole())
        && let Opened::Dealt(written) = retime_parallel::open(team, format, copy, &Interrupts)?
    {
        let progress = verifying(written.bytes());
        return Ok(written.verify(contents, nodes, times, &progress)?);
    }
    let trace = &analysed.opened.trace;
    let written = match trace.open_copy(copy, &Interrupts) {
        Some(written) => written?,
        None => formats::open(copy, format, team)?,
    };
    let all: Vec<_> = (0..nodes.locations()).map(|it| nodes.of(it)).collect();
    let events: Vec<&[u32]> = all.iter().map(|it| nodes.events(it)).collect();
    let timelines = written.timelines(&events, &verifying(written.bytes()))?;
    let mut expected = contents.iter().zip(&all);
    let mut timelines = (0..).map(LocationIndex).zip(&timelines);
    Ok(timelines.find_map(|(location, timeline)| {
        let (contents, of) = expected.next()?;
        let times = times.get(of.range()).unwrap_or_default();
        Some((location, timeline.difference(contents, times)?))
    }))
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
    let origin = Origin::of_nodes(analysed.analysis.causality().nodes(), info);
    let saved = SavedCorrection::new(correction, (info, origin), name, undo)?;
    let saved = saved.with_bounds(bounds);
    let trace = &*analysed.opened.trace;
    staging.written(saved.write(&staging.correction(trace), trace.path()))
}
