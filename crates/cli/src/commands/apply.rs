//! `retime apply`: a saved correction, for another trace of the same run.

use retime::format::Trace;
use retime::{TraceInfo, printable_path};

use crate::args::ApplyArgs;
use crate::error::CliError;
use crate::formats;
use crate::load::{describe, with_threads};
use crate::origin::Origin;
use crate::progress::{Progress, Stage, check_interrupt};
use crate::report::summary::plural;
use crate::report::{tell, warned};
use crate::saved::{SavedCorrection, refuse_second, take_along};
use crate::staging::Staging;

/// Runs the command.
pub(crate) fn run(args: &ApplyArgs) -> Result<u8, CliError> {
    let outcome = applied(args)?;
    if !args.run.quiet {
        tell(&outcome, &args.output.output)?;
    }
    Ok(0)
}

/// Applies the correction, on the threads asked for; returns what was done, in words.
pub(crate) fn applied(args: &ApplyArgs) -> Result<String, CliError> {
    with_threads(args.run.threads, || apply(args))
}

/// What identifies the trace: its events are read for how many there are and when.
fn recorded(trace: &dyn Trace, info: &TraceInfo, quiet: bool) -> Result<Origin, CliError> {
    let progress = Progress::new(Stage::Reading, trace.bytes(), quiet);
    let none: Vec<&[u32]> = vec![&[]; info.locations.len()];
    let timelines = trace.timelines(&none, &progress)?;
    Ok(Origin::of_timelines(&timelines, info))
}

fn apply(args: &ApplyArgs) -> Result<String, CliError> {
    let format = formats::of(&args.trace, args.format.format)?;
    let staging = Staging::for_trace(args.output.target(), format, (&args.trace, &[]))?;
    let saved = SavedCorrection::read_given(&args.correction)?;
    let trace = formats::open(&args.trace, format, args.format.team.as_ref())?;
    let info = describe(&*trace, args.run.quiet)?;
    let origin = recorded(&*trace, &info, args.run.quiet)?;
    if !args.output.force {
        saved.refuse_stranger(&args.correction, (&info, &origin))?;
    }
    let correction = saved.correction(&args.correction, &info)?;
    let progress = Progress::new(Stage::Writing, trace.bytes(), args.run.quiet);
    let to = staging.place(trace.shape());
    let output = printable_path(&args.output.output);
    if correction.is_identity() {
        staging.written(trace.copy(&to, &progress))?;
        staging.written(take_along(&*trace, &staging))?;
        let warnings = warned(&progress.end());
        check_interrupt()?;
        staging.commit(&*trace)?;
        return Ok(format!(
            "{warnings}The correction changes no time: {output} is a plain copy.\n"
        ));
    }
    refuse_second(&*trace)?;
    staging.refuse_long_name(&*trace)?;
    let undo = staging.written(trace.rewrite(&correction, &to, &progress))?;
    let warnings = warned(&progress.end());
    let method = format!("applied from {}", printable_path(&args.correction));
    let applied = SavedCorrection::new(&correction, (&info, origin), method, undo)?;
    staging.written(applied.write(&staging.correction(&*trace), trace.path()))?;
    check_interrupt()?;
    staging.commit(&*trace)?;
    let clocks = correction.clocks();
    let changed = clocks
        .iter()
        .filter(|&clock| !correction.map(clock).is_identity());
    let locations: usize = changed.map(|clock| clocks.locations(clock).len()).sum();
    let untouched = info.locations.len() - locations;
    let kept = if untouched > 0 {
        format!(
            "; the times of {} are kept, as the correction says nothing else of them",
            plural(untouched as u64, "location")
        )
    } else {
        String::new()
    };
    Ok(format!(
        "{warnings}Wrote {output}: corrected {}{kept}.\n",
        plural(locations as u64, "location")
    ))
}
