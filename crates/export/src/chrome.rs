//! Chrome's JSON: a list of objects, one event each.
//!
//! ```text
//! B, E   a slice begins, ends       M      names and order of processes and threads
//! X      a slice without length     C      a point of a curve
//! s, f   an arrow begins, ends
//! ```
//!
//! `ts` is in microseconds; three decimals make it nanoseconds, and they are written from
//! whole numbers. An arrow binds to the innermost slice around each of its ends that the file
//! has begun so far, and readers put its ends where these slices begin; so each end is written
//! behind a slice that begins at its time. Nothing binds to an instant. Readers drop an end
//! that comes before its beginning, so an arrow begins at the earlier of its ends; a reversed
//! one has the category `reversed`.
//!
//! Source: "Trace Event Format", by the authors of Chrome's tracing.

use std::io::Write;

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::axis::Axis;
use crate::curves::Curve;
use crate::encoder::{Encoder, End, Moment, Name, Names, Point, Scribe};
use crate::facts::{Fact, Facts};
use crate::tracks::{ContradictionTrack, Tracks};

/// How a file begins.
const START: &[u8] = b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

/// True if a file begins like one of these.
pub(crate) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(START)
}

/// A file of JSON.
pub(crate) struct Json;

impl Scribe for Json {
    type Encoder = Lines;

    fn open(out: &mut Vec<u8>) {
        out.extend_from_slice(START);
    }

    fn describe(
        out: &mut Vec<u8>,
        tracks: &Tracks<'_>,
        curves: &[Curve],
        axis: &Axis,
        is_first: &mut bool,
    ) {
        let mut meta = |text: String| {
            let comma = if std::mem::take(is_first) { "" } else { ",\n" };
            put(out, format_args!("{comma}{text}"));
        };
        // Groups have no roots here, so processes say of which they are.
        let titled = |name: &str| {
            if tracks.is_one_of_two {
                quoted(&format!("{}: {name}", tracks.title))
            } else {
                quoted(name)
            }
        };
        if let Some(ContradictionTrack { number }) = tracks.contradictions {
            let name = quoted(ContradictionTrack::NAME);
            let own = process(number, &titled(ContradictionTrack::NAME), 0);
            own.into_iter().for_each(&mut meta);
            thread(number, number, &name)
                .into_iter()
                .for_each(&mut meta);
        }
        for it in tracks.processes.values() {
            let own = process(it.number, &titled(&it.name), it.number);
            own.into_iter().for_each(&mut meta);
        }
        for it in &tracks.threads {
            let own = thread(it.process, it.number, &quoted(&it.name));
            own.into_iter().for_each(&mut meta);
        }
        for curve in curves {
            let (pid, name) = (curve.process, quoted(&curve.name));
            for &(time, value) in &curve.points {
                let ts = Microseconds(axis.nanoseconds(time));
                // A `f64` is printed with all its digits.
                meta(format!(
                    r#"{{"ph":"C","pid":{pid},"ts":{ts},"name":{name},"args":{{"ns":{value}}}}}"#
                ));
            }
        }
    }

    fn encoder(number: u32, process: u32) -> Lines {
        Lines {
            place: format!(r#""pid":{process},"tid":{number},"ts":"#),
            names: FxHashMap::default(),
        }
    }

    fn close(out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n]}\n");
    }
}

/// Name and place of a process.
fn process(pid: u32, name: &str, place: u32) -> [String; 2] {
    [
        format!(r#"{{"ph":"M","pid":{pid},"name":"process_name","args":{{"name":{name}}}}}"#),
        format!(
            r#"{{"ph":"M","pid":{pid},"name":"process_sort_index","args":{{"sort_index":{place}}}}}"#
        ),
    ]
}

/// Name and place of a thread: places are the numbers.
fn thread(pid: u32, tid: u32, name: &str) -> [String; 2] {
    let own = format!(r#"{{"ph":"M","pid":{pid},"tid":{tid},"name""#);
    [
        format!(r#"{own}:"thread_name","args":{{"name":{name}}}}}"#),
        format!(r#"{own}:"thread_sort_index","args":{{"sort_index":{tid}}}}}"#),
    ]
}

/// Nanoseconds as they are written.
struct Microseconds(u64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// A string of JSON. Perfetto's reader (seen with v52) takes a backslash before the last
/// quotation mark for one that escapes it, and never comes to an end; so such a one is
/// written by its number.
fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    match quoted.strip_suffix("\\\\\"") {
        Some(before) => format!("{before}\\u005c\""),
        None => quoted,
    }
}

/// Appends text.
fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Memory takes all that is written.
    let _ = out.write_fmt(text);
}

/// Appends microseconds with three decimals.
fn put_time(out: &mut Vec<u8>, nanoseconds: u64) {
    // As many as 2^64 - 1 has, and the point.
    let mut text = [0; 21];
    let (mut rest, mut used) = (nanoseconds, 0);
    for digit in text.iter_mut().rev() {
        used += 1;
        if used == 4 {
            *digit = b'.';
            continue;
        }
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 && used > 4 {
            break;
        }
    }
    out.extend_from_slice(&text[text.len() - used..]);
}

/// The lines of a location.
pub(crate) struct Lines {
    /// Where its events are, up to their time.
    place: String,
    /// Names as they are written, with their categories.
    names: FxHashMap<Name, String>,
}

impl Lines {
    fn open(&self, out: &mut Vec<u8>, phase: u8, at: u64) {
        out.extend_from_slice(b",\n{\"ph\":\"");
        out.push(phase);
        out.extend_from_slice(b"\",");
        out.extend_from_slice(self.place.as_bytes());
        put_time(out, at);
    }

    fn close(out: &mut Vec<u8>) {
        out.push(b'}');
    }

    fn name(&mut self, out: &mut Vec<u8>, name: Name, names: Names<'_>) {
        let text = self.names.entry(name).or_insert_with(|| {
            let category = name.category(names).map(quoted);
            let category = category.map_or_else(String::new, |it| format!(",\"cat\":{it}"));
            format!(",\"name\":{}{category}", quoted(&name.text(names)))
        });
        out.extend_from_slice(text.as_bytes());
    }

    /// The recorded time, and what is known besides.
    fn arguments(out: &mut Vec<u8>, recorded: Option<i64>, facts: &Facts) {
        let mut opening: &[u8] = b",\"args\":{";
        let mut begin = |out: &mut Vec<u8>, name: &str| {
            out.extend_from_slice(std::mem::replace(&mut opening, b","));
            put(out, format_args!(r#""{name}":"#));
        };
        if let Some(recorded) = recorded {
            begin(out, "recorded_us");
            if recorded < 0 {
                out.push(b'-');
            }
            put_time(out, recorded.unsigned_abs());
        }
        for (name, value) in facts.arguments() {
            begin(out, name);
            match value {
                Fact::Whole(it) => put(out, format_args!("{it}")),
                Fact::Signed(it) => put(out, format_args!("{it}")),
                Fact::Text(it) => out.extend_from_slice(quoted(it).as_bytes()),
            }
        }
        if opening == b"," {
            out.push(b'}');
        }
    }

    /// One end of an arrow.
    fn arrow(&self, out: &mut Vec<u8>, at: u64, end: End) {
        let category = if end.is_reversed() {
            "reversed"
        } else {
            "arrow"
        };
        let (phase, binding) = if end.is_first() {
            (b's', "")
        } else {
            (b'f', ",\"bp\":\"e\"")
        };
        self.open(out, phase, at);
        let id = end.arrow;
        put(
            out,
            format_args!(r#","id":{id},"cat":"{category}","name":"{category}"{binding}"#),
        );
        Self::close(out);
    }
}

impl Encoder for Lines {
    fn begin(&mut self, out: &mut Vec<u8>, moment: Moment, name: Name, names: Names<'_>) {
        self.open(out, b'B', moment.at);
        self.name(out, name, names);
        Self::arguments(out, moment.recorded, &Facts::default());
        Self::close(out);
    }

    fn arrive(&mut self, out: &mut Vec<u8>, moment: Moment, end: End) {
        self.arrow(out, moment.at, end);
    }

    fn end(&mut self, out: &mut Vec<u8>, moment: Moment, _: Names<'_>) {
        self.open(out, b'E', moment.at);
        Self::close(out);
    }

    fn point(&mut self, out: &mut Vec<u8>, point: &Point<'_>, names: Names<'_>) {
        let moment = point.moment;
        self.open(out, b'X', moment.at);
        out.extend_from_slice(b",\"dur\":0");
        self.name(out, Name::Kind(point.kind), names);
        Self::arguments(out, moment.recorded, point.facts);
        Self::close(out);
        for &end in point.ends {
            self.arrow(out, moment.at, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_stay_what_they_are() {
        assert_eq!(
            quoted("</script> \"x\" \u{1b}[31m"),
            r#""</script> \"x\" \u001b[31m""#
        );
        for text in ["\\", "C:\\", "\\\\", "\"", "a\\b", ""] {
            let written = quoted(text);
            assert_eq!(
                serde_json::from_str::<String>(&written).ok(),
                Some(text.into())
            );
            assert!(!written.ends_with("\\\\\""), "{written}");
        }
    }

    proptest! {
        #[test]
        fn times_are_microseconds_with_three_decimals(digits in 0_u32..64, any in any::<u64>()) {
            let nanoseconds = any >> digits;
            let mut text = Vec::new();
            put_time(&mut text, nanoseconds);
            let expected = Microseconds(nanoseconds).to_string();
            prop_assert_eq!(text, expected.into_bytes());
        }
    }
}
