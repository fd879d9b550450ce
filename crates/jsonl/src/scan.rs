//! The causality of a file: from its events to logs.
//!
//! Each event with a role is handed to the [`LogBuilder`] of its location, in the
//! order of the lines. Should an event be stamped earlier than the one before it at
//! its location, it is taken to be as late as that one; the log counts it.

use std::path::Path;

use retime_model::format::{Checksum, FileError, FormatError, Scan};
use retime_model::{LocationIndex, LogBuilder, Monitor, OperationPart, Timestamp};

use crate::kinds::Kinds;
use crate::line::{Part, Partner, Transfer, What};
use crate::open::Open;
use crate::pass::Pass;

/// A location while its events are read.
struct LoggedTrack {
    location: LocationIndex,
    log: LogBuilder,
    kinds: Kinds,
    /// Number of the next event.
    event: u64,
    /// Time of the first event.
    first: u64,
    /// Greatest time so far.
    latest: u64,
    /// Time of the event before.
    before: u64,
}

/// Reads all events of a file; says besides what a reader should know of it.
pub(crate) fn read(path: &Path, monitor: &dyn Monitor) -> Result<(Scan, Vec<String>), FormatError> {
    let mut pass = Pass::open(path, monitor)?;
    let mut tracks: Vec<LoggedTrack> = Vec::new();
    let mut open = Open::default();
    let mut checksum = Checksum::default();
    while let Some(entry) = pass.next()? {
        entry.add_to(&mut checksum);
        let Some(said) = entry.said else {
            continue;
        };
        let location = said.location;
        for index in tracks.len()..=location.as_usize() {
            tracks.push(LoggedTrack::new(LocationIndex(index as u32)));
        }
        if let Some(track) = tracks.get_mut(location.as_usize())
            && let Some(stamp) = said.stamp
        {
            track.take(&said.what, stamp.time, &mut open);
        }
    }
    for index in tracks.len()..pass.places.len() {
        tracks.push(LoggedTrack::new(LocationIndex(index as u32)));
    }
    let rest = checksum.finish();
    let contents = tracks.iter().map(|it| it.kinds.contents(&rest)).collect();
    let logs = tracks.into_iter().map(|it| {
        let (first, last) = (Timestamp(it.first), Timestamp(it.latest));
        let log = it.log.finish(it.event, first, last);
        log.map_err(|source| FileError::log(path, source))
    });
    let info = pass.places.info();
    let warnings = open.noticed.warnings(&info);
    let logs = logs.collect::<Result<_, _>>()?;
    let scan = Scan {
        info,
        logs,
        contents,
    };
    Ok((scan, warnings))
}

impl LoggedTrack {
    fn new(location: LocationIndex) -> Self {
        Self {
            location,
            log: LogBuilder::new(location),
            kinds: Kinds::default(),
            event: 0,
            first: 0,
            latest: 0,
            before: 0,
        }
    }

    fn take(&mut self, what: &What<'_>, time: u64, open: &mut Open) {
        let Some(kind) = what.kind() else {
            return;
        };
        self.kinds.add(kind);
        let event = self.event;
        if event == 0 {
            self.first = time;
        } else {
            open.noticed.follows(self.before, time);
        }
        self.before = time;
        if time < self.latest {
            self.log.stamped_backwards(event);
        } else {
            self.latest = time;
        }
        let time = Timestamp(self.latest);
        match *what {
            What::Heartbeat | What::End | What::Internal => {}
            What::Send(transfer) => self.send(transfer, event, time, open),
            What::Receive(transfer) => self.receive(transfer, event, time, open),
            What::Enter(part) => self.collective(&part, true, event, time, open),
            What::Leave(part) => self.collective(&part, false, event, time, open),
        }
        self.event += 1;
    }

    fn send(&mut self, sent: Transfer<'_>, event: u64, time: Timestamp, open: &mut Open) {
        match sent.partner {
            Partner::Message(id) => {
                self.log
                    .named_send(event, time, open.message(id, true, self.location));
                if sent.length.is_known() {
                    self.log.named_sent(sent.length);
                }
            }
            Partner::Channel(message) => {
                self.log.send(event, time, message, None);
                self.log.sent(sent.length);
            }
        }
    }

    fn receive(&mut self, received: Transfer<'_>, event: u64, time: Timestamp, open: &mut Open) {
        match received.partner {
            Partner::Message(id) => {
                self.log
                    .named_receive(event, time, open.message(id, false, self.location));
            }
            Partner::Channel(message) => {
                self.log.receive(event, time, message);
                self.log.received(received.length);
            }
        }
    }

    fn collective(
        &mut self,
        part: &Part<'_>,
        is_begin: bool,
        event: u64,
        time: Timestamp,
        open: &mut Open,
    ) {
        if !part.counts {
            return;
        }
        let what = OperationPart {
            id: open.operation(part, is_begin),
            class: part.class,
            rank: part.rank,
            expected: if is_begin { part.begins } else { part.ends },
        };
        if is_begin {
            self.log.named_begin(event, time, what);
        } else {
            self.log.named_end(event, time, what);
        }
    }
}
