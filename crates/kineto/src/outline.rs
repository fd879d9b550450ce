//! Deciding if a file that is called like a trace is one, and if not, why.
//!
//! The first bytes tell it of nearly all files. Of the others the outermost object or array
//! is walked, without keeping anything, until events are found or it ends.
//!
//! ```text
//! {"schemaVersion": 1, .. , "traceEvents": [        a trace
//! {"learning_rate": 0.1}                            something else, and sound
//! {"schemaVersion": 1, "deviceP                     damaged: JSON does not end so
//! 00 00 00 00                                       damaged: no text
//! ```
//!
//! The difference matters in a directory. What is sound was never a trace and can be left
//! out; what only damage makes may have been one, and without it a contradiction could go
//! unseen.

use std::io;
use std::path::Path;

use retime_gzip::{Refused, Window, first_bytes};
use retime_model::open_regular;

use crate::window::LONGEST;
use retime_chrome_json::fields::Fields;
use retime_chrome_json::json::{Skip, Stop, space, string_end, value_end};

/// How much of a file is looked at first.
const PROBE: u64 = 1 << 16;

/// The judgement on a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    /// A trace, maybe one that is damaged further on.
    Trace,
    /// Something else; says what.
    Other(String),
    /// Nothing that anybody writes.
    Damaged {
        /// Where in its content, uncompressed.
        byte: u64,
        /// The damage found there.
        what: String,
    },
}

/// Looks at a file; an error is what the system says of it.
pub(crate) fn look(path: &Path) -> io::Result<Look> {
    let start = first_bytes(open_regular(path)?, PROBE)?;
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&start);
    let text = text.trim_ascii_start();
    let holds = |what: &[u8]| memchr::memmem::find(text, what).is_some();
    let has_events = holds(b"\"traceEvents\":[") || holds(b"\"traceEvents\": [");
    if text.starts_with(b"{") && has_events {
        return Ok(Look::Trace);
    }
    let window = Window::new(open_regular(path)?, LONGEST)?;
    match (Outline { window }).walk() {
        Ok(look) | Err(Ended::Is(look)) => Ok(look),
        Err(Ended::Refused(error)) => Err(error),
    }
}

/// Names a file that is no JSON by its first bytes, with the way out if there is one.
fn no_text(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            "this is text in UTF-16, and JSON is UTF-8; convert it (iconv -f UTF-16 -t UTF-8)"
        }
        [0x1F, 0x8B, ..] => "this is compressed twice, gzip within gzip; unpack it once (gzip -dc)",
        [0x28, 0xB5, 0x2F, 0xFD, ..] => "this is compressed by Zstandard; unpack it (zstd -d)",
        [b'P', b'K', 3, 4, ..] => "this is a zip archive; unpack it",
        _ => "this is no text, nor whole compressed data",
    }
}

/// Why a walk ended early.
enum Ended {
    Is(Look),
    Refused(io::Error),
}

struct Outline<'a> {
    window: Window<'a>,
}

impl Outline<'_> {
    /// Walks over the outermost value.
    fn walk(&mut self) -> Result<Look, Ended> {
        while self.window.bytes().len() < 3 && self.more()? {}
        if self.window.bytes().starts_with(b"\xEF\xBB\xBF") {
            self.window.advance(3);
        }
        loop {
            if let Ok(at) = space(self.window.bytes(), 0) {
                self.window.advance(at);
                break;
            }
            self.window.advance(self.window.bytes().len());
            if !self.more()? {
                return Err(self.damaged(0, "there is nothing in it"));
            }
        }
        match self.window.bytes().first() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            _ if is_text(self.window.bytes()) => {
                let what = "it begins with neither { nor [";
                Ok(Look::Other(what.to_owned()))
            }
            _ => Err(self.damaged(0, no_text(self.window.bytes()))),
        }
    }

    fn object(&mut self) -> Result<Look, Ended> {
        const NONE: &str = "its object has no array traceEvents";
        self.window.advance(1);
        if self.peek()? == b'}' {
            return Ok(Look::Other(NONE.to_owned()));
        }
        loop {
            self.expect(b'"', "a key in quotes is expected")?;
            let end = self.find(|bytes| string_end(bytes, 0))?;
            let is_events = self.window.bytes().get(..end) == Some(b"traceEvents");
            self.window.advance(end + 1);
            self.expect(b':', "a colon is expected")?;
            let first = self.peek()?;
            if is_events && first == b'[' {
                return Ok(Look::Trace);
            }
            self.skip(first)?;
            match self.peek()? {
                b'}' => return Ok(Look::Other(NONE.to_owned())),
                _ => self.expect(b',', "a comma or the end of the object is expected")?,
            }
        }
    }

    fn array(&mut self) -> Result<Look, Ended> {
        const NONE: &str = "nothing in its array has a ph and a ts";
        self.window.advance(1);
        if self.peek()? == b']' {
            return Ok(Look::Other(NONE.to_owned()));
        }
        loop {
            let first = self.peek()?;
            if first == b'{' {
                let fields = self.find(Fields::of)?;
                if !fields.ph.is_empty() && !fields.ts.is_empty() {
                    return Ok(Look::Trace);
                }
                self.window.advance(fields.length);
            } else {
                self.skip(first)?;
            }
            match self.peek()? {
                b']' => return Ok(Look::Other(NONE.to_owned())),
                _ => self.expect(b',', "a comma or the end of the array is expected")?,
            }
        }
    }

    /// Skips a value, which is let go meanwhile if it may be long.
    fn skip(&mut self, first: u8) -> Result<(), Ended> {
        if !matches!(first, b'{' | b'[') {
            let end = self.find(|bytes| value_end(bytes, 0))?;
            self.window.advance(end);
            return Ok(());
        }
        let mut skip = Skip::default();
        loop {
            let mut at = 0;
            match skip.on(self.window.bytes(), &mut at) {
                Ok(end) => {
                    self.window.advance(end);
                    return Ok(());
                }
                Err(Stop::Bad(at, what)) => return Err(self.bad(at, what)),
                Err(Stop::Cut) => {
                    self.window.advance(at);
                    self.more_or_cut()?;
                }
            }
        }
    }

    /// The next byte that is not white space, to which it moves.
    fn peek(&mut self) -> Result<u8, Ended> {
        let at = self.find(|bytes| space(bytes, 0))?;
        self.window.advance(at);
        Ok(self.window.bytes().first().copied().unwrap_or_default())
    }

    /// Moves over a byte that has to come next.
    fn expect(&mut self, byte: u8, what: &str) -> Result<(), Ended> {
        if self.peek()? != byte {
            return Err(self.bad(0, what));
        }
        self.window.advance(1);
        Ok(())
    }

    fn find<T>(&mut self, find: impl Fn(&[u8]) -> Result<T, Stop>) -> Result<T, Ended> {
        loop {
            match find(self.window.bytes()) {
                Ok(found) => return Ok(found),
                Err(Stop::Bad(at, what)) => return Err(self.bad(at, what)),
                Err(Stop::Cut) => self.more_or_cut()?,
            }
        }
    }

    fn more_or_cut(&mut self) -> Result<(), Ended> {
        if self.more()? {
            return Ok(());
        }
        let what = "it ends here, in the midst of JSON";
        Err(self.damaged(self.window.bytes().len(), what))
    }

    fn more(&mut self) -> Result<bool, Ended> {
        self.window.more().map_err(|refused| match refused {
            Refused::TooLong => {
                let most = LONGEST >> 20;
                Ended::Is(Look::Other(format!(
                    "a value in it is longer than {most} MiB"
                )))
            }
            Refused::Read(source) if source.raw_os_error().is_some() => Ended::Refused(source),
            Refused::Read(source) => {
                let what = format!("what is compressed is damaged from here on: {source}");
                self.damaged(self.window.bytes().len(), &what)
            }
        })
    }

    /// Judges text that is no JSON: other programs may write it, so it is sound, unless it goes on
    /// as no text does.
    fn bad(&self, at: usize, what: &str) -> Ended {
        let rest = self.window.bytes().get(at..).unwrap_or_default();
        if !is_text(rest) {
            return self.damaged(at, "this is no text");
        }
        let byte = self.window.offset() + at as u64;
        Ended::Is(Look::Other(format!("it is no JSON: {what} at byte {byte}")))
    }

    fn damaged(&self, at: usize, what: &str) -> Ended {
        Ended::Is(Look::Damaged {
            byte: self.window.offset() + at as u64,
            what: what.to_owned(),
        })
    }
}

/// How many bytes are judged as text.
const JUDGED: usize = 1024;

/// True if bytes begin like text in Unicode or an older code, without the control characters
/// that no text has.
fn is_text(bytes: &[u8]) -> bool {
    let judged = bytes.get(..bytes.len().min(JUDGED)).unwrap_or_default();
    let is_odd = |it: &u8| it.is_ascii_control() && !b"\t\n\r\x0B\x0C\x1B".contains(it);
    !judged.iter().any(is_odd)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use retime_gzip::{Effort, Output};

    use super::*;

    fn look_at(content: &[u8]) -> Look {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        look(file.path()).unwrap()
    }

    #[test]
    fn events_are_found_behind_anything() {
        let long = " ".repeat(70_000);
        for trace in [
            r#"{"traceEvents":[]}"#.to_owned(),
            r#"{"a": {"traceEvents": 1}, "traceEvents"  : [ ]"#.to_owned(),
            format!(r#"{{"a": ["{long}", {{}}], "b": 1.5e3, "traceEvents" : ["#),
            format!("\u{feff} [ {{}}, 1, [], {{\"name\":\"{long}\"}}, {{\"ph\":\"i\",\"ts\":1}}"),
            r#"[{"ph":"X","ts":1},"#.to_owned(),
        ] {
            assert_eq!(look_at(trace.as_bytes()), Look::Trace, "{trace}");
        }
    }

    #[test]
    fn what_is_read_once_converted_is_told() {
        for (begin, told) in [
            (&b"\xFF\xFE{\0"[..], "text in UTF-16"),
            (b"\xFE\xFF\0{", "text in UTF-16"),
            (b"\x28\xB5\x2F\xFD\x04", "compressed by Zstandard"),
            (b"PK\x03\x04\x14\0", "a zip archive"),
            (&gzip(&gzip(b"{}")), "compressed twice"),
        ] {
            let look = look_at(begin);
            let is_told = matches!(&look, Look::Damaged { byte: 0, what } if what.contains(told));
            assert!(is_told, "{look:?}");
        }
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut output = Output::new(&mut out, Some(Effort::Fast)).unwrap();
        let packed = output.packing().packed(content.to_vec()).unwrap();
        output.put(&packed).unwrap();
        output.finish().unwrap();
        out
    }

    #[test]
    fn what_is_sound_is_something_else() {
        for other in [
            "{}",
            "[]",
            r#"{"traceEvents": "none", "schemaVersion": 1}"#,
            r#"{"schemaVersion": 1, "deviceProperties": []}"#,
            r#"[{"ph": 1}, {"ts": 2}]"#,
            "{ // a comment\n\"a\": 1}",
            "{\"loss\": 1}\n{\"loss\": 2}\n",
            "learning_rate: 0.1\n",
        ] {
            assert!(
                matches!(look_at(other.as_bytes()), Look::Other(_)),
                "{other}"
            );
        }
    }

    #[test]
    fn what_only_damage_makes_is_told() {
        for (damaged, place) in [
            (&b""[..], 0),
            (b" \n ", 3),
            (&[0; 4096][..], 0),
            (b"{", 1),
            (b"{\"schemaVersion\": 1, \"dev", 25),
            (b"{\"a\": 1", 7),
            (b"{\"a\": 1\0\0\0\0", 11),
            (b"{\"a\": 1,\0\0\0\0", 8),
            (b"\x1f\x8c\x08\x00rest", 0),
        ] {
            let look = look_at(damaged);
            assert!(
                matches!(look, Look::Damaged { byte, .. } if byte == place),
                "{damaged:?}: {look:?}"
            );
        }
    }
}
