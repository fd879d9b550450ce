//! Where values of JSON begin and end, in bytes that may be cut anywhere.
//!
//! Nothing is built of what is read: an event is some spans of bytes. Profilers are known
//! to write what JSON forbids in names and arguments (single backslashes, control
//! characters, `Infinity`); all that matters is where things end. So strings may hold
//! anything but a bare quote, scalars anything without space or punctuation, and what lies
//! deeper than an event's own members only has to be balanced.

/// Why the end of something was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The bytes end before.
    Cut,
    /// Something else stands there, so many bytes in.
    Bad(usize, &'static str),
}

/// Arrays and objects within one another, at most: one bit each tells them apart.
const DEEPEST: u32 = 128;

/// How many bytes of a string are looked at one by one: most names and keys are as short.
const SHORT: usize = 24;

/// Where the next byte that is not white space stands.
#[inline]
pub fn space(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    while let Some(byte) = bytes.get(at) {
        if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            return Ok(at);
        }
        at += 1;
    }
    Err(Stop::Cut)
}

/// Where the quote stands that ends a string; `at` is behind the one that begins it.
#[inline]
pub fn string_end(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    let short = at + SHORT;
    while at < short {
        match bytes.get(at) {
            Some(b'"') => return Ok(at),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return Err(Stop::Cut),
        }
    }
    long_string_end(bytes, at)
}

fn long_string_end(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    loop {
        let rest = bytes.get(at..).ok_or(Stop::Cut)?;
        let next = memchr::memchr2(b'"', b'\\', rest).ok_or(Stop::Cut)?;
        at += next;
        if bytes.get(at) == Some(&b'"') {
            return Ok(at);
        }
        at += 2;
    }
}

/// Where the byte after a value stands.
#[inline]
pub fn value_end(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at) {
        Some(b'"') => Ok(string_end(bytes, at + 1)? + 1),
        Some(b'{' | b'[') => container_end(bytes, at),
        Some(_) => scalar_end(bytes, at),
        None => Err(Stop::Cut),
    }
}

fn scalar_end(bytes: &[u8], start: usize) -> Result<usize, Stop> {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        if matches!(
            byte,
            b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b':' | b'"' | b'{' | b'['
        ) {
            return if at > start {
                Ok(at)
            } else {
                Err(Stop::Bad(at, "a value is missing"))
            };
        }
        at += 1;
    }
    Err(Stop::Cut)
}

/// How far an array or object was skipped that may not be whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Skip {
    /// How many are open.
    depth: u32,
    /// Which of them are arrays; the innermost is the lowest bit.
    arrays: u128,
}

impl Skip {
    /// Goes on at a byte; where the byte after the outermost end stands. If the bytes end
    /// before, `at` is where to go on when there are more.
    pub fn on(&mut self, bytes: &[u8], at: &mut usize) -> Result<usize, Stop> {
        while let Some(&byte) = bytes.get(*at) {
            match byte {
                b'"' => *at = string_end(bytes, *at + 1)? + 1,
                b'{' | b'[' => {
                    if self.depth == DEEPEST {
                        return Err(Stop::Bad(*at, "this is nested too deeply"));
                    }
                    self.depth += 1;
                    self.arrays = self.arrays << 1 | u128::from(byte == b'[');
                    *at += 1;
                }
                b'}' | b']' => {
                    if (self.arrays & 1 == 1) != (byte == b']') {
                        return Err(Stop::Bad(*at, "another bracket was opened last"));
                    }
                    self.depth -= 1;
                    self.arrays >>= 1;
                    *at += 1;
                    if self.depth == 0 {
                        return Ok(*at);
                    }
                }
                _ => *at += 1,
            }
        }
        Err(Stop::Cut)
    }
}

fn container_end(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    Skip::default().on(bytes, &mut at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_they_end() {
        let end = |text: &str| value_end(text.as_bytes(), 0);
        assert_eq!(end(r#""a\"b\\" "#), Ok(8));
        assert_eq!(end(r#"{"a":[1,{"b":"}]"}]} ,"#), Ok(20));
        assert_eq!(end("-1.5e+3,"), Ok(7));
        assert_eq!(end("Infinity}"), Ok(8));
        assert_eq!(end(",1"), Err(Stop::Bad(0, "a value is missing")));
        let crossed = Err(Stop::Bad(2, "another bracket was opened last"));
        assert_eq!(end("[1}"), crossed);
        // Cut anywhere, the end is not found.
        let text = r#"{"a":[1,{"b":"a long string with an escape \" in it}]"}]}"#;
        for cut in 0..text.len() {
            assert_eq!(
                value_end(&text.as_bytes()[..cut], 0),
                Err(Stop::Cut),
                "{cut}"
            );
        }
        let deep = "[".repeat(200);
        let too_deep = Err(Stop::Bad(128, "this is nested too deeply"));
        assert_eq!(end(&deep), too_deep);
    }
}
