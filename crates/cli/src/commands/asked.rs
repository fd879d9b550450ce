//! A trace and how to correct it, as the options of several commands say it.

use retime::pipeline::Method;
use retime::printable_path;

use crate::analysed::{Analysed, analyse_some};
use crate::args::{CorrectArgs, ModelArgs, RunArgs, SolvingArgs};
use crate::bounds::BoundsArgs;
use crate::error::CliError;
use crate::limits::LimitArgs;
use crate::load::Source;
use crate::method::{MethodArgs, WindowArgs};

/// The request: a trace and how to correct it, whatever becomes of it then.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) source: Source<'a>,
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

impl<'a> Asked<'a> {
    /// The request to correct all of a trace.
    pub(super) fn of(source: Source<'a>, solving: &'a SolvingArgs, force: bool) -> Self {
        Self {
            source,
            model: &solving.model,
            method: &solving.method,
            window: None,
            bounds: &solving.bounds,
            limits: &solving.limits,
            run: &solving.run,
            force,
        }
    }
}

impl<'a> From<&'a CorrectArgs> for Asked<'a> {
    fn from(args: &'a CorrectArgs) -> Self {
        Self {
            source: args.input.shared(&args.format, args.run.quiet),
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
    let method = args.method.resolve(
        &*analysed.opened.trace,
        analysis.info(),
        analysis.causality().nodes(),
        args.bounds.drift_bound.0,
    )?;
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
