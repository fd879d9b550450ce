//! All of a file but its times: in JSON their digits, in packets what else their size changes.
//!
//! Its length and check sum tell whether a copy changed anything else, the order of its
//! events included.
//!
//! ```
//! let mut rest = retime_kineto::Rest::default();
//! rest.add(b"12345");
//! rest.add(b"6789");
//! assert_eq!(rest.finish(), [9, 0xcbf4_3926]);
//! ```

use crc32fast::Hasher;

/// Bytes that are gathered before they are summed up, since sums of long stretches are
/// many times as fast as those of short ones.
const BLOCK: usize = 1 << 16;

/// Sums up bytes.
#[derive(Debug, Default)]
pub struct Rest {
    gathered: Vec<u8>,
    crc: Hasher,
    bytes: u64,
}

impl Rest {
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

    /// Length and check sum of all that was taken.
    pub fn finish(mut self) -> [u64; 2] {
        self.sum_up();
        [self.bytes, self.crc.finalize().into()]
    }
}
