//! The members of an event that matter, as spans of its bytes.
//!
//! Keys may come in any order; of equal ones the last counts, as everywhere.

use crate::json::{Stop, space, string_end, value_end};

/// Where a value stands in the bytes of an event; empty if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes of the value, of those of the event.
    #[inline]
    pub fn of(self, event: &[u8]) -> &[u8] {
        event
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// The bytes of the value without its quotes, if it is a string.
    #[inline]
    pub fn text(self, event: &[u8]) -> &[u8] {
        let bytes = self.of(event);
        match bytes {
            [b'"', text @ .., b'"'] => text,
            _ => bytes,
        }
    }

    /// Where a number stands, if that is what the value is: some tools write numbers as
    /// strings.
    #[inline]
    #[must_use]
    pub fn number(self, event: &[u8]) -> Self {
        match self.of(event) {
            [b'"', text @ .., b'"'] => {
                let before = text.len() - text.trim_ascii_start().len();
                let length = text.trim_ascii().len();
                let start = self.start + 1 + before as u32;
                Self {
                    start,
                    end: start + length as u32,
                }
            }
            _ => self,
        }
    }

    /// Its place in the bytes of the event.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// True if there is no value.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// The fields of an event: where their values stand in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The type of the event.
    pub ph: Span,
    /// The time at which it is or begins.
    pub ts: Span,
    /// How long it lasts.
    pub dur: Span,
    /// Its process,
    pub pid: Span,
    /// and the thread of that.
    pub tid: Span,
    /// Its name,
    pub name: Span,
    /// and its category.
    pub cat: Span,
    /// The id that joins it with others.
    pub id: Span,
    /// Its arguments.
    pub args: Span,
    /// True if the event has members beside these.
    pub has_others: bool,
    /// Bytes of the event.
    pub length: usize,
}

impl Fields {
    /// The fields of the object that begins the bytes.
    ///
    /// # Errors
    ///
    /// The bytes end before it does, or it is none.
    pub fn of(bytes: &[u8]) -> Result<Self, Stop> {
        let mut fields = Self::default();
        let mut at = space(bytes, 1)?;
        if bytes.get(at) == Some(&b'}') {
            fields.length = at + 1;
            return Ok(fields);
        }
        loop {
            if bytes.get(at) != Some(&b'"') {
                return Err(Stop::Bad(at, "a key in quotes is expected"));
            }
            let key = at + 1..string_end(bytes, at + 1)?;
            at = space(bytes, key.end + 1)?;
            if bytes.get(at) != Some(&b':') {
                return Err(Stop::Bad(at, "a colon is expected"));
            }
            let start = space(bytes, at + 1)?;
            let end = value_end(bytes, start)?;
            match fields.member(bytes.get(key).unwrap_or_default()) {
                Some(span) => {
                    *span = Span {
                        start: start as u32,
                        end: end as u32,
                    };
                }
                None => fields.has_others = true,
            }
            at = space(bytes, end)?;
            match bytes.get(at) {
                Some(b',') => at = space(bytes, at + 1)?,
                Some(b'}') => {
                    fields.length = at + 1;
                    return Ok(fields);
                }
                _ => return Err(Stop::Bad(at, "a comma or the end of the event is expected")),
            }
        }
    }

    #[inline]
    fn member(&mut self, key: &[u8]) -> Option<&mut Span> {
        Some(match key {
            b"ph" => &mut self.ph,
            b"ts" => &mut self.ts,
            b"dur" => &mut self.dur,
            b"pid" => &mut self.pid,
            b"tid" => &mut self.tid,
            b"name" => &mut self.name,
            b"cat" => &mut self.cat,
            b"id" => &mut self.id,
            b"args" => &mut self.args,
            _ if key.contains(&b'\\') => return self.escaped_member(key),
            _ => return None,
        })
    }

    /// Nobody escapes letters, but it would be the same key.
    #[cold]
    fn escaped_member(&mut self, key: &[u8]) -> Option<&mut Span> {
        let quoted = [b"\"", key, b"\""].concat();
        let plain: String = serde_json::from_slice(&quoted).ok()?;
        (!plain.contains('\\')).then(|| self.member(plain.as_bytes()))?
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_strings() {
        for (event, number) in [
            (&br#"{"ts":"12.5"}"#[..], &b"12.5"[..]),
            (br#"{"ts":" -3 "}"#, b"-3"),
            (br#"{"ts":"  "}"#, b""),
            (br#"{"ts":""}"#, b""),
            (br#"{"ts":7}"#, b"7"),
        ] {
            let ts = Fields::of(event).unwrap().ts;
            assert_eq!(ts.number(event).of(event), number);
        }
    }

    #[test]
    fn members_are_found_in_any_order() {
        let event =
            br#"{ "args":{"ts":1,"x":[{}]}, "t\u0073" : 5.5 ,"ph":"X","ts":7.25,"pid":-1}, "#;
        let fields = Fields::of(event).unwrap();
        assert_eq!(fields.ts.of(event), b"7.25");
        assert_eq!(fields.ph.text(event), b"X");
        assert_eq!(fields.pid.text(event), b"-1");
        assert!(fields.tid.is_empty());
        assert_eq!(fields.length, event.len() - 2);
        let first = br#"{"t\u0073":5.5}"#;
        assert_eq!(Fields::of(first).unwrap().ts.of(first), b"5.5");
        assert_eq!(Fields::of(b"{ }").unwrap().length, 3);
        assert!(!fields.has_others);
        assert!(Fields::of(br#"{"ts":1,"bp":"e"}"#).unwrap().has_others);
        for cut in 1..fields.length {
            assert_eq!(Fields::of(&event[..cut]), Err(Stop::Cut), "{cut}");
        }
        for (text, at) in [("{1:2}", 1), (r#"{"a" 2}"#, 5), (r#"{"a":2 "b":3}"#, 7)] {
            let stopped = Fields::of(text.as_bytes());
            assert!(
                matches!(stopped, Err(Stop::Bad(place, _)) if place == at),
                "{text}"
            );
        }
    }
}
