//! A trace in memory, of events that a test makes up.

use std::borrow::Cow;
use std::path::Path;

use retime::causality::{CausalityOptions, Collective, LogBuilder, Message, Operation, Root};
use retime::format::{EventRow, EventRows, FormatError, Passage, Scan, Trace};
use retime::{
    Causality, Communicator, Correction, Location, LocationIndex, Members, Monitor, Process,
    TickRate, Timestamp, TraceInfo,
};
use retime_export::{ExportError, Exported, Shown, export};

/// Of all locations.
const BARRIER: Collective = Collective {
    communicator: 0,
    operation: Operation::Barrier,
    root: Root::None,
    sent: true,
    received: true,
};

/// What an event does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Enter(u32),
    Leave(u32),
    Send(u32),
    Receive(u32),
    /// A barrier of all is entered.
    Arrive,
    /// A barrier of all is left.
    Depart,
    Nothing,
}

/// The events of each location, with their times.
#[derive(Clone, Debug)]
pub(crate) struct Program(pub(crate) Vec<Vec<(u64, What)>>);

struct Rows<'a>(std::slice::Iter<'a, (u64, What)>);

impl EventRows for Rows<'_> {
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError> {
        Ok(self.0.next().map(|&(time, what)| {
            let (kind, region, passage) = match what {
                What::Enter(id) => ("Enter", Some(id), Some(Passage::Enter)),
                What::Leave(id) => ("Leave", Some(id), Some(Passage::Leave)),
                What::Send(_) => ("send", None, None),
                What::Receive(_) => ("receive", None, None),
                What::Arrive => ("begin", None, None),
                What::Depart => ("end", None, None),
                What::Nothing => ("internal", None, None),
            };
            let peer = match what {
                What::Send(peer) | What::Receive(peer) => Some(10 * u64::from(peer)),
                _ => None,
            };
            EventRow {
                time: Timestamp(time),
                kind,
                region,
                passage,
                peer,
                bytes: peer.map(|_| 64),
                tag: peer.map(|_| 7),
                communicator: peer.map(|_| 0),
            }
        }))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("this trace is only listed")]
struct Listed;

fn listed<T>() -> Result<T, FormatError> {
    Err(FormatError::failed(Listed))
}

impl Trace for Program {
    fn format(&self) -> &'static str {
        "made up"
    }

    fn path(&self) -> &Path {
        Path::new("program")
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn scan(&self, _: &dyn Monitor) -> Result<Scan, FormatError> {
        listed()
    }

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        Ok(Box::new(Rows(self.0[location.as_usize()].iter())))
    }

    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        Some(format!("region {id}").into())
    }

    fn region_paradigm(&self, id: u32) -> Option<&'static str> {
        (id == 1).then_some("MPI")
    }
}

impl Program {
    /// Locations in processes of two.
    pub(crate) fn info(&self, rate: u64) -> TraceInfo {
        let count = self.0.len() as u32;
        let location = |at: u32| Location {
            id: u64::from(10 * at),
            name: format!("thread {at}"),
            process: at as usize / 2,
            endpoint: LocationIndex(at),
        };
        let process = |at: usize| Process {
            name: format!("rank {at}"),
            node: Some(0),
            creator: None,
        };
        let all = (0..count).map(LocationIndex).collect();
        TraceInfo {
            rate: TickRate::per_second(rate).unwrap(),
            locations: (0..count).map(location).collect(),
            processes: (0..self.0.len().div_ceil(2)).map(process).collect(),
            nodes: vec!["host".into()],
            streams: Vec::new(),
            set_back: Vec::new(),
            communicators: vec![Communicator {
                name: "world".into(),
                members: Members::Ranks(all),
            }],
        }
    }

    /// The file with what is shown of it, and corrected.
    pub(crate) fn exported(
        &self,
        rate: u64,
        correction: &Correction,
        shown: &Shown,
    ) -> Result<Vec<u8>, ExportError> {
        let info = self.info(rate);
        let exported = Exported {
            trace: self,
            info: &info,
            causality: &self.causality(&info),
            clocks: correction.clocks(),
            correction: Some(correction),
            bounds: None,
        };
        let mut file = Vec::new();
        export(&exported, shown, &mut file, &())?;
        Ok(file)
    }

    /// What depends on what.
    pub(crate) fn causality(&self, info: &TraceInfo) -> Causality {
        let log = |(location, events): (usize, &Vec<(u64, What)>)| {
            let mut log = LogBuilder::new(LocationIndex(location as u32));
            // What is stamped before its predecessor waits for that.
            let mut latest = 0;
            for (number, &(time, what)) in (0..).zip(events) {
                latest = latest.max(time);
                let message = |peer| Message {
                    communicator: 0,
                    peer: LocationIndex(peer),
                    tag: 0,
                };
                match what {
                    What::Send(to) => log.send(number, Timestamp(latest), message(to), None),
                    What::Receive(from) => log.receive(number, Timestamp(latest), message(from)),
                    What::Arrive => log.collective_begin(number, Timestamp(latest)),
                    What::Depart => log.collective_end(number, Timestamp(latest), BARRIER),
                    _ => {}
                }
            }
            let times = || events.iter().map(|it| it.0);
            let (first, last) = (times().min(), times().max());
            let ends = (first.unwrap_or_default(), last.unwrap_or_default());
            let count = events.len() as u64;
            log.finish(count, Timestamp(ends.0), Timestamp(ends.1))
                .unwrap()
        };
        let logs = self.0.iter().enumerate().map(log).collect();
        Causality::build(info, logs, CausalityOptions::default()).unwrap()
    }
}
