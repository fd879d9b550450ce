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
    Archive, Attribute, CollectiveOp, Definitions, Event, EventReader, LocalDefinitions, Members,
    Value,
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
        let locals = LocalDefinitions::read_all(archive, &locations).expect("sound");
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
        let u = |name: &str| unsigned(event, name);
        match event.name() {
            "Enter" | "Leave" => {
                let name = self.definitions.regions.get(u("region")).map(|r| r.name);
                format!("Region: {}", self.named(u("region"), name))
            }
            "MpiCollectiveBegin" => String::new(),
            "MpiIsendComplete" | "MpiIrecvRequest" => format!("Request: {}", u("requestID")),
            "MpiSend" | "MpiIsend" => self.message(event, "Receiver", u("receiver")),
            "MpiRecv" | "MpiIrecv" => self.message(event, "Sender", u("sender")),
            "MpiCollectiveEnd" => self.collective(event),
            "ThreadBegin" | "ThreadEnd" => format!(
                "Thread Contingent: {}, Sequence Count: {}",
                self.comm(u("threadContingent")),
                u("sequenceCount")
            ),
            "Metric" => self.metric(event),
            "ProgramBegin" => format!(
                "Name: {}, {} Arguments",
                self.named(u("programName"), Some(u("programName") as u32)),
                u("numberOfArguments")
            ),
            "ProgramEnd" => match event.fields().get("exitStatus").expect("sound") {
                Some(Value::Signed(i64::MIN)) => "Exit status: UNDEFINED".to_owned(),
                other => format!(
                    "Exit status: {}",
                    other.and_then(Value::signed).expect("one")
                ),
            },
            other => panic!("{other} is in no trace of this test"),
        }
    }

    fn message(&self, event: &Event<'_>, role: &str, rank: u64) -> String {
        let u = |name: &str| unsigned(event, name);
        let request = if event.name().starts_with("MpiI") {
            format!(", Request: {}", u("requestID"))
        } else {
            String::new()
        };
        format!(
            "{role}: {}, Communicator: {}, Tag: {}, Length: {}{request}",
            self.rank(event, rank),
            self.comm(u("communicator")),
            u("msgTag"),
            u("msgLength")
        )
    }

    fn collective(&self, event: &Event<'_>) -> String {
        let u = |name: &str| unsigned(event, name);
        let root = match u("root") {
            0xffff_ffff => "NONE".to_owned(),
            0xffff_fffe => "SELF".to_owned(),
            0xffff_fffd => "THIS GROUP".to_owned(),
            rank => self.rank(event, rank),
        };
        format!(
            "Operation: {}, Communicator: {}, Root: {root}, Sent: {}, Received: {}",
            CollectiveOp(u("collectiveOp") as u8)
                .to_string()
                .to_uppercase(),
            self.comm(u("communicator")),
            u("sizeSent"),
            u("sizeReceived")
        )
    }

    fn metric(&self, event: &Event<'_>) -> String {
        let class = self
            .definitions
            .metric_classes
            .get(unsigned(event, "metric"));
        let fields = event.decode().expect("sound");
        let values = fields.iter().filter(|field| field.name() == "metricValues");
        let shown: Vec<String> = class
            .expect("the class is defined")
            .members
            .iter()
            .zip(values)
            .map(|(&id, value)| {
                let member = self.definitions.metric_members.get(id).map(|m| m.name);
                let value = value.value.unsigned().expect("a number");
                format!("({}; UINT64; {value})", self.named(id, member))
            })
            .collect();
        let number = unsigned(event, "numberOfMetrics");
        let plural = if number == 1 { "" } else { "s" };
        let metric = unsigned(event, "metric");
        format!(
            "Metric: {metric}, {number} Value{plural}: {}",
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

    fn attribute(&self, attribute: &Attribute<'_>) -> String {
        assert_eq!(
            attribute.type_code, 4,
            "all attributes of these traces are UINT64"
        );
        let name = self
            .definitions
            .attributes
            .get(attribute.id)
            .map(|a| a.name);
        let value = attribute.value.unsigned().expect("a number");
        format!(
            "({}; UINT64; {value})",
            self.named(attribute.id.into(), name)
        )
    }

    fn rank(&self, event: &Event<'_>, rank: u64) -> String {
        let comm = unsigned(event, "communicator") as u32;
        let members: &Members = self.definitions.comm_members(comm).expect("resolved");
        let location = members
            .location(event.location, rank as u32)
            .expect("a member");
        let name = self.definitions.locations.get(location).map(|l| l.name);
        format!("{rank} ({})", self.named(location, name))
    }

    fn comm(&self, comm: u64) -> String {
        self.named(comm, self.definitions.comms.get(comm).map(|c| c.name))
    }

    fn named(&self, id: u64, name: Option<u32>) -> String {
        match name {
            Some(name) => format!("\"{}\" <{id}>", self.definitions.text(name)),
            None if id == u64::from(u32::MAX) => "UNDEFINED".to_owned(),
            None => id.to_string(),
        }
    }
}

fn unsigned(event: &Event<'_>, name: &str) -> u64 {
    let value = event.fields().get(name).expect("sound");
    value.and_then(Value::unsigned).expect("a number")
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
