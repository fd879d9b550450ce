//! `retime simulate`: a trace whose clocks are wrong in a known way.
//!
//! Two traces are written, the one as the clocks stamped it and the same with
//! true times, so that a correction can be held against the truth.

pub(crate) mod args;
mod clocks;
mod scenario;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use retime::{format_seconds, plural, printable_path};
use retime_sim::{Clock, Experiment, Written};

use self::args::SimulateArgs;
use crate::error::CliError;
use crate::formats;
use crate::progress::{check_interrupt, interrupted};
use crate::report::quoted::quoted_path;
use crate::report::tell;
use crate::staging::{Staging, Target};

const ANCHOR: &str = "traces.otf2";

/// Runs the command.
pub(crate) fn run(args: &SimulateArgs) -> Result<u8, CliError> {
    let text = simulated(args)?;
    if !args.quiet {
        tell(&text, &args.output.output)?;
    }
    Ok(0)
}

/// Writes the traces; returns what was done, in words.
pub(crate) fn simulated(args: &SimulateArgs) -> Result<String, CliError> {
    let scenario = scenario::build(args)?;
    let truth = truth_directory(args)?;
    let clocks = if args.clocks.coarse_clocks {
        scenario::ring(args)?.coarse_clocks()
    } else {
        clocks::build(&args.clocks, scenario.as_ref(), args.seed)?
    };
    let experiment = Experiment::new(scenario.as_ref())
        .clocks(clocks.clone())
        .timer(clocks::timer(&args.clocks, &clocks))
        .stop_if(interrupted);

    let staging = Staging::for_new_trace(args.output.target(), formats::SIMULATED)?;
    let beside = truth
        .as_deref()
        .map(|truth| {
            let target = Target {
                path: truth,
                force: args.output.force,
            };
            Staging::for_new_trace(target, formats::SIMULATED)
        })
        .transpose()?;
    let anchor = staging.directory().join(ANCHOR);
    let written = match &beside {
        Some(beside) => experiment.write_with_truth(&anchor, &beside.directory().join(ANCHOR)),
        None => experiment.write(&anchor),
    };
    let written = staging.written(written.map_err(failure))?;
    check_interrupt()?;
    let late = match beside.map_or(Ok(()), Staging::commit_directory) {
        // The other one can be completed all the same.
        Err(late @ CliError::Complete { .. }) => Some(late),
        committed => committed.map(|()| None)?,
    };
    staging.commit_directory()?;
    late.map_or(Ok(()), Err)?;
    Ok(describe(args, truth.as_deref(), &written, &clocks))
}

/// Where the truth goes, if it is wanted.
pub(crate) fn truth_directory(args: &SimulateArgs) -> Result<Option<PathBuf>, CliError> {
    if args.no_truth {
        return Ok(None);
    }
    let output = &args.output.output;
    let truth = args.truth.clone().unwrap_or_else(|| {
        // Not pushed to the path, which may end with a slash.
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push("-truth");
        output.with_file_name(name)
    });
    if truth == *output {
        return Err(CliError::Usage(
            "--truth: names the same directory as --output".into(),
        ));
    }
    Ok(Some(truth))
}

fn failure(error: retime_sim::Error) -> CliError {
    match error {
        retime_sim::Error::Stopped => CliError::Interrupted,
        retime_sim::Error::Write(error) => CliError::Format(Box::new(error)),
        error @ retime_sim::Error::OutOfRange { .. } => {
            CliError::Usage(format!("{error} with --epoch"))
        }
        error => CliError::Usage(error.to_string()),
    }
}

fn describe(
    args: &SimulateArgs,
    truth: Option<&Path>,
    written: &Written,
    clocks: &[Clock],
) -> String {
    let output = printable_path(&args.output.output);
    let statistics = &written.statistics;
    let seconds = |nanoseconds: u64| format_seconds(nanoseconds as f64 / 1e9);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Wrote {output}: {} of {}, {}, {}, {} of true time.",
        plural(statistics.events, "event"),
        plural(written.trace.locations, "location"),
        plural(statistics.messages, "message"),
        plural(statistics.collectives, "collective operation"),
        seconds(statistics.end),
    );
    if let Some(truth) = truth {
        let _ = writeln!(
            text,
            "Wrote {}: the same with true times.",
            printable_path(truth)
        );
    }
    let _ = writeln!(
        text,
        "Clocks are off by {} at the start, by {} at the end.",
        errors(clocks, 0),
        errors(clocks, statistics.end),
    );
    if let Some(least) = statistics.least_delay {
        let _ = writeln!(
            text,
            "The least true delay from a cause to its effect is {}; no larger --min-delay is safe.",
            seconds(least)
        );
    }
    // Without a slash at its end, behind which a name would lie inside.
    let trace = args.output.output.components().as_path();
    let mut corrected = trace.as_os_str().to_owned();
    corrected.push("-corrected");
    let _ = writeln!(
        text,
        "\nNext: retime check {0}\n      retime correct {0} -o {1}",
        quoted_path(trace),
        quoted_path(Path::new(&corrected)),
    );
    text
}

/// The least and the greatest error of all clocks at a time.
fn errors(clocks: &[Clock], time: u64) -> String {
    let error = |clock: &Clock| clock.show(time).saturating_sub(time as i64);
    let errors = clocks.iter().map(error);
    let (least, greatest) = errors.fold((i64::MAX, i64::MIN), |(least, greatest), error| {
        (least.min(error), greatest.max(error))
    });
    let seconds = |error: i64| format_seconds(error as f64 / 1e9);
    format!("{} to {}", seconds(least), seconds(greatest))
}
