//! What a process knows of its clock.

use retime_model::{Ticks, Timestamp};

/// The difference of a clock to that of process 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The time that the clock showed when it was measured.
    pub at: Timestamp,
    /// The ticks to be added to the clock then.
    pub offset: Ticks,
    /// The largest error of the offset.
    pub bound: Ticks,
    /// The duration of the fastest round trip to the reference.
    pub fastest: Ticks,
    /// The median duration of the round trips.
    pub median: Ticks,
    /// The number of round trips.
    pub round_trips: u32,
}

impl Measured {
    /// The measurement of process 0 itself.
    pub(crate) fn reference(at: Timestamp) -> Self {
        Self {
            at,
            offset: Ticks(0),
            bound: Ticks(0),
            fastest: Ticks(0),
            median: Ticks(0),
            round_trips: 0,
        }
    }

    /// Words of which another process makes the measurement again.
    pub fn to_words(measured: Option<Self>) -> [i64; 7] {
        measured.map_or([0; 7], |it| {
            [
                1,
                it.at.0.cast_signed(),
                it.offset.0,
                it.bound.0,
                it.fastest.0,
                it.median.0,
                i64::from(it.round_trips),
            ]
        })
    }

    /// The measurement that words of [`to_words`](Self::to_words) say.
    pub fn from_words(words: [i64; 7]) -> Option<Self> {
        let [known, at, offset, bound, fastest, median, round_trips] = words;
        (known != 0).then_some(Self {
            at: Timestamp(at.cast_unsigned()),
            offset: Ticks(offset),
            bound: Ticks(bound),
            fastest: Ticks(fastest),
            median: Ticks(median),
            round_trips: u32::try_from(round_trips).unwrap_or(0),
        })
    }
}
