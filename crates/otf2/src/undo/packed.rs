//! Small numbers and bytes, packed for a text file.
//!
//! Numbers take seven bits per byte, low ones first, and the eighth bit says
//! that more follow. In JSON the bytes are base64.
//!
//! ```text
//! 300 = 0b10_0101100  ->  0xAC 0x02  ->  "rAI="
//! ```

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Packed numbers and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packed(Vec<u8>);

impl Packed {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A number that is small in magnitude.
    pub(crate) fn signed(&mut self, number: i64) {
        self.number((number.wrapping_shl(1) ^ (number >> 63)) as u64);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn unpack(&self) -> Unpack<'_> {
        Unpack(&self.0)
    }
}

/// Takes numbers and bytes out again; `None` where they end.
#[derive(Clone, Copy)]
pub(crate) struct Unpack<'a>(&'a [u8]);

impl<'a> Unpack<'a> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut padded = [0; 3];
        for (to, from) in padded.iter_mut().zip(group) {
            *to = *from;
        }
        let [a, b, c] = padded.map(u32::from);
        let bits = a << 16 | b << 8 | c;
        for position in 0..4 {
            let digit = bits >> (18 - 6 * position) & 0x3F;
            text.push(if position <= group.len() {
                char::from(ALPHABET[digit as usize])
            } else {
                '='
            });
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0;
        for &digit in group {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        let [_, all @ ..] = bits.to_be_bytes();
        bytes.extend_from_slice(all.get(..group.len().checked_sub(1)?)?);
    }
    Some(bytes)
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        match decode(&text) {
            Some(bytes) => Ok(Self(bytes)),
            None => Err(D::Error::custom("not base64")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_base64() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xfb\xff\xfe", "+//+"),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        }
        assert_eq!(decode("a"), Some(vec![]));
        assert_eq!(decode("Zm9v!"), None);
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out(
            items in proptest::collection::vec((any::<u64>(), any::<i64>()), 0..20),
            bytes: Vec<u8>,
        ) {
            let mut packed = Packed::default();
            for &(number, signed) in &items {
                packed.number(number);
                packed.signed(signed);
            }
            packed.bytes(&bytes);
            let packed = Packed(decode(&encode(&packed.0)).unwrap());
            let mut unpack = packed.unpack();
            for &(number, signed) in &items {
                prop_assert_eq!(unpack.number(), Some(number));
                prop_assert_eq!(unpack.signed(), Some(signed));
            }
            prop_assert_eq!(unpack.bytes(), Some(&bytes[..]));
            prop_assert_eq!(unpack.number(), None);
        }
    }
}
