//! What a line says, and how it is written again. The format is described in
//! `docs/STREAM.md`.

use std::io::{self, Write};
use std::ops::Range;

use retime::filter::{Collective, EventKind, MessageId};
use retime::{LocationIndex, Timestamp};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The version of the format.
const VERSION: u32 = 1;

/// The first line of a stream.
#[derive(Default, Deserialize)]
pub(super) struct Header<'a> {
    #[serde(rename = "retime-stream")]
    version: Option<u32>,
    pub(super) ticks_per_second: Option<u64>,
    #[serde(borrow, default)]
    pub(super) locations: Vec<&'a RawValue>,
    /// The number of the clock of each location.
    pub(super) clocks: Option<Vec<u32>>,
}

impl<'a> Header<'a> {
    /// The header, if the line is one.
    pub(super) fn of(text: &'a str) -> Result<Option<Self>, String> {
        if text.starts_with('[') || !text.contains("\"retime-stream\"") {
            return Ok(None);
        }
        let header: Self = serde_json::from_str(text).map_err(|error| said(&error))?;
        match header.version {
            Some(VERSION) => Ok(Some(header)),
            Some(other) => Err(format!(
                "version {other} of the format is not known, only 1 is"
            )),
            None => Ok(None),
        }
    }
}

/// The fields of a line that mean something to the filter.
#[derive(Deserialize)]
pub(super) struct Fields<'a> {
    #[serde(skip)]
    text: &'a str,
    #[serde(borrow)]
    location: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    to: Option<&'a RawValue>,
    #[serde(borrow)]
    from: Option<&'a RawValue>,
    tag: Option<u32>,
    communicator: Option<u32>,
    #[serde(borrow)]
    collective: Option<&'a RawValue>,
    #[serde(borrow)]
    class: Option<&'a RawValue>,
    participants: Option<u32>,
    begins: Option<u32>,
    ends: Option<u32>,
    root: Option<bool>,
    rank: Option<u32>,
    raw_time: Option<IgnoredAny>,
    #[serde(rename = "retime-stream")]
    header: Option<IgnoredAny>,
}

/// What a line asks for.
pub(super) enum What {
    Heartbeat,
    End,
    Event(EventKind),
}

impl<'a> Fields<'a> {
    /// The fields of a line.
    pub(super) fn of(text: &'a str) -> Result<Self, String> {
        if text.starts_with('[') {
            return Err("this is a list; a line is one object".into());
        }
        let fields: Self = serde_json::from_str(text).map_err(|error| said(&error))?;
        if fields.header.is_some() {
            return Err("a header is the first line, or none".into());
        }
        if fields.raw_time.is_some() {
            return Err("it has a \"raw_time\" already: it went through retime before".into());
        }
        Ok(Self { text, ..fields })
    }

    pub(super) fn location(&self) -> Result<&'a RawValue, String> {
        self.location
            .ok_or_else(|| "\"location\" is missing".into())
    }

    /// The time, and where it stands in the line.
    pub(super) fn time(&self) -> Result<(u64, Range<u32>), String> {
        let raw = self.time.ok_or("\"time\" is missing")?.get();
        let time = raw.parse().map_err(|_| {
            format!("\"time\" is {raw}: give whole ticks from 0 to 18446744073709551615")
        })?;
        // The value is borrowed from the line.
        let start = raw.as_ptr() as usize - self.text.as_ptr() as usize;
        Ok((time, start as u32..(start + raw.len()) as u32))
    }

    /// What the line asks for; `index` finds a location by its name.
    pub(super) fn what(
        &self,
        mut index: impl FnMut(&RawValue) -> Result<LocationIndex, String>,
        own: LocationIndex,
    ) -> Result<What, String> {
        let kind = match self.kind.map_or("\"internal\"", RawValue::get) {
            "\"heartbeat\"" => return Ok(What::Heartbeat),
            "\"end\"" => return Ok(What::End),
            "\"internal\"" => EventKind::Internal,
            "\"send\"" => EventKind::Send(match (self.message, self.to) {
                (Some(message), _) => message_id(message)?,
                (None, Some(to)) => self.channel(own, index(to)?),
                (None, None) => return Err("a send needs \"message\" or \"to\"".into()),
            }),
            "\"receive\"" => EventKind::Receive(match (self.message, self.from) {
                (Some(message), _) => message_id(message)?,
                (None, Some(from)) => self.channel(index(from)?, own),
                (None, None) => return Err("a receive needs \"message\" or \"from\"".into()),
            }),
            "\"collective-begin\"" => self.collective(true)?,
            "\"collective-end\"" => self.collective(false)?,
            other => {
                return Err(format!(
                    "type {other} is not known: give internal, send, receive, \
                     collective-begin, collective-end, heartbeat or end"
                ));
            }
        };
        Ok(What::Event(kind))
    }

    fn channel(&self, from: LocationIndex, to: LocationIndex) -> MessageId {
        let (communicator, tag) = (self.communicator.unwrap_or(0), self.tag.unwrap_or(0));
        MessageId::channel(from, to, communicator, tag)
    }

    fn collective(&self, is_begin: bool) -> Result<EventKind, String> {
        let id = message_id(self.collective.ok_or("\"collective\" is missing")?)?;
        let count = self.participants.ok_or("\"participants\" is missing")?;
        let is_root = self.root.unwrap_or(false);
        let class = self.class.map_or("\"all-to-all\"", RawValue::get);
        // Whether others depend on the begin, and the end on others.
        let (what, begins, ends) = match class {
            "\"all-to-all\"" => (Collective::all_to_all(id, count), true, true),
            "\"from-root\"" => (Collective::from_root(id, count), is_root, !is_root),
            "\"to-root\"" => (Collective::to_root(id, count), !is_root, is_root),
            "\"scan\"" => {
                let rank = self.rank.ok_or("a scan needs \"rank\"")?;
                (Collective::scan(id, count, rank), true, true)
            }
            other => {
                return Err(format!(
                    "class {other} is not known: give all-to-all, from-root, to-root or scan"
                ));
            }
        };
        let what = Collective {
            begins: self.begins.unwrap_or(what.begins),
            ends: self.ends.unwrap_or(what.ends),
            ..what
        };
        Ok(match is_begin {
            true if begins => EventKind::Begin(what),
            false if ends => EventKind::End(what),
            _ => EventKind::Internal,
        })
    }
}

fn message_id(value: &RawValue) -> Result<MessageId, String> {
    let text = value.get();
    if let Ok(number) = text.parse() {
        return Ok(MessageId::number(number));
    }
    match text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    {
        Some(name) => Ok(MessageId::name(name)),
        None => Err(format!("{text} is no id: give a number or a string")),
    }
}

/// What serde says, without its line, which is always 1.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let message = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(message, _)| message);
    format!("{message}, at character {}", error.column())
}

/// Writes a line again, with another time and the one it had.
pub(super) fn write(
    out: &mut impl Write,
    text: &str,
    place: Range<u32>,
    time: Timestamp,
    raw: Timestamp,
) -> io::Result<()> {
    let (start, end) = (place.start as usize, place.end as usize);
    let rest = text[end..].trim_end();
    let rest = rest.strip_suffix('}').unwrap_or(rest);
    out.write_all(&text.as_bytes()[..start])?;
    write!(out, "{time}{rest},\"raw_time\":{raw}}}")?;
    out.write_all(b"\n")
}
