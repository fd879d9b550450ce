//! Where a report may be written, and how: a slip of the keyboard must not cost a trace,
//! nor a failure an older report.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use retime::{open_regular, presence};
use serde::Serialize;

use crate::args::RunArgs;
use crate::error::CliError;
use crate::pipe;
use crate::staging::{Staging, real};

/// How reports of retime begin; only these are replaced.
const OURS: [&str; 7] = [
    "\"retime-report-",
    "\"retime-comparison-",
    "\"retime-stream-report-",
    retime_picture::MARK,
    "operation,group,sequence,kind,",
    "{\"operation\":0,\"group\":",
    "\"format\": \"retime offsets\"",
];

/// Fails early if the reports of `--json` and `--html` could not be written at the end, or
/// would take the place of the `output` or of each other.
pub(crate) fn check(run: &RunArgs, output: Option<&Path>) -> Result<(), CliError> {
    let json = run.json.as_deref().filter(|path| path.as_os_str() != "-");
    for (option, path) in [("--json", json), ("--html", run.html.as_deref())] {
        if let Some(path) = path {
            check_report(option, path, output)?;
        }
    }
    if run.html.as_deref() == Some(Path::new("-")) {
        let message = "--html takes a file; /dev/stdout is standard output";
        return Err(CliError::Usage(message.into()));
    }
    if let (Some(json), Some(html)) = (json, &run.html)
        && is_within(json, html)?
    {
        let message = "--json and --html name one file; give two";
        return Err(CliError::Usage(message.into()));
    }
    Ok(())
}

/// Fails if the report of an option could not be written, or would lie in the output.
pub(crate) fn check_report(
    option: &str,
    path: &Path,
    output: Option<&Path>,
) -> Result<(), CliError> {
    refuse_below_a_file(path)?;
    if is_directory(path)? {
        let takes = if option == "--json" {
            "a file or -"
        } else {
            "a file"
        };
        let message = format!("is a directory; {option} takes {takes}");
        return Err(CliError::input(path, message));
    }
    if let Some(output) = output
        && is_within(path, output)?
    {
        return Err(CliError::input(
            path,
            "lies where the output goes; give another file for the report",
        ));
    }
    check_file(path)
}

/// Fails if a report must not be written to `path`.
pub(crate) fn check_file(path: &Path) -> Result<(), CliError> {
    refuse_below_a_file(path)?;
    if let Some(parent) = parent(path)
        && !is_directory(parent)?
    {
        return Err(CliError::input(parent, "no such directory for the report"));
    }
    let replaced = may_be_replaced(path);
    if !replaced.map_err(|error| CliError::io(path, error))? {
        return Err(CliError::input(
            path,
            "exists and is no report; give another file",
        ));
    }
    Ok(())
}

/// Fails where a file stands in the place of the directory.
fn refuse_below_a_file(path: &Path) -> Result<(), CliError> {
    let Some(parent) = parent(path) else {
        return Ok(());
    };
    match presence::kind(parent) {
        Ok(Some(kind)) if !kind.is_dir() => {
            let kind = presence::kind_in_words(kind);
            let message = format!("is {kind}, no directory for the report");
            Err(CliError::input(parent, message))
        }
        _ => Ok(()),
    }
}

fn parent(path: &Path) -> Option<&Path> {
    path.parent().filter(|it| !it.as_os_str().is_empty())
}

fn may_be_replaced(path: &Path) -> io::Result<bool> {
    // What is no file is a pipe or a device.
    if !presence::is_file(path)? {
        return Ok(true);
    }
    let mut start = Vec::new();
    open_regular(path)?.take(100).read_to_end(&mut start)?;
    let start = String::from_utf8_lossy(&start);
    Ok(start.is_empty() || OURS.iter().any(|it| start.contains(it)))
}

fn is_directory(path: &Path) -> Result<bool, CliError> {
    presence::is_directory(path).map_err(|error| CliError::io(path, error))
}

/// True if a path is another or leads into it; neither has to exist.
fn is_within(path: &Path, other: &Path) -> Result<bool, CliError> {
    Ok(match (resolved(path)?, resolved(other)?) {
        (Some(path), Some(other)) => path.starts_with(other),
        _ => false,
    })
}

/// A path without links, of which all but the last part exists.
fn resolved(path: &Path) -> Result<Option<PathBuf>, CliError> {
    if let Some(path) = real(path)? {
        return Ok(Some(path));
    }
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = real(parent.unwrap_or(Path::new(".")))?;
    Ok(parent.and_then(|parent| Some(parent.join(path.file_name()?))))
}

/// A place for a report. A file appears there when it is complete; what reads from a pipe
/// or a device gets it at once.
pub(crate) enum Place {
    File(Staging),
    Other(PathBuf, File),
}

impl Place {
    /// Prepares to write to a path that was checked.
    pub(crate) fn prepare(path: &Path) -> Result<Self, CliError> {
        let found = presence::kind(path).map_err(|error| CliError::io(path, error))?;
        if found.is_some_and(|it| !it.is_file()) {
            let file = pipe::open_to_write(path)?;
            return Ok(Self::Other(path.to_owned(), file));
        }
        // What a link leads to is replaced, not the link.
        let path = real(path)?.unwrap_or_else(|| path.to_owned());
        Ok(Self::File(Staging::for_report(&path)?))
    }

    /// Writes a report as JSON.
    pub(crate) fn write(self, report: &impl Serialize) -> Result<(), CliError> {
        self.write_by(|file| {
            serde_json::to_writer_pretty(&mut *file, report)?;
            file.write_all(b"\n")
        })
    }

    /// Writes a report that is text.
    pub(crate) fn write_text(self, text: &str) -> Result<(), CliError> {
        self.write_by(|file| file.write_all(text.as_bytes()))
    }

    /// Writes what `fill` does.
    pub(crate) fn write_by(
        self,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let write = |file: File| {
            let mut file = BufWriter::new(file);
            fill(&mut file)?;
            file.flush()
        };
        match self {
            Self::Other(path, file) => write(file).map_err(|error| CliError::io(&path, error)),
            Self::File(staging) => {
                let path = staging.file();
                let written = File::create_new(&path).and_then(write);
                staging.written(written.map_err(|error| CliError::io(&path, error)))?;
                staging.commit_file_unsynced()
            }
        }
    }
}
