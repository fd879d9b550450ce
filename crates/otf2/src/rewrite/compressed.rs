//! New values in compressed integers.
//!
//! A compressed integer says how many bytes it has, and leading zeros are
//! legal. So a new value takes the place of an old one if it is not longer,
//! and the record keeps its size:
//!
//! ```text
//! 02 0040 (16384)  ->  02 0700 (7)        in place
//! 01 0a (10)       ->  02 2c01 (300)      the record grows
//! ```

use std::ops::Range;

use crate::error::WireError;
use crate::framing::Record;
use crate::wire::{Cursor, Endian};

/// Size byte of a value with all bits set.
const ALL_ONES: u8 = 0xFF;

/// A compressed integer of 64 bits in a chunk.
#[derive(Clone, Debug)]
pub(super) struct CompressedField {
    range: Range<usize>,
    pub(super) value: u64,
}

impl CompressedField {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let start = cursor.position();
        let value = cursor.c64()?;
        Ok(Self {
            range: start..cursor.position(),
            value,
        })
    }
}

/// The record with new values in some of its fields, given in their order.
pub(super) fn with_values(
    bytes: &[u8],
    record: Record,
    endian: Endian,
    values: &[(&CompressedField, u64)],
) -> Vec<u8> {
    let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
    let mut payload = Vec::new();
    let mut copied = record.payload as usize;
    for (field, value) in values {
        payload.extend_from_slice(part(copied..field.range.start));
        let old = part(field.range.clone());
        let size = old.first().copied().unwrap_or_default();
        payload.extend_from_slice(&encode(*value, size, endian));
        copied = field.range.end;
    }
    payload.extend_from_slice(part(copied..record.end as usize));

    let mut new = vec![record.code];
    let long = record.payload - record.start > 2;
    match u8::try_from(payload.len()) {
        Ok(length) if length != ALL_ONES && !long => new.push(length),
        _ => {
            new.push(ALL_ONES);
            new.extend(endian.bytes(payload.len() as u64));
        }
    }
    new.extend(payload);
    new
}

/// A value in as many bytes as the old one had, or in as many as it needs.
fn encode(value: u64, old_size: u8, endian: Endian) -> Vec<u8> {
    let needed = (u64::BITS - value.leading_zeros()).div_ceil(8) as u8;
    let size = match old_size {
        ALL_ONES if value == u64::MAX => return vec![ALL_ONES],
        ALL_ONES => needed,
        old => old.max(needed),
    };
    let start = 8 - usize::from(size.min(8));
    let big = value.to_be_bytes();
    let mut encoded = big.get(start..).unwrap_or_default().to_vec();
    if endian == Endian::Little {
        encoded.reverse();
    }
    encoded.insert(0, size);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_if_they_can() {
        let little = |value, size| encode(value, size, Endian::Little);
        assert_eq!(little(7, 2), [2, 7, 0]);
        assert_eq!(little(300, 1), [2, 0x2c, 1]);
        assert_eq!(little(0, 0), [0]);
        assert_eq!(little(5, 0), [1, 5]);
        assert_eq!(little(u64::MAX, ALL_ONES), [ALL_ONES]);
        assert_eq!(little(5, ALL_ONES), [1, 5]);
        assert_eq!(encode(300, 3, Endian::Big), [3, 0, 1, 0x2c]);
        assert_eq!(
            little(u64::MAX, 8),
            [8, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }
}
