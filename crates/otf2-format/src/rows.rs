//! The events of a location as they stand in a list.

use retime_model::format::{EventRow, EventRows, FormatError, Passage};
use retime_model::{LocationIndex, Timestamp};
use retime_otf2::{CommRef, Event, EventData, EventReader, Paradigm};

use crate::archive::Archive;
use crate::error::failed;

/// The events of one location, read one by one; one chunk of the file is in memory.
pub(super) struct Rows<'a> {
    archive: &'a Archive,
    reader: EventReader,
    /// The id of the location that communicates for this one.
    own: u64,
}

impl<'a> Rows<'a> {
    pub(super) fn open(archive: &'a Archive, location: LocationIndex) -> Result<Self, FormatError> {
        let locations = &archive.description.info.locations;
        let own = locations.get(location.as_usize());
        let endpoint = own.and_then(|own| locations.get(own.endpoint.as_usize()));
        Ok(Self {
            archive,
            reader: archive.otf2.events(location).map_err(failed)?,
            own: endpoint.map_or(0, |endpoint| endpoint.id),
        })
    }
}

impl EventRows for Rows<'_> {
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError> {
        match self.reader.next().map_err(failed)? {
            Some(event) => row(&event, self.archive, self.own).map(Some),
            None => Ok(None),
        }
    }
}

/// The paradigm that events of a kind are of, by the names that OTF2 gives them.
pub(super) fn paradigm(kind: &str) -> Option<Paradigm> {
    let begins = |with| kind.starts_with(with);
    match () {
        () if begins("Mpi") || begins("NonBlockingCollective") => Some(Paradigm::MPI),
        () if begins("Omp") => Some(Paradigm::OPENMP),
        () => None,
    }
}

fn row(event: &Event<'_>, archive: &Archive, own: u64) -> Result<EventRow, FormatError> {
    let mut row = EventRow {
        time: Timestamp(event.time),
        kind: event.name(),
        ..EventRow::default()
    };
    let data = event.data().map_err(failed)?;
    match data {
        EventData::Enter { region } => {
            (row.region, row.passage) = (Some(region.0), Some(Passage::Enter));
        }
        EventData::Leave { region } => {
            (row.region, row.passage) = (Some(region.0), Some(Passage::Leave));
        }
        EventData::MpiCollectiveEnd {
            communicator,
            size_sent,
            size_received,
            ..
        }
        | EventData::NonBlockingCollectiveComplete {
            communicator,
            size_sent,
            size_received,
            ..
        } => {
            row.communicator = handle(archive, communicator);
            row.bytes = Some(size_sent.max(size_received));
        }
        EventData::RmaRequestLock { win, remote, .. }
        | EventData::RmaAcquireLock { win, remote, .. }
        | EventData::RmaTryLock { win, remote, .. }
        | EventData::RmaReleaseLock { win, remote, .. }
        | EventData::RmaSync { win, remote, .. }
        | EventData::RmaPut { win, remote, .. }
        | EventData::RmaGet { win, remote, .. }
        | EventData::RmaAtomic { win, remote, .. } => {
            let members = archive.otf2.definitions().window_members(win);
            row.peer = members.and_then(|members| members.location(own, remote));
        }
        _ => add_message(&mut row, &data, archive, own),
    }
    Ok(row)
}

/// Adds whom an event sends a message or receives one from, if it does.
fn add_message(row: &mut EventRow, data: &EventData, archive: &Archive, own: u64) {
    let (rank, communicator, tag) = match *data {
        EventData::MpiSend {
            receiver: rank,
            communicator,
            tag,
            length,
        }
        | EventData::MpiIsend {
            receiver: rank,
            communicator,
            tag,
            length,
            ..
        }
        | EventData::MpiRecv {
            sender: rank,
            communicator,
            tag,
            length,
        }
        | EventData::MpiIrecv {
            sender: rank,
            communicator,
            tag,
            length,
            ..
        } => {
            row.bytes = Some(length);
            (rank, communicator, tag)
        }
        EventData::MpiProbe {
            sender,
            communicator,
            tag,
            ..
        } => (sender, communicator, tag),
        _ => return,
    };
    let members = archive.otf2.definitions().comm_members(communicator);
    row.peer = members.and_then(|members| members.location(own, rank));
    row.communicator = handle(archive, communicator);
    row.tag = Some(tag);
}

/// The communicator as the description of the trace knows it.
fn handle(archive: &Archive, communicator: CommRef) -> Option<u32> {
    archive.description.handles.get(&communicator).copied()
}
