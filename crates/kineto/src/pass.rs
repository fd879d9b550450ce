//! One pass over the events of a file.
//!
//! ```text
//! {"baseTimeNanoseconds": .., "traceEvents": [ event, event, .. ], "traceName": ..}
//! [ event, event, ..                      Chrome's other form, which need not be closed
//! ```

use std::ops::Range;
use std::path::Path;

use retime_model::Monitor;
use retime_model::format::{Checksum, FormatError};

use crate::gathering::Passed;
use crate::header::{Header, KEYS};
use crate::window::Window;
use retime_chrome_json::fields::{Fields, Span};
use retime_chrome_json::json::{Skip, Stop, space, string_end, value_end};
use retime_chrome_json::micros::{self, Micros};

/// An event of a file.
pub(crate) struct Event<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) fields: &'a Fields,
    /// Its time, if it has one that moves with its clock, and where in the content of the
    /// file the digits stand.
    pub(crate) time: Option<(Micros, Range<u64>)>,
}

impl<'a> Event<'a> {
    /// The letters of its type.
    pub(crate) fn ph(&self) -> &'a [u8] {
        self.fields.ph.text(self.bytes)
    }

    /// The text of a member.
    pub(crate) fn text(&self, span: Span) -> &'a [u8] {
        span.text(self.bytes)
    }
}

/// Reads a file and shows each event to `visit`, which says what is wrong with one.
pub(crate) fn read(
    path: &Path,
    monitor: &dyn Monitor,
    visit: &mut dyn FnMut(Event<'_>) -> Result<(), String>,
) -> Result<Passed, FormatError> {
    let mut window = Window::open(path, monitor)?;
    window.skip_byte_order_mark()?;
    let mut pass = Pass {
        window,
        checksum: Checksum::default(),
        header: Header::default(),
        visit,
    };
    pass.file()?;
    Ok(Passed {
        header: pass.header,
        crc: pass.window.crc(),
        rest: pass.checksum.finish(),
    })
}

struct Pass<'a, 'v> {
    window: Window<'a>,
    checksum: Checksum,
    header: Header,
    visit: &'v mut dyn FnMut(Event<'_>) -> Result<(), String>,
}

/// The message on a file that ends too early.
const CUT: &str = "the file ends here, before the trace does; was the program killed while it \
                   wrote, or the file cut off by a copy? Restore it, or move it elsewhere to \
                   leave its events out";

/// The message on a file that goes on behind its trace.
const FOLLOWS: &str = "something follows the end of the trace; if these are several files, put one behind \
                       the other, give each by itself";

/// The message on a file in which there is nothing.
const EMPTY: &str = "the file is empty, so it is no trace; was the program killed before it wrote, \
                     or the file cut off by a copy?";

/// The message on a file that is JSON, but no trace.
const NO_EVENTS: &str = "the object ends without an array traceEvents; this is no trace in Chrome's \
                         format";

impl Pass<'_, '_> {
    /// Applies `find` to the window, which gets as much of the file as that takes.
    #[inline]
    fn find<T>(&mut self, find: impl Fn(&[u8]) -> Result<T, Stop>) -> Result<T, FormatError> {
        loop {
            match find(self.window.bytes()) {
                Ok(found) => return Ok(found),
                Err(Stop::Bad(at, what)) => return Err(self.window.syntax(at, what)),
                Err(Stop::Cut) => {
                    if !self.window.more()? {
                        return Err(self.window.syntax(self.window.bytes().len(), CUT));
                    }
                }
            }
        }
    }

    /// Moves on.
    #[inline]
    fn take(&mut self, count: usize) {
        self.checksum
            .add(self.window.bytes().get(..count).unwrap_or_default());
        self.window.advance(count);
    }

    /// The next byte that is not white space, to which it moves.
    #[inline]
    fn peek(&mut self) -> Result<u8, FormatError> {
        let at = self.find(|bytes| space(bytes, 0))?;
        self.take(at);
        Ok(self.window.bytes().first().copied().unwrap_or_default())
    }

    /// The byte that [`peek`](Self::peek) gives, but `None` at the end of the file.
    fn peek_or_end(&mut self) -> Result<Option<u8>, FormatError> {
        loop {
            if space(self.window.bytes(), 0).is_ok() {
                return self.peek().map(Some);
            }
            let count = self.window.bytes().len();
            self.take(count);
            if !self.window.more()? {
                return Ok(None);
            }
        }
    }

    fn file(&mut self) -> Result<(), FormatError> {
        match self.peek_or_end()? {
            Some(b'{') => {
                self.take(1);
                self.object()?;
            }
            Some(b'[') => {
                self.take(1);
                self.events(true)?;
            }
            Some(_) => {
                let what = "a trace in Chrome's format begins with { or [";
                return Err(self.window.syntax(0, what));
            }
            None => return Err(self.window.syntax(0, EMPTY)),
        }
        match self.peek_or_end()? {
            None => Ok(()),
            Some(_) => Err(self.window.syntax(0, FOLLOWS)),
        }
    }

    /// The outermost object.
    fn object(&mut self) -> Result<(), FormatError> {
        let mut has_events = false;
        if self.peek()? == b'}' {
            return Err(self.window.syntax(0, NO_EVENTS));
        }
        loop {
            if self.peek()? != b'"' {
                return Err(self.window.syntax(0, "a key in quotes is expected"));
            }
            let end = self.find(|bytes| string_end(bytes, 1))?;
            let key = self.window.bytes().get(1..end).unwrap_or_default().to_vec();
            self.take(end + 1);
            if self.peek()? != b':' {
                return Err(self.window.syntax(0, "a colon is expected"));
            }
            self.take(1);
            let first = self.peek()?;
            if key == b"traceEvents" && first == b'[' {
                self.take(1);
                self.events(false)?;
                has_events = true;
            } else {
                self.value(&key, first)?;
            }
            match self.peek()? {
                b',' => self.take(1),
                b'}' if !has_events => return Err(self.window.syntax(0, NO_EVENTS)),
                b'}' => {
                    self.take(1);
                    return Ok(());
                }
                _ => {
                    let what = "a comma or the end of the trace is expected";
                    return Err(self.window.syntax(0, what));
                }
            }
        }
    }

    /// The value of a key of the outermost object.
    fn value(&mut self, key: &[u8], first: u8) -> Result<(), FormatError> {
        if KEYS.contains(&key) {
            let end = self.find(|bytes| value_end(bytes, 0))?;
            let value = self.window.bytes().get(..end).unwrap_or_default();
            if let Err(what) = self.header.take(key, value) {
                return Err(self.window.syntax(0, what));
            }
            self.take(end);
            return Ok(());
        }
        if !matches!(first, b'{' | b'[') {
            let end = self.find(|bytes| value_end(bytes, 0))?;
            self.take(end);
            return Ok(());
        }
        // It may be far longer than any event: it is let go while it is skipped.
        let mut skip = Skip::default();
        loop {
            let mut at = 0;
            match skip.on(self.window.bytes(), &mut at) {
                Ok(end) => {
                    self.take(end);
                    return Ok(());
                }
                Err(Stop::Bad(at, what)) => return Err(self.window.syntax(at, what)),
                Err(Stop::Cut) => {
                    self.take(at.min(self.window.bytes().len()));
                    if !self.window.more()? {
                        return Err(self.window.syntax(0, CUT));
                    }
                }
            }
        }
    }

    /// The events of an array, which may be `open` at the end of the file.
    fn events(&mut self, open: bool) -> Result<(), FormatError> {
        let mut is_first = true;
        loop {
            let next = self.peek_or_end()?;
            match next {
                Some(b']') => {
                    self.take(1);
                    return Ok(());
                }
                Some(b',') if !is_first => self.take(1),
                Some(_) if is_first => {}
                None if open => return Ok(()),
                None => return Err(self.window.syntax(0, CUT)),
                Some(_) => {
                    let what = "a comma or the end of the events is expected";
                    return Err(self.window.syntax(0, what));
                }
            }
            is_first = false;
            match self.peek_or_end()? {
                Some(b'{') => self.event()?,
                // Tools that write while a program runs leave a comma behind the last.
                Some(b']') => {}
                None if open => {}
                Some(_) => {
                    let end = self.find(|bytes| value_end(bytes, 0))?;
                    self.take(end);
                }
                None => return Err(self.window.syntax(0, CUT)),
            }
        }
    }

    fn event(&mut self) -> Result<(), FormatError> {
        let fields = self.find(Fields::of)?;
        let start = self.window.offset();
        let bytes = self.window.bytes().get(..fields.length).unwrap_or_default();
        let time = match moving_time(bytes, &fields) {
            Ok(time) => time,
            Err(what) => return Err(self.window.syntax(fields.ts.start as usize, what)),
        };
        let none = fields.length..fields.length;
        let digits = match time {
            Some(_) => fields.ts.number(bytes).range(),
            None => none.clone(),
        };
        let length = changing_length(bytes, &fields).filter(|_| time.is_some());
        let length = length.map_or(none, Span::range);
        let (one, other) = if digits.start < length.start {
            (&digits, &length)
        } else {
            (&length, &digits)
        };
        for kept in [0..one.start, one.end..other.start, other.end..bytes.len()] {
            self.checksum.add(bytes.get(kept).unwrap_or_default());
        }
        let place = start + digits.start as u64..start + digits.end as u64;
        let event = Event {
            bytes,
            fields: &fields,
            time: time.map(|time| (time, place)),
        };
        if let Err(what) = (self.visit)(event) {
            return Err(self.window.syntax(fields.ts.start as usize, &what));
        }
        self.window.advance(fields.length);
        Ok(())
    }
}

/// Where the digits of a length stand that a correction can change: that of what lasts, if it is a
/// number.
pub(crate) fn changing_length(bytes: &[u8], fields: &Fields) -> Option<Span> {
    if fields.ph.text(bytes) != b"X" || fields.dur.is_empty() {
        return None;
    }
    let digits = fields.dur.number(bytes);
    micros::parse(digits.of(bytes)).map(|_| digits)
}

/// The time of an event that is moved with its clock. What only names processes and
/// threads has none, or one that says nothing: 0.
pub(crate) fn moving_time(bytes: &[u8], fields: &Fields) -> Result<Option<Micros>, &'static str> {
    if fields.ts.is_empty() {
        return Ok(None);
    }
    let is_name = fields.ph.text(bytes) == b"M";
    match micros::parse(fields.ts.number(bytes).of(bytes)) {
        Some(time) if is_name && time.nanoseconds == 0 => Ok(None),
        Some(time) => Ok(Some(time)),
        None if is_name => Ok(None),
        None => Err("ts is no number of microseconds that 64 bits of nanoseconds hold"),
    }
}
