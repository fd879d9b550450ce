//! Guesses original stamps from corrected ones.
//!
//! Corrections mostly stretch time by parts per million, and then the original
//! of a stamp can be computed back exactly. Where it cannot (time was
//! compressed, or stood still), the guess is off and the difference is noted.
//! So what matters is that a guess depends on nothing but the map, the clock
//! offsets and the corrected stamps so far, and that it is right most of the
//! time.
//!
//! A correction sends a raw stamp through the clock offsets of its location
//! and then through the map of its clock; a guess goes the other way.

use retime_model::{ClockMap, Timestamp, partition_point_near};

/// Guesses the stamps of one file, in its order.
#[derive(Clone)]
pub(crate) struct Guess<'a> {
    map: &'a ClockMap,
    piece: Piece,
    /// The first knot not before the stamp for which the last piece was sought.
    after: usize,
    offsets: Vec<OffsetLine>,
    interval: usize,
}

impl<'a> Guess<'a> {
    /// With the map of the clock and the offsets that were removed, as pairs
    /// of raw time and offset.
    pub(crate) fn new(map: &'a ClockMap, offsets: &[(u64, i64)]) -> Self {
        Self {
            map,
            piece: Piece::default(),
            after: 0,
            offsets: offsets.windows(2).filter_map(OffsetLine::between).collect(),
            interval: 0,
        }
    }

    /// The stamp that most likely became `corrected`.
    #[inline]
    pub(crate) fn original(&mut self, corrected: u64) -> u64 {
        let global = self.before_map(corrected);
        if self.offsets.is_empty() {
            global
        } else {
            self.before_offsets(global)
        }
    }

    /// True if `original` is what [`original`](Self::original) gives for `corrected`.
    #[inline]
    pub(crate) fn is(&mut self, original: u64, corrected: u64) -> bool {
        let on_piece = self.offsets.is_empty() && self.piece.has(original, corrected);
        on_piece || self.original(corrected) == original
    }

    #[inline]
    fn before_map(&mut self, corrected: u64) -> u64 {
        match self.piece.original(corrected) {
            Some(original) => original,
            None => self.seek(corrected),
        }
    }

    #[cold]
    fn seek(&mut self, corrected: u64) -> u64 {
        let knots = self.map.knots();
        let after = partition_point_near(knots, self.after, |knot| knot.leave.0 < corrected);
        self.after = after;
        let before = after.checked_sub(1).and_then(|before| knots.get(before));
        if let (Some(before), Some(next)) = (before, knots.get(after)) {
            if before.leave < next.arrive {
                self.piece = Piece {
                    low: before.leave.0,
                    high: next.arrive.0,
                    start: before.raw.0,
                    run: next.raw.0 - before.raw.0,
                    rise: next.arrive.0 - before.leave.0,
                };
            }
            // Mostly it lies on a knot or between two: no need to search once more.
            if corrected >= next.arrive.0 {
                return next.raw.0;
            }
            if let Some(original) = self.piece.original(corrected) {
                return original;
            }
        }
        let original = self.map.invert(Timestamp(corrected));
        original.map_or(0, |original| original.0)
    }

    fn before_offsets(&mut self, global: u64) -> u64 {
        while let Some(current) = self.offsets.get(self.interval)
            && global > current.end
            && self.interval + 1 < self.offsets.len()
        {
            self.interval += 1;
        }
        match self.offsets.get(self.interval) {
            Some(interval) => interval.raw(global),
            None => global,
        }
    }
}

/// A linear piece of the map, with its ends in corrected time.
#[derive(Clone, Copy, Default)]
struct Piece {
    low: u64,
    high: u64,
    start: u64,
    run: u64,
    rise: u64,
}

impl Piece {
    /// The stamp that became `corrected`, if that lies inside.
    #[inline]
    fn original(self, corrected: u64) -> Option<u64> {
        if corrected <= self.low || corrected >= self.high {
            return None;
        }
        let above = corrected - self.low;
        if self.run == self.rise {
            return Some(self.start + above);
        }
        let product = above.checked_mul(self.run)?;
        Some(self.start + product.div_ceil(self.rise))
    }

    /// True if `corrected` lies inside and [`original`](Self::original) is what became of
    /// it, without a division: that takes longer than all else that is done for an event.
    /// For small numbers only.
    ///
    /// ```text
    /// ceil(above * run / rise) = along    iff    0 <= along * rise - above * run < rise
    /// ```
    #[inline]
    fn has(self, original: u64, corrected: u64) -> bool {
        if corrected <= self.low || corrected >= self.high || original < self.start {
            return false;
        }
        let (above, along) = (corrected - self.low, original - self.start);
        let products = along
            .checked_mul(self.rise)
            .zip(above.checked_mul(self.run));
        let over = products.and_then(|(along, above)| along.checked_sub(above));
        over.is_some_and(|over| over < self.rise)
    }
}

/// The line through two neighbouring clock offsets.
#[derive(Clone, Copy)]
struct OffsetLine {
    /// Raw time at the start.
    start: u64,
    offset: i64,
    /// Global time at the end.
    end: u64,
    slope: f64,
}

impl OffsetLine {
    fn between(pair: &[(u64, i64)]) -> Option<Self> {
        let &[(start, offset), (end, next)] = pair else {
            return None;
        };
        let length = end.checked_sub(start).filter(|&length| length > 0)?;
        Some(Self {
            start,
            offset,
            end: end.wrapping_add_signed(next),
            slope: next.wrapping_sub(offset) as f64 / length as f64,
        })
    }

    /// Two steps of Newton's method: with the slopes of real clocks the first
    /// is right up to rounding.
    fn raw(&self, global: u64) -> u64 {
        let stretch = 1.0 + self.slope;
        let distance = signed_distance(global.wrapping_sub(self.offset as u64), self.start);
        let shift = (distance * (self.slope / stretch)).round_ties_even() as i64;
        let raw = global
            .wrapping_add_signed(self.offset.wrapping_neg())
            .wrapping_add_signed(shift.wrapping_neg());
        let missed = signed_distance(global, self.global(raw));
        raw.wrapping_add_signed((missed / stretch).round_ties_even() as i64)
    }

    /// The global time of a stamp, computed as in [`crate::ClockCursor`].
    fn global(&self, raw: u64) -> u64 {
        let shift = (self.slope * signed_distance(raw, self.start)).round_ties_even() as i64;
        raw.wrapping_add_signed(self.offset)
            .wrapping_add_signed(shift)
    }
}

fn signed_distance(to: u64, from: u64) -> f64 {
    if to >= from {
        (to - from) as f64
    } else {
        -((from - to) as f64)
    }
}

#[cfg(test)]
mod tests {
    use retime_model::{Knot, LocationIndex};

    use super::*;
    use crate::clock::ClockCorrection;

    const OFFSETS: [(u64, i64); 3] = [(1_000, -40), (9_000_000, 300), (30_000_000, 100)];

    fn map() -> ClockMap {
        let knot = |raw, corrected| Knot::at(Timestamp(raw), Timestamp(corrected));
        let knots = vec![
            knot(5_000, 6_000),
            knot(10_000_000, 10_001_100),
            knot(20_000_000, 20_001_100),
            knot(25_000_000, 25_001_000),
        ];
        ClockMap::new(knots, vec![]).unwrap()
    }

    #[test]
    fn nearly_all_guesses_are_right() {
        let map = map();
        let mut cursor = map.cursor(LocationIndex(0));
        let mut clock = ClockCorrection::new(&OFFSETS).unwrap().cursor();
        let mut guess = Guess::new(&map, &OFFSETS);
        let mut wrong = 0;
        for raw in (2_000..40_000_000).step_by(37) {
            let corrected = cursor.map(0, Timestamp(clock.correct(raw))).unwrap();
            wrong += u32::from(guess.original(corrected.0) != raw);
        }
        assert!(wrong < 100, "{wrong}");
    }

    #[test]
    fn what_is_guessed_is_known_without_guessing() {
        let map = map();
        for offsets in [&[][..], &OFFSETS] {
            let mut guess = Guess::new(&map, offsets);
            for corrected in (0..40_000_000).step_by(11) {
                let original = guess.original(corrected);
                for other in original.saturating_sub(2)..=original + 2 {
                    assert_eq!(guess.is(other, corrected), other == original);
                }
            }
        }
    }

    #[test]
    fn guesses_agree_with_the_inverse_of_the_map() {
        let map = map();
        let mut guess = Guess::new(&map, &[]);
        for corrected in (0..40_000_000).step_by(11) {
            let inverse = map.invert(Timestamp(corrected)).unwrap_or_default();
            assert_eq!(guess.original(corrected), inverse.0);
        }
    }
}
