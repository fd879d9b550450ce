//! `retime compare`: all methods side by side on one trace; nothing is written.
//!
//! ```text
//! analyse -> for each method: solve -> check at 0 and at the minimal delay
//!                                   -> changes of intervals
//!                                   -> errors against the truth, if there is one
//! ```

mod candidate;
mod measure;
mod memory;
mod model;
mod table;

use self::candidate::Candidate;
use self::measure::Bench;
use self::model::Comparison;
use super::check::{Analysed, analyse};
use crate::args::{CompareArgs, ModelArgs};
use crate::error::{CliError, VIOLATIONS};
use crate::load::with_threads;
use crate::method::{Method, MethodName};
use crate::progress::{Steps, check_interrupt};
use crate::report::{self, build};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CompareArgs) -> Result<u8, CliError> {
    let Some(trace) = &args.trace else {
        return super::reproduce::measured("features");
    };
    report::target::check(&args.run, None)?;
    let (comparison, odd) = with_threads(args.run.threads, || {
        let mut analysed = analyse(trace, &args.model, &args.run)?;
        settle_clocks(&mut analysed, &args.model)?;
        let odd = analysed.loaded.causality.defects().iter().next().is_some();
        Ok((compare(args, &analysed)?, odd))
    })?;
    report::print_as(&comparison, &args.run, || {
        table::render(&comparison, args.run.verbose)
    })?;
    let sound = comparison.methods.iter().any(model::MethodPart::is_sound);
    let failed = !sound || args.model.strict && odd;
    Ok(if failed { VIOLATIONS } else { 0 })
}

/// Splits common clocks that a chain of dependencies refutes, so that all
/// methods have the same.
fn settle_clocks(analysed: &mut Analysed, model: &ModelArgs) -> Result<(), CliError> {
    let clock = Method::with_options("--method clc", &analysed.loaded)?;
    match analysed.solve(&clock, model) {
        // Each method says so in its row.
        Ok(_) | Err(CliError::Unsolved { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn compare(args: &CompareArgs, analysed: &Analysed) -> Result<Comparison, CliError> {
    let candidates = chosen(&args.method)?;
    let progress = Steps::new("comparing", args.run.quiet);
    progress.go_on("error bounds");
    let bench = Bench::new(args, analysed);
    let mut methods = Vec::new();
    for candidate in candidates {
        progress.go_on(&candidate.name);
        check_interrupt()?;
        methods.push(bench.run(&candidate)?);
    }
    check_interrupt()?;
    Ok(Comparison {
        schema: model::SCHEMA,
        trace: build::trace_part(&analysed.loaded),
        clocks: analysed.clocks.len(),
        min_delay: build::delay_part(&analysed.delay),
        truth: analysed
            .truth
            .as_ref()
            .map(|truth| truth.path().display().to_string()),
        drift_bound: args.bounds.drift_bound.0,
        inside_bounds: bench.inside()?,
        methods,
    })
}

/// The recorded times, and the methods with one of the names; all if none is given.
fn chosen(names: &[MethodName]) -> Result<Vec<Candidate>, CliError> {
    if names.contains(&MethodName::Lamport) {
        let message = "lamport counts events and keeps no time: there is nothing to compare";
        return Err(CliError::Usage(message.into()));
    }
    let wanted = |it: &Candidate| match it.method {
        Some(method) => names.is_empty() || names.contains(&method),
        None => true,
    };
    Ok(candidate::all().into_iter().filter(wanted).collect())
}
