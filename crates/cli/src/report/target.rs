//! Where a report may be written: a slip of the keyboard must not cost a trace.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::args::RunArgs;
use crate::error::CliError;

/// How reports of retime begin; only these are replaced.
const OURS: [&str; 3] = [
    "\"retime-report-",
    "\"retime-comparison-",
    "\"retime-stream-report-",
];

/// Fails early if the report of `--json` could not be written at the end, or
/// would take the place of the `output`.
pub(crate) fn check(run: &RunArgs, output: Option<&Path>) -> Result<(), CliError> {
    let Some(path) = run.json.as_deref().filter(|path| path.as_os_str() != "-") else {
        return Ok(());
    };
    if path.is_dir() {
        return Err(CliError::input(
            path,
            "is a directory; --json takes a file or -",
        ));
    }
    if output.is_some_and(|output| is_within(path, output)) {
        return Err(CliError::input(
            path,
            "lies where the output goes; give another file for the report",
        ));
    }
    check_file(path)
}

/// Fails if a report must not be written to `path`.
pub(crate) fn check_file(path: &Path) -> Result<(), CliError> {
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

fn may_be_replaced(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return true,
        Err(error) => return error.kind() == ErrorKind::NotFound,
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut start));
    let start = String::from_utf8_lossy(&start);
    read.is_ok() && (start.is_empty() || OURS.iter().any(|it| start.contains(it)))
}

/// Whether a path is another or leads into it; neither has to exist.
fn is_within(path: &Path, other: &Path) -> bool {
    match (resolved(path), resolved(other)) {
        (Some(path), Some(other)) => path.starts_with(other),
        _ => false,
    }
}

/// A path without links, of which all but the last part exists.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(path) = path.canonicalize() {
        return Some(path);
    }
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(parent.join(path.file_name()?))
}
