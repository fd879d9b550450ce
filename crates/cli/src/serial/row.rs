//! What a list of events says of one of them.

use std::borrow::Cow;

use retime::{Causality, LocationIndex, Timestamp};
use retime_otf2::schema::Class;
use retime_otf2::{Event, Otf2Trace};

use crate::error::CliError;

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
    /// What it is, as OTF2 calls it.
    pub(crate) kind: &'static str,
    /// The id of the region that is entered or left.
    region: Option<u32>,
    /// The id of the location it speaks to or hears from.
    pub(crate) peer: Option<u64>,
    /// Its node, if it has a role in happened-before.
    pub(crate) node: Option<u32>,
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
            node: None,
        }
    }

    pub(super) fn read(
        &mut self,
        event: &Event<'_>,
        number: u64,
        trace: &Otf2Trace,
    ) -> Result<(), CliError> {
        *self = Self {
            event: number,
            time: Timestamp(event.time),
            raw: Timestamp(event.time),
            kind: event.name(),
            ..Self::before(self.location)
        };
        let (mut rank, mut comm, mut window) = (None, None, None);
        for field in event.fields() {
            let field = field.map_err(|error| event.error(error))?;
            let value = || field.value.unsigned().and_then(|it| u32::try_from(it).ok());
            match (field.class, field.name()) {
                (Some(Class::Region), _) => self.region = value(),
                (Some(Class::Comm), _) => comm = value(),
                (Some(Class::RmaWin), _) => window = value(),
                (_, "receiver" | "sender" | "remote") => rank = value(),
                _ => {}
            }
        }
        if let Some(rank) = rank {
            let definitions = trace.definitions();
            let members = match window {
                Some(window) => definitions.window_members(window),
                None => comm.and_then(|comm| definitions.comm_members(comm)),
            };
            let own = self.own(trace);
            self.peer = members.and_then(|members| members.location(own, rank));
        }
        Ok(())
    }

    /// Says what node the event is; whoever sent a message that was probed for
    /// before is known by that alone.
    pub(super) fn take_part(
        &mut self,
        node: Option<u32>,
        trace: &Otf2Trace,
        causality: &Causality,
    ) {
        self.node = node;
        if self.peer.is_none() {
            let other = |node| {
                causality
                    .message_source(node)
                    .or(causality.message_target(node))
            };
            let location = node
                .and_then(other)
                .map(|it| causality.nodes().location(it));
            let locations = &trace.info().locations;
            self.peer = location
                .and_then(|it| locations.get(it.as_usize()))
                .map(|it| it.id);
        }
    }

    /// Who communicates for the location.
    fn own(&self, trace: &Otf2Trace) -> u64 {
        let locations = &trace.info().locations;
        let own = locations.get(self.location.as_usize());
        let endpoint = own.and_then(|own| locations.get(own.endpoint.as_usize()));
        endpoint.map_or(0, |endpoint| endpoint.id)
    }

    /// The id of the location.
    pub(crate) fn location_id(&self, trace: &Otf2Trace) -> u64 {
        let location = trace.info().locations.get(self.location.as_usize());
        location.map_or(0, |location| location.id)
    }

    /// The name of the region.
    pub(crate) fn region<'t>(&self, trace: &'t Otf2Trace) -> Option<Cow<'t, str>> {
        let definitions = trace.definitions();
        let region = definitions.regions.get(self.region?)?;
        Some(definitions.text(region.name))
    }
}
