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

use retime::Timestamp;
use retime::pipeline::{Method, Solution};

use super::asked::{analyse, is_left_alone};
use super::done::Done;
use super::fresh::Fresh;
use super::offsets_out;
use super::outcome::{Short, outcome, outcome_of_copy};
use super::refused::refused;
use super::solved::{Solved, describe, solve};
use super::written::{Expected, save, verify, verify_together};
use crate::analysed::Analysed;
use crate::args::CorrectArgs;
use crate::collectives;
use crate::drawn;
use crate::error::CliError;
use crate::formats;
use crate::load::{Opened, with_threads};
use crate::progress::{Progress, Stage, Whole, check_interrupt};
use crate::report::{self};
use crate::saved::{SavedBounds, refuse_second, take_along};
use crate::staging::Staging;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CorrectArgs) -> Result<u8, CliError> {
    Ok(told(args)?.exit)
}

/// Corrects a trace and tells what came out, as the options ask.
pub(crate) fn told(args: &CorrectArgs) -> Result<Done, CliError> {
    args.method.refuse_strangers(&args.bounds)?;
    report::target::check(&args.run, Some(&args.output.output))?;
    collectives::check(&args.tables)?;
    offsets_out::check(&args.offsets, Some(&args.output.output))?;
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
    let format = formats::of_writable(&args.input.trace, args.format.asked())?;
    let staging = Staging::for_trace(args.output.target(), format, args.input.inputs())?;
    let (analysed, method) = analyse(args.into())?;
    if is_left_alone(args.into(), &method, &analysed) {
        copy(args, &analysed, staging)
    } else {
        repair(args, &method, analysed, staging)
    }
}

/// A sound trace is left alone.
fn copy(args: &CorrectArgs, analysed: &Analysed, staging: Staging) -> Result<Done, CliError> {
    let mut report = analysed.report(&args.model);
    // First, since nothing may fail once the copy is where it belongs.
    let bounds = analysed.bound(&mut report, &args.bounds, &args.run, None)?;
    let drawn = drawn::draw(analysed, None, bounds.as_ref(), &args.run)?;
    collectives::write(analysed, None, bounds.as_ref(), &args.tables)?;
    offsets_out::write(analysed, None, bounds.as_ref(), &args.offsets)?;
    let writing = Instant::now();
    let trace = analysed.opened.rewriting()?;
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
    refuse_second(analysed.opened.rewriting()?)?;
    staging.refuse_long_name(analysed.opened.rewriting()?)?;
    let Solved {
        mut solution,
        after,
        bounds,
        mut report,
    } = solve(args.into(), method, &mut analysed)
        .map_err(|error| refused(args, &analysed, error))?;
    let correction = &solution.correction;
    let trace = analysed.opened.rewriting()?;
    let drawn = drawn::draw(&analysed, Some(&solution), bounds.as_ref(), &args.run)?;
    collectives::write(&analysed, Some(&solution), bounds.as_ref(), &args.tables)?;
    offsets_out::write(&analysed, Some(&solution), bounds.as_ref(), &args.offsets)?;

    let stage = Instant::now();
    let place = staging.place(trace.shape());
    let progress = Progress::new(Stage::Writing, trace.bytes(), args.run.quiet);
    let undo = staging.written(trace.rewrite(correction, &place, &progress))?;
    report.warnings.extend(progress.end());
    report.timing.writing_seconds = Some(stage.elapsed().as_secs_f64());

    let stage = Instant::now();
    // The disk works while the copy is read again.
    let syncing = staging.sync_ahead();
    report.accuracy = analysed.accuracy_by(method, &solution.times)?;
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
    save(method, &analysed, correction, bounds, undo, &staging)?;
    let start = analysed.start;
    let copy = trace.copy_at(&place);
    let times = std::mem::take(&mut solution.times);
    let (opened, mut fresh) =
        staging.written(read_again(args, analysed, solution, times, &copy))?;
    fresh.examined.stretch.clone_from(&report.examined.stretch);
    if fresh.check.violated() != after.violated() {
        report.after = Some(fresh.part());
    }
    wait_for(syncing.ok())?;
    let trace = opened.rewriting()?;
    staging.commit(trace)?;
    report.timing.verification_seconds = Some(stage.elapsed().as_secs_f64());
    report.timing.total_seconds = start.elapsed().as_secs_f64();
    let short = Short {
        count: after.short(),
        is_given: report.parameters.min_delay.is_condition,
    };
    let (mut outcome, exit) = outcome(args, short, &fresh);
    if let Some(next) = trace.next_step(&args.output.output) {
        outcome = format!("{outcome} {next}");
    }
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
        None => verify(args, opened.rewriting()?, expected, copy)?,
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
