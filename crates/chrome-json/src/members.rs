//! All members of an object, as they stand there.
//!
//! Nothing is refused: what profilers write against the rules of JSON comes out as it is.

use std::borrow::Cow;

use crate::json::{space, string_end, value_end};

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

#[cfg(test)]
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
}
