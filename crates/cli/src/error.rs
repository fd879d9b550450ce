//! Why a command fails, and the exit code that says so.

use std::io;
use std::path::{Path, PathBuf};

use retime::format::FormatError;
use retime::{Cancelled, printable_path};

/// Exit code for violations and, with `--strict`, for what does not match.
pub(crate) const VIOLATIONS: u8 = 1;
/// Exit code for usage, input and system errors.
pub(crate) const FAILURE: u8 = 2;
/// Exit code where no contradiction was found or left, but nothing or only a small
/// part of what communicates was looked at, or nothing relates some clocks.
pub(crate) const UNEXAMINED: u8 = 3;
/// Exit code after an interrupt.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failed command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Format(Box<dyn std::error::Error + Send + Sync>),
    /// No format takes it for one of its traces.
    #[error(
        "{}: {what}; if it is one, --format says which ({formats})",
        printable_path(path)
    )]
    Unrecognised {
        path: PathBuf,
        what: &'static str,
        formats: String,
    },
    #[error("{}: {source}", printable_path(trace))]
    Causality {
        trace: PathBuf,
        source: retime::causality::CausalityError,
    },
    /// The method has no valid solution for the trace.
    #[error("{}: {message}", printable_path(trace))]
    Unsolved { trace: PathBuf, message: String },
    /// The result would be worse than the recording.
    #[error(
        "{}: the {method} would leave {} {}, where the recording has {}; \
         nothing was written (--force writes it all the same)",
        printable_path(trace),
        retime::plural(worse.after, "dependency"),
        worse.what(),
        worse.before
    )]
    Worse {
        trace: PathBuf,
        method: String,
        worse: retime::pipeline::Worse,
    },
    /// The result cannot be right.
    #[error(
        "{}: the result of the {method} cannot be right: {message}; nothing was written \
         ({allowance}--force writes it all the same)",
        printable_path(trace)
    )]
    Implausible {
        trace: PathBuf,
        method: String,
        message: String,
        /// The option that allows for it, if there is one.
        allowance: String,
    },
    #[error("{}: {source}", printable_path(path))]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: {message}", printable_path(path))]
    Input { path: PathBuf, message: String },
    /// The output is complete, but something after that failed.
    #[error("{} is complete, but {message}", printable_path(path))]
    Complete { path: PathBuf, message: String },
    #[error("{0}")]
    Usage(String),
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// Interrupted while something went to standard output.
    #[error("interrupted; what was written to standard output is not all")]
    CutShort,
    #[error(
        "the written copy differs from what was computed: {0}. This is a defect of retime; nothing was kept"
    )]
    Verification(String),
    #[error("{0}")]
    Strict(String),
    /// The report could not be given; the work is done.
    #[error(
        "{source}; only the report is missing: {} is complete",
        printable_path(output)
    )]
    Unreported {
        output: PathBuf,
        source: Box<CliError>,
    },
}

impl From<FormatError> for CliError {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Cancelled(_) => Self::Interrupted,
            FormatError::Failed(error) => Self::Format(error),
        }
    }
}

impl From<Cancelled> for CliError {
    fn from(_: Cancelled) -> Self {
        Self::Interrupted
    }
}

impl CliError {
    /// True if the trace was understood, and no correction of it was found that could be written.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Unsolved { .. } | Self::Worse { .. } | Self::Implausible { .. }
        )
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }

    pub(crate) fn input(path: &Path, message: impl Into<String>) -> Self {
        Self::Input {
            path: path.into(),
            message: message.into(),
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted | Self::CutShort => INTERRUPTED,
            Self::Strict(_)
            | Self::Unsolved { .. }
            | Self::Worse { .. }
            | Self::Implausible { .. } => VIOLATIONS,
            _ => FAILURE,
        }
    }
}
