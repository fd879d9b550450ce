//! The primitive encodings, read from a bounded buffer without copying.
//!
//! Integers come in two forms. *Full* ones take their natural width in the
//! byte order of the chunk. *Compressed* ones start with a size byte `n`:
//! `0` stands for zero, `0xFF` for all bits set, otherwise the `n` least
//! significant bytes follow. Writers use the shortest form, but padded ones
//! (`04 07 00 00 00` for seven) are legal. Strings end with a NUL byte.
//!
//! Signed compressed integers hold the bit pattern of their width, so small
//! negative numbers are long.
//!
//! ```
//! use retime_otf2::{Cursor, Endian};
//!
//! // Ten, sixteen thousand, undefined, and a string.
//! let bytes = b"\x01\x0a\x02\x00\x40\xffhalo\0";
//! let mut cursor = Cursor::new(bytes, Endian::Little);
//! assert_eq!(cursor.c32()?, 10);
//! assert_eq!(cursor.c64()?, 16_384);
//! assert_eq!(cursor.c32()?, u32::MAX);
//! assert_eq!(cursor.str()?, b"halo");
//! assert!(cursor.u8().is_err());
//! # Ok::<(), retime_otf2::WireError>(())
//! ```

use crate::error::{Reason, WireError};

/// Byte order of one chunk, given by its second byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Low byte first, mark `0x42`.
    Little,
    /// High byte first, mark `0x23`.
    Big,
}

impl Endian {
    /// The byte order that a mark stands for.
    pub const fn from_mark(mark: u8) -> Option<Self> {
        match mark {
            0x42 => Some(Self::Little),
            0x23 => Some(Self::Big),
            _ => None,
        }
    }

    /// The mark that stands for this byte order.
    pub const fn mark(self) -> u8 {
        match self {
            Self::Little => 0x42,
            Self::Big => 0x23,
        }
    }

    /// Eight bytes as a number.
    #[inline]
    pub const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// A number as eight bytes.
    #[inline]
    pub const fn bytes(self, value: u64) -> [u8; 8] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }
}

/// A position in a buffer and the end it must not cross.
///
/// The buffer may be longer than the record being read: the bytes behind the
/// end are never part of a value, they only let a load of eight bytes replace
/// a loop. Positions in errors count from the start of the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    buffer: &'a [u8],
    pos: usize,
    end: usize,
    endian: Endian,
}

impl<'a> Cursor<'a> {
    /// A cursor over a whole buffer.
    pub const fn new(buffer: &'a [u8], endian: Endian) -> Self {
        Self {
            buffer,
            pos: 0,
            end: buffer.len(),
            endian,
        }
    }

    /// A cursor over a part of a buffer; what lies outside of it is cut.
    #[inline]
    pub fn within(buffer: &'a [u8], range: std::ops::Range<usize>, endian: Endian) -> Self {
        let end = range.end.min(buffer.len());
        Self {
            buffer,
            pos: range.start.min(end),
            end,
            endian,
        }
    }

    /// The position in the buffer.
    #[inline]
    pub const fn position(&self) -> usize {
        self.pos
    }

    /// The byte order.
    #[inline]
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// The number of bytes that are left.
    #[inline]
    pub const fn remaining(&self) -> usize {
        self.end - self.pos
    }

    /// True if nothing is left.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.pos >= self.end
    }

    /// The bytes that are left.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.buffer.get(self.pos..self.end).unwrap_or_default()
    }

    /// An error at the current position.
    #[inline]
    pub const fn error(&self, reason: Reason) -> WireError {
        WireError::new(self.pos, reason)
    }

    /// A number of list elements, refused when they cannot fit into what is
    /// left, since every element takes at least `element` bytes.
    #[inline]
    pub fn check_count(&self, count: u64, element: usize) -> Result<usize, WireError> {
        if count > (self.remaining() / element.max(1)) as u64 {
            return Err(self.error(Reason::Count));
        }
        Ok(count as usize)
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        match self.rest().first_chunk::<N>() {
            Some(bytes) => {
                self.pos += N;
                Ok(*bytes)
            }
            None => Err(self.error(Reason::PastEnd)),
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, WireError> {
        self.take::<1>().map(|[byte]| byte)
    }

    /// One signed byte.
    #[inline]
    pub fn i8(&mut self) -> Result<i8, WireError> {
        self.u8().map(u8::cast_signed)
    }

    /// Two bytes.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, WireError> {
        let bytes = self.take::<2>()?;
        Ok(match self.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    /// Four bytes.
    #[inline]
    pub fn x32(&mut self) -> Result<u32, WireError> {
        let bytes = self.take::<4>()?;
        Ok(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Eight bytes.
    #[inline]
    pub fn x64(&mut self) -> Result<u64, WireError> {
        self.take::<8>().map(|bytes| self.endian.u64(bytes))
    }

    /// A compressed integer of 32 bits.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `compressed`")]
    pub fn c32(&mut self) -> Result<u32, WireError> {
        self.compressed(4).map(|value| value as u32)
    }

    /// A compressed integer of 64 bits.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `compressed`")]
    pub fn c64(&mut self) -> Result<u64, WireError> {
        self.compressed(8)
    }

    /// A signed compressed integer of 32 bits.
    #[inline]
    pub fn s32(&mut self) -> Result<i32, WireError> {
        self.c32().map(u32::cast_signed)
    }

    /// A signed compressed integer of 64 bits.
    #[inline]
    pub fn s64(&mut self) -> Result<i64, WireError> {
        self.c64().map(u64::cast_signed)
    }

    /// A floating-point number of 32 bits.
    #[inline]
    pub fn f32(&mut self) -> Result<f32, WireError> {
        self.x32().map(f32::from_bits)
    }

    /// A floating-point number of 64 bits.
    #[inline]
    pub fn f64(&mut self) -> Result<f64, WireError> {
        self.x64().map(f64::from_bits)
    }

    /// A string, without its NUL byte. Encoding is not checked.
    pub fn str(&mut self) -> Result<&'a [u8], WireError> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|&byte| byte == 0)
            .ok_or_else(|| self.error(Reason::UnterminatedString))?;
        self.pos += length + 1;
        Ok(rest.get(..length).unwrap_or_default())
    }

    // Behind a call the cursor lives in memory, and reading a number takes twice as long.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "keeps the cursor in registers")]
    fn compressed(&mut self, width: u8) -> Result<u64, WireError> {
        // Nearly always some more bytes follow, so that all is there in one load.
        if let Some([size, window @ ..]) = self
            .buffer
            .get(self.pos..)
            .and_then(<[u8]>::first_chunk::<9>)
            && let end = self.pos + 1 + usize::from(*size)
            && *size <= width
            && end <= self.end
        {
            self.pos = end;
            return Ok(low_bytes(self.endian, *window, *size));
        }
        let (after, value) = self.compressed_at_end(width)?;
        *self = after;
        Ok(value)
    }

    /// A compressed integer that is undefined, damaged or near the end of the buffer, and
    /// what `self` is after it: behind a pointer it could never live in registers.
    #[cold]
    fn compressed_at_end(mut self, width: u8) -> Result<(Self, u64), WireError> {
        let start = self.pos;
        let size = match self.u8()? {
            0xFF => return Ok((self, u64::MAX)),
            size if size <= width => size,
            _ => return Err(WireError::new(start, Reason::SizeByte)),
        };
        let bytes = self.rest().get(..usize::from(size));
        let bytes = bytes.ok_or_else(|| self.error(Reason::PastEnd))?;
        let mut window = [0; 8];
        for (to, from) in window.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.pos += usize::from(size);
        let value = low_bytes(self.endian, window, size);
        Ok((self, value))
    }
}

/// The first `size` bytes, 0 to 8, as a number.
#[inline]
fn low_bytes(endian: Endian, window: [u8; 8], size: u8) -> u64 {
    let spare = 64 - 8 * u32::from(size);
    match endian {
        // A shift by all 64 bits, for no byte at all, leaves nothing.
        Endian::Little => u64::from_le_bytes(window) & u64::MAX.checked_shr(spare).unwrap_or(0),
        Endian::Big => u64::from_be_bytes(window).checked_shr(spare).unwrap_or(0),
    }
}
