//! The content of a file besides times.
//!
//! The rest of a file is all of its bytes without the digits of times: their
//! number and their check sum tell whether a copy changed anything else, the order
//! of its lines included. It is the same for all locations.

use std::ops::Range;

use crc32fast::Hasher;
use retime_model::format::Contents;

use crate::line::Kind;

/// Bytes that are gathered before they are summed up, since sums of long stretches
/// are many times as fast as those of short ones.
const BLOCK: usize = 1 << 16;

/// Sums up the bytes of a file without the digits of times.
pub(crate) struct Rest {
    gathered: Vec<u8>,
    crc: Hasher,
    bytes: u64,
}

impl Rest {
    pub(crate) fn new() -> Self {
        Self {
            gathered: Vec::with_capacity(BLOCK),
            crc: Hasher::new(),
            bytes: 0,
        }
    }

    pub(crate) fn add(&mut self, line: &[u8], digits: Option<Range<usize>>) {
        let digits = digits.unwrap_or(line.len()..line.len());
        for part in [line.get(..digits.start), line.get(digits.end..)] {
            self.gathered.extend_from_slice(part.unwrap_or_default());
        }
        if self.gathered.len() >= BLOCK {
            self.sum_up();
        }
    }

    fn sum_up(&mut self) {
        self.crc.update(&self.gathered);
        self.bytes += self.gathered.len() as u64;
        self.gathered.clear();
    }

    pub(crate) fn finish(mut self) -> Vec<u64> {
        self.sum_up();
        vec![self.bytes, self.crc.finalize().into()]
    }
}

/// The number of events of each [`Kind`].
#[derive(Clone, Default)]
pub(crate) struct Kinds([u64; Kind::ALL.len()]);

impl Kinds {
    pub(crate) fn add(&mut self, kind: Kind) {
        self.0[kind as usize] += 1;
    }

    pub(crate) fn contents(&self, rest: &[u64]) -> Contents {
        let kinds = (0..).zip(self.0).filter(|(_, count)| *count > 0);
        Contents {
            kinds: kinds.collect(),
            rest: rest.to_owned(),
        }
    }
}
