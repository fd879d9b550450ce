//! The figures of a report that programs look at first, so that they need not read JSON.

use crate::report::model::{CheckPart, Report};

/// The size of a trace, and the standing of its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Locations: threads, streams and the like.
    pub locations: u64,
    /// Events of all locations.
    pub events: u64,
    /// Messages of which both ends were found.
    pub messages: u64,
    /// Collective operations.
    pub collectives: u64,
    /// Physical clocks that locations read.
    pub clocks: u64,
    /// Ticks of all clocks in a second.
    pub ticks_per_second: u64,
    /// The standing of the recorded times.
    pub recorded: Standing,
    /// The standing of the corrected times, if the trace was corrected.
    pub corrected: Option<Standing>,
}

/// The dependencies of a trace, and how many of them its times contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Dependencies that were checked.
    pub dependencies: u64,
    /// The dependencies whose effect is stamped before its cause.
    pub violated: u64,
    /// The dependencies faster than the minimal delay, violated ones between clocks included.
    pub faster: u64,
    /// Events that are stamped before the one before them on their location.
    pub out_of_order: u64,
    /// Ticks from cause to effect where these are fewest: below 0 if any is violated; none without
    /// dependencies.
    pub smallest_latency: Option<i64>,
}

impl From<&Report> for Summary {
    fn from(report: &Report) -> Self {
        Self {
            locations: report.trace.locations as u64,
            events: report.trace.events,
            messages: report.matching.messages,
            collectives: report.matching.collectives,
            clocks: report.clocks.count as u64,
            ticks_per_second: report.trace.ticks_per_second,
            recorded: Standing::from(&report.before),
            corrected: report.after.as_ref().map(Standing::from),
        }
    }
}

impl From<&CheckPart> for Standing {
    fn from(part: &CheckPart) -> Self {
        Self {
            dependencies: part.messages.total + part.collectives.total,
            violated: part.reversed,
            faster: part.short,
            out_of_order: part.out_of_order,
            smallest_latency: part.smallest_latency_ticks,
        }
    }
}
