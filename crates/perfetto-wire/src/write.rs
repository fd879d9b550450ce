//! Fields appended to bytes, as their events come: no packet is held as a tree of objects.
//!
//! ```
//! use retime_perfetto_wire::write::{bytes, uint};
//!
//! let mut out = Vec::new();
//! uint(&mut out, 1, 150);
//! bytes(&mut out, 2, b"testing");
//! assert_eq!(out, *b"\x08\x96\x01\x12\x07testing");
//! ```

use crate::kind::{BYTES, EIGHT_BYTES, VARINT};

/// A number, seven bits a byte, the lower ones first.
#[inline]
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn key(out: &mut Vec<u8>, field: u32, kind: u8) {
    varint(out, u64::from(field) << 3 | u64::from(kind));
}

/// A field of kind `uint64`, `uint32`, `int32`, `bool` or an enumeration.
#[inline]
pub fn uint(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, VARINT);
    varint(out, value);
}

/// A field of kind `fixed64`.
#[inline]
pub fn fixed64(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, EIGHT_BYTES);
    out.extend_from_slice(&value.to_le_bytes());
}

/// A field of kind `double`.
pub fn double(out: &mut Vec<u8>, field: u32, value: f64) {
    fixed64(out, field, value.to_bits());
}

/// A field of kind `string`, `bytes`, or a message.
#[inline]
pub fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    key(out, field, BYTES);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_the_guide_shows_them() {
        let mut out = Vec::new();
        uint(&mut out, 1, 150);
        bytes(&mut out, 2, b"testing");
        assert_eq!(out, *b"\x08\x96\x01\x12\x07testing");
        out.clear();
        uint(&mut out, 16, u64::MAX);
        assert_eq!(out, *b"\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
        out.clear();
        double(&mut out, 1, 1.0);
        assert_eq!(out, *b"\x09\0\0\0\0\0\0\xf0\x3f");
    }
}
