//! The originals of stamps that were corrected.
//!
//! The map of a clock, computed backwards, gives nearly all stamps again. Where it
//! does not (time was compressed or stood still, or an event had to wait for the one
//! before it), the difference is kept, together with how many stamps since the last
//! such place were right.
//!
//! ```
//! use retime_model::{ClockMap, Knot, Originals, StampLog, Timestamp};
//! // Everything up to 20 was put at 15.
//! let knots = vec![Knot::at(Timestamp(10), Timestamp(15)), Knot::at(Timestamp(20), Timestamp(15))];
//! let map = ClockMap::new(knots, vec![])?;
//! let mut log = StampLog::default();
//! for (original, corrected) in [(5, 10), (12, 15), (30, 25)] {
//!     log.note(&map, original, corrected);
//! }
//! let noted = log.finish();
//! assert_eq!(noted, [1, 2]); // one is right, and the next is not 10 but 12
//! let mut originals = Originals::new(&noted);
//! assert_eq!([10, 15, 25].map(|corrected| originals.of(&map, corrected)), [5, 12, 30]);
//! # Ok::<(), retime_model::MapError>(())
//! ```

use crate::map::ClockMap;
use crate::time::Timestamp;

/// The stamp that most likely became `corrected`.
fn guess(map: &ClockMap, corrected: u64) -> u64 {
    map.invert(Timestamp(corrected)).unwrap_or_default().0
}

/// Notes the originals of stamps as they are replaced.
#[derive(Debug, Default)]
pub struct StampLog {
    stamps: Vec<i64>,
    right: i64,
}

impl StampLog {
    /// The next stamp was `original` and is `corrected` now.
    pub fn note(&mut self, map: &ClockMap, original: u64, corrected: u64) {
        let guess = guess(map, corrected);
        if guess == original {
            self.right += 1;
        } else {
            let difference = original.wrapping_sub(guess) as i64;
            self.stamps.extend([self.right, difference]);
            self.right = 0;
        }
    }

    /// Numbers by turns: how many stamps are right, and by how much the next one is not.
    pub fn finish(self) -> Vec<i64> {
        self.stamps
    }
}

/// Gives the originals of stamps again.
#[derive(Debug)]
pub struct Originals<'a> {
    noted: std::slice::ChunksExact<'a, i64>,
    /// Stamps to guess, and the difference of the one after them.
    next: Option<(i64, i64)>,
}

impl<'a> Originals<'a> {
    /// From what a [`StampLog`] has noted.
    pub fn new(noted: &'a [i64]) -> Self {
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
    pub fn of(&mut self, map: &ClockMap, corrected: u64) -> u64 {
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
