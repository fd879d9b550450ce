//! The findings on a trace once it was corrected, or needed no correction, and before anything is
//! made of them.

use retime::causality::Check;
use retime::pipeline::{Bounds, Method, Solution};

use super::asked::Asked;
use super::solved::{Solved, describe, solve};
use crate::analysed::Analysed;
use crate::error::CliError;
use crate::report::model;

/// A report, and what it tells of.
pub(crate) struct Found {
    pub(crate) report: model::Report,
    pub(crate) bounds: Option<Bounds>,
    /// With the check of its times.
    pub(crate) solved: Option<(Solution, Check)>,
}

/// Finds how the recorded times stand: contradictions, bounds, waits.
pub(crate) fn as_recorded(args: Asked<'_>, analysed: &Analysed) -> Result<Found, CliError> {
    let mut report = analysed.report(args.model);
    let bounds = analysed.bound(&mut report, args.bounds, args.run, None)?;
    report.accuracy = analysed.accuracy(None)?;
    Ok(Found {
        report,
        bounds,
        solved: None,
    })
}

/// Solves the trace by a method and finds how the corrected times stand.
pub(crate) fn as_corrected(
    args: Asked<'_>,
    method: &Method,
    analysed: &mut Analysed,
) -> Result<Found, CliError> {
    let Solved {
        solution,
        after,
        bounds,
        mut report,
    } = solve(args, method, analysed)?;
    report.accuracy = analysed.accuracy_by(method, &solution.times)?;
    describe(&mut report, args, method, analysed, &solution, &after)?;
    Ok(Found {
        report,
        bounds,
        solved: Some((solution, after)),
    })
}
