//! The commands.

use std::ffi::{OsString, c_char};

use retime_cli::library;

use crate::border::{making, path, words};
use crate::failed::{Failed, Status};
use crate::report::Report;
use crate::watch::{Watch, call};

/// Does what a command line asks for, given as the words after `retime`: `check`, `compare`,
/// `correct`, `apply`, `undo` or `simulate`. `words` ends with a NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_command(
    command: *const *const c_char,
    watch: *const Watch,
    report: *mut *mut Report,
) -> Status {
    // SAFETY: words, as the header asks for.
    let line = || unsafe { words(command) };
    // SAFETY: a watcher and room for a handle, as the header asks for.
    unsafe { asked(line, watch, report) }
}

/// Counts the contradictions of a trace and changes nothing. That there are some is no failure:
/// the report says so. `options` are words for `retime check`, up to a NULL; or NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_check(
    trace: *const c_char,
    options: *const *const c_char,
    watch: *const Watch,
    report: *mut *mut Report,
) -> Status {
    let line = || {
        // SAFETY: words, as the header asks for.
        let options = unsafe { words(options) }?;
        // SAFETY: a text, as the header asks for.
        let trace = unsafe { path(trace, "the path of the trace") }?;
        Ok(line("check", options, None, &[trace.into()]))
    };
    // SAFETY: a watcher and room for a handle, as the header asks for.
    unsafe { asked(line, watch, report) }
}

/// Writes a corrected copy of a trace. `options` are words for `retime correct`, such as
/// `--method`, `clc`, or `--force`, up to a NULL; or NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_correct(
    trace: *const c_char,
    output: *const c_char,
    options: *const *const c_char,
    watch: *const Watch,
    report: *mut *mut Report,
) -> Status {
    // SAFETY: texts, words, a watcher and room for a handle, as the header asks for.
    unsafe { copied("correct", trace, output, options, watch, report) }
}

/// Restores the original of a corrected trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_undo(
    corrected: *const c_char,
    output: *const c_char,
    options: *const *const c_char,
    watch: *const Watch,
    report: *mut *mut Report,
) -> Status {
    // SAFETY: texts, words, a watcher and room for a handle, as the header asks for.
    unsafe { copied("undo", corrected, output, options, watch, report) }
}

/// Sends another trace of the same run through a saved correction, which is a file that lies beside
/// a corrected trace, or that trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_apply(
    correction: *const c_char,
    trace: *const c_char,
    output: *const c_char,
    options: *const *const c_char,
    watch: *const Watch,
    report: *mut *mut Report,
) -> Status {
    let line = || {
        // SAFETY: words, as the header asks for.
        let options = unsafe { words(options) }?;
        // SAFETY: a text, as the header asks for.
        let correction = unsafe { path(correction, "the path of the correction") }?;
        // SAFETY: a text, as the header asks for.
        let trace = unsafe { path(trace, "the path of the trace") }?;
        // SAFETY: a text, as the header asks for.
        let output = unsafe { path(output, "the path of the output") }?;
        let paths = [correction.into(), trace.into()];
        Ok(line("apply", options, Some(output.into()), &paths))
    };
    // SAFETY: a watcher and room for a handle, as the header asks for.
    unsafe { asked(line, watch, report) }
}

/// Does what a command does that writes a copy of one trace.
///
/// # Safety
///
/// As the header asks for.
unsafe fn copied(
    command: &str,
    trace: *const c_char,
    output: *const c_char,
    options: *const *const c_char,
    watch: *const Watch,
    report: *mut *mut Report,
) -> Status {
    let line = || {
        // SAFETY: words, as the header asks for.
        let options = unsafe { words(options) }?;
        // SAFETY: a text, as the header asks for.
        let trace = unsafe { path(trace, "the path of the trace") }?;
        // SAFETY: a text, as the header asks for.
        let output = unsafe { path(output, "the path of the output") }?;
        Ok(line(command, options, Some(output.into()), &[trace.into()]))
    };
    // SAFETY: a watcher and room for a handle, as the header asks for.
    unsafe { asked(line, watch, report) }
}

/// The words of a command line. Paths come after all options, so that none is taken for one.
pub(crate) fn line(
    command: &str,
    options: Vec<OsString>,
    output: Option<OsString>,
    paths: &[OsString],
) -> Vec<OsString> {
    let mut words = vec![command.into()];
    words.extend(options);
    if let Some(output) = output {
        let mut word = OsString::from("--output=");
        word.push(output);
        words.push(word);
    }
    words.push("--".into());
    words.extend_from_slice(paths);
    words
}

/// Does what a command line asks for and gives its report.
///
/// # Safety
///
/// `watch` and `report` are what the header asks for.
unsafe fn asked(
    line: impl FnOnce() -> Result<Vec<OsString>, Failed>,
    watch: *const Watch,
    report: *mut *mut Report,
) -> Status {
    let ask = || {
        // SAFETY: a watcher, as promised.
        let call = unsafe { call(line()?, watch) }?;
        Ok(library::ask(call)?.into())
    };
    // SAFETY: room for a handle, as promised.
    unsafe { making(report, "the place for the report", ask) }
}
