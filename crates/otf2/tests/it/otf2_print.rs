//! Real traces against the text that `otf2-print` shows of them.
//!
//! The events of every location are turned into the same text, names and
//! resolved ranks included, and compared line by line.

// Failing is how a test reports.
use crate::common;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use retime_otf2::{
    Archive, Attribute, AttributeValue, CollectiveRoot, CommRef, Definitions, Event, EventData,
    EventReader, LocalDefinitions, Members, MetricRef, MetricValue, StringRef,
};

/// Event lines by location.
type Lines = BTreeMap<u64, Vec<String>>;

/// What `otf2-print` shows; `None`, and a note, if it is not installed.
fn printed(anchor: &Path) -> Option<Lines> {
    let Ok(output) = Command::new("otf2-print").arg(anchor).output() else {
        println!("skipped: otf2-print is not installed");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = Lines::new();
    let mut current = None;
    for line in text.lines() {
        if line.contains("=== Snapshots") {
            break;
        }
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        if name == "ADDITIONAL" {
            let of = current.expect("an event before its attributes");
            let list: &mut Vec<String> = lines.entry(of).or_default();
            let event = list.last_mut().expect("an event before its attributes");
            event.push_str(" | ");
            event.push_str(
                line.trim_start()
                    .trim_start_matches("ADDITIONAL ATTRIBUTES: "),
            );
        } else if let (Some(Ok(location)), Some(Ok(time))) = (
            words.next().map(str::parse::<u64>),
            words.next().map(str::parse::<u64>),
        ) {
            let rest = line
                .split_once(&format!(" {time} "))
                .map_or("", |(_, rest)| rest);
            let shown = format!("{name} {time} {}", rest.trim());
            let shown = shown.trim_end().to_owned();
            lines.entry(location).or_default().push(shown);
            current = Some(location);
        }
    }
    Some(lines)
}

/// The same text, made from what we read.
struct Printer {
    definitions: Definitions,
}

impl Printer {
    fn archive(archive: &Archive, full: bool) -> Lines {
        let printer = Self {
            definitions: Definitions::read(archive).expect("sound"),
        };
        let locations = printer.definitions.location_ids();
        let locals = LocalDefinitions::read_all(archive, &locations, &()).expect("sound");
        let mut lines = Lines::new();
        for local in &locals {
            let mut events = EventReader::mapped(archive, local).expect("sound");
            while let Some(event) = events.next().expect("sound") {
                let mut line = format!("{} {}", upper(event.name()), event.time);
                if full {
                    let fields = printer.fields(&event);
                    let space = if fields.is_empty() { "" } else { " " };
                    line = [&line, space, &fields, &printer.attributes(&event)].concat();
                }
                lines.entry(local.location).or_default().push(line);
            }
        }
        lines
    }

    fn fields(&self, event: &Event<'_>) -> String {
        match event.data().expect("sound") {
            EventData::Enter { region } | EventData::Leave { region } => {
                let name = self.definitions.regions.get(region).map(|r| r.name);
                format!("Region: {}", self.named(region, name))
            }
            EventData::MpiCollectiveBegin => String::new(),
            EventData::MpiIsendComplete { request } | EventData::MpiIrecvRequest { request } => {
                format!("Request: {request}")
            }
            EventData::MpiSend {
                receiver: peer,
                communicator,
                tag,
                length,
            } => self.message(event, ("Receiver", peer), communicator, (tag, length)),
            EventData::MpiRecv {
                sender: peer,
                communicator,
                tag,
                length,
            } => self.message(event, ("Sender", peer), communicator, (tag, length)),
            EventData::MpiIsend {
                receiver: peer,
                communicator,
                tag,
                length,
                request,
            } => {
                let sent = self.message(event, ("Receiver", peer), communicator, (tag, length));
                format!("{sent}, Request: {request}")
            }
            EventData::MpiIrecv {
                sender: peer,
                communicator,
                tag,
                length,
                request,
            } => {
                let received = self.message(event, ("Sender", peer), communicator, (tag, length));
                format!("{received}, Request: {request}")
            }
            EventData::MpiCollectiveEnd {
                collective_op,
                communicator,
                root,
                size_sent,
                size_received,
            } => {
                let root = match root {
                    CollectiveRoot::None => "NONE".to_owned(),
                    CollectiveRoot::Itself => "SELF".to_owned(),
                    CollectiveRoot::ThisGroup => "THIS GROUP".to_owned(),
                    CollectiveRoot::Rank(rank) => self.rank(event, communicator, rank),
                };
                format!(
                    "Operation: {}, Communicator: {}, Root: {root}, Sent: {size_sent}, \
                     Received: {size_received}",
                    collective_op.to_string().to_uppercase(),
                    self.comm(communicator),
                )
            }
            EventData::ThreadBegin {
                thread_contingent,
                sequence_count,
            }
            | EventData::ThreadEnd {
                thread_contingent,
                sequence_count,
            } => format!(
                "Thread Contingent: {}, Sequence Count: {sequence_count}",
                self.comm(thread_contingent),
            ),
            EventData::Metric { metric, values } => self.metric(metric, &values),
            EventData::ProgramBegin {
                program_name,
                arguments,
            } => format!(
                "Name: {}, {} Arguments",
                self.named(program_name, Some(program_name)),
                arguments.len()
            ),
            EventData::ProgramEnd { exit_status: None } => "Exit status: UNDEFINED".to_owned(),
            EventData::ProgramEnd {
                exit_status: Some(status),
            } => format!("Exit status: {status}"),
            other => panic!("{other:?} is in no trace of this test"),
        }
    }

    fn message(
        &self,
        event: &Event<'_>,
        (role, peer): (&str, u32),
        comm: CommRef,
        (tag, length): (u32, u64),
    ) -> String {
        format!(
            "{role}: {}, Communicator: {}, Tag: {tag}, Length: {length}",
            self.rank(event, comm, peer),
            self.comm(comm),
        )
    }

    fn metric(&self, metric: MetricRef, values: &[MetricValue]) -> String {
        let class = self.definitions.metric_classes.get(metric);
        let shown: Vec<String> = class
            .expect("the class is defined")
            .members
            .iter()
            .zip(values)
            .map(|(&id, &value)| {
                let member = self.definitions.metric_members.get(id).map(|m| m.name);
                let MetricValue::Unsigned(value) = value else {
                    panic!("all metrics of these traces are UINT64, not {value:?}")
                };
                format!("({}; UINT64; {value})", self.named(id, member))
            })
            .collect();
        let plural = if values.len() == 1 { "" } else { "s" };
        format!(
            "Metric: {}, {} Value{plural}: {}",
            metric.0,
            values.len(),
            shown.join(", ")
        )
    }

    fn attributes(&self, event: &Event<'_>) -> String {
        let attributes = event.decode_attributes().expect("sound");
        let shown: Vec<String> = attributes.iter().map(|a| self.attribute(a)).collect();
        match shown.as_slice() {
            [] => String::new(),
            shown => format!(" | {}", shown.join(", ")),
        }
    }

    fn attribute(&self, &Attribute { attribute, value }: &Attribute) -> String {
        let AttributeValue::U64(value) = value else {
            panic!("all attributes of these traces are UINT64, not {value:?}")
        };
        let name = self.definitions.attributes.get(attribute).map(|a| a.name);
        format!("({}; UINT64; {value})", self.named(attribute, name))
    }

    fn rank(&self, event: &Event<'_>, comm: CommRef, rank: u32) -> String {
        let members: &Members = self.definitions.comm_members(comm).expect("resolved");
        let location = members.location(event.location, rank).expect("a member");
        let name = self.definitions.locations.get(location).map(|l| l.name);
        format!("{rank} ({})", self.named(location, name))
    }

    fn comm(&self, comm: CommRef) -> String {
        self.named(comm, self.definitions.comms.get(comm).map(|c| c.name))
    }

    fn named(&self, id: impl Into<u64>, name: Option<StringRef>) -> String {
        let id = id.into();
        match name {
            Some(name) => format!("\"{}\" <{id}>", self.definitions.text(name)),
            None if id == u64::from(u32::MAX) => "UNDEFINED".to_owned(),
            None => id.to_string(),
        }
    }
}

/// `MpiIsend` as `MPI_ISEND`.
fn upper(name: &str) -> String {
    match name {
        "ParameterInt" => return "PARAMETER_INT64".to_owned(),
        "ParameterUnsignedInt" => return "PARAMETER_UINT64".to_owned(),
        "IoChangeStatusFlags" => return "IO_CHANGE_FLAGS".to_owned(),
        _ => {}
    }
    let mut upper = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !upper.is_empty() {
            upper.push('_');
        }
        upper.extend(letter.to_uppercase());
    }
    upper
}

/// Compares all events of a trace, or only their types and times.
fn compare(trace: &str, below: &str, full: bool) {
    let Some((_dir, path)) = common::unpack(trace) else {
        return;
    };
    let archive = Archive::open(path.join(below)).expect("sound");
    let anchor: PathBuf = archive.anchor_path().to_owned();
    let Some(mut theirs) = printed(&anchor) else {
        return;
    };
    let ours = Printer::archive(&archive, full);
    if !full {
        for line in theirs.values_mut().flatten() {
            let words: Vec<&str> = line.splitn(3, ' ').take(2).collect();
            *line = words.join(" ");
        }
    }
    assert!(ours.keys().eq(theirs.keys()), "{trace}: other locations");
    let mut events = 0;
    for (location, ours) in &ours {
        let theirs = &theirs[location];
        for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            assert_eq!(
                ours,
                theirs,
                "{trace}, location {location}, event {}",
                number + 1
            );
        }
        assert_eq!(ours.len(), theirs.len(), "{trace}, location {location}");
        events += ours.len();
    }
    println!("{trace}: {events} events are equal");
}

#[test]
fn simulated_clocks() {
    compare("rtns.mono", "", true);
    compare("dr.mono", "", true);
}

#[test]
fn one_common_clock() {
    compare("halo4.otf2d", "", true);
    compare("ring4.otf2d", "", true);
    compare("colls4.otf2d", "", true);
}

#[test]
fn eztrace() {
    compare("ezr1", "ring_trace", true);
}

#[test]
fn score_p() {
    compare("ping-pong-otf2", "", true);
    compare("ping-pong-otf2-papi", "", true);
}

/// Type, location and corrected time of every event there is; their fields
/// are covered by the golden dumps.
#[test]
fn every_type() {
    compare("alltypes", "", false);
}
