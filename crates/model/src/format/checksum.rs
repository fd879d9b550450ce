//! The length and the checksum of a file but for its times.
//!
//! They tell whether a copy changed anything else, the order of its events included. A format
//! leaves out the digits of times, or whatever else another time changes.
//!
//! ```
//! let mut checksum = retime_model::format::Checksum::default();
//! checksum.add(b"12345");
//! checksum.add(b"6789");
//! assert_eq!(checksum.finish(), [9, 0xcbf4_3926]);
//! ```

use crc32fast::Hasher;

/// Bytes that are gathered before they are summed up, since sums of long stretches are
/// many times as fast as those of short ones.
const BLOCK: usize = 1 << 16;

/// The length and the CRC-32 of bytes that come one after another.
#[derive(Debug, Default)]
pub struct Checksum {
    gathered: Vec<u8>,
    crc: Hasher,
    bytes: u64,
}

impl Checksum {
    /// Takes the next bytes.
    #[inline]
    pub fn add(&mut self, bytes: &[u8]) {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= BLOCK {
            self.sum_up();
        }
    }

    fn sum_up(&mut self) {
        self.crc.update(&self.gathered);
        self.bytes += self.gathered.len() as u64;
        self.gathered.clear();
    }

    /// The checksum alone.
    pub fn crc(mut self) -> u32 {
        self.sum_up();
        self.crc.finalize()
    }

    /// The length and the checksum of all that was taken, as [`Contents::rest`](super::Contents) has them.
    pub fn finish(mut self) -> [u64; 2] {
        self.sum_up();
        [self.bytes, self.crc.finalize().into()]
    }
}
