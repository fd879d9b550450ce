//! A line as it waits, and why one is not taken.

use std::io::{self, Write};
use std::ops::Range;

use retime_jsonl::line::{Fields, Header, LONGEST};
use retime_model::Timestamp;

use super::event;

/// A line on its way.
#[derive(Debug)]
pub struct Record {
    text: Box<str>,
    /// Where its time stands.
    time: Range<u32>,
    /// When it was read, in microseconds.
    pub(super) read: u64,
}

impl Record {
    /// A line whose time stands at `place`.
    pub(super) fn new(text: &str, place: Range<usize>, read: u64) -> Self {
        Self {
            text: text.into(),
            time: place.start as u32..place.end as u32,
            read,
        }
    }

    /// Writes the line with another time, and the one it had.
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        time: Timestamp,
        raw: Timestamp,
    ) -> io::Result<()> {
        event::write(out, &self.text, self.time.clone(), time, raw)
    }
}

/// Why a line is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It cannot be understood; others may be.
    #[error("{0}")]
    Line(String),
    /// The stream cannot begin with it, or not with these options; without it
    /// all others would mean something else.
    #[error("{0}")]
    Stream(String),
}

impl From<String> for Refused {
    fn from(what: String) -> Self {
        Self::Line(what)
    }
}

/// The text of a line without what is blank around it.
pub(super) fn text_of(line: &[u8]) -> Result<&str, Refused> {
    let text = std::str::from_utf8(line).map_err(|_| no_text(line))?;
    Ok(text.trim())
}

/// The fields of a line that did not go through retime before.
pub(super) fn fields_of(text: &str) -> Result<Fields<'_>, Refused> {
    let fields = Fields::of(text)?;
    if fields.has_raw_time() {
        let what = "it has a \"raw_time\" already: it went through retime before";
        return Err(Refused::Line(what.into()));
    }
    Ok(fields)
}

/// Why a line that is longer than [`LONGEST`] is not taken; a first one may have been a header.
pub(super) fn too_long(is_first: bool, start: &[u8], from: u64) -> Refused {
    let most = LONGEST >> 20;
    let what = format!("it is longer than {most} MiB; it begins at byte {from} of the input");
    if is_first && Header::may_begin_with(start) {
        Refused::Stream(what)
    } else {
        Refused::Line(what)
    }
}

/// Names what a line is that is no text.
fn no_text(line: &[u8]) -> String {
    match line {
        [0x1f, 0x8b, ..] => "this is gzip: unpack it first, as zcat does".into(),
        _ => "this is not UTF-8".into(),
    }
}
