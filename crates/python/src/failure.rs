//! Failures as exceptions: those of `retime._errors`, by kind.

use pyo3::prelude::*;
use retime_cli::library::{Failure, FailureKind};

/// The exception for a failure.
pub(crate) fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let name = match failure.kind {
        FailureKind::Option => "OptionError",
        FailureKind::Missing => "MissingError",
        FailureKind::Trace => "TraceError",
        FailureKind::Output => "OutputError",
        FailureKind::Complete => "CompleteError",
        FailureKind::Unsolved => "Uncorrectable",
        FailureKind::Refused => "Refused",
        FailureKind::Strict => "StrictError",
        FailureKind::Interrupted => "Interrupted",
        FailureKind::Defect => "DefectError",
    };
    exception(py, name, &failure.message, failure.exit_code)
}

/// An option that is refused here.
pub(crate) fn refused(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "OptionError", message, 2)
}

/// An error that says that the thread which did the work has died.
pub(crate) fn defect(py: Python<'_>) -> PyErr {
    let message = "the work ended without a result; this is a defect of retime";
    exception(py, "DefectError", message, 2)
}

fn exception(py: Python<'_>, name: &str, message: &str, exit_code: u8) -> PyErr {
    let made = || {
        let class = py.import("retime._errors")?.getattr(name)?;
        class.call1((message, exit_code))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}
