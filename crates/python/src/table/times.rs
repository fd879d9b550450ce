//! When an event with a role was, as recorded and as corrected, and how sure that is.

use retime::causality::{EventNode, Nodes};
use retime::{ClockId, LocationIndex};
use retime_cli::library::Study;

/// The times of a trace.
#[derive(Clone, Copy)]
pub(super) struct Times<'a> {
    study: &'a Study,
    pub(super) nodes: &'a Nodes,
}

impl<'a> Times<'a> {
    pub(super) fn of(study: &'a Study) -> Self {
        let nodes = study.analysis().causality().nodes();
        Self { study, nodes }
    }

    /// The recorded time of a node.
    pub(super) fn recorded(&self, node: EventNode) -> u64 {
        self.nodes.timestamp(node).0
    }

    /// The corrected time of a node; the recorded one where nothing was to be corrected.
    pub(super) fn corrected(&self, node: EventNode) -> u64 {
        let times = self.study.solution().map(|it| &it.times);
        let corrected = times.and_then(|it| it.get(node.index()));
        corrected.map_or_else(|| self.recorded(node), |it| it.0)
    }

    /// The ticks by which the truth may lie before and after the time of an event; infinite where
    /// nothing is known.
    pub(super) fn error(&self, node: EventNode) -> (f64, f64) {
        let bounds = self.study.bounds();
        let clock = self.clock(node);
        let bound = bounds.and_then(|it| it.errors.clocks.get(clock.as_usize())?.as_ref());
        bound.map_or((f64::INFINITY, f64::INFINITY), |it| {
            it.at(self.nodes.timestamp(node))
        })
    }

    /// The id of its location.
    pub(super) fn location(&self, node: EventNode) -> u64 {
        self.id(self.nodes.location(node))
    }

    /// The id of a location.
    pub(super) fn id(&self, location: LocationIndex) -> u64 {
        let locations = &self.study.analysis().info().locations;
        locations.get(location.as_usize()).map_or(0, |it| it.id)
    }

    fn clock(&self, node: EventNode) -> ClockId {
        self.study.analysis().clocks().of(self.nodes.location(node))
    }
}

/// From one stamp to another.
pub(super) fn span(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}
