//! The file that `--offsets-out` asks for.

use std::path::Path;

use retime::pipeline::{Bounds, Solution};

use crate::analysed::Analysed;
use crate::args::OffsetsOutArgs;
use crate::clock_offsets::{Measured, Offsets, TraceOffsets};
use crate::error::CliError;
use crate::progress::check_interrupt;
use crate::report::target::{Place, check_report};

/// Fails early if the file that was asked for could not be written.
pub(super) fn check(args: &OffsetsOutArgs, output: Option<&Path>) -> Result<(), CliError> {
    let path = args.offsets_out.as_deref();
    path.map_or(Ok(()), |it| check_report("--offsets-out", it, output))
}

/// The offsets of the clocks of a trace.
pub(super) fn of(
    analysed: &Analysed,
    solution: Option<&Solution>,
    bounds: Option<&Bounds>,
) -> TraceOffsets {
    let measured = Measured {
        trace: &*analysed.opened.trace,
        analysis: &analysed.analysis,
        solution,
        bounds,
    };
    measured.offsets()
}

/// Writes the offsets of one trace, if that was asked for.
pub(super) fn write(
    analysed: &Analysed,
    solution: Option<&Solution>,
    bounds: Option<&Bounds>,
    args: &OffsetsOutArgs,
) -> Result<(), CliError> {
    if args.offsets_out.is_none() {
        return Ok(());
    }
    write_all(vec![of(analysed, solution, bounds)], args)
}

/// Writes the offsets of several traces, if that was asked for.
pub(super) fn write_all(traces: Vec<TraceOffsets>, args: &OffsetsOutArgs) -> Result<(), CliError> {
    if let Some(path) = &args.offsets_out {
        Place::prepare(path)?.write(&Offsets::new(traces))?;
    }
    check_interrupt()
}
