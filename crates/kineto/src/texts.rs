//! The events of a document as they stand there, for whoever writes them into another one.
//!
//! Nothing is built of them and nothing is refused that the reader of traces takes: values are
//! bytes of the file, and what profilers write against the rules of JSON comes out as it is.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use retime_model::Monitor;
use retime_model::format::FormatError;

use crate::fields::{Fields, Span};
use crate::json::{space, string_end, value_end};
use crate::micros::{self, Form};
use crate::pass::{Event, moving_time, read};

/// An event of a document.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "it is a part of a file")]
pub struct EventText<'a> {
    bytes: &'a [u8],
    fields: &'a Fields,
    time: Option<i64>,
}

/// A member of an event that is found for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// The type of the event.
    Ph,
    /// The time of an event.
    Ts,
    /// The process of an event.
    Pid,
    /// and its thread.
    Tid,
    /// The name of an event.
    Name,
    /// and its category.
    Cat,
    /// The id that joins an event with others.
    Id,
    /// The arguments of an event.
    Args,
}

impl<'a> EventText<'a> {
    /// All of it.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    fn span(self, member: Member) -> Span {
        match member {
            Member::Ph => self.fields.ph,
            Member::Ts => self.fields.ts,
            Member::Pid => self.fields.pid,
            Member::Tid => self.fields.tid,
            Member::Name => self.fields.name,
            Member::Cat => self.fields.cat,
            Member::Id => self.fields.id,
            Member::Args => self.fields.args,
        }
    }

    /// The place of a member's value in the bytes of the event; empty where it has none.
    pub fn place(self, member: Member) -> Range<usize> {
        let span = self.span(member);
        span.start as usize..span.end as usize
    }

    /// The value of a member, with its quotes.
    pub fn value(self, member: Member) -> &'a [u8] {
        self.span(member).of(self.bytes)
    }

    /// The value of a member without quotes.
    pub fn text(self, member: Member) -> &'a [u8] {
        self.span(member).text(self.bytes)
    }

    /// True if it has members that are no [`Member`] and not its length.
    pub fn has_others(self) -> bool {
        self.fields.has_others
    }

    /// The place of the digits of its time, and the nanoseconds that they say, if it has a time.
    pub fn time(self) -> Option<(Range<usize>, i64)> {
        let number = self.fields.ts.number(self.bytes);
        let time = self.time?;
        Some((number.start as usize..number.end as usize, time))
    }

    /// The nanoseconds that the event lasts, if it says so.
    pub fn length(self) -> Option<u64> {
        let number = self.fields.dur.number(self.bytes);
        let length = micros::parse(number.of(self.bytes))?;
        u64::try_from(length.nanoseconds).ok()
    }
}

/// Shows each event of a document to `visit`, which says what is wrong with one.
pub fn each_event(
    path: &Path,
    monitor: &dyn Monitor,
    visit: &mut dyn FnMut(EventText<'_>) -> Result<(), String>,
) -> Result<(), FormatError> {
    read(path, monitor, &mut |event: Event<'_>| {
        visit(EventText {
            bytes: event.bytes,
            fields: event.fields,
            time: event.time.as_ref().map(|it| it.0.nanoseconds),
        })
    })?;
    Ok(())
}

/// Shows an event that stands alone in these bytes to `visit`, which says what is wrong with it.
pub fn alone(
    bytes: &[u8],
    visit: &mut dyn FnMut(EventText<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let fields = match Fields::of(bytes) {
        Ok(fields) if fields.length == bytes.len() => fields,
        _ => return Err("an event is no object of JSON".to_owned()),
    };
    let time = moving_time(bytes, &fields)?;
    visit(EventText {
        bytes,
        fields: &fields,
        time: time.map(|it| it.nanoseconds),
    })
}

/// The members of an object: its keys without quotes, and its values.
pub fn members(object: &[u8]) -> Members<'_> {
    Members {
        bytes: object,
        at: 1,
    }
}

/// Goes over the members of an object; ends where it is none.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.bytes;
        let mut at = space(bytes, self.at).ok()?;
        if bytes.get(at) == Some(&b',') {
            at = space(bytes, at + 1).ok()?;
        }
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let key = at + 1..string_end(bytes, at + 1).ok()?;
        let colon = space(bytes, key.end + 1).ok()?;
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        let start = space(bytes, colon + 1).ok()?;
        let end = value_end(bytes, start).ok()?;
        self.at = end;
        Some((bytes.get(key)?, bytes.get(start..end)?))
    }
}

/// The text that stands between quotes, with what it escapes; what JSON forbids stays as it is.
pub fn unquoted(text: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text).is_none() {
        return String::from_utf8_lossy(text);
    }
    let quoted = [b"\"", text, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(plain) => plain.into(),
        Err(_) => String::from_utf8_lossy(text),
    }
}

/// Appends nanoseconds as microseconds, with as many decimals as that takes.
pub fn micros_text(out: &mut Vec<u8>, nanoseconds: i64) {
    micros::write(out, nanoseconds, Form::Plain(0), b"0");
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn members_are_bytes() {
        let object = br#"{ "a\\b" : [1, {"x": "}"}], "c":"d" ,"e": Infinity} "#;
        let found: Vec<_> = members(object).collect();
        let value = &br#"[1, {"x": "}"}]"#[..];
        assert_eq!(
            found,
            [
                (&br"a\\b"[..], value),
                (b"c", br#""d""#),
                (b"e", b"Infinity")
            ]
        );
        assert_eq!(members(b"{}").count() + members(b"[1]").count(), 0);
    }

    #[test]
    fn text_is_unescaped_where_it_can_be() {
        for (text, plain) in [
            (&br"plain"[..], "plain"),
            (br"a\u00e9\n", "a\u{e9}\n"),
            // As profilers write paths of Windows.
            (br"C:\xyz", r"C:\xyz"),
        ] {
            assert_eq!(unquoted(text), plain);
        }
    }

    #[test]
    fn nanoseconds_become_microseconds() {
        for (nanoseconds, text) in [
            (0, "0"),
            (1_500, "1.5"),
            (1_234_567, "1234.567"),
            (7, "0.007"),
        ] {
            let mut out = Vec::new();
            micros_text(&mut out, nanoseconds);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
