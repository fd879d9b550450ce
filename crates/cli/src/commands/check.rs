//! `retime check`: the contradictions in a trace.

use crate::analysed::{Analysed, analyse};
use crate::args::CheckArgs;
use crate::error::{CliError, VIOLATIONS};
use crate::load::with_threads;
use crate::report;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CheckArgs) -> Result<u8, CliError> {
    report::target::check(&args.run, None)?;
    let (report, outcome) = with_threads(args.run.threads, || {
        let analysed = analyse(args.source(), &args.model)?;
        let outcome = outcome(&analysed);
        let mut report = analysed.report(&args.model);
        analysed.bound(&mut report, &args.bounds, &args.run, None)?;
        report.accuracy = analysed.accuracy(None)?;
        report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
        Ok((report, outcome))
    })?;
    report::print(&report, outcome, &args.run)?;
    let contradicted = report.before.reversed > 0 || report.before.out_of_order > 0;
    let failed = contradicted || args.model.strict && !report.matching.defects.is_empty();
    Ok(if failed { VIOLATIONS } else { 0 })
}

fn outcome(analysed: &Analysed) -> &'static str {
    if analysed.analysis.is_sound() {
        "No contradiction: every effect is stamped at or after its cause."
    } else if analysed.analysis.recorded().violated() == 0 {
        "Locations contradict themselves: their time runs backwards; retime correct repairs it."
    } else {
        "The clocks of this trace contradict each other; retime correct repairs it."
    }
}
