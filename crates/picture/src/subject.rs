//! The subject of a picture: a trace with what is known of it.

use retime::causality::{Check, EventNode, Nodes};
use retime::format::Trace;
use retime::pipeline::{Bounds, ClockSet};
use retime::{Causality, Clocks, Correction, LocationIndex, MinimalDelay, Timestamp, TraceInfo};

/// A trace, who precedes whom in it, and its correction if there is one.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The recorded trace.
    pub trace: &'a dyn Trace,
    /// Locations, processes and communicators of the trace.
    pub info: &'a TraceInfo,
    /// Which event must follow which.
    pub causality: &'a Causality,
    /// Who reads which clock; those of the correction, if there is one.
    pub clocks: &'a Clocks,
    /// All dependencies at recorded times.
    pub recorded: &'a Check,
    /// Corrected times, if the trace was corrected.
    pub corrected: Option<Corrected<'a>>,
    /// The minimal delay: the one that was enforced, if any was.
    pub delay: &'a MinimalDelay,
    /// How far times can be from the truth, over recorded stamps: corrected times, or
    /// if there are none, recorded ones.
    pub bounds: Option<&'a Bounds>,
}

/// Corrected times.
#[derive(Clone, Copy)]
pub struct Corrected<'a> {
    /// The maps of all clocks.
    pub correction: &'a Correction,
    /// The corrected time of each node.
    pub times: &'a [Timestamp],
    /// Clocks that were set during the run.
    pub steps: &'a [ClockSet],
}

impl Subject<'_> {
    pub(crate) fn nodes(&self) -> &Nodes {
        self.causality.nodes()
    }

    /// The recorded time of a node.
    pub(crate) fn recorded(&self, node: EventNode) -> i64 {
        self.nodes().time(node).0
    }

    /// The ticks that the correction added to the time of a node.
    pub(crate) fn added(&self, node: EventNode) -> i64 {
        let time = self.corrected.and_then(|it| it.times.get(node.index()));
        time.map_or(0, |it| self.nodes().relative(*it).0 - self.recorded(node))
    }

    /// The corrected time of a node; the recorded one where nothing was corrected.
    pub(crate) fn time(&self, node: EventNode) -> i64 {
        self.recorded(node) + self.added(node)
    }

    /// The ticks by which the truth may lie before and after the time of an event of a location
    /// with this recorded time; infinite where nothing is known.
    pub(crate) fn bound(&self, location: LocationIndex, recorded: i64) -> (f64, f64) {
        let clock = self.clocks.of(location).as_usize();
        let bound = self
            .bounds
            .and_then(|it| it.errors.clocks.get(clock)?.as_ref())
            .zip(self.nodes().absolute(retime::Ticks(recorded)));
        bound.map_or((f64::INFINITY, f64::INFINITY), |(bound, raw)| bound.at(raw))
    }

    /// Visits all dependencies: messages, and for each end of a collective the begin
    /// that comes last at the given times.
    pub(crate) fn each_dependency(
        &self,
        time: impl Fn(EventNode) -> i64,
        mut visit: impl FnMut(EventNode, EventNode, Kind),
    ) {
        for receive in self.nodes().all() {
            if let Some(send) = self.causality.message_source(receive) {
                visit(send, receive, Kind::Message);
            }
        }
        let collectives = self.causality.collectives();
        for instance in collectives.instances() {
            let places = 0..collectives.participants(instance).len();
            collectives.latest_causes(
                instance,
                places,
                &time,
                |place| place,
                |cause, effect| visit(cause, effect, Kind::Collective),
            );
        }
    }
}

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Message,
    Collective,
}
