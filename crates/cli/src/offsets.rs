//! `--offsets`: how far clocks were from the common time, measured while the
//! program ran.
//!
//! A file has a line for each measurement ([`file`]).
//!
//! Where no file is named, that of libretime-pmpi counts which lies beside the trace
//! ([`beside`]).
//!
//! Offsets that an OTF2 trace holds itself (`ClockOffset` records) are no such
//! measurements: they are part of the times that every OTF2 tool shows, and
//! retime reads. Interpolating between them again would apply them twice.

mod beside;
mod file;
mod mpisync;

use std::path::PathBuf;

use clap::Args;
use retime::causality::Nodes;
use retime::format::Trace;
use retime::pipeline::{MeasuredOffset, MeasuredOffsets};
use retime::{LocationIndex, TraceInfo, printable_path};

use crate::error::CliError;

/// Where measured offsets come from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OffsetsArgs {
    /// Offsets of clocks measured while the program ran, for interpolation
    /// [default: retime-offsets.txt of libretime-pmpi beside a trace without any]
    /// (lines "LOCATION-ID STAMP OFFSET": a time after the first event or a stamp
    /// in ticks, and what to add to the clock there; or a table of mpisync)
    #[arg(long, value_name = "FILE")]
    pub(crate) offsets: Option<PathBuf>,
}

impl OffsetsArgs {
    /// The measured offsets of a trace with these events.
    pub(crate) fn measured(
        &self,
        trace: &dyn Trace,
        info: &TraceInfo,
        nodes: &Nodes,
    ) -> Result<MeasuredOffsets, CliError> {
        let base = nodes.base().after(trace.zero());
        match &self.offsets {
            Some(path) => file::read(path, info, base).map(MeasuredOffsets::Known),
            None if trace.has_applied_offsets() => Ok(applied(info)),
            None => Ok(beside::read(trace.path(), info, nodes, base)),
        }
    }

    /// The file with the measured offsets of a trace, as it is shown; none where the trace has
    /// them itself.
    pub(crate) fn source(&self, trace: &dyn Trace) -> Option<String> {
        let beside = || (!trace.has_applied_offsets()).then(|| beside::find(trace.path()))?;
        let path = self.offsets.clone().or_else(beside)?;
        Some(printable_path(&path))
    }
}

/// Zero for all locations of a trace that has offsets of its own: its times are interpolated
/// by them already, and nothing is left to add.
fn applied(info: &TraceInfo) -> MeasuredOffsets {
    let locations = (0..info.locations.len() as u32).map(LocationIndex);
    let zero = |location| MeasuredOffset {
        location,
        stamp: 0,
        offset: 0.0,
    };
    MeasuredOffsets::Known(locations.map(zero).collect())
}
