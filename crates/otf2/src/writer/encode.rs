//! How numbers and text become bytes.
//!
//! OTF2 stores most integers compressed: one byte with the number of bytes
//! that follow, then only those, least significant first. Zero is the single
//! byte `00`, the largest value (which stands for "undefined") the single byte
//! `FF`. A few fields, times above all, keep their full width so that they can
//! be changed in place.
//!
//! Everything is written little endian; each chunk header says so.

/// The fields of one record, encoded in the order they are added.
///
/// The archive writer encodes the records it knows by itself. A `Payload` is
/// for the others, together with
/// [`DefinitionsWriter::raw`](super::DefinitionsWriter::raw) and
/// [`LocationWriter::event_raw`](super::LocationWriter::event_raw). The
/// method names are the usual short names of the encodings: `c` compressed,
/// `x` full width, `s` signed, `f` floating point.
///
/// ```
/// use retime_otf2::writer::Payload;
///
/// let mut payload = Payload::new();
/// payload.c32(0).c32(10).c64(0x4000).c32(u32::MAX);
/// assert_eq!(payload.as_bytes(), [0, 1, 10, 2, 0x00, 0x40, 0xFF]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Payload {
    bytes: Vec<u8>,
}

impl Payload {
    /// No fields yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes of all fields so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    /// Two bytes.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// One signed byte.
    pub fn i8(&mut self, value: i8) -> &mut Self {
        self.u8(value.cast_unsigned())
    }

    /// Two bytes, signed.
    pub fn i16(&mut self, value: i16) -> &mut Self {
        self.u16(value.cast_unsigned())
    }

    /// Four bytes.
    pub fn x32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Eight bytes.
    pub fn x64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// A compressed 32-bit integer. References are of this kind.
    pub fn c32(&mut self, value: u32) -> &mut Self {
        if value == u32::MAX {
            return self.u8(0xFF);
        }
        self.compressed(u64::from(value))
    }

    /// A compressed 64-bit integer.
    pub fn c64(&mut self, value: u64) -> &mut Self {
        if value == u64::MAX {
            return self.u8(0xFF);
        }
        self.compressed(value)
    }

    /// A signed 32-bit integer: the compressed form of its bit pattern.
    pub fn s32(&mut self, value: i32) -> &mut Self {
        // No `FF` shorthand: libotf2 writes -1 with all its bytes.
        self.compressed(u64::from(value.cast_unsigned()))
    }

    /// A signed 64-bit integer: the compressed form of its bit pattern.
    pub fn s64(&mut self, value: i64) -> &mut Self {
        self.compressed(value.cast_unsigned())
    }

    /// A single precision number.
    pub fn f32(&mut self, value: f32) -> &mut Self {
        self.x32(value.to_bits())
    }

    /// A double precision number.
    pub fn f64(&mut self, value: f64) -> &mut Self {
        self.x64(value.to_bits())
    }

    /// Text, ended by a NUL byte. Whatever follows a NUL inside `text` cannot
    /// be represented and is left out.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let end = text.find('\0').unwrap_or(text.len());
        self.raw(&text.as_bytes()[..end]).u8(0)
    }

    /// Bytes that are encoded already.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    fn compressed(&mut self, value: u64) -> &mut Self {
        let size = (u64::BITS - value.leading_zeros()).div_ceil(8) as u8;
        self.bytes.push(size);
        // Appending all eight bytes and cutting back avoids a copy of variable
        // length, which costs more than the rest of the encoding.
        let end = self.bytes.len() + usize::from(size);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self.bytes.truncate(end);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::Payload;

    fn bytes(write: impl FnOnce(&mut Payload)) -> Vec<u8> {
        let mut payload = Payload::new();
        write(&mut payload);
        payload.as_bytes().to_vec()
    }

    #[test]
    fn compressed_integers_take_the_shortest_form() {
        let cases: [(u64, &[u8]); 6] = [
            (0, &[0]),
            (1, &[1, 1]),
            (0xFF, &[1, 0xFF]),
            (0x100, &[2, 0, 1]),
            (u64::MAX - 1, &[8, 0xFE, 255, 255, 255, 255, 255, 255, 255]),
            (u64::MAX, &[0xFF]),
        ];
        for (value, expected) in cases {
            assert_eq!(
                bytes(|p| {
                    p.c64(value);
                }),
                expected,
                "{value:#x}"
            );
        }
    }

    #[test]
    fn the_largest_value_of_each_width_has_its_own_byte() {
        assert_eq!(
            bytes(|p| {
                p.c32(u32::MAX);
            }),
            [0xFF]
        );
        assert_eq!(
            bytes(|p| {
                p.c64(u64::from(u32::MAX));
            }),
            [4, 255, 255, 255, 255]
        );
    }

    #[test]
    fn signed_values_are_bit_patterns() {
        assert_eq!(
            bytes(|p| {
                p.s64(5);
            }),
            [1, 5]
        );
        assert_eq!(
            bytes(|p| {
                p.s32(-1);
            }),
            [4, 255, 255, 255, 255]
        );
        assert_eq!(
            bytes(|p| {
                p.s64(i64::MIN);
            }),
            [8, 0, 0, 0, 0, 0, 0, 0, 0x80]
        );
    }

    #[test]
    fn text_ends_at_its_first_nul() {
        assert_eq!(
            bytes(|p| {
                p.text("ab");
            }),
            [b'a', b'b', 0]
        );
        assert_eq!(
            bytes(|p| {
                p.text("a\0b");
            }),
            [b'a', 0]
        );
    }
}
