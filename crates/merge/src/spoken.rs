//! A document event by event, as text of Chrome's JSON, whatever kind of file it is.
//!
//! ```text
//! JSON      its own text
//! packets   {"ph":"X","name":"gemm","cat":"kernel","pid":"7","tid":12,"ts":1.500,"dur":2,"args":{..}}
//!           {"ph":"s","cat":"ac2g","name":"ac2g","id":41,"pid":"7","tid":12,"ts":1.500}
//! ```
//!
//! Packets say of a process on which machine it is, and there it is known by both. Tracks that are
//! no threads become threads with large numbers, and the names of the tracks.

use std::io::Write;

use retime_chrome_json::micros;
use retime_kineto::{EventText, alone, each_event};
use retime_model::Monitor;
use retime_model::format::{Document, DocumentKind, DocumentTrack, FormatError};
use retime_perfetto::{EventTold, FileTold, FlowTold};
use serde_json::{Map, Value, json};

use crate::survey::Survey;

/// Tracks that are no threads: above numbers that systems give to threads, and above those that
/// stand for the ends of arrows between documents.
const NO_THREAD: u64 = 1 << 33;

/// Categories of arrows within a document of packets, also their names: those of launches are
/// called as in Kineto's files.
const LAUNCH: &str = "ac2g";
const ARROW: &str = "flow";

/// A document that is shown event by event.
pub(crate) struct Spoken {
    /// The document, whose tracks are called as in the text of events.
    pub(crate) document: Document,
    told: Option<FileTold>,
    /// The names of threads and counters, by track of packets.
    names: Vec<Option<String>>,
}

/// Is shown an event, and says what is wrong with it.
type Visit<'a> = dyn FnMut(EventText<'_>) -> Result<(), String> + 'a;

impl Spoken {
    /// Reads a document, as far as that is needed to show its events.
    pub(crate) fn of(document: &Document, monitor: &dyn Monitor) -> Result<Self, FormatError> {
        let mut document = document.clone();
        if document.kind == DocumentKind::Chrome {
            return Ok(Self {
                document,
                told: None,
                names: Vec::new(),
            });
        }
        let told = FileTold::of(&document.path, monitor)?;
        document.tracks = tracks(&told, &document.tracks);
        let names = told.tracks().map(|it| it.thread.map(str::to_owned));
        Ok(Self {
            document,
            names: names.collect(),
            told: Some(told),
        })
    }

    /// The things that no event holds, in words that take a plural.
    pub(crate) fn untold(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.told.iter().flat_map(FileTold::untold)
    }

    /// The processes and threads of the document.
    pub(crate) fn survey(&self, monitor: &dyn Monitor) -> Result<Survey, FormatError> {
        let mut survey = Survey::default();
        self.each_event(monitor, &mut |event| {
            survey.take(event);
            Ok(())
        })?;
        Ok(survey)
    }

    /// The name of a track of packets.
    fn name_of(&self, track: u32) -> Option<&str> {
        self.names.get(track as usize)?.as_deref()
    }

    /// Shows all events.
    pub(crate) fn each_event(
        &self,
        monitor: &dyn Monitor,
        visit: &mut Visit<'_>,
    ) -> Result<(), FormatError> {
        let Some(told) = &self.told else {
            return each_event(&self.document.path, monitor, visit);
        };
        let mut text = Vec::new();
        let mut are_named = false;
        told.each_event(monitor, &mut |event| {
            if !std::mem::replace(&mut are_named, true) {
                name(told, &self.document.tracks, visit)?;
            }
            let Some(track) = self.document.tracks.get(event.track as usize) else {
                return Ok(());
            };
            text.clear();
            say(&event, self.name_of(event.track), track, &mut text);
            alone(&text, visit)?;
            for flow in event.flows {
                text.clear();
                say_flow(flow, &event, track, &mut text);
                alone(&text, visit)?;
            }
            Ok(())
        })
    }
}

/// The tracks of a file with processes and threads as the text of events has them, and all else as
/// it was known.
fn tracks(told: &FileTold, known: &[DocumentTrack]) -> Vec<DocumentTrack> {
    let all = (0..).zip(told.tracks()).map(|(number, it)| {
        let known = known.get(number as usize).cloned().unwrap_or_default();
        let tid = match it.tid.parse::<u64>() {
            Ok(thread) => thread,
            Err(_) => NO_THREAD + number,
        };
        DocumentTrack {
            pid: match it.machine {
                0 => it.pid.to_owned(),
                machine => format!("{} on machine {machine}", it.pid),
            },
            tid: tid.to_string(),
            machine: it.machine,
            uuid: it.uuid,
            ..known
        }
    });
    all.collect()
}

/// Shows the events that name processes and threads.
fn name(told: &FileTold, tracks: &[DocumentTrack], visit: &mut Visit<'_>) -> Result<(), String> {
    for (named, track) in told.tracks().zip(tracks) {
        let DocumentTrack { pid, tid, .. } = track;
        let mut name = |what: &str, name: Option<&str>| {
            let Some(name) = name else {
                return Ok(());
            };
            let pid = json!(pid);
            let args = json!({"name": name});
            let text =
                format!(r#"{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{args}}}"#);
            alone(text.as_bytes(), visit)
        };
        name("process_name", named.process)?;
        name("thread_name", named.thread)?;
    }
    Ok(())
}

/// Appends to a text.
fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Memory takes all that is written.
    let _ = out.write_fmt(text);
}

/// Writes where and when something is.
fn place(event: &EventTold<'_>, track: &DocumentTrack, out: &mut Vec<u8>) {
    let (pid, tid) = (json!(track.pid), &track.tid);
    put(out, format_args!(r#","pid":{pid},"tid":{tid},"ts":"#));
    micros::append(out, event.at);
}

/// Writes an event of a track that may have a name.
fn say(event: &EventTold<'_>, named: Option<&str>, track: &DocumentTrack, out: &mut Vec<u8>) {
    let name = json!(String::from_utf8_lossy(event.name));
    match (event.letter, event.value) {
        (b'C', value) => {
            // A value is one of its track, whatever the event is called.
            let value = value.map_or(Value::Null, Value::from);
            let of_track = named.filter(|_| event.name.is_empty());
            let name = of_track.map_or(name, |it| json!(it));
            put(out, format_args!(r#"{{"ph":"C","name":{name}"#));
            place(event, track, out);
            return put(out, format_args!(r#","args":{{"value":{value}}}}}"#));
        }
        // Arrows lead from slice to slice, so that a moment with one becomes a slice.
        (b'i', _) if event.flows.is_empty() => {
            put(out, format_args!(r#"{{"ph":"i","s":"t","name":{name}"#));
        }
        (b'i', _) => put(out, format_args!(r#"{{"ph":"X","dur":0,"name":{name}"#)),
        (letter, _) => {
            let letter = char::from(letter);
            put(out, format_args!(r#"{{"ph":"{letter}","name":{name}"#));
        }
    }
    if let (b'X', Some(length)) = (event.letter, event.length) {
        out.extend_from_slice(br#","dur":"#);
        micros::append(out, i64::try_from(length).unwrap_or(i64::MAX));
    }
    if !event.category.is_empty() {
        put(out, format_args!(r#","cat":{}"#, json!(event.category)));
    }
    if let Some(id) = event.id {
        put(out, format_args!(r#","id":{id}"#));
    }
    place(event, track, out);
    if !event.arguments.is_empty() {
        put(
            out,
            format_args!(r#","args":{}"#, of_json(&event.arguments)),
        );
    }
    out.push(b'}');
}

fn of_json(arguments: &Map<String, Value>) -> String {
    // Keys are text, so that it cannot fail.
    serde_json::to_string(arguments).unwrap_or_default()
}

/// Writes an end of an arrow.
fn say_flow(flow: &FlowTold, event: &EventTold<'_>, track: &DocumentTrack, out: &mut Vec<u8>) {
    let category = if flow.is_launch { LAUNCH } else { ARROW };
    let letter = match flow.letter {
        // What leads on to a slice, or ends in one, ends in the slice around it.
        b'f' => r#"f","bp":"e"#,
        b't' => "t",
        _ => "s",
    };
    let id = flow.id;
    put(
        out,
        format_args!(r#"{{"ph":"{letter}","cat":"{category}","name":"{category}","id":{id}"#),
    );
    place(event, track, out);
    out.push(b'}');
}
