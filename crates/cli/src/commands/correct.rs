//! `retime correct`: the main job.
//!
//! ```text
//! analyse -> sound? -> copy
//!         \-> clock -> amortise -> write staged copy -> read it again, check
//!                                                    -> save correction -> rename
//! ```

use std::time::Instant;

use retime::causality::{Check, check};
use retime::clock::AmortizationRate;
use retime::{Distortion, MinimalDelay, Ticks, Timestamp, final_advance, limiting_send};

use super::check::{Analysed, analyse_some};
use super::written::{save, verify, write};
use crate::args::CorrectArgs;
use crate::bounds::Bounded;
use crate::error::{CliError, VIOLATIONS};
use crate::load::{Loaded, not_if_interrupted, with_threads};
use crate::method::{Method, MethodName, Solution, describe_unaligned};
use crate::progress::{Progress, check_interrupt};
use crate::report::summary::{group_digits, plural};
use crate::report::{self, build, model, protocol};
use crate::saved::{SavedBounds, SavedCorrection};
use crate::staging::Staging;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CorrectArgs) -> Result<u8, CliError> {
    args.method.refuse_strangers()?;
    report::target::check(&args.run, Some(&args.output.output))?;
    let done = correct(args)?;
    let printed = report::print(&done.report, &done.outcome, &args.run);
    printed.map_err(|source| CliError::Unreported {
        output: args.output.output.clone(),
        source: source.into(),
    })?;
    Ok(done.exit)
}

/// What came out.
pub(crate) struct Done {
    pub(crate) report: model::Report,
    pub(super) outcome: String,
    pub(super) exit: u8,
}

/// Corrects a trace, on the threads asked for.
pub(crate) fn correct(args: &CorrectArgs) -> Result<Done, CliError> {
    let correct = if args.merged {
        super::merged::correct
    } else {
        correct_here
    };
    with_threads(args.run.threads, || correct(args))
}

fn correct_here(args: &CorrectArgs) -> Result<Done, CliError> {
    // First of all, so that a bad target is known before any work.
    let staging = Staging::new(&args.output.output, args.output.force, &args.trace)?;
    let (analysed, method) = analyse(args)?;
    if is_left_alone(args, &method, &analysed) {
        copy(args, &analysed, staging)
    } else {
        repair(args, &method, analysed, staging)
    }
}

/// The trace, and the method to correct it with.
pub(super) fn analyse(args: &CorrectArgs) -> Result<(Analysed, Method), CliError> {
    let limit = |causality: &mut _, info: &_| args.method.limit(causality, info);
    let analysed = analyse_some(&args.trace, &args.model, &args.run, limit)?;
    let method = method(args, &analysed)?;
    if args.model.strict {
        refuse_defects(&analysed.loaded)?;
    }
    Ok((analysed, method))
}

/// Whether nothing is to be corrected.
pub(super) fn is_left_alone(args: &CorrectArgs, method: &Method, analysed: &Analysed) -> bool {
    analysed.is_sound() && method.keeps_time() && !args.method.always
}

/// The method asked for; but where no clock contradicts another, and locations
/// contradict only themselves, clocks are not aligned by default.
fn method(args: &CorrectArgs, analysed: &Analysed) -> Result<Method, CliError> {
    let (loaded, drift) = (&analysed.loaded, args.bounds.drift_bound.0);
    let method = args.method.resolve(loaded, drift)?;
    let only_order = analysed.before.reversed() == 0 && !args.method.always;
    if only_order && method.name() == MethodName::Auto {
        return Method::with_options("--method clc", loaded);
    }
    Ok(method)
}

fn refuse_defects(loaded: &Loaded) -> Result<(), CliError> {
    let kinds: Vec<String> = loaded
        .causality
        .defects()
        .iter()
        .map(|(kind, found)| kind.describe(found.count))
        .collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{}: {}; nothing was written, because of --strict",
        loaded.path.display(),
        kinds.join("; ")
    );
    Err(CliError::Strict(message))
}

/// A sound trace is left alone.
fn copy(args: &CorrectArgs, analysed: &Analysed, staging: Staging) -> Result<Done, CliError> {
    let writing = Instant::now();
    let trace = &analysed.loaded.trace;
    let progress = Progress::new("copying", trace.event_bytes(), args.run.quiet);
    trace
        .copy(staging.directory(), &progress)
        .map_err(not_if_interrupted)?;
    drop(progress);
    check_interrupt()?;
    let accuracy = analysed.accuracy(None)?;
    staging.commit()?;
    let mut report = analysed.report(&args.model);
    analysed.bound(&mut report, &args.bounds, &args.run, None)?;
    report.accuracy = accuracy;
    report.timing.writing_seconds = Some(writing.elapsed().as_secs_f64());
    report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
    let outcome = format!(
        "No contradiction, so nothing was changed: {} is a plain copy.",
        args.output.output.display()
    );
    Ok(Done {
        report,
        outcome,
        exit: 0,
    })
}

fn repair(
    args: &CorrectArgs,
    method: &Method,
    mut analysed: Analysed,
    staging: Staging,
) -> Result<Done, CliError> {
    SavedCorrection::refuse_second(&args.trace, &analysed.loaded.trace)?;
    let (solution, bounded, mut report) = solve(args, method, &mut analysed)?;
    let correction = &solution.correction;
    let (analysed, loaded) = (&analysed, &analysed.loaded);

    let stage = Instant::now();
    let rewritten = write(args, loaded, correction, &staging)?;
    report.timing.writing_seconds = Some(stage.elapsed().as_secs_f64());

    let stage = Instant::now();
    let times = verify(args, loaded, &staging)?;
    let after = checked(args, method, analysed, &times)?;
    report.accuracy = analysed.accuracy(Some(&times))?;
    let bounds = bounded.map(|it| SavedBounds::new(&it, correction.clocks(), loaded.trace.info()));
    save(method, loaded, (correction, bounds), rewritten, &staging)?;
    check_interrupt()?;
    staging.commit()?;
    report.timing.verification_seconds = Some(stage.elapsed().as_secs_f64());

    let (solution, times) = (&solution, &times);
    describe(&mut report, args, method, analysed, solution, times, &after);
    let (outcome, exit) = outcome(args, &after);
    Ok(Done {
        report,
        outcome,
        exit,
    })
}

/// Runs the method and takes over what it found; the report says so, and how far
/// from the truth that can be.
pub(super) fn solve(
    args: &CorrectArgs,
    method: &Method,
    analysed: &mut Analysed,
) -> Result<(Solution, Option<Bounded>, model::Report), CliError> {
    let stage = Instant::now();
    let solution = analysed.solve(method, &args.model)?;
    analysed.adopt(&solution, &args.model)?;
    let mut report = analysed.report(&args.model);
    report.method = Some(build::method_part(method, &solution));
    let unaligned = solution.unaligned.as_ref();
    let unaligned = unaligned.map(|it| describe_unaligned(it, &analysed.input(&args.model)));
    report.warnings.extend(unaligned);
    report.timing.correction_seconds = Some(stage.elapsed().as_secs_f64());
    check_interrupt()?;
    let bounded = if method.keeps_time() {
        analysed.bound(&mut report, &args.bounds, &args.run, Some(&solution))?
    } else {
        None
    };
    Ok((solution, bounded, report))
}

/// The check of the times that were written; what is worse than the recording is
/// refused unless forced.
pub(super) fn checked(
    args: &CorrectArgs,
    method: &Method,
    analysed: &Analysed,
    times: &[Timestamp],
) -> Result<Check, CliError> {
    let tick = MinimalDelay::Uniform(Ticks(1));
    let delay = if method.keeps_time() {
        &analysed.delay.delay
    } else {
        &tick
    };
    let after = check(&analysed.loaded.causality, &analysed.clocks, delay, times);
    if !args.output.force {
        refuse_worse(analysed, method, &after)?;
    }
    Ok(after)
}

/// What reverses more dependencies than the recording is no correction.
fn refuse_worse(analysed: &Analysed, method: &Method, after: &Check) -> Result<(), CliError> {
    let (before, after) = (analysed.before.reversed(), after.reversed());
    if after <= before {
        return Ok(());
    }
    Err(CliError::Worse {
        trace: analysed.loaded.path.clone(),
        method: method.to_string(),
        before,
        after,
    })
}

/// Adds to the report what came out.
pub(super) fn describe(
    report: &mut model::Report,
    args: &CorrectArgs,
    method: &Method,
    analysed: &Analysed,
    solution: &Solution,
    times: &[Timestamp],
    after: &Check,
) {
    report.distortion = Some(distortion_part(analysed, solution, times));
    let Analysed {
        loaded,
        clocks,
        start,
        ..
    } = analysed;
    let info = loaded.trace.info();
    let advance = final_advance(&loaded.causality, clocks, times);
    if solution.aligned.is_none() {
        report.warnings.extend(runaway_warning(analysed, &advance));
    }
    report.clocks = build::clocks_part(info, clocks, args.model.clocks.into(), &advance);
    report.after = Some(build::check_part(info, clocks, after, 0));
    report.parameters.gamma_max = method.gamma_max();
    report.parameters.amortization_rate = method.amortization().map(AmortizationRate::factor);
    report.advice = protocol::advice(report);
    report.timing.total_seconds = start.elapsed().as_secs_f64();
}

fn distortion_part(
    analysed: &Analysed,
    solution: &Solution,
    after: &[Timestamp],
) -> model::DistortionPart {
    let Analysed {
        loaded,
        clocks,
        delay,
        ..
    } = analysed;
    let measured = Distortion::measure(&loaded.causality, after);
    let part = |place| build::place_part(loaded.trace.info(), place);
    let limit = |place| {
        let causality = &loaded.causality;
        let before = solution.repaired.as_ref()?.times.as_ref()?;
        limiting_send(causality, clocks, &delay.delay, before, after, place)
    };
    model::DistortionPart {
        largest_at: measured.largest_at.map(part),
        largest_limited_by: measured
            .largest_at
            .and_then(limit)
            .map(|limit| model::LimitPart {
                send: part(limit.send),
                effect: part(limit.effect),
                room_ticks: limit.room.0,
            }),
        measured,
    }
}

/// The fastest clock has no reason to be ahead of itself at the end, unless the
/// minimal delay is too large or rates differ by more than gamma allows.
fn runaway_warning(analysed: &Analysed, advance: &[Option<Ticks>]) -> Option<String> {
    let rate = analysed.loaded.trace.info().rate;
    let delayed = analysed.delay.delay != MinimalDelay::Uniform(Ticks(0));
    let least = advance.iter().flatten().min()?.0;
    let reversed = analysed.before.pairs.values().map(|pair| -pair.smallest.0);
    let worst = reversed.max().unwrap_or(0).max(1);
    (least > worst).then(|| {
        format!(
            "all clocks end at least {} ahead of their recorded time, more than they ever disagreed ({}): \
             time ran away. Try a smaller --gamma-max (0.5 suits ticks coarser than the delays){}",
            rate.format(Ticks(least)),
            rate.format(Ticks(worst)),
            if delayed { ", or a smaller --min-delay" } else { "" },
        )
    })
}

pub(super) fn outcome(args: &CorrectArgs, after: &Check) -> (String, u8) {
    let output = args.output.output.display();
    if after.reversed() == 0 && after.short() == 0 {
        let checked = after.messages.total + after.collectives.total;
        let text = format!(
            "Wrote {output}: no contradiction left, checked over {} of the written trace.",
            plural(checked, "dependency")
        );
        return (text, 0);
    }
    let text = format!(
        "Wrote {output}, with {} still reversed ({} of them within one clock) and {} shorter than the minimal delay.",
        plural(after.reversed(), "dependency"),
        group_digits(after.reversed_within_clock()),
        group_digits(after.short()),
    );
    (text, VIOLATIONS)
}
