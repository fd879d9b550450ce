//! What a run found and did: as data ([`model`]), and as a summary that fits a
//! screen ([`summary`]).

pub(crate) mod build;
pub(crate) mod columns;
mod error_bound;
mod method;
pub(crate) mod model;
pub(crate) mod protocol;
pub(crate) mod summary;
pub(crate) mod warnings;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::Serialize;

use crate::args::RunArgs;
use crate::error::CliError;
use model::Report;

/// Prints the report as the options ask.
pub(crate) fn print(report: &Report, outcome: &str, run: &RunArgs) -> Result<(), CliError> {
    print_as(report, run, || {
        summary::render(report, outcome, run.verbose)
    })
}

/// Prints a report of any kind as the options ask; `text` is what people read.
pub(crate) fn print_as(
    report: &impl Serialize,
    run: &RunArgs,
    text: impl FnOnce() -> String,
) -> Result<(), CliError> {
    match &run.json {
        Some(path) if path.as_os_str() == "-" => {
            let text = serde_json::to_string_pretty(report)
                .map_err(|error| CliError::io(path, error.into()))?;
            return to_stdout(&format!("{text}\n"));
        }
        Some(path) => write_json(path, report)?,
        None => {}
    }
    if run.quiet {
        Ok(())
    } else {
        to_stdout(&text())
    }
}

/// Fails early if the report could not be written at the end.
pub(crate) fn check_target(run: &RunArgs) -> Result<(), CliError> {
    let Some(path) = run.json.as_deref().filter(|path| path.as_os_str() != "-") else {
        return Ok(());
    };
    if path.is_dir() {
        return Err(CliError::input(
            path,
            "is a directory; --json takes a file or -",
        ));
    }
    if !may_be_replaced(path) {
        return Err(CliError::input(
            path,
            "exists and is no report; give another file",
        ));
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            Err(CliError::input(parent, "no such directory for the report"))
        }
        _ => Ok(()),
    }
}

/// A slip of the keyboard must not cost a trace: only an older report goes.
fn may_be_replaced(path: &Path) -> bool {
    if !path.is_file() {
        return true;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut start));
    let start = String::from_utf8_lossy(&start);
    let ours = ["\"retime-report-", "\"retime-comparison-"];
    read.is_ok() && (start.is_empty() || ours.iter().any(|it| start.contains(it)))
}

fn write_json(path: &Path, report: &impl Serialize) -> Result<(), CliError> {
    let write = || -> io::Result<()> {
        let mut file = io::BufWriter::new(File::create(path)?);
        serde_json::to_writer_pretty(&mut file, report)?;
        file.write_all(b"\n")?;
        file.flush()
    };
    write().map_err(|error| CliError::io(path, error))
}

/// Writes to standard output, with colours where wanted. That nobody reads on
/// is no error.
pub(crate) fn to_stdout(text: &str) -> Result<(), CliError> {
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::io(Path::new("standard output"), error))
        }
        _ => Ok(()),
    }
}
