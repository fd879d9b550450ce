//! A method is run, and what came out is checked and described, before it is written.

use std::time::Instant;

use retime::causality::Check;
use retime::clock::AmortizationRate;
use retime::pipeline::{Bounds, Implausible, Method, Runaway, Solution};
use retime::{MinimalDelay, TickRate, Ticks};

use super::asked::Asked;
use super::each_event;
use crate::analysed::Analysed;
use crate::error::CliError;
use crate::progress::{Interrupts, check_interrupt};
use crate::report::{build, devices, hosts, model, protocol};

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
    report.method = Some(model::MethodPart {
        offsets: args.method.offsets_source(&*analysed.opened.trace),
        ..build::method_part(method, &solution)
    });
    report.parameters.min_delay.of_aligned_clocks = solution
        .enforced
        .as_ref()
        .is_some_and(|it| it.of_aligned_clocks);
    let (info, clocks) = (analysed.analysis.info(), analysed.analysis.clocks());
    let unaligned = solution.unaligned.as_ref();
    let unaligned = unaligned.map(|reason| reason.describe(info, clocks));
    report.warnings.extend(unaligned);
    report.warnings.extend(solution.rates_warning(info, clocks));
    report.timing.correction_seconds = Some(stage.elapsed().as_secs_f64());
    check_interrupt()?;
    let bounds = if method.keeps_time() {
        analysed.bound(&mut report, args.bounds, args.run, Some(&solution))?
    } else {
        None
    };
    if bounds.is_some() && !solution.correction.distance().is_zero() {
        report.warnings.push(
            "bounds hold for events that communicate: one between them can lie later than its bound \
             says by as much as --min-distance keeps it behind the event before it"
                .into(),
        );
    }
    if solution.aligned.is_some() {
        report.hosts = hosts::part(&analysed.analysis, &solution, bounds.as_ref());
        report.devices = devices::part(&analysed.analysis, &solution);
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
        worse,
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
        allowance: allowance(&reason),
    })
}

/// The option that allows for a result, for the message that refuses it.
fn allowance(reason: &Implausible) -> String {
    let Implausible::RatesDiffer(found, _) = reason else {
        return String::new();
    };
    // Two digits, rounded up: enough, and nobody takes it for a measurement.
    let digit = 10_f64.powf((100.0 * found.by).log10().floor() - 1.0);
    let enough = (100.0 * found.by / digit).floor() + 1.0;
    let digits = usize::from(digit < 1.0) * (-digit.log10()).ceil().max(0.0) as usize;
    format!(
        "--max-rate-difference {:.digits$}% allows for it, as where the frequency of a clock was \
         declared wrongly; ",
        enough * digit
    )
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
        // A caller of the library gets the report of --json, which is quiet and verbose.
        all_events: if args.run.verbose && !args.run.quiet {
            each_event::distortion(analysed, solution)?
        } else {
            None
        },
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
