//! Causes of a distortion and facts that were left out, in words.

use super::gentlest::{ForcingCycle, ForcingPart};
use super::relaxation::Relaxed;
use retime_causality::edges::{Edge, Edges};
use retime_causality::{EventNode, Nodes, PackedOption};
use retime_model::{ClockId, Clocks};
use retime_model::{Ticks, TraceInfo};

/// The trace that names are taken from.
struct Names<'a> {
    info: &'a TraceInfo,
    clocks: &'a Clocks,
    nodes: &'a Nodes,
}

impl Names<'_> {
    fn clock(&self, clock: ClockId) -> String {
        if clock.as_usize() < self.clocks.len() {
            self.clocks.describe(self.info, clock)
        } else {
            format!("clock #{}", clock.0)
        }
    }

    /// An end of a dependency: event and location, or only the clock outside of
    /// a trace.
    fn end(&self, clock: ClockId, node: PackedOption<EventNode>) -> String {
        let node = node.get().filter(|node| node.index() < self.nodes.len());
        let Some(node) = node else {
            return self.clock(clock);
        };
        let place = self.info.describe(self.nodes.location(node));
        format!("event {} of {place}", self.nodes.event(node))
    }

    fn edge(&self, edge: &Edge) -> String {
        let cause = self.end(edge.from, edge.cause);
        format!("{cause} -> {}", self.end(edge.to, edge.effect))
    }

    fn stamp(&self, ticks: i64) -> String {
        let stamp = self.nodes.absolute(Ticks(ticks));
        stamp.map_or_else(|| ticks.to_string(), |stamp| stamp.to_string())
    }

    /// A span, which may be more than 64 bits hold.
    fn span(&self, ticks: i128) -> String {
        let shown = i64::try_from(ticks);
        let limit = if ticks < 0 { i64::MIN } else { i64::MAX };
        self.info.rate.format(Ticks(shown.unwrap_or(limit)))
    }
}

impl ForcingCycle {
    /// A line for each part, with what it contributes.
    pub fn describe(
        &self,
        info: &TraceInfo,
        clocks: &Clocks,
        edges: &Edges,
        nodes: &Nodes,
    ) -> Vec<String> {
        let names = Names {
            info,
            clocks,
            nodes,
        };
        let part = |part: &ForcingPart| match *part {
            ForcingPart::Dependency { edge, needed } => {
                let edge = edges.get(edge);
                let places = edge.map_or_else(String::new, |edge| names.edge(edge));
                format!("{places}: needs {}", names.span(needed.into()))
            }
            ForcingPart::Stretch {
                clock,
                from,
                to,
                width,
            } => format!(
                "{}, stamp {} to {}: {} to change",
                names.clock(clock),
                names.stamp(from),
                names.stamp(to),
                names.span(width.into())
            ),
        };
        self.parts.iter().map(part).collect()
    }
}

impl Relaxed {
    /// In words, with the places.
    pub fn describe(
        &self,
        info: &TraceInfo,
        clocks: &Clocks,
        edges: &Edges,
        nodes: &Nodes,
    ) -> String {
        let names = Names {
            info,
            clocks,
            nodes,
        };
        match *self {
            Self::Edge { edge, by } => {
                let edge = edges.get(edge);
                let places = edge.map_or_else(String::new, |edge| names.edge(edge));
                let by = names.span(by as i128);
                format!("{places} contradicts the others by {by}")
            }
            Self::Step {
                clock,
                after,
                until,
                by,
            } => format!(
                "{} steps by {} or more between stamps {} and {}",
                names.clock(clock),
                names.span(by as i128),
                names.stamp(after),
                names.stamp(until)
            ),
        }
    }
}
