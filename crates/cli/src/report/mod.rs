//! The findings and deeds of a run: as data ([`model`]), and as a summary that fits a screen
//! ([`summary`]).

pub(crate) mod build;
mod clear;
pub(crate) mod clock_names;
pub(crate) mod columns;
pub(crate) mod devices;
mod ends;
mod error_bound;
pub(crate) mod examined;
pub(crate) mod hosts;
mod method;
pub(crate) mod model;
pub(crate) mod place;
pub(crate) mod protocol;
pub(crate) mod quoted;
pub(crate) mod share;
mod slews;
mod stamps;
pub(crate) mod stragglers;
pub(crate) mod summary;
pub(crate) mod target;
mod together;
mod untied;
mod verdict;
mod wait_words;
mod waits;
pub(crate) mod warnings;
pub(crate) mod width;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::args::RunArgs;
use crate::error::CliError;
use model::Report;

/// Prints the report as the options ask; `sketch` is what can be seen of the trace.
pub(crate) fn print(
    report: &Report,
    sketch: &str,
    outcome: &str,
    run: &RunArgs,
) -> Result<(), CliError> {
    print_as(&report.judged(), run, || {
        summary::render(report, sketch, outcome, run.verbose)
    })
}

/// Prints a report of any kind as the options ask; `text` is what people read.
pub(crate) fn print_as(
    report: &impl Serialize,
    run: &RunArgs,
    text: impl FnOnce() -> String,
) -> Result<(), CliError> {
    write_json(report, run)?;
    if run.quiet || goes_to_stdout(run) {
        Ok(())
    } else {
        to_stdout(&text())
    }
}

/// True if the report of `--json` goes to standard output.
pub(crate) fn goes_to_stdout(run: &RunArgs) -> bool {
    run.json.as_deref() == Some(Path::new("-"))
}

/// Writes a report of any kind to where `--json` says, if it does.
pub(crate) fn write_json(report: &impl Serialize, run: &RunArgs) -> Result<(), CliError> {
    match &run.json {
        Some(path) if goes_to_stdout(run) => {
            let text = serde_json::to_string_pretty(report)
                .map_err(|error| CliError::io(path, error.into()))?;
            to_stdout(&format!("{text}\n"))
        }
        Some(path) => target::Place::prepare(path)?.write(report),
        None => Ok(()),
    }
}

/// Warnings, each a line, before what is told of the outcome.
pub(crate) fn warned(warnings: &[String]) -> String {
    let lines = warnings.iter().map(|it| format!("warning: {it}\n"));
    lines.collect()
}

/// Says on standard output what was done; the `output` is complete by then.
pub(crate) fn tell(text: &str, output: &Path) -> Result<(), CliError> {
    to_stdout(text).map_err(|source| CliError::Unreported {
        output: output.to_owned(),
        source: source.into(),
    })
}

/// Writes to standard output, with colours where wanted and, in a terminal, in lines that fit it. That nobody reads on
/// is no error.
pub(crate) fn to_stdout(text: &str) -> Result<(), CliError> {
    let text = match width::of_terminal() {
        Some(width) => Cow::Owned(width::wrapped(text, width)),
        None => Cow::Borrowed(text),
    };
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::io(Path::new("standard output"), error))
        }
        _ => Ok(()),
    }
}
