//! The trace that is exported, and the part of it that is to be shown.

use retime::format::Trace;
use retime::optimal::ErrorBounds;
use retime::{Causality, Clocks, Correction, LocationIndex, Ticks, TraceInfo};

/// A trace with what is known of it.
#[derive(Clone, Copy)]
pub struct Exported<'a> {
    /// Where its events are read from.
    pub trace: &'a dyn Trace,
    /// Locations, processes and communicators of the trace.
    pub info: &'a TraceInfo,
    /// The dependencies between events, at recorded times.
    pub causality: &'a Causality,
    /// Which locations share a clock, where there is no correction that says so.
    pub clocks: &'a Clocks,
    /// Where corrected times come from; without one they are the recorded ones.
    pub correction: Option<&'a Correction>,
    /// How far the corrected times can be from the truth; without a correction, the
    /// recorded ones.
    pub bounds: Option<&'a ErrorBounds>,
}

/// The kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Packets of Perfetto's `TrackEvent`.
    Perfetto,
    /// JSON as Chrome's tracing writes it.
    Chrome,
}

/// Which times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// The times of the recording.
    Recorded,
    /// The times that the correction gives.
    Corrected,
    /// Both, as two groups of processes.
    Both,
}

/// The part of a trace that is shown, and the form of the file.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The kind of file.
    pub kind: Kind,
    /// Which times.
    pub times: Times,
    /// From so long after the first event that could be shown.
    pub from: Option<Ticks>,
    /// Up to so long after it.
    pub to: Option<Ticks>,
    /// Which locations, rising.
    pub locations: Vec<LocationIndex>,
    /// True if the file is compressed.
    pub gzip: bool,
}

impl Shown {
    /// True where recorded times are shown, and where corrected ones are.
    pub(crate) fn groups(&self) -> (bool, bool) {
        (
            self.times != Times::Corrected,
            self.times != Times::Recorded,
        )
    }
}
