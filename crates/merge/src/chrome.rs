//! Chrome's JSON: the text of each event as it stands, but for its time, its process and what
//! joins it with others.
//!
//! ```text
//! {"ph": "X", "pid": 19504, "tid": 5332, "ts": 4593682307901.904, "dur": 41692.949, ..}
//! {"ph": "X", "pid": 3, "tid": 5332, "ts": 3439.441, "dur": 41692.949, ..}
//! ```
//!
//! Times count from the origin of the file, which `baseTimeNanoseconds` says, so that a double
//! holds them to the nanosecond. An arrow between documents joins two slices without length
//! at the times of its ends, since readers draw it from where the one ends to where the other
//! begins, and the calls around them do so at other times.

use std::io::Write;

use retime_chrome_json::members::members;
use retime_chrome_json::micros;
use retime_kineto::{EventText, Member};
use serde_json::Value;

use crate::ids::{Ids, arrow};
use crate::job::{Arrow, Pointed};
use crate::placed::Placed;
use crate::survey::Naming;

/// The beginning of a file.
const START: &str = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"merged by\":\"retime\"},\n\
                     \"traceEvents\":[\n";

/// True if a file begins like one of these.
pub(crate) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(START.as_bytes())
}

/// Events that `id` joins with others.
const JOINED: &[u8] = b"stfbneSTFpNOD";

/// Begins a file.
pub(crate) fn open(out: &mut Vec<u8>) {
    out.extend_from_slice(START.as_bytes());
}

/// Ends a file.
pub(crate) fn close(out: &mut Vec<u8>, origin: i64) {
    put(
        out,
        format_args!("\n],\"baseTimeNanoseconds\":{origin}}}\n"),
    );
}

/// Appends to a file, whatever stands there already.
fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Memory takes all that is written.
    let _ = out.write_fmt(text);
}

/// Begins another event.
fn next(out: &mut Vec<u8>, is_first: &mut bool) {
    if !std::mem::take(is_first) {
        out.extend_from_slice(b",\n");
    }
}

fn quoted(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// Names the processes of a document, says where they stand, and with the first of each rank what
/// its profile says of its job and its host.
pub(crate) fn describe(out: &mut Vec<u8>, placed: &Placed<'_>, is_first: &mut bool) {
    for &process in &placed.shown {
        let Some(pid) = placed.pid(process) else {
            continue;
        };
        let name = quoted(&placed.title(process));
        next(out, is_first);
        put(
            out,
            format_args!(
                r#"{{"ph":"M","pid":{pid},"name":"process_name","args":{{"name":{name}}}}},"#
            ),
        );
        put(
            out,
            format_args!(
                "\n{{\"ph\":\"M\",\"pid\":{pid},\"name\":\"process_sort_index\",\"args\":\
                 {{\"sort_index\":{pid}}}}}"
            ),
        );
    }
    for (process, said) in placed.headers() {
        let Some(pid) = placed.pid(process) else {
            continue;
        };
        next(out, is_first);
        put(
            out,
            format_args!(r#"{{"ph":"M","pid":{pid},"name":"profile_header","args":{said}}}"#),
        );
    }
}

/// A stretch of an event's text, and what stands there instead.
struct Patch {
    start: usize,
    end: usize,
    text: Vec<u8>,
}

/// Writes an event; one that names what has no events, or is said anew, is left out.
pub(crate) fn event(
    out: &mut Vec<u8>,
    event: EventText<'_>,
    placed: &Placed<'_>,
    ids: &mut Ids,
    is_first: &mut bool,
) {
    let ph = event.text(Member::Ph);
    let is_empty = members(event.bytes()).next().is_none();
    let process = placed.survey.find_process(event.text(Member::Pid));
    if is_empty || ph == b"M" && is_said_anew(event, process, placed) {
        return;
    }
    let Some(pid) = process.and_then(|it| placed.pid(it)) else {
        return;
    };
    let mut patches = Vec::with_capacity(3);
    let mut patch = |place: std::ops::Range<usize>, text: Vec<u8>| {
        patches.push(Patch {
            start: place.start,
            end: place.end,
            text,
        });
    };
    match event.place(Member::Pid) {
        place if !place.is_empty() => patch(place, pid.to_string().into_bytes()),
        // An event without a process gets one: otherwise all documents would share it.
        _ => patch(1..1, format!("\"pid\":{pid},").into_bytes()),
    }
    if let Some((place, time)) = event.time() {
        let mut text = Vec::with_capacity(20);
        micros::append(&mut text, placed.at(time));
        patch(place, text);
    }
    let id = event.value(Member::Id);
    if !id.is_empty() && ph.first().is_some_and(|it| JOINED.contains(it)) {
        patch(
            event.place(Member::Id),
            ids.number(id).to_string().into_bytes(),
        );
    }
    patches.sort_by_key(|it| it.start);
    next(out, is_first);
    let mut at = 0;
    for Patch { start, end, text } in patches {
        out.extend_from_slice(event.bytes().get(at..start).unwrap_or_default());
        out.extend_from_slice(&text);
        at = end;
    }
    out.extend_from_slice(event.bytes().get(at..).unwrap_or_default());
}

fn is_said_anew(event: EventText<'_>, process: Option<u32>, placed: &Placed<'_>) -> bool {
    match Naming::of(event) {
        Naming::ProcessName | Naming::ProcessSortIndex => true,
        Naming::ProfileHeader => process.is_some_and(|it| placed.said(it).is_some()),
        _ => false,
    }
}

/// The thread at which an end of an arrow stands in a file.
#[derive(Clone, Debug)]
pub(crate) struct EndPlace {
    pub(crate) pid: u64,
    /// The number of the thread, as JSON.
    pub(crate) tid: String,
}

impl EndPlace {
    /// The thread for a track of a document: beside its own, since an arrow of the document that
    /// leads to what begins there would lead to a slice that stands in it.
    pub(crate) fn of(placed: &Placed<'_>, track: u32) -> Option<Self> {
        let number = placed.thread_of_track(track)?;
        let thread = placed.survey.threads.get(number as usize)?;
        // Above all numbers that systems give to threads.
        let tid = ((1_u64 << 32) + u64::from(number)).to_string();
        Some(Self {
            pid: placed.pid(thread.process)?,
            tid,
        })
    }
}

/// Writes the slice without length that arrows begin or end at.
pub(crate) fn point(
    out: &mut Vec<u8>,
    pointed: &Pointed,
    place: &EndPlace,
    origin: i64,
    is_first: &mut bool,
) {
    next(out, is_first);
    let (EndPlace { pid, tid }, Pointed { end, .. }) = (place, pointed);
    let name = pointed.name();
    put(
        out,
        format_args!(r#"{{"ph":"X","cat":"retime","name":"{name}","pid":{pid},"tid":{tid},"ts":"#),
    );
    micros::append(out, end.at.saturating_sub(origin).max(0));
    out.extend_from_slice(b",\"dur\":0}");
}

/// Writes one end of an arrow. Readers drop an end that comes before the beginning, so a
/// reversed one begins at its effect.
pub(crate) fn arrow_end(
    out: &mut Vec<u8>,
    number: usize,
    of: &Arrow,
    is_cause: bool,
    place: &EndPlace,
    origin: i64,
) {
    let is_reversed = of.to.at < of.from.at;
    let end = if is_cause { of.from } else { of.to };
    let category = if is_reversed {
        "reversed"
    } else {
        "dependency"
    };
    let ph = if is_cause == is_reversed {
        "\"f\",\"bp\":\"e\""
    } else {
        "\"s\""
    };
    let EndPlace { pid, tid } = place;
    let id = arrow(number);
    put(
        out,
        format_args!(
            ",\n{{\"ph\":{ph},\"cat\":\"{category}\",\"name\":\"dependency\",\"id\":{id},\
             \"pid\":{pid},\"tid\":{tid},\"ts\":"
        ),
    );
    micros::append(out, end.at.saturating_sub(origin).max(0));
    out.push(b'}');
}
