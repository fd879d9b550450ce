//! `retime compare`: all methods side by side on one trace; nothing is written.
//!
//! ```text
//! analyse -> what the controlled clock can do to local intervals
//!         -> for each method: solve -> check at 0 and at the minimal delay
//!                                   -> changes of intervals
//!                                   -> errors against the truth, if there is one
//! ```

mod advice;
mod foreseen;
mod measure;
mod memory;
pub(crate) mod model;
mod table;

use std::path::Path;

use retime::pipeline::{Candidate, Choice, ClockKind, Method, Options, candidates};

use self::measure::Bench;
use self::model::{ComparedPart, Comparison};
use crate::analysed::{Analysed, analyse};
use crate::args::{CompareArgs, RunArgs};
use crate::drawn::{self, Drawn};
use crate::error::{CliError, VIOLATIONS};
use crate::load::{Source, with_threads};
use crate::method::{MethodOption, fits_one_of, methods};
use crate::offsets::OffsetsArgs;
use crate::progress::{Interrupts, Steps, check_interrupt};
use crate::report::{self, build, examined};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CompareArgs) -> Result<u8, CliError> {
    let Some(path) = &args.trace else {
        return super::reproduce::measured("features");
    };
    let done = compared(args, path)?;
    done.tell(&args.run)?;
    Ok(done.exit)
}

/// The outcome of a comparison: its report, its drawings and the exit code.
pub(crate) struct Compared {
    pub(crate) comparison: Comparison,
    drawn: Drawn,
    pub(crate) exit: u8,
}

impl Compared {
    /// Writes and prints what the options ask for.
    pub(crate) fn tell(&self, run: &RunArgs) -> Result<(), CliError> {
        self.drawn
            .write(&self.comparison, &advice::advice(&self.comparison), run)?;
        report::print_as(&self.comparison, run, || {
            table::render(&self.comparison, run.verbose)
        })
    }
}

/// Compares methods on the trace at `path`, on the threads asked for.
pub(crate) fn compared(args: &CompareArgs, path: &Path) -> Result<Compared, CliError> {
    // What the controlled clock can do to intervals is foreseen by the drift bound.
    args.bounds.refuse_strangers(true)?;
    report::target::check(&args.run, None)?;
    let source = Source {
        others: &args.others.files,
        ..Source::alone(path, args.format.asked(), args.run.quiet)
    };
    let (comparison, drawn, defective) = with_threads(args.run.threads, || {
        let mut analysed = analyse(source, &args.model)?;
        settle_clocks(&mut analysed)?;
        let defective = !analysed.analysis.causality().defects().is_empty();
        let comparison = compare(args, &analysed)?;
        let drawn = drawn::draw(&analysed, None, None, &args.run)?;
        Ok((comparison, drawn, defective))
    })?;
    let sound = comparison.methods.iter().any(ComparedPart::is_sound);
    let failed = !sound || args.model.strict && defective;
    let exit = if failed {
        VIOLATIONS
    } else {
        examined::exit_code(&comparison.examined)
    };
    Ok(Compared {
        comparison,
        drawn,
        exit,
    })
}

/// Splits common clocks that a chain of dependencies refutes, so that all
/// methods have the same.
fn settle_clocks(analysed: &mut Analysed) -> Result<(), CliError> {
    match analysed.solve_matched(&Method::new(&ClockKind::Controlled)) {
        Ok(solution) => {
            analysed.analysis.adopt(&solution, &Interrupts)?;
            Ok(())
        }
        // Each method says so in its row.
        Err(CliError::Unsolved { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn compare(args: &CompareArgs, analysed: &Analysed) -> Result<Comparison, CliError> {
    let chosen = chosen(args)?;
    let progress = Steps::new("comparing", args.run.quiet);
    progress.go_on("error bounds");
    let bench = Bench::new(args, analysed)?;
    let mut methods = vec![bench.recorded()?];
    for candidate in chosen {
        progress.go_on(&candidate.name);
        check_interrupt()?;
        methods.push(measured(&bench, analysed, &candidate)?);
    }
    check_interrupt()?;
    let truth = analysed.truth.as_ref();
    Ok(Comparison {
        schema: model::SCHEMA,
        trace: build::trace_part(&analysed.opened, &analysed.analysis),
        examined: analysed.examined(),
        clocks: analysed.analysis.clocks().len(),
        min_delay: build::delay_part(&analysed.analysis, analysed.delay_source),
        truth: truth.map(|truth| truth.path().display().to_string()),
        drift_bound: bench.drift_bound(),
        inside_bounds: bench.inside()?,
        methods,
    })
}

/// Runs a method and measures its result. The default leaves a sound trace alone, as `retime
/// correct` does; results the others would have with `--always` are shown all the same.
fn measured(
    bench: &Bench<'_>,
    analysed: &Analysed,
    candidate: &Candidate,
) -> Result<ComparedPart, CliError> {
    let analysis = &analysed.analysis;
    if candidate.method.is_auto() && analysis.is_sound() {
        return bench.left_alone(candidate);
    }
    let method = analysis.suitable(with_offsets_of(analysed, candidate)?);
    bench.run(candidate, &method)
}

/// The methods with one of the names; all if none is given. Options have a part in one at least.
fn chosen(args: &CompareArgs) -> Result<Vec<Candidate>, CliError> {
    let names: &[MethodOption] = &args.method;
    if let Some(counting) = names.iter().find(|it| !it.0.keeps_time()) {
        let name = counting.0.name();
        let message =
            format!("{name} counts events and keeps no time: there is nothing to compare");
        return Err(CliError::Usage(message));
    }
    let wanted = |it: &Candidate| {
        let is = |name: &MethodOption| name.0.name() == it.method.name();
        names.is_empty() || names.iter().any(is)
    };
    let all = candidates(methods()).into_iter();
    let chosen: Vec<Candidate> = all.filter(wanted).collect();
    fits_one_of(&args.given, chosen.iter().map(|it| &it.method))?;
    Ok(chosen)
}

/// The method of a candidate; where it takes measured offsets, with those of the trace.
fn with_offsets_of(analysed: &Analysed, candidate: &Candidate) -> Result<Method, CliError> {
    let method = candidate.method.clone();
    if !method.heeds(Choice::Offsets) {
        return Ok(method);
    }
    let (trace, info) = (&*analysed.opened.trace, analysed.analysis.info());
    let nodes = analysed.analysis.causality().nodes();
    let offsets = OffsetsArgs::default().measured(trace, info, nodes)?;
    let options = method.options().clone();
    Ok(method.with(Options { offsets, ..options }))
}
