//! `retime export`: a trace for viewers, corrected on the way if need be.
//!
//! ```text
//! analyse -> contradictions? -> solve -> one staged file -> rename
//! ```

pub(crate) mod args;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use retime::pipeline::Method;
use retime::{plural, printable_path};
use retime_export::{ExportError, Exported, Shown, Summary, Times, export};

use super::asked::{Asked, analyse, is_left_alone};
use super::found::{Found, as_corrected, as_recorded};
use super::merged::access;
use crate::analysed::Analysed;
use crate::drawn::{self, Drawn};
use crate::error::{CliError, VIOLATIONS};
use crate::load::with_threads;
use crate::method::to_ticks;
use crate::progress::{Progress, Stage, check_interrupt};
use crate::report::{self, examined, model};
use crate::staging::{Staging, Target};
use args::ExportArgs;

/// Where browsers stop, in bytes: what a page of WebAssembly can hold of a file.
const BROWSERS_STOP: u64 = 2_000_000_000;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ExportArgs) -> Result<u8, CliError> {
    args.refuse_strangers()?;
    if args.file().is_none() && report::goes_to_stdout(&args.solving.run) {
        let message = "the trace and the report cannot both go to standard output";
        return Err(CliError::Usage(message.into()));
    }
    report::target::check(&args.solving.run, args.file())?;
    with_threads(args.solving.run.threads, || export_here(args))
}

impl<'a> From<&'a ExportArgs> for Asked<'a> {
    fn from(args: &'a ExportArgs) -> Self {
        let solving = &args.solving;
        let source = args.input.source(solving.format.asked(), solving.run.quiet);
        Self::of(source, solving, args.force)
    }
}

fn export_here(args: &ExportArgs) -> Result<u8, CliError> {
    // First of all, so that a bad target is known before any work.
    args.kind_and_end()?;
    let staging = args
        .file()
        .map(|file| {
            Staging::for_export(
                Target {
                    path: file,
                    force: args.force,
                },
                args.input.inputs(),
            )
        })
        .transpose()?;
    let (mut analysed, method) = analyse(args.into())?;
    let shown = shown(args, &method, &analysed)?;
    let Found {
        mut report,
        bounds,
        solved,
    } = found(args, &method, &mut analysed, shown.times)?;
    let analysis = &analysed.analysis;
    let exported = Exported {
        trace: &*analysed.opened.trace,
        info: analysis.info(),
        causality: analysis.causality(),
        clocks: analysis.clocks(),
        correction: solved.as_ref().map(|it| &it.0.correction),
        bounds: bounds.as_ref().map(|it| &it.errors),
    };
    let solution = solved.as_ref().map(|it| &it.0);
    let drawn = drawn::draw(&analysed, solution, bounds.as_ref(), &args.solving.run)?;
    let stage = Instant::now();
    let summary = match &staging {
        Some(staging) => {
            let written = into_file(args, &exported, &shown, &staging.file());
            let written = staging.written(written)?;
            check_interrupt()?;
            written
        }
        None => into_stdout(args, &exported, &shown)?,
    };
    if let Some(staging) = staging {
        staging.commit_file()?;
    }
    report.timing.writing_seconds = Some(stage.elapsed().as_secs_f64());
    report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
    report.warnings.extend(warnings(&summary));
    let times = solved.as_ref().map_or(analysis.recorded(), |it| &it.1);
    let left = analysis.contradictions(times);
    let outcome = outcome(args, left, &report.examined, &summary);
    tell(args, &report, &drawn, &outcome)?;
    // Corrected times are in order.
    let is_in_order = solution.is_some() || analysis.out_of_order() == 0;
    Ok(if left == 0 && is_in_order {
        examined::exit_code(&report.examined)
    } else {
        VIOLATIONS
    })
}

/// Decides which stretch, locations and times of an analysed trace the file shows.
fn shown(args: &ExportArgs, method: &Method, analysed: &Analysed) -> Result<Shown, CliError> {
    let info = analysed.analysis.info();
    let (kind, to) = args.kind_and_end()?;
    let ticks = |delay| to_ticks(delay, info.rate);
    let (from, to) = (
        args.from.map(ticks).transpose()?,
        to.map(ticks).transpose()?,
    );
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(CliError::Usage("--from lies after --to".into()));
    }
    let default = if is_left_alone(args.into(), method, analysed) {
        Times::Recorded
    } else {
        Times::Corrected
    };
    Ok(Shown {
        kind,
        times: args.times.map_or(default, Into::into),
        from,
        to,
        locations: args.shown_locations(info)?,
        gzip: args.gzip(),
    })
}

/// Corrects the trace if corrected times are to be shown, and there is something to correct.
fn found(
    args: &ExportArgs,
    method: &Method,
    analysed: &mut Analysed,
    times: Times,
) -> Result<Found, CliError> {
    if times == Times::Recorded || is_left_alone(args.into(), method, analysed) {
        return as_recorded(args.into(), analysed);
    }
    as_corrected(args.into(), method, analysed)
}

/// Writes a new file that those may read who may read the trace.
fn into_file(
    args: &ExportArgs,
    exported: &Exported<'_>,
    shown: &Shown,
    path: &Path,
) -> Result<Summary, CliError> {
    let failed = |error| CliError::io(path, error);
    let mut file = File::create_new(path).map_err(failed)?;
    let access = access(exported.trace)?;
    access.give(&file).map_err(failed)?;
    into(args, exported, shown, &mut file)
}

fn into(
    args: &ExportArgs,
    exported: &Exported<'_>,
    shown: &Shown,
    out: &mut (dyn Write + Send),
) -> Result<Summary, CliError> {
    let groups = if shown.times == Times::Both { 2 } else { 1 };
    let bytes = groups * exported.trace.bytes();
    let progress = Progress::new(Stage::Exporting, bytes, args.solving.run.quiet);
    let written = export(exported, shown, out, &progress);
    written.map_err(|error| match error {
        ExportError::Format(error) => error.into(),
        ExportError::Io(error) if args.file().is_none() => {
            CliError::io(Path::new("standard output"), error)
        }
        ExportError::Io(error) => CliError::io(&args.output, error),
        error => CliError::input(&args.input.trace, error.to_string()),
    })
}

/// Writes to standard output, where it is no error that nobody reads on.
fn into_stdout(
    args: &ExportArgs,
    exported: &Exported<'_>,
    shown: &Shown,
) -> Result<Summary, CliError> {
    match into(args, exported, shown, &mut io::stdout()) {
        Err(CliError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            Ok(Summary::default())
        }
        Err(CliError::Interrupted) => Err(CliError::CutShort),
        outcome => outcome,
    }
}

/// Warnings that a reader of the file should know.
fn warnings(summary: &Summary) -> Vec<String> {
    let mut warnings = Vec::new();
    if summary.bytes > BROWSERS_STOP {
        warnings.push(format!(
            "the file holds {:.1} GB, and browsers stop near {} GB: show less of the trace by --from, \
             --to or --locations",
            summary.bytes as f64 / 1e9,
            BROWSERS_STOP / 1_000_000_000
        ));
    }
    if summary.dropped > 0 {
        warnings.push(format!(
            "{} of regions that were not entered, which {} not shown",
            plural(summary.dropped, "leave"),
            if summary.dropped == 1 { "is" } else { "are" },
        ));
    }
    if summary.closed > 0 {
        warnings.push(format!(
            "{} without a leave, shown up to where the region around it or the recording ends",
            plural(summary.closed, "region")
        ));
    }
    warnings
}

/// The last line of the summary.
fn outcome(args: &ExportArgs, left: u64, part: &model::ExaminedPart, summary: &Summary) -> String {
    let reversed = match left {
        0 => String::new(),
        _ => format!(
            "; {} reversed or too short in it",
            plural(left, "dependency")
        ),
    };
    let shown = summary.slices + summary.points + summary.arrows + summary.curves;
    let how_to_go_on = match shown {
        0 => "Viewers have nothing to show of it.",
        _ => "Open it in https://ui.perfetto.dev.",
    };
    format!(
        "Wrote {}: {}, {}, {}{reversed}. {how_to_go_on}{}",
        printable_path(&args.output),
        plural(summary.slices + summary.points, "slice"),
        plural(summary.arrows, "arrow"),
        plural(summary.threads + summary.curves, "track"),
        examined::caveat(part).unwrap_or_default(),
    )
}

/// Says what came out: where the trace goes to standard output, only what is amiss.
fn tell(
    args: &ExportArgs,
    report: &model::Report,
    drawn: &Drawn,
    outcome: &str,
) -> Result<(), CliError> {
    if args.file().is_some() {
        let printed = drawn.print(report, outcome, &args.solving.run);
        return printed.map_err(|source| CliError::Unreported {
            output: args.output.clone(),
            source: source.into(),
        });
    }
    if !args.solving.run.quiet {
        let mut out = anstream::stderr();
        for warning in &report.warnings {
            // If even this cannot be written, the trace is there all the same.
            let _ = writeln!(out, "{warning}");
        }
    }
    drawn.write(&report.judged(), outcome, &args.solving.run)?;
    report::write_json(&report.judged(), &args.solving.run)
}
