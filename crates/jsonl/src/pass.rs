//! One pass over the lines of a file.
//!
//! All that is done with a file starts here: lines are read one after the other,
//! locations are numbered as they are met, and so every pass over the same lines,
//! or over lines that differ in times only, numbers them alike.

use std::ops::Range;
use std::path::Path;

use retime_model::format::{Checksum, FormatError};
use retime_model::{LocationIndex, Monitor};

use crate::error::JsonlError;
use crate::input::Lines;
use crate::line::{Fields, Header, What};
use crate::places::Places;

/// A pass, from the first line to the last.
pub(crate) struct Pass<'a> {
    pub(crate) lines: Lines<'a>,
    pub(crate) places: Places,
    /// True if the first line that is not empty was met, the only one that may be
    /// a header.
    begun: bool,
}

/// A line.
pub(crate) struct Entry<'a> {
    /// All of it, with its line end.
    pub(crate) bytes: &'a [u8],
    /// The content of the line; `None` if it is empty or a header.
    pub(crate) said: Option<Said<'a>>,
}

impl Entry<'_> {
    /// Adds all of the line but the digits of its time.
    pub(crate) fn add_to(&self, checksum: &mut Checksum) {
        let stamp = self.said.as_ref().and_then(|said| said.stamp.as_ref());
        let end = self.bytes.len();
        let digits = stamp.map_or(end..end, |stamp| stamp.digits.clone());
        checksum.add(self.bytes.get(..digits.start).unwrap_or_default());
        checksum.add(self.bytes.get(digits.end..).unwrap_or_default());
    }
}

/// The content of a line that is no header.
pub(crate) struct Said<'a> {
    pub(crate) location: LocationIndex,
    pub(crate) what: What<'a>,
    /// Its time; a line of type `end` may have none.
    pub(crate) stamp: Option<Stamp>,
    /// The line without white space around it.
    pub(crate) text: &'a str,
}

/// A time, and where its digits stand in the bytes of the line.
#[derive(Clone)]
pub(crate) struct Stamp {
    pub(crate) time: u64,
    pub(crate) digits: Range<usize>,
}

impl<'a> Pass<'a> {
    pub(crate) fn open(path: &'a Path, monitor: &'a dyn Monitor) -> Result<Self, JsonlError> {
        Ok(Self {
            lines: Lines::open(path, monitor)?,
            places: Places::default(),
            begun: false,
        })
    }

    /// The next line, `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>, FormatError> {
        let (path, line) = (self.lines.path(), self.lines.number + 1);
        let Some(bytes) = self.lines.next()? else {
            return Ok(None);
        };
        match read(bytes, &mut self.begun, &mut self.places) {
            Ok(said) => Ok(Some(Entry { bytes, said })),
            Err(what) => Err(JsonlError::Line {
                path: path.to_owned(),
                line,
                what,
            }
            .into()),
        }
    }
}

/// Reads a line; an error says what is wrong with it.
fn read<'a>(
    bytes: &'a [u8],
    begun: &mut bool,
    places: &mut Places,
) -> Result<Option<Said<'a>>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "this is not UTF-8")?;
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let is_first = !std::mem::replace(begun, true);
    if is_first && let Some(header) = Header::of(text)? {
        places.declare(&header)?;
        return Ok(None);
    }
    let fields = Fields::of(text)?;
    let location = places.index(fields.location()?);
    let what = fields.what(|peer| Ok(places.index(peer)))?;
    let time = match (&what, fields.time()) {
        (_, Ok(time)) => Some(time),
        (What::End, Err(_)) => None,
        (_, Err(what)) => return Err(what),
    };
    // The text is borrowed from the line.
    let start = text.as_ptr() as usize - bytes.as_ptr() as usize;
    let stamp = time.map(|(time, digits)| Stamp {
        time,
        digits: start + digits.start..start + digits.end,
    });
    Ok(Some(Said {
        location,
        what,
        stamp,
        text,
    }))
}
