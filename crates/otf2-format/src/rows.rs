//! The events of a location as they stand in a list.

use retime_model::format::{EventRow, EventRows, FormatError};
use retime_model::{LocationIndex, Timestamp};
use retime_otf2::schema::Class;
use retime_otf2::{Event, EventReader, Otf2Trace};

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
    let mut row = EventRow {
        time: Timestamp(event.time),
        kind: event.name(),
        region: None,
        peer: None,
    };
    let (mut rank, mut comm, mut window) = (None, None, None);
    for field in event.fields() {
        let field = field.map_err(|error| failed(event.error(error)))?;
        let value = || field.value.unsigned().and_then(|it| u32::try_from(it).ok());
        match (field.class, field.name()) {
            (Some(Class::Region), _) => row.region = value(),
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
        row.peer = members.and_then(|members| members.location(own, rank));
    }
    Ok(row)
}
