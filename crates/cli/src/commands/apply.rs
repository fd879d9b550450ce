//! `retime apply`: a saved correction, for another trace of the same run.

use retime_otf2::Otf2Trace;

use crate::args::ApplyArgs;
use crate::error::CliError;
use crate::load::{not_if_interrupted, with_threads};
use crate::progress::{Progress, check_interrupt};
use crate::report::summary::plural;
use crate::report::to_stdout;
use crate::saved::SavedCorrection;
use crate::staging::Staging;

/// Runs the command.
pub(crate) fn run(args: &ApplyArgs) -> Result<u8, CliError> {
    let outcome = with_threads(args.run.threads, || apply(args))?;
    if !args.run.quiet {
        to_stdout(&outcome)?;
    }
    Ok(0)
}

fn apply(args: &ApplyArgs) -> Result<String, CliError> {
    let staging = Staging::new(&args.output.output, args.output.force, &args.trace)?;
    let saved = SavedCorrection::read(&args.correction)?;
    let trace = Otf2Trace::open(&args.trace)?;
    let correction = saved.correction(&args.correction, trace.info())?;
    let progress = Progress::new("writing", trace.event_bytes(), args.run.quiet);
    let output = args.output.output.display();
    if correction.is_identity() {
        trace
            .copy(staging.directory(), &progress)
            .map_err(not_if_interrupted)?;
        drop(progress);
        check_interrupt()?;
        staging.commit()?;
        return Ok(format!(
            "The correction changes no time: {output} is a plain copy.\n"
        ));
    }
    SavedCorrection::refuse_second(&args.trace, &trace)?;
    let rewritten = trace
        .rewrite(&correction, staging.directory(), &progress)
        .map_err(not_if_interrupted)?;
    drop(progress);
    let method = format!("applied from {}", args.correction.display());
    let applied = SavedCorrection::new(&correction, trace.info(), method, rewritten.undo);
    applied.write(&SavedCorrection::path_in(
        staging.directory(),
        trace.archive(),
    ))?;
    check_interrupt()?;
    staging.commit()?;
    let clocks = correction.clocks();
    let changed = clocks
        .iter()
        .filter(|&clock| !correction.map(clock).is_identity());
    let locations: usize = changed.map(|clock| clocks.locations(clock).len()).sum();
    let untouched = trace.info().locations.len() - locations;
    let kept = if untouched > 0 {
        format!(
            "; {} kept their times, as the correction says nothing else of them",
            plural(untouched as u64, "location")
        )
    } else {
        String::new()
    };
    Ok(format!(
        "Wrote {output}: corrected {}{kept}.\n",
        plural(locations as u64, "location")
    ))
}
