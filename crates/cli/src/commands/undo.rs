//! `retime undo`: the original of a corrected trace, byte for byte, or where it is compressed
//! its contents.

use retime::printable_path;

use crate::args::UndoArgs;
use crate::error::CliError;
use crate::formats;
use crate::load::{describe, with_threads};
use crate::progress::{Interrupts, Progress, Stage, check_interrupt};
use crate::report::{tell, warned};
use crate::saved::{SavedCorrection, beside};
use crate::staging::{Inputs, Staging};

/// Runs the command.
pub(crate) fn run(args: &UndoArgs) -> Result<u8, CliError> {
    let outcome = undone(args)?;
    if !args.run.quiet {
        tell(&outcome, &args.output.output)?;
    }
    Ok(0)
}

/// Restores the original, on the threads asked for; returns what was done, in words.
pub(crate) fn undone(args: &UndoArgs) -> Result<String, CliError> {
    with_threads(args.run.threads, || undo(args))
}

fn undo(args: &UndoArgs) -> Result<String, CliError> {
    let format = formats::of_writable(&args.trace, args.format.asked())?;
    let staging = Staging::for_trace(args.output.target(), format, Inputs::alone(&args.trace))?;
    let opened = format.open_watched(&args.trace, &Interrupts)?;
    let trace = formats::rewriting(&*opened)?;
    let Some(path) = beside(trace)? else {
        let message = "no correction is saved beside this trace: it was never corrected, or was sound \
                       and left unchanged, or it was renamed or moved without this file";
        return Err(CliError::input(&trace.correction_path(), message));
    };
    let saved = SavedCorrection::read(&path)?;
    let info = describe(trace, args.run.quiet)?;
    let correction = saved.correction(&path, &info)?;
    let Some(undo) = saved.undo() else {
        return Err(CliError::input(
            &path,
            "holds clock maps only, not what it takes to restore the original",
        ));
    };
    let progress = Progress::new(Stage::Restoring, trace.bytes(), args.run.quiet);
    let to = staging.place(trace.shape());
    staging.written(trace.restore(&correction, &undo, &to, &progress))?;
    let warnings = warned(&progress.end());
    check_interrupt()?;
    let verified = if trace.packs_anew() {
        "the contents of every file with their original checksum; what is gzip was compressed anew"
    } else {
        "every file with its original checksum"
    };
    staging.commit(trace)?;
    Ok(format!(
        "{warnings}Wrote {}: the original trace, {verified}.\n",
        printable_path(&args.output.output)
    ))
}
