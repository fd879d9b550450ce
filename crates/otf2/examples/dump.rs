//! Prints every record of an archive as one line of text.
//!
//! ```text
//! dump [--raw] ARCHIVE
//! ```
//!
//! Each line has the kind of record (`G` global definition, `D` local
//! definition, `E` event, `S` snapshot, `T` thumbnail, `M` marker), the
//! location and time if it has any, its name and its fields; `A` starts the
//! attributes. Strings are in hexadecimal and floating-point numbers shown by
//! their bits, so that equal text means equal content. `--raw` leaves out the
//! mapping tables and clock offsets.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use retime_otf2::schema::{RecordSchema, Role};
use retime_otf2::{
    Archive, Entry, Event, EventReader, FieldValue, LocalDefinitions, RecordReader, Value,
};

type Outcome<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let raw = arguments.iter().any(|argument| argument == "--raw");
    arguments.retain(|argument| argument != "--raw");
    match arguments.as_slice() {
        [path] => dump(Path::new(path), raw, io::stdout().lock()),
        _ => Err("usage: dump [--raw] ARCHIVE".into()),
    }
}

/// Prints an archive.
pub(crate) fn dump(path: &Path, raw: bool, out: impl Write) -> Outcome {
    let mut dump = Dump {
        archive: Archive::open(path)?,
        raw,
        out: BufWriter::new(out),
        line: String::new(),
    };
    dump.run()
}

struct Dump<W: Write> {
    archive: Archive,
    raw: bool,
    out: BufWriter<W>,
    line: String,
}

impl<W: Write> Dump<W> {
    fn run(&mut self) -> Outcome {
        let anchor = self.archive.anchor();
        writeln!(
            self.out,
            "# locations {} globaldefs {} snapshots {} thumbnails {}",
            anchor.locations, anchor.definitions, anchor.snapshots, anchor.thumbnails
        )?;
        let locations = self.global_definitions()?;
        for &location in &locations {
            self.local_definitions(location)?;
        }
        let locals = LocalDefinitions::read_all(&self.archive, &locations, &())?;
        for local in &locals {
            self.events(local)?;
        }
        for &location in &locations {
            self.snapshots(location)?;
        }
        for k in 0..self.archive.anchor().thumbnails {
            self.thumbnail(k)?;
        }
        self.markers()?;
        self.out.flush()?;
        Ok(())
    }

    fn global_definitions(&mut self) -> Outcome<Vec<u64>> {
        let mut records = RecordReader::new(self.archive.open_definitions()?)?;
        let mut locations = Vec::new();
        let mut count = 0;
        while let Some(entry) = records.next()? {
            if entry.name() == "Location" {
                locations.push(entry.unsigned("self")?);
            }
            count += u64::from(entry.schema().is_some());
            self.entry("G", &entry)?;
        }
        writeln!(self.out, "# read {count} global defs")?;
        Ok(locations)
    }

    fn local_definitions(&mut self, location: u64) -> Outcome {
        let Some(file) = self.archive.open_local_definitions(location)? else {
            return Ok(());
        };
        let mut records = RecordReader::new(file)?;
        let mut count = 0;
        while let Some(entry) = records.next()? {
            count += u64::from(entry.schema().is_some());
            self.entry(&format!("D {location}"), &entry)?;
        }
        writeln!(self.out, "# local defs {location}: {count}")?;
        Ok(())
    }

    fn events(&mut self, local: &LocalDefinitions) -> Outcome {
        let mut events = if self.raw {
            EventReader::raw(&self.archive, local.location)?
        } else {
            EventReader::mapped(&self.archive, local)?
        };
        let count = self.timed("E", &mut events)?;
        writeln!(self.out, "# events {}: {count} ok", local.location)?;
        Ok(())
    }

    fn snapshots(&mut self, location: u64) -> Outcome {
        let Some(mut records) = EventReader::snapshots(&self.archive, location)? else {
            return Ok(());
        };
        let count = self.timed("S", &mut records)?;
        writeln!(self.out, "# snaps {location}: {count} ok")?;
        Ok(())
    }

    fn timed(&mut self, kind: &str, events: &mut EventReader) -> Outcome<u64> {
        let mut count = 0;
        while let Some(event) = events.next()? {
            if event.is_known() {
                self.event(kind, &event)?;
                count += 1;
            }
        }
        Ok(count)
    }

    fn event(&mut self, kind: &str, event: &Event<'_>) -> Outcome {
        let fields = event.decode()?;
        self.line.clear();
        write!(
            self.line,
            "{kind} {} {} {} ",
            event.location,
            event.time,
            event.name()
        )?;
        if let Some(schema) = event.entry().schema() {
            push_fields(&mut self.line, schema, &fields)?;
        }
        for (i, attribute) in event.decode_attributes()?.iter().enumerate() {
            self.line.push_str(if i == 0 { " A " } else { ";" });
            let (id, value) = (attribute.attribute.0, attribute.value);
            write!(self.line, "{id}:{}:", value.kind().0)?;
            push_value(&mut self.line, value.value())?;
        }
        writeln!(self.out, "{}", self.line)?;
        Ok(())
    }

    fn thumbnail(&mut self, k: u32) -> Outcome {
        let mut records = RecordReader::new(self.archive.open_thumbnail(k)?)?;
        let mut left = u64::MAX;
        while left > 0 {
            let Some(entry) = records.next()? else { break };
            if entry.name() == "Header" {
                left = entry.unsigned("samples")?;
            } else {
                left -= u64::from(entry.schema().is_some());
            }
            self.entry("T", &entry)?;
        }
        Ok(())
    }

    fn markers(&mut self) -> Outcome {
        let Some(file) = self.archive.open_markers()? else {
            return Ok(());
        };
        let mut records = RecordReader::new(file)?;
        let mut count = 0;
        while let Some(entry) = records.next()? {
            count += u64::from(entry.schema().is_some());
            self.entry("M", &entry)?;
        }
        writeln!(self.out, "# markers {count}")?;
        Ok(())
    }

    fn entry(&mut self, kind: &str, entry: &Entry<'_>) -> Outcome {
        let Some(schema) = entry.schema() else {
            return Ok(());
        };
        self.line.clear();
        write!(self.line, "{kind} {} ", schema.name)?;
        push_fields(&mut self.line, schema, &entry.decode()?)?;
        writeln!(self.out, "{}", self.line)?;
        Ok(())
    }
}

/// Fields that were added to a record later stand at its end, but are shown
/// where the definition has them today.
fn shown_order(schema: &RecordSchema) -> Vec<&'static str> {
    match schema.name {
        "Attribute" => vec!["self", "name", "description", "type"],
        "Region" => vec![
            "self",
            "name",
            "canonicalName",
            "description",
            "regionRole",
            "paradigm",
            "regionFlags",
            "sourceFile",
            "beginLineNumber",
            "endLineNumber",
        ],
        "Group" => vec![
            "self",
            "name",
            "groupType",
            "paradigm",
            "groupFlags",
            "numberOfMembers",
            "members",
        ],
        _ => schema
            .fields
            .iter()
            .filter(|field| field.role != Role::Deprecated)
            .map(|field| field.name)
            .collect(),
    }
}

fn push_fields(line: &mut String, schema: &RecordSchema, values: &[FieldValue<'_>]) -> Outcome {
    for (i, name) in shown_order(schema).into_iter().enumerate() {
        let separator = if i == 0 { "" } else { "," };
        write!(line, "{separator}{name}=")?;
        let mut found = values.iter().filter(|value| value.name() == name);
        let repeated = schema
            .fields
            .iter()
            .any(|field| field.name == name && field.is_repeated());
        if !repeated {
            if let Some(field) = found.next() {
                push_value(line, field.value)?;
            }
            continue;
        }
        line.push('[');
        for (k, field) in found.enumerate() {
            line.push_str(if k == 0 { "" } else { " " });
            push_value(line, field.value)?;
        }
        line.push(']');
    }
    Ok(())
}

fn push_value(line: &mut String, value: Value<'_>) -> Outcome {
    match value {
        Value::Unsigned(value) => write!(line, "{value}")?,
        Value::Signed(value) => write!(line, "{value}")?,
        Value::Float(value) => write!(line, "{}", value.to_bits())?,
        Value::Double(value) => write!(line, "{}", value.to_bits())?,
        Value::Text(bytes) => {
            for byte in bytes {
                write!(line, "{byte:02x}")?;
            }
        }
        Value::IdMap(map) => {
            write!(line, "{{{}", map.mode)?;
            for (local, global) in map.pairs() {
                write!(line, " {local}>{global}")?;
            }
            line.push('}');
        }
    }
    Ok(())
}
