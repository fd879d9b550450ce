//! The facts that an archive states about collective operations: kind, communicator, and bytes.
//!
//! All of them stand in the record of the end; a begin has those of the end that completes it,
//! which is the next one of a blocking call, and else that of the same request.

use std::collections::HashMap;

use retime_model::LocationIndex;
use retime_model::format::OperationFacts;
use retime_otf2::{CollectiveOp, EventData};

use crate::archive::Archive;

/// The facts about the operations that some events of a location begin or end, given by rising
/// number: for each event, or nothing where the archive cannot be read or states none.
pub(super) fn of(
    archive: &Archive,
    location: LocationIndex,
    events: &[u32],
) -> Vec<OperationFacts> {
    let mut found = Found {
        archive,
        events,
        facts: vec![OperationFacts::default(); events.len()],
        begun: None,
        requested: HashMap::new(),
    };
    match found.read(location) {
        Ok(()) if found.facts.iter().any(|it| it.kind.is_some()) => found.facts,
        _ => Vec::new(),
    }
}

struct Found<'a> {
    archive: &'a Archive,
    events: &'a [u32],
    /// Beside `events`.
    facts: Vec<OperationFacts>,
    /// The place in `events` of the begin of the blocking call that is open.
    begun: Option<usize>,
    /// The places of those of non-blocking ones, by request.
    requested: HashMap<u64, usize>,
}

impl Found<'_> {
    fn read(&mut self, location: LocationIndex) -> retime_otf2::Result<()> {
        let mut reader = self.archive.otf2.events(location)?;
        let mut place = 0;
        let mut number = 0;
        while let (Some(&wanted), Some(event)) = (self.events.get(place), reader.next()?) {
            if number == wanted {
                self.take(place, &event.data()?);
                place += 1;
            }
            number += 1;
        }
        Ok(())
    }

    fn take(&mut self, place: usize, data: &EventData) {
        match *data {
            EventData::MpiCollectiveBegin | EventData::RmaCollectiveBegin => {
                self.begun = Some(place);
            }
            EventData::NonBlockingCollectiveRequest { request } => {
                self.requested.insert(request, place);
            }
            EventData::MpiCollectiveEnd {
                collective_op,
                communicator,
                size_sent,
                size_received,
                ..
            } => {
                let group = self.archive.description.handles.get(&communicator).copied();
                let facts = self.facts(collective_op, group, size_sent.max(size_received));
                let begin = self.begun.take();
                self.ended(begin, place, &facts);
            }
            EventData::NonBlockingCollectiveComplete {
                collective_op,
                communicator,
                size_sent,
                size_received,
                request,
                ..
            } => {
                let group = self.archive.description.handles.get(&communicator).copied();
                let facts = self.facts(collective_op, group, size_sent.max(size_received));
                let begin = self.requested.remove(&request);
                self.ended(begin, place, &facts);
            }
            EventData::RmaCollectiveEnd {
                collective_op,
                win,
                bytes_sent,
                bytes_received,
                ..
            } => {
                let window = self.archive.description.windows.get(&win);
                let group = window.map(|it| it.handle);
                let facts = self.facts(collective_op, group, bytes_sent.max(bytes_received));
                let begin = self.begun.take();
                self.ended(begin, place, &facts);
            }
            _ => {}
        }
    }

    fn facts(&self, kind: CollectiveOp, group: Option<u32>, bytes: u64) -> OperationFacts {
        let communicators = &self.archive.info().communicators;
        let group = group.and_then(|it| communicators.get(it as usize));
        OperationFacts {
            kind: Some(kind.to_string()),
            group: group.map(|it| it.name.clone()),
            sequence: None,
            bytes: Some(bytes),
        }
    }

    fn ended(&mut self, begin: Option<usize>, end: usize, facts: &OperationFacts) {
        for place in begin.into_iter().chain([end]) {
            if let Some(it) = self.facts.get_mut(place) {
                it.clone_from(facts);
            }
        }
    }
}
