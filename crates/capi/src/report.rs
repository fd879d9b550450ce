//! What a command did and found.

use std::ffi::{CString, c_char};
use std::path::PathBuf;

use retime_cli::library;

use crate::border::{giving, seen, unmade};
use crate::failed::{Failed, Status};
use crate::texts::c_text;

/// The outcome of a command.
pub struct Report {
    outcome: CString,
    exit_code: u8,
    json: Option<CString>,
    summary: Option<library::Summary>,
    written: Vec<CString>,
}

/// The figures of a trace.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Counts {
    /// Locations: threads, streams and the like.
    pub locations: u64,
    /// Events of all locations.
    pub events: u64,
    /// Messages of which both ends were found.
    pub messages: u64,
    /// Collective operations.
    pub collectives: u64,
    /// Physical clocks that locations read.
    pub clocks: u64,
    /// Ticks of all clocks in a second.
    pub ticks_per_second: u64,
    /// The standing of the recorded times.
    pub recorded: Standing,
    /// The standing of the corrected times; of the recorded ones, if nothing was corrected.
    pub corrected: Standing,
    /// 1 if the trace was corrected, else 0.
    pub is_corrected: i32,
}

/// The dependencies of a trace, and how many of them its times contradict.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Standing {
    /// Dependencies that were checked.
    pub dependencies: u64,
    /// The dependencies whose effect is stamped before its cause.
    pub violated: u64,
    /// The dependencies faster than the minimal delay, violated ones between clocks included.
    pub faster: u64,
    /// Events that are stamped before the one before them on their location.
    pub out_of_order: u64,
    /// Ticks from cause to effect where these are fewest: below 0 if any dependency is violated,
    /// `INT64_MAX` without dependencies.
    pub smallest_latency: i64,
}

impl From<library::Standing> for Standing {
    fn from(standing: library::Standing) -> Self {
        Self {
            dependencies: standing.dependencies,
            violated: standing.violated,
            faster: standing.faster,
            out_of_order: standing.out_of_order,
            smallest_latency: standing.smallest_latency.unwrap_or(i64::MAX),
        }
    }
}

impl From<library::Summary> for Counts {
    fn from(summary: library::Summary) -> Self {
        Self {
            locations: summary.locations,
            events: summary.events,
            messages: summary.messages,
            collectives: summary.collectives,
            clocks: summary.clocks,
            ticks_per_second: summary.ticks_per_second,
            recorded: summary.recorded.into(),
            corrected: summary.corrected.unwrap_or(summary.recorded).into(),
            is_corrected: i32::from(summary.corrected.is_some()),
        }
    }
}

impl From<library::Answer> for Report {
    fn from(answer: library::Answer) -> Self {
        let written = answer.written.iter().map(PathBuf::as_path);
        Self {
            outcome: c_text(&answer.outcome),
            exit_code: answer.exit_code,
            json: answer.report.as_deref().map(c_text),
            summary: answer.summary,
            written: written.map(|it| c_text(&it.to_string_lossy())).collect(),
        }
    }
}

/// Frees a report; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_report_free(report: *mut Report) {
    // SAFETY: a handle, as the header asks for.
    unsafe { unmade(report) }
}

/// The exit code that the command would end with: 0 if all is well, 1 if the trace has, or would
/// keep, contradictions, 3 if too little could be checked to say; -1 if the report is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_report_exit_code(report: *const Report) -> i32 {
    // SAFETY: a handle, as the header asks for.
    unsafe { seen(report, "the report") }.map_or(-1, |it| it.exit_code.into())
}

/// The outcome in a sentence, which the command would print last; NULL if the report is NULL. It
/// stays as long as the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_report_outcome(report: *const Report) -> *const c_char {
    // SAFETY: a handle, as the header asks for.
    let report = unsafe { seen(report, "the report") };
    report.map_or(std::ptr::null(), |it| it.outcome.as_ptr())
}

/// The report in full, as `--json` writes it; NULL if the command gives none. It stays as long as
/// the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_report_json(report: *const Report) -> *const c_char {
    // SAFETY: a handle, as the header asks for.
    let report = unsafe { seen(report, "the report") };
    let json = report.ok().and_then(|it| it.json.as_ref());
    json.map_or(std::ptr::null(), |it| it.as_ptr())
}

/// The path of what was written at a position, from 0 on; NULL after the last. It stays as long as
/// the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_report_written(
    report: *const Report,
    position: usize,
) -> *const c_char {
    // SAFETY: a handle, as the header asks for.
    let report = unsafe { seen(report, "the report") };
    let path = report.ok().and_then(|it| it.written.get(position));
    path.map_or(std::ptr::null(), |it| it.as_ptr())
}

/// The figures of the report. Only `check` and `correct` give them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_report_counts(
    report: *const Report,
    counts: *mut Counts,
) -> Status {
    let find = || {
        // SAFETY: a handle, as the header asks for.
        let report = unsafe { seen(report, "the report") }?;
        let summary = report.summary.ok_or_else(|| {
            Failed::argument("only the reports of check and correct have figures")
        })?;
        Ok(summary.into())
    };
    // SAFETY: room for the counts, as the header asks for.
    unsafe { giving(counts, "the place for the counts", find) }
}
