//! What a process knows of its clock.

use retime_model::{Ticks, Timestamp};

/// How far a clock is from that of process 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What the clock showed when it was measured.
    pub at: Timestamp,
    /// What has to be added to it then.
    pub offset: Ticks,
    /// By how much that can be wrong at most.
    pub bound: Ticks,
    /// How long the fastest round trip to the reference took.
    pub fastest: Ticks,
    /// How long the one in the middle took.
    pub median: Ticks,
    /// How many were made.
    pub round_trips: u32,
}

impl Measured {
    /// Of process 0 itself.
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

    /// As words that another process makes the same of.
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

    /// What such words say.
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
