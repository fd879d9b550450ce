//! An event, as a list of events shows it.

use std::borrow::Cow;

use retime::causality::EventNode;
use retime::format::{CorrectedEvent, Trace};
use retime::{LocationIndex, Timestamp, TraceInfo};

use super::Listed;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) location: LocationIndex,
    /// Its number at its location, from 0.
    pub(crate) event: u64,
    /// Its time, corrected if that is asked for.
    pub(crate) time: Timestamp,
    /// Where it stands: its time, or that of an earlier event of its location,
    /// if that is later.
    pub(crate) moment: Timestamp,
    /// Its time as recorded.
    pub(crate) raw: Timestamp,
    /// The kind of event, as the format calls it.
    pub(crate) kind: &'static str,
    /// The id of the region that is entered or left.
    region: Option<u32>,
    /// The id of the location it speaks to or hears from.
    pub(crate) peer: Option<u64>,
    /// The bytes that it sends or receives.
    pub(super) bytes: Option<u64>,
    /// Its node, if it has a role in happened-before.
    pub(crate) node: Option<EventNode>,
}

impl Row {
    /// Before the first event of a location.
    pub(super) fn before(location: LocationIndex) -> Self {
        Self {
            location,
            event: 0,
            time: Timestamp(0),
            moment: Timestamp(0),
            raw: Timestamp(0),
            kind: "",
            region: None,
            peer: None,
            bytes: None,
            node: None,
        }
    }

    pub(super) fn read(&mut self, event: &CorrectedEvent) {
        let CorrectedEvent { row, number, .. } = *event;
        *self = Self {
            event: number,
            time: event.corrected.unwrap_or(row.time),
            raw: row.time,
            kind: row.kind,
            region: row.region,
            peer: row.peer,
            bytes: row.bytes,
            ..Self::before(self.location)
        };
    }

    /// Says what node the event is; whoever sent a message that was probed for
    /// before is known by that alone.
    pub(super) fn take_part(&mut self, node: Option<EventNode>, listed: Listed<'_>) {
        self.node = node;
        if self.peer.is_none() {
            let causality = listed.causality;
            let other = |node| {
                causality
                    .message_source(node)
                    .or(causality.message_target(node))
            };
            let location = node
                .and_then(other)
                .map(|it| causality.nodes().location(it));
            let locations = &listed.info.locations;
            self.peer = location
                .and_then(|it| locations.get(it.as_usize()))
                .map(|it| it.id);
        }
    }

    /// The id of the location.
    pub(crate) fn location_id(&self, info: &TraceInfo) -> u64 {
        let location = info.locations.get(self.location.as_usize());
        location.map_or(0, |location| location.id)
    }

    /// The name of the region.
    pub(crate) fn region<'t>(&self, trace: &'t dyn Trace) -> Option<Cow<'t, str>> {
        trace.region(self.region?)
    }
}
