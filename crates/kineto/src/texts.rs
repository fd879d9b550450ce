//! The events of a document as they stand there, for whoever writes them into another one.
//!
//! Nothing is built of them and nothing is refused that the reader of traces takes: values are
//! bytes of the file, and what profilers write against the rules of JSON comes out as it is.

use std::ops::Range;
use std::path::Path;

use retime_chrome_json::fields::{Fields, Span};
use retime_chrome_json::micros;
use retime_model::Monitor;
use retime_model::format::FormatError;

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
