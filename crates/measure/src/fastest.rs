//! The fastest of many round trips.
//!
//! A process asks at `t1` of its own clock; its reference takes the question at `t2` and
//! answers at `t3` of another clock; the answer is there at `t4`. No way takes less than
//! nothing, so that the offset `o`, which is to be added to the own clock, lies within
//!
//! ```text
//! t3 - t4  <=  o  <=  t2 - t1        middle +- half of (t4 - t1) - (t3 - t2)
//! ```
//!
//! whatever the two ways took. The faster the round trip, the narrower: of many only the
//! fastest counts, and another is made as long as the last few have bettered it.
//!
//! ```
//! use retime_measure::RoundTrip;
//! use retime_model::{Ticks, Timestamp};
//! // The reference is 1000 ahead; 30 there, 10 back.
//! let trip = RoundTrip {
//!     asked: Timestamp(100), taken: Timestamp(1_130),
//!     answered: Timestamp(1_135), back: Timestamp(145),
//! };
//! assert_eq!(trip.duration(), Some(Ticks(40)));
//! assert_eq!(trip.offset(), Ticks(1_010)); // 1000 +- 20
//! ```
//!
//! Source: F. Cristian, *Probabilistic clock synchronization*, Distributed Computing 3, 1989,
//! section 4.

use retime_model::{Ticks, Timestamp};

/// So many round trips in a row that are not faster than the fastest are enough.
const QUIET: u32 = 8;

/// The four stamps of a question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When the question went, by the clock of the client.
    pub asked: Timestamp,
    /// When it arrived, by the clock of the reference.
    pub taken: Timestamp,
    /// When the answer went, by the clock of the reference.
    pub answered: Timestamp,
    /// When it arrived, by the clock of the client.
    pub back: Timestamp,
}

impl RoundTrip {
    /// The time that both ways took together; none if a clock was set back meanwhile.
    pub fn duration(&self) -> Option<Ticks> {
        let there = difference(self.back, self.asked);
        let at_reference = difference(self.answered, self.taken);
        let both = there.checked_sub(at_reference)?;
        (at_reference >= 0 && both >= 0).then_some(Ticks(both))
    }

    /// The middle of what can have to be added to the clock of the client.
    pub fn offset(&self) -> Ticks {
        let least = i128::from(difference(self.answered, self.back));
        let most = i128::from(difference(self.taken, self.asked));
        Ticks(((least + most).div_euclid(2)) as i64)
    }
}

/// The time from `b` to `a`. Clocks show less than 2^63.
fn difference(a: Timestamp, b: Timestamp) -> i64 {
    let span = a.after(b);
    i64::try_from(span).unwrap_or(if span < 0 { i64::MIN } else { i64::MAX })
}

/// The round trips of one pair.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    made: u32,
    since_fastest: u32,
    fastest: Option<Fastest>,
    durations: Vec<Ticks>,
}

/// A round trip that none was faster than, and how long it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fastest {
    pub(crate) trip: RoundTrip,
    pub(crate) duration: Ticks,
}

impl RoundTrips {
    pub(crate) fn add(&mut self, trip: RoundTrip) {
        self.made += 1;
        self.since_fastest += 1;
        let Some(duration) = trip.duration() else {
            return;
        };
        self.durations.push(duration);
        if self.fastest.is_none_or(|it| duration < it.duration) {
            self.fastest = Some(Fastest { trip, duration });
            self.since_fastest = 0;
        }
    }

    /// True if another one is worth its while, of `most` at most.
    pub(crate) fn go_on(&self, most: u32) -> bool {
        self.made < most && self.since_fastest < QUIET
    }

    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    pub(crate) fn fastest(&self) -> Option<Fastest> {
        self.fastest
    }

    /// The duration in the middle.
    pub(crate) fn median(mut self) -> Ticks {
        let middle = self.durations.len() / 2;
        if self.durations.is_empty() {
            return Ticks(0);
        }
        *self.durations.select_nth_unstable(middle).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trip(duration: u64) -> RoundTrip {
        RoundTrip {
            asked: Timestamp(0),
            taken: Timestamp(7),
            answered: Timestamp(7),
            back: Timestamp(duration),
        }
    }

    #[test]
    fn goes_on_while_they_get_faster() {
        let mut trips = RoundTrips::default();
        for duration in (50..150).rev() {
            assert!(trips.go_on(1_000));
            trips.add(trip(duration));
        }
        for _ in 0..QUIET {
            assert!(trips.go_on(1_000));
            trips.add(trip(50));
        }
        assert!(!trips.go_on(1_000));
        assert!(!trips.go_on(5));
        assert_eq!(trips.fastest().unwrap().duration, Ticks(50));
        assert_eq!(trips.made(), 108);
        assert_eq!(trips.median(), Ticks(96));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_count() {
        let back = RoundTrip {
            back: Timestamp(0),
            asked: Timestamp(5),
            ..trip(0)
        };
        assert_eq!(back.duration(), None);
        let mut trips = RoundTrips::default();
        trips.add(back);
        assert!(trips.fastest().is_none());
        assert_eq!(trips.median(), Ticks(0));
    }
}
