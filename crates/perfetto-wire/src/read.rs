//! Fields of a message, one after the other, where they stand.
//!
//! Nothing is copied and nothing is allocated: a value of many bytes is a part of the message,
//! and its length is compared with what is left of that before it is used. A message within a
//! message is read by another [`Fields`] over its bytes, so nothing nests that the caller does
//! not ask for.

use thiserror::Error;

use crate::kind::{BYTES, EIGHT_BYTES, FOUR_BYTES, GROUP_BEGINS, GROUP_ENDS, VARINT};

/// The longest varint: 64 bits, seven a byte.
pub const LONGEST_VARINT: usize = 10;

/// The largest number of a field.
const LARGEST_NUMBER: u64 = (1 << 29) - 1;

/// The damage of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// The message ends within a field.
    #[error("ends within a field")]
    Cut,
    /// A number does not end within ten bytes, or has more than 64 bits.
    #[error("has a number of more than 64 bits")]
    LongVarint,
    /// Fields are numbered from 1 to 2^29 - 1.
    #[error("has a field of the number {0}, which none can have")]
    Number(u64),
    /// Groups are no part of Perfetto's packets, and 6 and 7 are no kinds.
    #[error("has a field of the kind {0}, which Perfetto does not use")]
    Kind(u8),
}

/// A message that is no sequence of fields, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{wrong} (byte {at} of it)")]
pub struct Damaged {
    /// The offset of the field in its message.
    pub at: usize,
    /// The mistake there.
    pub wrong: Wrong,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number, an enumeration or a truth value.
    Varint(u64),
    /// Eight bytes, the lowest first.
    Eight(u64),
    /// Four bytes, the lowest first.
    Four(u32),
    /// Text, bytes, a message or numbers in a row.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// A number of any kind; nothing for bytes.
    #[inline]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Varint(value) | Self::Eight(value) => Some(value),
            Self::Four(value) => Some(value.into()),
            Self::Bytes(_) => None,
        }
    }

    /// The bytes; nothing for a number.
    #[inline]
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// A field, and where in the message it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The number that says what it means.
    pub number: u32,
    /// The value.
    pub value: Value<'a>,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset of its value, behind the length if it has one.
    pub value_start: usize,
    /// The offset behind it.
    pub end: usize,
}

/// The begin of a field: its number, its kind, and how long its value is as far as that is told
/// before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number that says what it means.
    pub number: u32,
    /// The number of bytes of the value; nothing for a varint, which says it itself.
    pub length: Option<u64>,
    /// The number of bytes of the head.
    pub size: usize,
}

impl Head {
    /// The head at the beginning of bytes that may be cut anywhere: [`Wrong::Cut`] if they end
    /// within it.
    #[inline]
    pub fn of(bytes: &[u8]) -> Result<Self, Wrong> {
        let mut at = 0;
        let key = varint(bytes, &mut at)?;
        let number = key >> 3;
        if number == 0 || number > LARGEST_NUMBER {
            return Err(Wrong::Number(number));
        }
        let length = match (key & 7) as u8 {
            VARINT => None,
            EIGHT_BYTES => Some(8),
            FOUR_BYTES => Some(4),
            BYTES => Some(varint(bytes, &mut at)?),
            kind @ (GROUP_BEGINS | GROUP_ENDS | 6..) => return Err(Wrong::Kind(kind)),
        };
        Ok(Self {
            number: number as u32,
            length,
            size: at,
        })
    }
}

/// Reads a number, and moves on behind it.
#[inline]
pub fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Wrong> {
    // Most are as small as that: keys, lengths and enumerations.
    match bytes.get(*at) {
        Some(&byte) if byte < 0x80 => {
            *at += 1;
            Ok(byte.into())
        }
        _ => long_varint(bytes, at),
    }
}

#[inline(never)]
fn long_varint(bytes: &[u8], at: &mut usize) -> Result<u64, Wrong> {
    let rest = bytes.get(*at..).ok_or(Wrong::Cut)?;
    let mut value = 0;
    for (place, &byte) in rest.iter().enumerate().take(LONGEST_VARINT) {
        let bits = u64::from(byte & 0x7f);
        if place == LONGEST_VARINT - 1 && byte > 1 {
            return Err(Wrong::LongVarint);
        }
        value |= bits << (7 * place);
        if byte < 0x80 {
            *at += place + 1;
            return Ok(value);
        }
    }
    Err(Wrong::Cut)
}

/// The fields of a message, in the order of its bytes; ends behind the first mistake.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// The fields of a message.
    #[inline]
    pub fn of(message: &'a [u8]) -> Self {
        Self { message, at: 0 }
    }

    // Who reads a message asks most of its fields for little: inlined, the rest is not put together.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as measured")]
    fn field(&mut self) -> Result<Field<'a>, Wrong> {
        match self.small() {
            Some(field) => Ok(field),
            None => self.any(),
        }
    }

    /// The next field if its key is one byte, and a number or the length of its bytes another, as
    /// with most.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as measured")]
    fn small(&mut self) -> Option<Field<'a>> {
        let start = self.at;
        let rest = self.message.get(start..)?;
        let &[key @ 8..0x80, second @ ..0x80, ref behind @ ..] = rest else {
            return None;
        };
        let (value, value_start, end) = match key & 7 {
            VARINT => (Value::Varint(second.into()), start + 1, start + 2),
            BYTES => {
                let length = usize::from(second);
                let bytes = behind.get(..length)?;
                (Value::Bytes(bytes), start + 2, start + 2 + length)
            }
            _ => return None,
        };
        self.at = end;
        Some(Field {
            number: u32::from(key >> 3),
            value,
            start,
            value_start,
            end,
        })
    }

    /// The next field, whatever it is.
    #[inline(never)]
    fn any(&mut self) -> Result<Field<'a>, Wrong> {
        let (message, start) = (self.message, self.at);
        let mut at = start;
        let key = varint(message, &mut at)?;
        let number = key >> 3;
        if number == 0 || number > LARGEST_NUMBER {
            return Err(Wrong::Number(number));
        }
        let mut value_start = at;
        let value = match (key & 7) as u8 {
            VARINT => Value::Varint(varint(message, &mut at)?),
            BYTES => {
                let length = varint(message, &mut at)?;
                value_start = at;
                let length = usize::try_from(length).map_err(|_| Wrong::Cut)?;
                Value::Bytes(take(message, &mut at, length)?)
            }
            EIGHT_BYTES => {
                let bytes = take(message, &mut at, 8)?;
                Value::Eight(u64::from_le_bytes(exactly(bytes)?))
            }
            FOUR_BYTES => {
                let bytes = take(message, &mut at, 4)?;
                Value::Four(u32::from_le_bytes(exactly(bytes)?))
            }
            kind => return Err(Wrong::Kind(kind)),
        };
        self.at = at;
        Ok(Field {
            number: number as u32,
            value,
            start,
            value_start,
            end: at,
        })
    }
}

/// The next bytes of a message, of which so many are taken.
#[inline]
fn take<'a>(message: &'a [u8], at: &mut usize, length: usize) -> Result<&'a [u8], Wrong> {
    let rest = message.get(*at..).ok_or(Wrong::Cut)?;
    let bytes = rest.get(..length).ok_or(Wrong::Cut)?;
    *at += length;
    Ok(bytes)
}

fn exactly<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Wrong> {
    bytes.try_into().map_err(|_| Wrong::Cut)
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Damaged>;

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as measured")]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.message.len() {
            return None;
        }
        let at = self.at;
        let field = self.field().map_err(|wrong| Damaged { at, wrong });
        if field.is_err() {
            self.at = self.message.len();
        }
        Some(field)
    }
}

/// Numbers in a row, as a field that is *packed* has them: varints.
pub fn packed(bytes: &[u8]) -> impl Iterator<Item = Result<u64, Wrong>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let number = varint(bytes, &mut at);
        if number.is_err() {
            at = bytes.len();
        }
        Some(number)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::write;

    #[test]
    fn mistakes_are_told_with_their_place() {
        let of = |bytes: &[u8]| Fields::of(bytes).find_map(Result::err);
        let damaged = |at, wrong| Some(Damaged { at, wrong });
        assert_eq!(of(b"\x08\x01\x12\x07test"), damaged(2, Wrong::Cut));
        assert_eq!(of(b"\x08\x80"), damaged(0, Wrong::Cut));
        let long = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
        assert_eq!(of(long), damaged(0, Wrong::LongVarint));
        assert_eq!(of(b"\x00\x01"), damaged(0, Wrong::Number(0)));
        assert_eq!(of(b"\x0b"), damaged(0, Wrong::Kind(3)));
        assert_eq!(of(b"\x0f"), damaged(0, Wrong::Kind(7)));
        // The length says more than there is memory.
        let huge = b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(of(huge), damaged(0, Wrong::Cut));
    }

    proptest! {
        #[test]
        fn fields_are_read_as_they_are_written(
            all in prop::collection::vec((1..1_u32 << 29, any::<u64>(), 0..3_u8), 0..20)
        ) {
            let mut message = Vec::new();
            for &(number, value, kind) in &all {
                match kind {
                    0 => write::uint(&mut message, number, value),
                    1 => write::fixed64(&mut message, number, value),
                    _ => write::bytes(&mut message, number, &value.to_le_bytes()[..value as usize % 9]),
                }
            }
            let read: Vec<_> = Fields::of(&message).map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), all.len());
            let mut end = 0;
            for (field, &(number, value, kind)) in read.iter().zip(&all) {
                prop_assert_eq!((field.number, field.start), (number, end));
                end = field.end;
                match kind {
                    0 => prop_assert_eq!(field.value, Value::Varint(value)),
                    1 => prop_assert_eq!(field.value, Value::Eight(value)),
                    _ => {
                        let bytes = value.to_le_bytes();
                        let bytes = &bytes[..value as usize % 9];
                        prop_assert_eq!(field.value, Value::Bytes(bytes));
                        prop_assert_eq!(&message[field.value_start..field.end], bytes);
                    }
                }
            }
            prop_assert_eq!(end, message.len());
        }

        #[test]
        fn random_bytes_are_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut end = 0;
            for field in Fields::of(&bytes) {
                let Ok(field) = field else { break };
                prop_assert!(field.start == end && field.end > end);
                end = field.end;
            }
            prop_assert!(end <= bytes.len());
        }
    }
}
