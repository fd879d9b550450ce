//! A trace whose files are no documents, as packets of its events: what an export shows of it.
//!
//! They are written before the file is put together, since nothing relates the times of such a
//! trace to those of others: each begins where the file does.

use std::fs::File;
use std::path::PathBuf;

use retime::optimal::ErrorBounds;
use retime::{LocationIndex, plural, printable};
use retime_export::{
    ExportError, Exported, Kind, Placement, Shown, Summary, Times, export_packets,
};

use super::super::asked::Asked;
use crate::analysed::Analysed;
use crate::error::CliError;
use crate::progress::{Progress, Stage};

use retime::Correction;

/// The packets of a trace, in a file of their own.
pub(super) struct PacketsWritten {
    pub(super) path: PathBuf,
    /// The place of a trace that comes behind.
    pub(super) behind: Placement,
    format: &'static str,
    processes: usize,
    summary: Summary,
}

/// The place for packets: a new file, and the numbers that are free.
pub(super) struct PacketsRoom {
    pub(super) path: PathBuf,
    pub(super) placement: Placement,
}

/// Writes the events of a trace, at corrected times if there is a correction.
pub(super) fn write(
    asked: Asked<'_>,
    analysed: &Analysed,
    correction: Option<&Correction>,
    bounds: Option<&ErrorBounds>,
    room: PacketsRoom,
) -> Result<PacketsWritten, CliError> {
    let (trace, analysis) = (&*analysed.opened.trace, &analysed.analysis);
    let (info, causality) = (analysis.info(), analysis.causality());
    let exported = Exported {
        trace,
        info,
        causality,
        clocks: analysis.clocks(),
        correction,
        bounds,
    };
    let (times, in_words) = match correction {
        Some(_) => (Times::Corrected, "corrected"),
        None => (Times::Recorded, "recorded"),
    };
    let locations = 0..info.locations.len() as u32;
    let shown = Shown {
        kind: Kind::Perfetto,
        times,
        from: None,
        to: None,
        locations: locations.map(LocationIndex).collect(),
        gzip: false,
    };
    let name = printable(&analysed.opened.path.to_string_lossy()).into_owned();
    let placement = Placement {
        title: Some(format!("{name} ({in_words})")),
        ..room.placement
    };
    let failed = |error| CliError::io(&room.path, error);
    let mut file = File::create_new(&room.path).map_err(failed)?;
    let progress = Progress::new(Stage::Exporting, trace.bytes(), asked.run.quiet);
    let written = export_packets(&exported, &shown, &placement, &mut file, &progress);
    let summary = written.map_err(|error| match error {
        ExportError::Format(error) => error.into(),
        ExportError::Io(error) => CliError::io(&room.path, error),
        error => CliError::input(&analysed.opened.path, error.to_string()),
    })?;
    Ok(PacketsWritten {
        behind: placement.behind(info.locations.len(), causality.nodes().len()),
        path: room.path,
        format: trace.format(),
        processes: info.processes.len(),
        summary,
    })
}

impl PacketsWritten {
    /// The content of the trace that is in the file, and that which is not.
    pub(super) fn in_words(&self) -> String {
        format!(
            "Of a trace of {} with {} it has {} and {}, as retime export shows them, from the \
             beginning of the file on; what else its files hold (attributes, metrics, parameters) \
             is not in it.",
            self.format,
            plural(self.processes as u64, "process"),
            plural(self.summary.slices + self.summary.points, "slice"),
            plural(self.summary.arrows, "arrow"),
        )
    }
}
