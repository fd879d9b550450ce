//! The events of a location as they stand in a list.

use retime_model::format::{EventRow, EventRows, FormatError};
use retime_model::{LocationIndex, Timestamp};
use retime_otf2::{Event, EventData, EventReader, Otf2Trace};

use crate::failed;

/// Reads them one by one; one chunk of the file is in memory.
pub(super) struct Rows<'a> {
    trace: &'a Otf2Trace,
    reader: EventReader,
    /// The id of who communicates for the location.
    own: u64,
}

impl<'a> Rows<'a> {
    pub(super) fn open(trace: &'a Otf2Trace, location: LocationIndex) -> Result<Self, FormatError> {
        let local = trace.local(location).map_err(failed)?;
        let reader = EventReader::mapped(trace.archive(), local).map_err(failed)?;
        let locations = &trace.info().locations;
        let own = locations.get(location.as_usize());
        let endpoint = own.and_then(|own| locations.get(own.endpoint.as_usize()));
        Ok(Self {
            trace,
            reader,
            own: endpoint.map_or(0, |endpoint| endpoint.id),
        })
    }
}

impl EventRows for Rows<'_> {
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError> {
        match self.reader.next().map_err(failed)? {
            Some(event) => row(&event, self.trace, self.own).map(Some),
            None => Ok(None),
        }
    }
}

fn row(event: &Event<'_>, trace: &Otf2Trace, own: u64) -> Result<EventRow, FormatError> {
    let definitions = trace.definitions();
    let (mut region, mut peer) = (None, None);
    match event.data().map_err(failed)? {
        EventData::Enter { region: id } | EventData::Leave { region: id } => region = Some(id.0),
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
        peer,
    })
}
