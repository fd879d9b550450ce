//! The reports of a trace that stays as it is, since its correction is refused.

use crate::analysed::Analysed;
use crate::args::CorrectArgs;
use crate::drawn;
use crate::error::CliError;
use crate::report;

/// Writes what was asked for of the recording, a page and its numbers, if a correction was refused; the
/// page says why. Returns the error.
pub(super) fn refused(args: &CorrectArgs, analysed: &Analysed, error: CliError) -> CliError {
    let run = &args.run;
    if !error.is_refusal() || run.html.is_none() && run.json.is_none() {
        return error;
    }
    let report = analysed.report(&args.model);
    let outcome = format!("Not corrected: {error}.");
    let written = drawn::draw(analysed, None, None, run).and_then(|drawn| {
        drawn.write(&report.judged(), &outcome, run)?;
        report::write_json(&report.judged(), run)
    });
    written.err().unwrap_or(error)
}
