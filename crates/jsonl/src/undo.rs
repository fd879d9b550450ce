//! What it takes to get an original file back from a corrected one.
//!
//! The map of a clock, computed backwards, gives nearly all stamps again. Where it
//! does not (time was compressed or stood still, or an event had to wait for the one
//! before it), the difference is kept, together with how many stamps since the last
//! such place were right. Check sums of the content before and after make restoring
//! refuse rather than guess; of a compressed file they are those of the lines in it.

use retime_model::{ClockMap, Timestamp};
use serde::{Deserialize, Serialize};

/// The form of undo data that is written here.
pub(crate) const FORMAT: u32 = 1;

/// What is saved.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) format: u32,
    /// Check sum of the original lines.
    pub(crate) original: u32,
    /// Check sum of the corrected lines.
    pub(crate) corrected: u32,
    /// By turns: how many stamps are right, and by how much the next one is not.
    pub(crate) stamps: Vec<i64>,
}

/// The stamp that most likely became `corrected`.
fn guess(map: &ClockMap, corrected: u64) -> u64 {
    map.invert(Timestamp(corrected)).unwrap_or_default().0
}

/// Notes the originals of stamps as they are replaced.
#[derive(Default)]
pub(crate) struct StampLog {
    stamps: Vec<i64>,
    right: i64,
}

impl StampLog {
    /// The next stamp was `original` and is `corrected` now.
    pub(crate) fn note(&mut self, map: &ClockMap, original: u64, corrected: u64) {
        let guess = guess(map, corrected);
        if guess == original {
            self.right += 1;
        } else {
            let difference = original.wrapping_sub(guess) as i64;
            self.stamps.extend([self.right, difference]);
            self.right = 0;
        }
    }

    pub(crate) fn finish(self) -> Vec<i64> {
        self.stamps
    }
}

/// Gives the originals of stamps again.
pub(crate) struct Originals<'a> {
    noted: std::slice::ChunksExact<'a, i64>,
    /// Stamps to guess, and the difference of the one after them.
    next: Option<(i64, i64)>,
}

impl<'a> Originals<'a> {
    pub(crate) fn new(noted: &'a [i64]) -> Self {
        let mut originals = Self {
            noted: noted.chunks_exact(2),
            next: None,
        };
        originals.advance();
        originals
    }

    fn advance(&mut self) {
        self.next = match self.noted.next() {
            Some(&[right, difference]) => Some((right, difference)),
            _ => None,
        };
    }

    /// The original of the next stamp, which is `corrected` now.
    pub(crate) fn of(&mut self, map: &ClockMap, corrected: u64) -> u64 {
        let guess = guess(map, corrected);
        match &mut self.next {
            Some((right, difference)) if *right <= 0 => {
                let original = guess.wrapping_add_signed(*difference);
                self.advance();
                original
            }
            Some((right, _)) => {
                *right -= 1;
                guess
            }
            None => guess,
        }
    }
}
