//! The computing of devices while operations and messages of their streams were under way.
//!
//! A kernel that communicates goes on while others of its device compute: who computes does not
//! stand still, whatever the kernel waits for. Where a recording says so of a location, it says
//! of each of its operations from when to when the device computed, counted from where that
//! began, so that it moves with it. A thread computes whenever it does not wait.

use retime_model::{LocationIndex, LogColumns, Ticks};

use crate::ids::EventNode;
use crate::nodes::Nodes;

/// A stretch of time in which a device computed, in ticks since an operation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OverlappedSpan {
    /// From where,
    pub from: i64,
    /// to where, which is later.
    pub to: i64,
}

/// The stretches of all operations and messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlaps {
    /// Nodes rising; the stretches of one node by their begins.
    spans: Vec<(EventNode, OverlappedSpan)>,
    /// The locations of which it is recorded when their device computed, rising.
    known: Vec<LocationIndex>,
    /// The locations that are threads, rising.
    threads: Vec<LocationIndex>,
}

impl Overlaps {
    /// The stretches that logs recorded.
    pub(super) fn recorded(logs: &[LogColumns], nodes: &Nodes) -> Self {
        let mut spans = Vec::with_capacity(logs.iter().map(|it| it.overlaps.len()).sum());
        for (position, log) in logs.iter().enumerate() {
            for it in log.overlaps.iter().filter(|it| it.lasted > Ticks(0)) {
                let to = it.since.0.saturating_add(it.lasted.0);
                let from = it.since.0.max(0);
                let node = nodes.of_log(position, it.node);
                spans.extend((to > from).then_some((node, OverlappedSpan { from, to })));
            }
        }
        if !spans.is_sorted() {
            spans.sort_unstable();
        }
        let those = |is_so: fn(&LogColumns) -> bool| {
            let logs = logs.iter().filter(|it| is_so(it));
            let mut those: Vec<LocationIndex> = logs.map(|it| it.location).collect();
            those.sort_unstable();
            those
        };
        Self {
            spans,
            known: those(|it| it.knows_work),
            threads: those(|it| it.is_thread),
        }
    }

    /// The stretches within what a node begins, or within the receive that is complete there.
    pub(super) fn of(&self, node: EventNode) -> impl Iterator<Item = OverlappedSpan> + '_ {
        let first = self.spans.partition_point(|it| it.0 < node);
        let rest = self.spans.get(first..).unwrap_or_default();
        let own = rest.iter().take_while(move |it| it.0 == node);
        own.map(|it| it.1)
    }

    /// True if a location works whenever it does not wait.
    pub(super) fn is_thread(&self, location: LocationIndex) -> bool {
        self.threads.binary_search(&location).is_ok()
    }

    /// True if it is recorded when the device of a location computed.
    pub(super) fn are_known(&self, location: LocationIndex) -> bool {
        self.known.binary_search(&location).is_ok()
    }
}
