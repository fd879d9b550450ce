//! The command `retime` with a format of one's own that is only read: sends and receives as
//! CSV, times in nanoseconds.
//!
//! ```text
//! time,location,event,message
//! 1000,client,send,1
//! 900,server,receive,1
//! ```
//!
//! ```text
//! cargo run --example own_format -- check calls.csv
//! cargo run --example own_format -- correct calls.csv -o calls.jsonl --merged
//! cargo run --example own_format -- export calls.csv -o calls.pftrace
//! ```
//!
//! Nine short methods are all that a format needs to be checked, compared, listed, exported
//! and viewed; to write it corrected, with a way back, takes `Rewrite` besides.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use retime::causality::{LogBuilder, MessageId};
use retime::format::{
    Contents, EventRow, EventRows, Format, FormatError, Recognition, Scan, Trace,
};
use retime::{
    Location, LocationIndex, Monitor, Process, TickRate, Timestamp, TraceInfo, printable_path,
};

const HEADER: &str = "time,location,event,message";

#[derive(Debug, thiserror::Error)]
#[error("{}: line {line}: {what}", printable_path(path))]
struct BadLine {
    path: PathBuf,
    line: usize,
    what: String,
}

/// One line.
#[derive(Clone, Copy)]
struct Event {
    time: Timestamp,
    is_send: bool,
    message: u64,
}

/// A file that was read.
struct Calls {
    path: PathBuf,
    bytes: u64,
    /// The events of each location, in the order of its lines.
    locations: BTreeMap<String, Vec<Event>>,
}

impl Calls {
    fn read(path: &Path) -> Result<Self, FormatError> {
        let text = fs::read_to_string(path).map_err(FormatError::failed)?;
        let mut locations: BTreeMap<String, Vec<Event>> = BTreeMap::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            let bad = |what: &str| {
                FormatError::failed(BadLine {
                    path: path.to_owned(),
                    line: number + 1,
                    what: what.to_owned(),
                })
            };
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let [time, location, event, message] = fields[..] else {
                return Err(bad("has not the four fields of the first line"));
            };
            let event = Event {
                time: Timestamp(time.parse().map_err(|_| bad("the time is no number"))?),
                is_send: match event {
                    "send" => true,
                    "receive" => false,
                    _ => return Err(bad("the event is neither send nor receive")),
                },
                message: message
                    .parse()
                    .map_err(|_| bad("the message is no number"))?,
            };
            locations
                .entry(location.to_owned())
                .or_default()
                .push(event);
        }
        Ok(Self {
            path: path.to_owned(),
            bytes: text.len() as u64,
            locations,
        })
    }

    /// Each location is a process of its own, with a clock of its own.
    fn info(&self) -> TraceInfo {
        let names = self.locations.keys().zip(0..);
        TraceInfo {
            rate: TickRate::NANOSECONDS,
            locations: names
                .map(|(name, at)| Location {
                    id: u64::from(at),
                    name: name.clone(),
                    process: at as usize,
                    endpoint: LocationIndex(at),
                })
                .collect(),
            processes: vec![
                Process {
                    name: String::new(),
                    node: None,
                    creator: None,
                };
                self.locations.len()
            ],
            nodes: Vec::new(),
            communicators: Vec::new(),
            streams: Vec::new(),
            set_back: Vec::new(),
        }
    }
}

impl Trace for Calls {
    fn format(&self) -> &'static str {
        "CSV of calls"
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError> {
        let mut logs = Vec::new();
        for (events, at) in self.locations.values().zip(0..) {
            monitor.check()?;
            let mut log = LogBuilder::new(LocationIndex(at));
            let mut latest = Timestamp(0);
            for (event, number) in events.iter().zip(0..) {
                if event.time < latest {
                    log.stamped_backwards(number);
                }
                latest = latest.max(event.time);
                let id = MessageId::number(event.message);
                if event.is_send {
                    log.named_send(number, latest, id);
                } else {
                    log.named_receive(number, latest, id);
                }
            }
            let first = events.first().map_or(latest, |it| it.time);
            let log = log.finish(events.len() as u64, first, latest);
            logs.push(log.map_err(FormatError::failed)?);
        }
        Ok(Scan {
            info: self.info(),
            contents: vec![Contents::default(); logs.len()],
            logs,
        })
    }

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        let events = self.locations.values().nth(location.as_usize());
        Ok(Box::new(Rows(events.into_iter().flatten())))
    }
}

/// The rest of the events of a location.
struct Rows<I>(I);

impl<'a, I: Iterator<Item = &'a Event> + Send> EventRows for Rows<I> {
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError> {
        Ok(self.0.next().map(|event| EventRow {
            time: event.time,
            kind: if event.is_send { "send" } else { "receive" },
            ..EventRow::default()
        }))
    }
}

struct CsvOfCalls;

impl Format for CsvOfCalls {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn describe(&self) -> &'static str {
        "a CSV of sends and receives"
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        if path.extension().is_none_or(|it| it != "csv") || !path.is_file() {
            return Ok(Recognition::No);
        }
        let text = fs::read_to_string(path)?;
        let is_one = text.lines().next() == Some(HEADER);
        Ok(if is_one {
            Recognition::Certain
        } else {
            Recognition::Possible
        })
    }

    fn open_watched(&self, path: &Path, _: &dyn Monitor) -> Result<Box<dyn Trace>, FormatError> {
        Ok(Box::new(Calls::read(path)?))
    }
}

fn main() -> ExitCode {
    let mut formats = retime_cli::FORMATS.to_vec();
    formats.push(&CsvOfCalls);
    retime_cli::run_with(&formats, retime_methods::METHODS)
}
