//! Where chunks go: a file as it is, or compressed as one gzip member, in parallel.
//!
//! Compression takes longer than all else, so chunks are compressed in parallel. Each is a
//! piece of a deflate stream that ends at a whole byte (a *sync flush*) and refers to nothing
//! before it; joined they are one stream, which an empty last block ends. Check sums of the
//! pieces are combined to that of the whole (RFC 1951, section 3.2.4, and RFC 1952; `pigz`
//! does the same). Every reader of gzip reads it, also those that stop after one member.

use std::io::{self, Write};

use crc32fast::Hasher;
use flate2::{Compress, FlushCompress};

use crate::effort::Effort;

/// A member that was made by deflate, at no known time, on any system; RFC 1952, section 2.3.
const fn header(flag: u8) -> [u8; 10] {
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, flag, 0xff]
}

/// A last block without anything, of fixed codes.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// Takes chunks and writes them.
#[allow(missing_debug_implementations, reason = "what is written to has none")]
pub struct Output<'a> {
    out: &'a mut (dyn Write + Send),
    packing: Packing,
    crc: Hasher,
    bytes: u64,
}

/// How chunks are compressed.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    effort: Option<Effort>,
}

/// A chunk as it is written.
#[derive(Debug)]
pub struct Packed {
    bytes: Vec<u8>,
    /// The check sum of the content, before it was compressed.
    crc: Hasher,
    length: u64,
}

impl<'a> Output<'a> {
    /// An output without content, compressed with this effort, or plain.
    pub fn new(out: &'a mut (dyn Write + Send), effort: Option<Effort>) -> io::Result<Self> {
        if let Some(effort) = effort {
            out.write_all(&header(effort.flag()))?;
        }
        Ok(Self {
            out,
            packing: Packing { effort },
            crc: Hasher::new(),
            bytes: 0,
        })
    }

    /// How its chunks are compressed.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Writes a chunk.
    pub fn put(&mut self, packed: &Packed) -> io::Result<()> {
        self.bytes += packed.length;
        if self.packing.effort.is_some() {
            self.crc.combine(&packed.crc);
        }
        self.out.write_all(&packed.bytes)
    }

    /// Ends the file; how many bytes there were to compress.
    pub fn finish(self) -> io::Result<u64> {
        if self.packing.effort.is_some() {
            self.out.write_all(&LAST_BLOCK)?;
            self.out.write_all(&self.crc.finalize().to_le_bytes())?;
            // Modulo 2^32, as RFC 1952 has it.
            self.out.write_all(&(self.bytes as u32).to_le_bytes())?;
        }
        self.out.flush()?;
        Ok(self.bytes)
    }
}

impl Packing {
    /// A chunk as it will be written.
    pub fn packed(self, bytes: Vec<u8>) -> io::Result<Packed> {
        let length = bytes.len() as u64;
        let mut crc = Hasher::new();
        let Some(effort) = self.effort.filter(|_| !bytes.is_empty()) else {
            return Ok(Packed { bytes, crc, length });
        };
        crc.update(&bytes);
        Ok(Packed {
            bytes: deflated(&bytes, effort)?,
            crc,
            length,
        })
    }
}

/// A piece of a deflate stream.
fn deflated(bytes: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let mut deflate = Compress::new(effort.level(), false);
    let mut out = Vec::with_capacity(bytes.len() / 2 + 64);
    loop {
        let rest = bytes.get(deflate.total_in() as usize..).unwrap_or_default();
        let before = out.len();
        deflate
            .compress_vec(rest, &mut out, FlushCompress::Sync)
            .map_err(io::Error::other)?;
        // What is flushed is complete if it leaves room.
        if deflate.total_in() == bytes.len() as u64 && out.len() < out.capacity() {
            return Ok(out);
        }
        out.reserve(before.max(64));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_one_member(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2000), 0..8),
            effort in prop::sample::select(vec![Effort::Fast, Effort::Usual, Effort::Most]),
        ) {
            let mut file = Vec::new();
            let mut output = Output::new(&mut file, Some(effort)).unwrap();
            for chunk in &chunks {
                // Repeated, so that some of them are compressed well.
                let packed = output.packing().packed(chunk.repeat(3)).unwrap();
                output.put(&packed).unwrap();
            }
            let length = output.finish().unwrap();
            prop_assert_eq!(Effort::of_header(&file), effort);
            let mut read = Vec::new();
            let mut decoder = GzDecoder::new(&*file);
            decoder.read_to_end(&mut read).unwrap();
            let all: Vec<u8> = chunks.iter().flat_map(|it| it.repeat(3)).collect();
            prop_assert_eq!(read.len() as u64, length);
            prop_assert_eq!(read, all);
            // All of it is that one member.
            prop_assert!(decoder.into_inner().is_empty());
        }
    }
}
