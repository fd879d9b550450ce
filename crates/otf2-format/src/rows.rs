//! The events of a location as they stand in a list.

use retime_model::format::{EventRow, EventRows, FormatError, Passage};
use retime_model::{LocationIndex, Timestamp};
use retime_otf2::{Definitions, Event, EventData, EventReader};

use crate::archive::Archive;
use crate::error::failed;

/// Reads them one by one; one chunk of the file is in memory.
pub(super) struct Rows<'a> {
    definitions: &'a Definitions,
    reader: EventReader,
    /// The id of who communicates for the location.
    own: u64,
}

impl<'a> Rows<'a> {
    pub(super) fn open(archive: &'a Archive, location: LocationIndex) -> Result<Self, FormatError> {
        let locations = &archive.description.info.locations;
        let own = locations.get(location.as_usize());
        let endpoint = own.and_then(|own| locations.get(own.endpoint.as_usize()));
        Ok(Self {
            definitions: archive.otf2.definitions(),
            reader: archive.otf2.events(location).map_err(failed)?,
            own: endpoint.map_or(0, |endpoint| endpoint.id),
        })
    }
}

impl EventRows for Rows<'_> {
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError> {
        match self.reader.next().map_err(failed)? {
            Some(event) => row(&event, self.definitions, self.own).map(Some),
            None => Ok(None),
        }
    }
}

fn row(event: &Event<'_>, definitions: &Definitions, own: u64) -> Result<EventRow, FormatError> {
    let (mut passage, mut region, mut peer) = (None, None, None);
    match event.data().map_err(failed)? {
        EventData::Enter { region: id } => {
            (region, passage) = (Some(id.0), Some(Passage::Enter));
        }
        EventData::Leave { region: id } => {
            (region, passage) = (Some(id.0), Some(Passage::Leave));
        }
        EventData::MpiSend {
            receiver: rank,
            communicator,
            ..
        }
        | EventData::MpiIsend {
            receiver: rank,
            communicator,
            ..
        }
        | EventData::MpiRecv {
            sender: rank,
            communicator,
            ..
        }
        | EventData::MpiIrecv {
            sender: rank,
            communicator,
            ..
        }
        | EventData::MpiProbe {
            sender: rank,
            communicator,
            ..
        } => {
            let members = definitions.comm_members(communicator);
            peer = members.and_then(|members| members.location(own, rank));
        }
        EventData::RmaRequestLock { win, remote, .. }
        | EventData::RmaAcquireLock { win, remote, .. }
        | EventData::RmaTryLock { win, remote, .. }
        | EventData::RmaReleaseLock { win, remote, .. }
        | EventData::RmaSync { win, remote, .. }
        | EventData::RmaPut { win, remote, .. }
        | EventData::RmaGet { win, remote, .. }
        | EventData::RmaAtomic { win, remote, .. } => {
            let members = definitions.window_members(win);
            peer = members.and_then(|members| members.location(own, remote));
        }
        _ => {}
    }
    Ok(EventRow {
        time: Timestamp(event.time),
        kind: event.name(),
        region,
        passage,
        peer,
    })
}
