//! Why a call failed: a number for programs, a text for people, kept for the thread that called.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use retime_cli::library::{Failure, FailureKind};
use retime_stream::FilterError;

use crate::texts::c_text;

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// The call did what it was asked for.
    Ok = 0,
    /// An option is unknown, has a value that it cannot have, or has no part in the rest.
    Option = 1,
    /// There is nothing where a file should be.
    Missing = 2,
    /// A file cannot be read, or is not what it should be.
    Trace = 3,
    /// The output cannot be written, or something is there that must not be replaced.
    Output = 4,
    /// The output is complete, but something after that failed.
    Complete = 5,
    /// The method has no valid solution.
    Unsolved = 6,
    /// The result would be worse than the recording, or cannot be right.
    Refused = 7,
    /// Something does not match, and that was to be an error.
    Strict = 8,
    /// The watcher asked to stop.
    Interrupted = 9,
    /// A defect of retime.
    Defect = 10,
    /// An argument is NULL, out of range, or no number of those that it can be.
    Argument = 11,
    /// A filter did not take an event, and goes on as if it had not come.
    Event = 12,
    /// There is nothing to take out of a filter now.
    Empty = 13,
}

/// A call that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) status: Status,
    pub(crate) message: String,
    /// The exit code that the command would have.
    pub(crate) exit_code: u8,
}

impl Failed {
    /// An argument that cannot be used.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self {
            status: Status::Argument,
            message: message.into(),
            exit_code: 2,
        }
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        let status = match failure.kind {
            FailureKind::Option => Status::Option,
            FailureKind::Missing => Status::Missing,
            FailureKind::Trace => Status::Trace,
            FailureKind::Output => Status::Output,
            FailureKind::Complete => Status::Complete,
            FailureKind::Unsolved => Status::Unsolved,
            FailureKind::Refused => Status::Refused,
            FailureKind::Strict => Status::Strict,
            FailureKind::Interrupted => Status::Interrupted,
            FailureKind::Defect => Status::Defect,
        };
        Self {
            status,
            message: failure.message,
            exit_code: failure.exit_code,
        }
    }
}

impl From<FilterError> for Failed {
    fn from(error: FilterError) -> Self {
        Self {
            status: Status::Event,
            message: error.to_string(),
            exit_code: 2,
        }
    }
}

/// The last failure of a thread.
struct Last {
    message: CString,
    exit_code: u8,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Keeps a failure for the thread that called.
pub(crate) fn keep(failed: &Failed) {
    let last = Last {
        message: c_text(&failed.message),
        exit_code: failed.exit_code,
    };
    // A thread that is about to end has nobody who would ask.
    let _ = LAST.try_with(|it| it.replace(Some(last)));
}

/// The text of the last call of this thread that failed, in the words of the command, with a way
/// out if one is known; empty before any has. It stays until another call of the thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn retime_error() -> *const c_char {
    let text = LAST.try_with(|it| it.borrow().as_ref().map(|it| it.message.as_ptr()));
    text.ok().flatten().unwrap_or(c"".as_ptr())
}

/// The exit code that the command would have ended with, had it failed like the last call of this
/// thread that failed; 0 before any has.
#[unsafe(no_mangle)]
pub extern "C" fn retime_error_exit_code() -> i32 {
    let code = LAST.try_with(|it| it.borrow().as_ref().map(|it| it.exit_code));
    code.ok().flatten().unwrap_or(0).into()
}
