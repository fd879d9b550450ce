//! `retime check`: the contradictions in a trace.

use retime::pipeline::Verdict;

use super::done::Done;
use super::found::Found;
use crate::analysed::{Analysed, analyse};
use crate::args::CheckArgs;
use crate::collectives;
use crate::drawn;
use crate::error::{CliError, VIOLATIONS};
use crate::load::{Source, with_threads};
use crate::progress::{Stage, Whole};
use crate::report::model::{ExaminedPart, Report};
use crate::report::{self, examined};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CheckArgs) -> Result<u8, CliError> {
    let done = check(args)?;
    done.tell(&args.run)?;
    Ok(done.exit)
}

/// Checks a trace, on the threads asked for.
pub(crate) fn check(args: &CheckArgs) -> Result<Done, CliError> {
    args.bounds.refuse_strangers(false)?;
    report::target::check(&args.run, None)?;
    collectives::check(&args.tables)?;
    let stages = [Stage::Reading, Stage::Matching, Stage::Bounding];
    let html = args.run.html.iter().map(|_| Stage::Drawing);
    let stages: Vec<Stage> = stages.into_iter().chain(html).collect();
    let whole = Whole::of(&stages, args.run.quiet);
    let source = args.input.shared(&args.format, args.run.quiet);
    let (report, drawn) = with_threads(args.run.threads, || {
        let (analysed, Found { report, bounds, .. }) = found(args, source)?;
        let drawn = drawn::draw(&analysed, None, bounds.as_ref(), &args.run)?;
        collectives::write(&analysed, None, bounds.as_ref(), &args.tables)?;
        Ok((report, drawn))
    })?;
    drop(whole);
    let contradicted =
        report.before.reversed > 0 || report.before.out_of_order > 0 || faster(&report) > 0;
    let failed = contradicted || args.model.strict && !report.matching.defects.is_empty();
    let exit = if failed {
        VIOLATIONS
    } else {
        examined::exit_code(&report.examined)
    };
    Ok(Done {
        outcome: outcome(&report),
        report,
        exit,
        drawn,
    })
}

/// Analyses the trace and finds how its recorded times stand: contradictions, bounds, accuracy.
pub(crate) fn found(args: &CheckArgs, source: Source<'_>) -> Result<(Analysed, Found), CliError> {
    let analysed = analyse(source, &args.model)?;
    let mut report = analysed.report(&args.model);
    let bounds = analysed.bound(&mut report, &args.bounds, &args.run, None)?;
    report.accuracy = analysed.accuracy(None)?;
    report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
    let found = Found {
        report,
        bounds,
        solved: None,
    };
    Ok((analysed, found))
}

/// The last line: how to go on, or that there is no need to.
fn outcome(report: &Report) -> String {
    let before = &report.before;
    if before.reversed + before.out_of_order + faster(report) == 0 {
        let alone = examined::alone(report).map(|it| it + ".");
        return alone.unwrap_or_else(|| nothing_found(&report.examined));
    }
    let caveat = examined::warning(&report.examined).map(|it| format!("{it} "));
    format!(
        "{}To repair it: retime correct {} -o CORRECTED",
        caveat.unwrap_or_default(),
        report.trace.word
    )
}

/// How many dependencies are faster than the minimal delay, if that was given.
fn faster(report: &Report) -> u64 {
    if report.parameters.min_delay.is_condition {
        report.before.short
    } else {
        0
    }
}

fn nothing_found(part: &ExaminedPart) -> String {
    match (part.verdict, examined::instead_of_sound(part)) {
        (_, None) => "No contradiction: every effect is stamped at or after its cause.".into(),
        (Verdict::NothingRecorded, Some(found)) => {
            format!("{found}, so there is nothing to check.")
        }
        (_, Some(found)) => format!("{found}."),
    }
}
