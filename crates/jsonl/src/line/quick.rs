//! The fields of a plain line, found in one walk over its bytes.
//!
//! This is no JSON parser: it takes lines of which it is certain, and gives up on
//! all others. It is certain of flat objects whose keys and strings have no
//! escapes, whose numbers are whole and not negative, and in which no field that
//! means something comes twice, is `null` or of another type. So it can be wrong
//! in one way only, that of refusing too much, and then serde decides.

use super::fields::Fields;

/// The fields, if the line is plain.
#[inline]
pub(super) fn fields(text: &str) -> Option<Fields<'_>> {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut fields = Fields {
        text,
        ..Fields::default()
    };
    scanner.expect(b'{')?;
    loop {
        scanner.skip_space();
        let key = scanner.string()?;
        scanner.skip_space();
        scanner.expect(b':')?;
        scanner.skip_space();
        let value = scanner.value()?;
        // Of a key nothing but its name counts.
        set(&mut fields, &key[1..key.len() - 1], value)?;
        scanner.skip_space();
        match scanner.next()? {
            b',' => {}
            b'}' if scanner.at == text.len() => return Some(fields),
            _ => return None,
        }
    }
}

/// Takes a field; `None` if serde has to look at it.
fn set<'a>(fields: &mut Fields<'a>, key: &str, value: &'a str) -> Option<()> {
    match key {
        "location" => once(&mut fields.location, name(value)?),
        "time" => once(&mut fields.time, name(value)?),
        "type" => once(&mut fields.kind, name(value)?),
        "message" => once(&mut fields.message, name(value)?),
        "to" => once(&mut fields.to, name(value)?),
        "from" => once(&mut fields.from, name(value)?),
        "bytes" => once(&mut fields.bytes, name(value)?),
        "tag" => once(&mut fields.tag, value.parse().ok()?),
        "communicator" => once(&mut fields.communicator, value.parse().ok()?),
        "collective" => once(&mut fields.collective, name(value)?),
        "class" => once(&mut fields.class, name(value)?),
        "participants" => once(&mut fields.participants, value.parse().ok()?),
        "begins" => once(&mut fields.begins, value.parse().ok()?),
        "ends" => once(&mut fields.ends, value.parse().ok()?),
        "root" => once(&mut fields.root, value.parse().ok()?),
        "rank" => once(&mut fields.rank, value.parse().ok()?),
        "raw_time" => name(value).and_then(|_| once(&mut fields.raw_time, ())),
        "retime-stream" => name(value).and_then(|_| once(&mut fields.header, ())),
        _ => Some(()),
    }
}

fn once<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

/// A value that is not `null`, which stands for a field that is not there.
fn name(value: &str) -> Option<&str> {
    (value != "null").then_some(value)
}

/// Has the high bit set in the first of eight bytes (the lowest) that is a quote, a
/// backslash or a control character, and in none before it.
#[inline]
fn stops(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;
    let quotes = eight ^ (ONES * u64::from(b'"'));
    let backslashes = eight ^ (ONES * u64::from(b'\\'));
    let below = |bytes: u64, n: u64| bytes.wrapping_sub(ONES * n) & !bytes;
    // A byte below `n` borrows from its high bit when `n` is subtracted. What it
    // borrows can only mislead about bytes after it.
    (below(quotes, 1) | below(backslashes, 1) | below(eight, u64::from(b' '))) & HIGH
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// A string, with its quotes.
    #[inline]
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.expect(b'"')?;
        let mut rest = self.bytes.get(self.at..)?;
        // Eight bytes at a time, since what is in quotes is most of a line.
        while let Some((eight, others)) = rest.split_first_chunk() {
            let stops = stops(u64::from_le_bytes(*eight));
            if stops != 0 {
                self.at += stops.trailing_zeros() as usize / 8;
                break;
            }
            self.at += 8;
            rest = others;
        }
        while !matches!(self.peek()?, b'"' | b'\\' | 0..b' ') {
            self.at += 1;
        }
        self.expect(b'"')?;
        self.text.get(start..self.at)
    }

    /// A string, a whole number, or one of the three words.
    #[inline]
    fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        match self.peek()? {
            b'"' => return self.string(),
            b'0' => self.at += 1,
            b'1'..=b'9' => {
                let rest = self.bytes.get(self.at..)?;
                let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
                self.at += digits;
            }
            b't' => return self.word("true"),
            b'f' => return self.word("false"),
            b'n' => return self.word("null"),
            _ => return None,
        }
        // What makes more of a number than its digits ends the walk, since no
        // comma and no brace follows.
        self.text.get(start..self.at)
    }

    fn word(&mut self, word: &'a str) -> Option<&'a str> {
        let found = self.bytes.get(self.at..)?.starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: [&str; 4] = [
        r#"{"location":3,"time":12345,"type":"send","message":"a17","region":"exchange"}"#,
        r#"{ "location" : "é" , "time" : 0 , "root" : true , "x" : null , "y":false }"#,
        r#"{"location":0,"time":1,"type":"receive","from":"b","tag":7,"communicator":4294967295,"raw_time":3}"#,
        r#"{"location":1,"time":9,"type":"collective-end","collective":5,"class":"scan","participants":3,"begins":2,"ends":1,"rank":2}"#,
    ];

    #[test]
    fn plain_lines_are_taken() {
        for line in PLAIN {
            let found = fields(line);
            assert!(found.is_some(), "{line}");
            assert_eq!(found, Fields::by_serde(line).ok());
        }
    }

    #[test]
    fn all_others_are_left_to_serde() {
        for line in [
            r#"{"location":1,"location":1}"#,
            r#"{"locati\u006fn":1}"#,
            r#"{"location":"\n"}"#,
            r#"{"x":1.5}"#,
            r#"{"x":-1}"#,
            r#"{"x":01}"#,
            r#"{"x":1e3}"#,
            r#"{"x":[]}"#,
            r#"{"x":{}}"#,
            r#"{"x":nul}"#,
            r#"{"location":null}"#,
            r#"{"raw_time":null}"#,
            r#"{"tag":4294967296}"#,
            r#"{"tag":"7"}"#,
            r#"{"root":1}"#,
            r#"{"x":1,}"#,
            r#"{"x":1} "#,
            r#"{"x":1"#,
            r#"{"x":1}{}"#,
            "{}",
            "{\"x\":\"\u{1}\"}",
            "",
        ] {
            assert_eq!(fields(line), None, "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn it_agrees_with_serde_on_whatever_it_takes(
            line in 0..PLAIN.len(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), "[\"{}:,\\\\ 0a19n\\[é\u{1}-]{0,2}"), 0..4),
        ) {
            let mut text: Vec<char> = PLAIN[line].chars().collect();
            for (place, by) in changes {
                let at = place.index(text.len() + 1);
                let end = text.len().min(at + 1);
                text.splice(at..end, by.chars());
            }
            let text: String = text.into_iter().collect();
            if let Some(found) = fields(&text) {
                prop_assert_eq!(Ok(found), Fields::by_serde(&text));
            }
        }
    }
}
