//! The wire format of protocol buffers, as much of it as packets need.
//!
//! A field is its number and kind, as one varint, and its value: a varint, eight bytes, or
//! a length and so many bytes. That is all there is to it
//! (<https://protobuf.dev/programming-guides/encoding/>), and no generated code has to be
//! built for it, nor a packet be held as a tree of objects: packets are appended to a chunk
//! as their events come.
//!
//! The number of a field is multiplied by 8 for its kind: `1 << 3 | 0` is 8, and 150 is
//! `1_0010110` in binary, the lower seven bits first: field 1 with the value 150 is
//! `08 96 01`.

/// Kinds of values.
const VARINT: u32 = 0;
const EIGHT_BYTES: u32 = 1;
const BYTES: u32 = 2;

/// A number, seven bits a byte, the lower ones first.
#[inline]
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn key(out: &mut Vec<u8>, field: u32, kind: u32) {
    varint(out, u64::from(field << 3 | kind));
}

/// A field of kind `uint64`, `uint32`, `int32`, `bool` or an enumeration.
#[inline]
pub(super) fn uint(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, VARINT);
    varint(out, value);
}

/// A field of kind `fixed64`.
#[inline]
pub(super) fn fixed64(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, EIGHT_BYTES);
    out.extend_from_slice(&value.to_le_bytes());
}

/// A field of kind `double`.
pub(super) fn double(out: &mut Vec<u8>, field: u32, value: f64) {
    fixed64(out, field, value.to_bits());
}

/// A field of kind `string`, `bytes`, or a message.
#[inline]
pub(super) fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
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
