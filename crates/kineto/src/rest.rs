//! All of a file but the digits of times.
//!
//! Its length and check sum tell whether a copy changed anything else, the order of its
//! events included.

use crc32fast::Hasher;

/// Bytes that are gathered before they are summed up, since sums of long stretches are
/// many times as fast as those of short ones.
const BLOCK: usize = 1 << 16;

/// Sums up bytes.
pub(crate) struct Rest {
    gathered: Vec<u8>,
    crc: Hasher,
    bytes: u64,
}

impl Rest {
    pub(crate) fn new() -> Self {
        Self {
            gathered: Vec::with_capacity(2 * BLOCK),
            crc: Hasher::new(),
            bytes: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, bytes: &[u8]) {
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

    /// Length and check sum.
    pub(crate) fn finish(mut self) -> [u64; 2] {
        self.sum_up();
        [self.bytes, self.crc.finalize().into()]
    }
}
