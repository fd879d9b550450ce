//! `retime correct`: the main job.
//!
//! ```text
//! analyse -> sound? -> copy
//!         \-> clock -> amortise -> write staged copy -> read it again, check
//!                                                    -> save correction -> rename
//! ```

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use retime::causality::Check;
use retime::clock::AmortizationRate;
use retime::pipeline::{Bounds, Method, Runaway, Solution, Verdict};
use retime::{MinimalDelay, TickRate, Ticks, Timestamp, printable_path};

use super::done::Done;
use super::fresh::Fresh;
use super::written::{Expected, save, verify, verify_together};
use crate::analysed::{Analysed, analyse_some};
use crate::args::{CorrectArgs, MinDelay, ModelArgs, RunArgs};
use crate::bounds::BoundsArgs;
use crate::drawn;
use crate::error::{CliError, VIOLATIONS};
use crate::formats;
use crate::limits::LimitArgs;
use crate::load::{Opened, Source, with_threads};
use crate::method::{MethodArgs, WindowArgs};
use crate::progress::{Interrupts, Progress, Stage, Whole, check_interrupt};
use crate::report::summary::{group_digits, plural};
use crate::report::{self, build, examined, hosts, model, protocol};
use crate::saved::{SavedBounds, refuse_second, take_along};
use crate::staging::Staging;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CorrectArgs) -> Result<u8, CliError> {
    Ok(told(args)?.exit)
}

/// Corrects a trace and tells what came out, as the options ask.
pub(crate) fn told(args: &CorrectArgs) -> Result<Done, CliError> {
    args.method.refuse_strangers()?;
    report::target::check(&args.run, Some(&args.output.output))?;
    let done = correct(args)?;
    let told = done.tell(&args.run);
    told.map_err(|source| CliError::Unreported {
        output: args.output.output.clone(),
        source: source.into(),
    })?;
    Ok(done)
}

/// Corrects a trace, on the threads asked for.
pub(crate) fn correct(args: &CorrectArgs) -> Result<Done, CliError> {
    let correct = if args.merged {
        super::merged::correct
    } else {
        correct_here
    };
    let _whole = Whole::of(&stages(args), args.run.quiet);
    with_threads(args.run.threads, || correct(args))
}

/// The stages of the work, unless nothing is to be corrected.
fn stages(args: &CorrectArgs) -> Vec<Stage> {
    let mut stages = vec![
        Stage::Reading,
        Stage::Matching,
        Stage::Aligning,
        Stage::Bounding,
    ];
    stages.extend(args.run.html.iter().map(|_| Stage::Drawing));
    stages.extend([Stage::Writing, Stage::Verifying]);
    stages
}

fn correct_here(args: &CorrectArgs) -> Result<Done, CliError> {
    // First of all, so that a bad target is known before any work.
    let format = formats::of(&args.trace, args.format.format)?;
    let staging = Staging::for_trace(
        args.output.target(),
        format,
        (&args.trace, &args.others.files),
    )?;
    let (analysed, method) = analyse(args.into())?;
    if is_left_alone(args.into(), &method, &analysed) {
        copy(args, &analysed, staging)
    } else {
        repair(args, &method, analysed, staging)
    }
}

/// The request: a trace and how to correct it, whatever becomes of it then.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(super) source: Source<'a>,
    pub(super) model: &'a ModelArgs,
    pub(super) method: &'a MethodArgs,
    /// The stretch of time whose dependencies are looked at, if not all.
    pub(super) window: Option<&'a WindowArgs>,
    pub(super) bounds: &'a BoundsArgs,
    pub(super) limits: &'a LimitArgs,
    pub(super) run: &'a RunArgs,
    /// True if a result is taken that would be refused.
    pub(super) force: bool,
}

impl<'a> From<&'a CorrectArgs> for Asked<'a> {
    fn from(args: &'a CorrectArgs) -> Self {
        Self {
            source: args.source(),
            model: &args.model,
            method: &args.method,
            window: Some(&args.window),
            bounds: &args.bounds,
            limits: &args.limits,
            run: &args.run,
            force: args.output.force,
        }
    }
}

/// The trace, and the method to correct it with.
pub(crate) fn analyse(args: Asked<'_>) -> Result<(Analysed, Method), CliError> {
    let analysed = analyse_some(args.source, args.model, |causality, info| {
        args.window
            .map_or(Ok(None), |it| it.window(causality.nodes(), info.rate))
    })?;
    let method = method(args, &analysed)?;
    if args.model.strict {
        refuse_defects(&analysed)?;
    }
    Ok((analysed, method))
}

/// True if nothing is to be corrected.
pub(crate) fn is_left_alone(args: Asked<'_>, method: &Method, analysed: &Analysed) -> bool {
    analysed.analysis.is_sound() && method.keeps_time() && !args.method.always
}

/// The method asked for, or what suits the trace better than the default.
fn method(args: Asked<'_>, analysed: &Analysed) -> Result<Method, CliError> {
    let analysis = &analysed.analysis;
    let trace = (&*analysed.opened.trace, analysis.info());
    let base = analysis.causality().nodes().base();
    let method = args
        .method
        .resolve(trace, base, args.bounds.drift_bound.0)?;
    Ok(if args.method.always {
        method
    } else {
        analysis.suitable(method)
    })
}

fn refuse_defects(analysed: &Analysed) -> Result<(), CliError> {
    let defects = analysed.analysis.causality().defects().iter();
    let kinds: Vec<String> = defects
        .map(|(kind, found)| kind.describe(found.count))
        .collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{}: {}; nothing was written, because of --strict",
        printable_path(&analysed.opened.path),
        kinds.join("; ")
    );
    Err(CliError::Strict(message))
}

/// A sound trace is left alone.
fn copy(args: &CorrectArgs, analysed: &Analysed, staging: Staging) -> Result<Done, CliError> {
    let mut report = analysed.report(&args.model);
    // First, since nothing may fail once the copy is where it belongs.
    let bounds = analysed.bound(&mut report, &args.bounds, &args.run, None)?;
    let drawn = drawn::draw(analysed, None, bounds.as_ref(), &args.run)?;
    let writing = Instant::now();
    let trace = &*analysed.opened.trace;
    let progress = Progress::new(Stage::Copying, trace.bytes(), args.run.quiet);
    staging.written(trace.copy(&staging.place(trace.shape()), &progress))?;
    staging.written(take_along(trace, &staging))?;
    report.warnings.extend(progress.end());
    check_interrupt()?;
    let accuracy = analysed.accuracy(None)?;
    staging.commit(trace)?;
    report.accuracy = accuracy;
    report.timing.writing_seconds = Some(writing.elapsed().as_secs_f64());
    report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
    let (outcome, exit) = outcome_of_copy(args, &report.examined);
    Ok(Done {
        report,
        outcome,
        exit,
        drawn,
    })
}

fn repair(
    args: &CorrectArgs,
    method: &Method,
    mut analysed: Analysed,
    staging: Staging,
) -> Result<Done, CliError> {
    refuse_second(&*analysed.opened.trace)?;
    staging.refuse_long_name(&*analysed.opened.trace)?;
    let Solved {
        mut solution,
        after,
        bounds,
        mut report,
    } = solve(args.into(), method, &mut analysed)?;
    let correction = &solution.correction;
    let trace = &*analysed.opened.trace;
    let drawn = drawn::draw(&analysed, Some(&solution), bounds.as_ref(), &args.run)?;

    let stage = Instant::now();
    let place = staging.place(trace.shape());
    let progress = Progress::new(Stage::Writing, trace.bytes(), args.run.quiet);
    let undo = staging.written(trace.rewrite(correction, &place, &progress))?;
    report.warnings.extend(progress.end());
    report.timing.writing_seconds = Some(stage.elapsed().as_secs_f64());

    let stage = Instant::now();
    // The disk works while the copy is read again.
    let syncing = staging.sync_ahead();
    report.accuracy = analysed.accuracy(Some(&solution.times))?;
    describe(
        &mut report,
        args.into(),
        method,
        &analysed,
        &solution,
        &after,
    )?;
    let info = analysed.analysis.info();
    let bounds = bounds.map(|it| SavedBounds::new(&it, correction.clocks(), info));
    save(method, &analysed, (correction, bounds), undo, &staging)?;
    let start = analysed.start;
    let copy = trace.copy_at(&place);
    let times = std::mem::take(&mut solution.times);
    let (opened, fresh) = staging.written(read_again(args, analysed, solution, times, &copy))?;
    if fresh.check.violated() != after.violated() {
        report.after = Some(fresh.part());
    }
    wait_for(syncing.ok())?;
    staging.commit(&*opened.trace)?;
    report.timing.verification_seconds = Some(stage.elapsed().as_secs_f64());
    report.timing.total_seconds = start.elapsed().as_secs_f64();
    let (outcome, exit) = outcome(args, after.short(), &fresh);
    Ok(Done {
        report,
        outcome,
        exit,
        drawn,
    })
}

/// Reads the written copy again. What is known of the original is let go before, for the
/// copy takes as much room.
fn read_again(
    args: &CorrectArgs,
    analysed: Analysed,
    solution: Solution,
    times: Vec<Timestamp>,
    copy: &Path,
) -> Result<(Opened, Fresh), CliError> {
    let expected = Expected::of(&analysed, &solution.correction, times);
    let together = verify_together(args, &analysed, &expected, copy)?;
    let Analysed {
        opened, analysis, ..
    } = analysed;
    drop((analysis, solution));
    let fresh = match together {
        Some(fresh) => fresh,
        None => verify(args, &*opened.trace, expected, copy)?,
    };
    Ok((opened, fresh))
}

/// Waits for what syncs the copy, whether that fails or not: committing syncs what is not
/// synced yet. A disk may take seconds, and nobody can stop it, but one need not wait.
fn wait_for<T>(syncing: Option<JoinHandle<T>>) -> Result<(), CliError> {
    if let Some(syncing) = syncing {
        while !syncing.is_finished() {
            check_interrupt()?;
            std::thread::sleep(SYNC_PAUSE);
        }
    }
    check_interrupt()
}

/// From one look at whether a disk is done to the next: nobody notices so much.
const SYNC_PAUSE: Duration = Duration::from_millis(2);

/// The result of a method, and what is said of it before it is written.
pub(super) struct Solved {
    pub(super) solution: Solution,
    /// All dependencies at its times.
    pub(super) after: Check,
    pub(super) bounds: Option<Bounds>,
    pub(super) report: model::Report,
}

/// Runs the method and takes over what it found; the report says so, and how far
/// from the truth that can be. What is worse than the recording or cannot be right is
/// refused unless forced.
pub(super) fn solve(
    args: Asked<'_>,
    method: &Method,
    analysed: &mut Analysed,
) -> Result<Solved, CliError> {
    let stage = Instant::now();
    let solution = analysed.solve_matched(method)?;
    analysed.analysis.adopt(&solution, &Interrupts)?;
    let mut report = analysed.report(args.model);
    report.method = Some(build::method_part(method, &solution));
    report.parameters.min_delay.of_aligned_clocks = solution.enforced.is_some();
    let (info, clocks) = (analysed.analysis.info(), analysed.analysis.clocks());
    let unaligned = solution.unaligned.as_ref();
    let unaligned = unaligned.map(|reason| reason.describe(info, clocks));
    report.warnings.extend(unaligned);
    report.timing.correction_seconds = Some(stage.elapsed().as_secs_f64());
    check_interrupt()?;
    let bounds = if method.keeps_time() {
        analysed.bound(&mut report, args.bounds, args.run, Some(&solution))?
    } else {
        None
    };
    if solution.aligned.is_some() {
        report.hosts = hosts::part(&analysed.analysis, &solution, bounds.as_ref());
    }
    let after = checked(method, analysed, &solution)?;
    if !args.force {
        refuse_worse(method, analysed, &after)?;
        refuse_implausible(args, method, analysed, &solution, bounds.as_ref())?;
    }
    Ok(Solved {
        solution,
        after,
        bounds,
        report,
    })
}

fn refuse_worse(method: &Method, analysed: &Analysed, after: &Check) -> Result<(), CliError> {
    let worse = analysed.analysis.refuse_worse(after);
    worse.map_err(|worse| CliError::Worse {
        trace: analysed.opened.path.clone(),
        method: method.to_string(),
        before: worse.before,
        after: worse.after,
    })
}

fn refuse_implausible(
    args: Asked<'_>,
    method: &Method,
    analysed: &Analysed,
    solution: &Solution,
    bounds: Option<&Bounds>,
) -> Result<(), CliError> {
    let analysis = &analysed.analysis;
    let limit = args.limits.max_rate_difference.0;
    let plausible = analysis.refuse_implausible(solution, bounds, limit);
    plausible.map_err(|reason| CliError::Implausible {
        trace: analysed.opened.path.clone(),
        method: method.to_string(),
        message: reason.describe(analysis.info(), analysis.clocks()),
    })
}

/// The check of the times of a solution; of counters, whether they rise at all.
fn checked(method: &Method, analysed: &Analysed, solution: &Solution) -> Result<Check, CliError> {
    if method.keeps_time() {
        return Ok(solution.left.clone());
    }
    Ok(analysed.analysis.rises(solution, &Interrupts)?)
}

/// Adds to the report what came out.
pub(super) fn describe(
    report: &mut model::Report,
    args: Asked<'_>,
    method: &Method,
    analysed: &Analysed,
    solution: &Solution,
    after: &Check,
) -> Result<(), CliError> {
    let analysis = &analysed.analysis;
    let measured = analysis.measure(solution, &Interrupts)?;
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let advance = measured.advance;
    let part = |place| build::place_part(info, place);
    report.distortion = Some(model::DistortionPart {
        largest_at: measured.distortion.largest_at.map(part),
        largest_limited_by: measured.limited_by.map(|limit| model::LimitPart {
            send: part(limit.send),
            effect: part(limit.effect),
            room_ticks: limit.room.0,
        }),
        measured: measured.distortion,
    });
    if solution.aligned.is_none() {
        let runaway = analysis.runaway(&advance);
        let delayed = analysis.delay().delay != MinimalDelay::Uniform(Ticks(0));
        let warning = runaway.map(|runaway| runaway_warning(runaway, info.rate, delayed));
        report.warnings.extend(warning);
    }
    report.clocks = build::clocks_part(analysis, args.model.clocks.into(), &advance);
    report.after = Some(build::check_part(info, clocks, after, 0));
    report.parameters.gamma_max = method.gamma_max();
    report.parameters.amortization_rate = method.amortization().map(AmortizationRate::factor);
    report.advice = protocol::advice(report);
    report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
    Ok(())
}

fn runaway_warning(runaway: Runaway, rate: TickRate, delayed: bool) -> String {
    format!(
        "all clocks end at least {} ahead of their recorded time, more than they ever disagreed ({}): \
         time ran away. Try a smaller --gamma-max (0.5 suits ticks coarser than the delays){}",
        rate.format(runaway.ahead),
        rate.format(runaway.disagreed),
        if delayed {
            ", or a smaller --min-delay"
        } else {
            ""
        },
    )
}

fn outcome_of_copy(args: &CorrectArgs, part: &model::ExaminedPart) -> (String, u8) {
    let copy = format!("{} is a plain copy.", printable_path(&args.output.output));
    let text = match (part.verdict, examined::instead_of_sound(part)) {
        (_, None) => format!("No contradiction, so nothing was changed: {copy}"),
        (Verdict::NothingRecorded, Some(found)) => {
            format!("{found}, so nothing was changed: {copy}")
        }
        (_, Some(found)) => format!("{found}. Nothing was changed: {copy}"),
    };
    (text, examined::exit_code(part))
}

/// The last line and the exit code: what the written trace says of itself, and how many
/// dependencies are shorter than the minimal delay. Where that was asked for, it is not met
/// then; where it was learned, the trace contradicts an estimate, and not itself.
pub(super) fn outcome(args: &CorrectArgs, short: u64, fresh: &Fresh) -> (String, u8) {
    let output = printable_path(&args.output.output);
    let caveat = examined::caveat(&fresh.examined).unwrap_or_default();
    let left = fresh.check.violated();
    let is_learned = args.model.min_delay == MinDelay::Auto;
    if left == 0 && (short == 0 || is_learned) {
        let shorter = match short {
            0 => String::new(),
            _ => format!(
                "; {} shorter than the minimal delay that was learned",
                group_digits(short)
            ),
        };
        let text = format!(
            "Wrote {output}: no contradiction left, checked over {} of the written trace{shorter}.{caveat}",
            plural(fresh.checked(), "dependency")
        );
        return (text, fresh.exit_code(args.model.strict));
    }
    let text = format!(
        "Wrote {output}, with {} still reversed ({} of them within one clock) and {} shorter than the minimal delay.{caveat}",
        plural(left, "dependency"),
        group_digits(fresh.check.violated_within_clock()),
        group_digits(short),
    );
    (text, VIOLATIONS)
}
