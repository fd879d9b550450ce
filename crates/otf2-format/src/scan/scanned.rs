//! The result of scanning a location, and what is added to it when all are read.

use std::collections::HashMap;

use retime_model::{LocationLog, LogNode, NamedMessage, NamedOperation};
use retime_otf2::{EventCounts, Trace};

use super::epochs::Epochs;
use super::handovers::Handovers;
use super::life_cycles::LifeCycles;
use super::twice::Twice;
use super::unrecorded::UnrecordedCalls;
use crate::error::TraceError;

/// The result of scanning a location.
pub(crate) struct Scanned {
    /// The events with a role in happened-before.
    pub(crate) log: LocationLog,
    /// All events.
    pub(crate) counts: EventCounts,
    /// The locks, threads and tasks that it gave to other threads, or got from them.
    pub(crate) handovers: Handovers,
    /// When it exposed memory, and when it had fetched from that of others.
    pub(crate) epochs: Epochs,
    /// The sums of what it says and what is said again elsewhere.
    pub(crate) twice: Twice,
    /// The sums of what it begins and ends under a name.
    pub(crate) cycles: LifeCycles,
    /// The calls that communicated and left no record of it.
    pub(crate) unrecorded: UnrecordedCalls,
    /// True if more would be found if calls were followed.
    pub(crate) wants_calls: bool,
}

/// The facts about a location that show only when all are read.
#[derive(Default)]
pub(super) struct Joined {
    pub(super) messages: Vec<NamedMessage>,
    pub(super) operations: Vec<NamedOperation>,
    /// Nodes at which calls really begin, by the node at which they were recorded to begin.
    pub(super) begins: HashMap<LogNode, LogNode>,
}

impl Scanned {
    /// Adds what shows when all locations are read, given the trace and the id of this one.
    pub(super) fn with(self, joined: Joined, trace: &Trace, id: u64) -> Result<Self, TraceError> {
        let mut columns = self.log.into_columns();
        columns.named_messages.extend(joined.messages);
        columns.named_operations.extend(joined.operations);
        for begin in columns.calls.iter_mut().filter_map(|it| it.begin.as_mut()) {
            *begin = joined.begins.get(begin).copied().unwrap_or(*begin);
        }
        let log = LocationLog::try_from(columns).map_err(|source| TraceError::Log {
            path: trace.archive().events_path(id),
            source,
        })?;
        Ok(Self { log, ..self })
    }
}
