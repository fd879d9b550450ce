//! Why a call failed, for programs: its kind, and the words of the command.

use std::io;
use std::path::PathBuf;

use crate::error::{CliError, FAILURE};
use crate::remedy;
use crate::staging::is_hidden_of;

/// The kind of a failure, by which a program can tell what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An option is unknown, has a value that it cannot have, or has no part in the rest.
    Option,
    /// There is nothing where a file should be.
    Missing,
    /// A file cannot be read, or is not what it should be.
    Trace,
    /// The output cannot be written, or something is there that must not be replaced.
    Output,
    /// The output is complete, but something after that failed.
    Complete,
    /// The method has no valid solution.
    Unsolved,
    /// The result would be worse than the recording, or cannot be right.
    Refused,
    /// Something does not match, and that was to be an error.
    Strict,
    /// The watcher asked to stop.
    Interrupted,
    /// A defect of retime.
    Defect,
}

/// Why a call failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The text that the command would print, with a way out if one is known.
    pub message: String,
    /// The exit code that the command would have.
    pub exit_code: u8,
}

impl Failure {
    /// Makes a failure of the command's error, where something was to be written to `outputs`.
    pub(super) fn of(error: &CliError, outputs: &[PathBuf]) -> Self {
        let exit_code = error.exit_code();
        let mut message = error.to_string();
        if let Some(remedy) = remedy::of(error) {
            message = format!("{message}; {remedy}");
        }
        Self {
            kind: kind(error, outputs),
            message,
            exit_code,
        }
    }

    /// Makes a failure of words that are no command.
    pub(super) fn of_words(error: &clap::Error) -> Self {
        // What follows is how the command is called, which nobody here has typed.
        let text = error.render().to_string();
        let text = text.split("\n\nUsage:").next().unwrap_or_default();
        let text = text
            .split("\n\nFor more information")
            .next()
            .unwrap_or_default();
        let text = text.split("\n\n  tip: to pass").next().unwrap_or_default();
        Self {
            kind: FailureKind::Option,
            message: text.trim_start_matches("error: ").trim_end().to_owned(),
            exit_code: FAILURE,
        }
    }

    /// Makes a failure of something that cannot be asked for.
    pub fn option(message: impl Into<String>) -> Self {
        Self::of(&CliError::Usage(message.into()), &[])
    }

    /// Makes a failure of something that cannot happen, unless retime is wrong.
    pub fn defect(message: impl std::fmt::Display) -> Self {
        Self {
            kind: FailureKind::Defect,
            message: format!("{message}; this is a defect of retime"),
            exit_code: FAILURE,
        }
    }
}

fn kind(error: &CliError, outputs: &[PathBuf]) -> FailureKind {
    let is_output = |path: &PathBuf| {
        let holds = |it: &PathBuf| it == path || it.parent() == Some(path);
        outputs.iter().any(holds)
    };
    // The staged copy lies beside the output.
    let written = |path: &PathBuf| {
        let beside = |it: &PathBuf| path.starts_with(it) || path.parent() == it.parent();
        outputs.iter().any(beside)
    };
    let is_staged = |path: &PathBuf| {
        let is_of = |it: &PathBuf| it.file_name().is_some_and(|it| is_hidden_of(it, path));
        outputs.iter().any(is_of)
    };
    match error {
        CliError::Input { path, .. } | CliError::Io { path, .. }
            if is_output(path) || is_staged(path) =>
        {
            FailureKind::Output
        }
        CliError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            FailureKind::Missing
        }
        CliError::Io { path, .. } if written(path) => FailureKind::Output,
        CliError::Format(error) if is_missing(&**error) => FailureKind::Missing,
        CliError::Format(_)
        | CliError::Unrecognised { .. }
        | CliError::Causality { .. }
        | CliError::Io { .. }
        | CliError::Input { .. } => FailureKind::Trace,
        CliError::Unsolved { .. } => FailureKind::Unsolved,
        CliError::Worse { .. } | CliError::Implausible { .. } => FailureKind::Refused,
        CliError::Complete { .. } | CliError::Unreported { .. } => FailureKind::Complete,
        CliError::Usage(_) => FailureKind::Option,
        CliError::Interrupted | CliError::CutShort => FailureKind::Interrupted,
        CliError::Verification(_) => FailureKind::Defect,
        CliError::Strict(_) => FailureKind::Strict,
    }
}

/// True if the cause of an error is that something is not there.
fn is_missing(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let refused = error.downcast_ref::<io::Error>();
        if refused.is_some_and(|it| it.kind() == io::ErrorKind::NotFound) {
            return true;
        }
        cause = error.source();
    }
    false
}

impl From<retime::format::FormatError> for Failure {
    fn from(error: retime::format::FormatError) -> Self {
        Self::of(&error.into(), &[])
    }
}
