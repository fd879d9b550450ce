//! `retime undo`: the original of a corrected trace, byte for byte.

use retime_otf2::Otf2Trace;

use crate::args::UndoArgs;
use crate::error::CliError;
use crate::load::{not_if_interrupted, with_threads};
use crate::progress::{Progress, check_interrupt};
use crate::report::to_stdout;
use crate::saved::SavedCorrection;
use crate::staging::Staging;

/// Runs the command.
pub(crate) fn run(args: &UndoArgs) -> Result<u8, CliError> {
    let outcome = with_threads(args.run.threads, || undo(args))?;
    if !args.run.quiet {
        to_stdout(&outcome)?;
    }
    Ok(0)
}

fn undo(args: &UndoArgs) -> Result<String, CliError> {
    let staging = Staging::new(&args.output.output, args.output.force, &args.trace)?;
    let trace = Otf2Trace::open(&args.trace)?;
    let path = SavedCorrection::path_beside(trace.archive().anchor_path());
    if !path.exists() {
        let message = "no correction is saved beside this trace: it was never corrected, or was sound and left unchanged";
        return Err(CliError::input(&path, message));
    }
    let saved = SavedCorrection::read(&path)?;
    let correction = saved.correction(&path, trace.info())?;
    let Some(undo) = &saved.undo else {
        return Err(CliError::input(
            &path,
            "holds clock maps only, not what it takes to restore the original",
        ));
    };
    let progress = Progress::new("restoring", trace.event_bytes(), args.run.quiet);
    trace
        .restore(&correction, undo, staging.directory(), &progress)
        .map_err(not_if_interrupted)?;
    drop(progress);
    check_interrupt()?;
    staging.commit()?;
    Ok(format!(
        "Wrote {}: the original trace, every file with its original checksum.\n",
        args.output.output.display()
    ))
}
