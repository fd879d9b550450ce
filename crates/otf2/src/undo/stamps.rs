//! Original stamps that cannot be guessed.
//!
//! The time fields of a file (time records, and the times inside of flushes
//! and snapshots) are numbered in file order. Where the [`Guess`] is off, the
//! number of fields since the last such place and the difference are kept.

use super::guess::Guess;
use super::packed::{Packed, Unpack};

/// Notes the originals of stamps as they are replaced.
pub(crate) struct StampLog<'a> {
    guess: Guess<'a>,
    packed: Packed,
    /// Fields that were guessed right since the last that was not.
    right: u64,
}

impl<'a> StampLog<'a> {
    pub(crate) fn new(guess: Guess<'a>) -> Self {
        Self {
            guess,
            packed: Packed::default(),
            right: 0,
        }
    }

    /// The next field had the stamp `original` and has `corrected` now.
    #[inline]
    pub(crate) fn note(&mut self, original: u64, corrected: u64) {
        if self.guess.is(original, corrected) {
            self.right += 1;
        } else {
            self.wrong(original, corrected);
        }
    }

    #[cold]
    fn wrong(&mut self, original: u64, corrected: u64) {
        let guess = self.guess.original(corrected);
        let difference = original.wrapping_sub(guess) as i64;
        self.packed.number(self.right);
        self.packed.signed(difference);
        self.right = 0;
    }

    pub(crate) fn finish(self) -> Packed {
        self.packed
    }
}

/// Gives the originals of stamps again.
pub(crate) struct Originals<'a> {
    guess: Guess<'a>,
    noted: Unpack<'a>,
    /// Fields to guess, and the difference of the one after them.
    next: Option<(u64, i64)>,
}

impl<'a> Originals<'a> {
    pub(crate) fn new(guess: Guess<'a>, noted: &'a Packed) -> Self {
        let mut originals = Self {
            guess,
            noted: noted.unpack(),
            next: None,
        };
        originals.advance();
        originals
    }

    fn advance(&mut self) {
        let right = self.noted.number();
        self.next = right.zip(self.noted.signed());
    }

    /// The original of the next field, which has the stamp `corrected`.
    #[inline]
    pub(crate) fn of(&mut self, corrected: u64) -> u64 {
        let guess = self.guess.original(corrected);
        match &mut self.next {
            Some((0, difference)) => {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use retime_model::{ClockMap, Knot, LocationIndex, Timestamp};

    use super::*;

    proptest! {
        #[test]
        fn originals_come_back(
            raw in proptest::collection::vec(0_u64..2_000, 0..300),
            rises in proptest::collection::vec(0_u64..300, 1..10),
        ) {
            let mut corrected = 500;
            let knots = rises.iter().enumerate().map(|(index, rise)| {
                corrected += rise;
                Knot::at(Timestamp(200 * index as u64), Timestamp(corrected))
            });
            let map = ClockMap::new(knots.collect(), vec![]).unwrap();
            let mut cursor = map.cursor(LocationIndex(0));
            let mut log = StampLog::new(Guess::new(&map, &[]));
            let mut new = Vec::new();
            for &raw in &raw {
                let corrected = cursor.map(0, Timestamp(raw)).unwrap().0;
                log.note(raw, corrected);
                new.push(corrected);
            }
            let noted = log.finish();
            let mut originals = Originals::new(Guess::new(&map, &[]), &noted);
            let restored: Vec<u64> = new.iter().map(|&new| originals.of(new)).collect();
            prop_assert_eq!(restored, raw);
        }
    }
}
