//! The logical times that ride on messages and collective operations.
//!
//! A message carries one stamp. In a collective operation each participant gives one, and
//! nobody has to hear them one by one: of the stamps of others only the largest counts,
//! clock by clock,
//!
//! ```text
//! heard(p) = ( max simple(q), max controlled(q) )      over the q that p waits for
//! ```
//!
//! which is the maximum that MPI's reductions know: two signed numbers of 64 bits with
//! `MPI_MAX`. A participant does not wait for itself, though. Where only lower ranks count
//! (`MPI_Exscan`), or only the root, its own stamp is not among those that are merged; where
//! all wait for all it is, and the largest does not tell whose it was. So [`PiggybackStamps`]
//! keeps the two largest of each clock: whoever finds its own value as the largest takes the
//! second, which is the same number if somebody else had it too.
//!
//! ```
//! use retime_logical_clocks::{PiggybackStamp, PiggybackStamps};
//! let stamps = [(5, 9), (7, 8), (7, 3)].map(|(simple, controlled)| PiggybackStamp { simple, controlled });
//! let all = stamps.map(PiggybackStamps::of).into_iter().reduce(PiggybackStamps::merged).unwrap();
//! assert_eq!(all.latest, PiggybackStamp { simple: 7, controlled: 9 });
//! assert_eq!(all.besides(stamps[0]), PiggybackStamp { simple: 7, controlled: 8 });
//! assert_eq!(all.besides(stamps[1]), PiggybackStamp { simple: 7, controlled: 9 });
//! assert_eq!(PiggybackStamps::from_bytes(all.to_bytes()), all);
//! ```
//!
//! Source: Rabenseifner 1997, section 7, for messages; the merging is ours.

/// The logical times of an event that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiggybackStamp {
    /// The time of the simple logical clock.
    pub simple: i64,
    /// The time of the controlled logical clock.
    pub controlled: i64,
}

impl PiggybackStamp {
    /// The stamp of nobody: merged with another it changes nothing, and who hears it need
    /// not wait.
    pub const NOTHING: Self = Self {
        simple: i64::MIN,
        controlled: i64::MIN,
    };

    /// The number of bytes of a stamp.
    pub const BYTES: usize = 16;

    /// The later time of each clock.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        Self {
            simple: self.simple.max(other.simple),
            controlled: self.controlled.max(other.controlled),
        }
    }

    /// The stamp as it is sent: the simple time, then the controlled one, lowest byte first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (simple, controlled) = bytes.split_at_mut(8);
        simple.copy_from_slice(&self.simple.to_le_bytes());
        controlled.copy_from_slice(&self.controlled.to_le_bytes());
        bytes
    }

    /// The stamp that was sent as these bytes; any are one.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        // As one number the first bytes are the lowest.
        let both = u128::from_le_bytes(bytes);
        Self {
            simple: both as i64,
            controlled: (both >> 64) as i64,
        }
    }
}

/// The stamps of several participants in a collective operation, as far as each of them has
/// to know these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiggybackStamps {
    /// The largest time of each clock.
    pub latest: PiggybackStamp,
    /// The largest time of each clock among the others.
    pub second: PiggybackStamp,
}

impl PiggybackStamps {
    /// The stamps of nobody.
    pub const NOTHING: Self = Self::of(PiggybackStamp::NOTHING);

    /// The number of bytes of the stamps.
    pub const BYTES: usize = 32;

    /// The stamp of one participant.
    #[must_use]
    pub const fn of(stamp: PiggybackStamp) -> Self {
        Self {
            latest: stamp,
            second: PiggybackStamp::NOTHING,
        }
    }

    /// The stamps of these participants and of others, in any order.
    #[must_use]
    pub fn merged(self, others: Self) -> Self {
        let lower = PiggybackStamp {
            simple: self.latest.simple.min(others.latest.simple),
            controlled: self.latest.controlled.min(others.latest.controlled),
        };
        Self {
            latest: self.latest.merged(others.latest),
            second: lower.merged(self.second).merged(others.second),
        }
    }

    /// The stamps of all but the participant that gave `own`, merged.
    #[must_use]
    pub fn besides(self, own: PiggybackStamp) -> PiggybackStamp {
        let besides =
            |own: i64, latest: i64, second: i64| if own == latest { second } else { latest };
        PiggybackStamp {
            simple: besides(own.simple, self.latest.simple, self.second.simple),
            controlled: besides(
                own.controlled,
                self.latest.controlled,
                self.second.controlled,
            ),
        }
    }

    /// The stamps as they are sent: the latest, then the second.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (latest, second) = bytes.split_at_mut(PiggybackStamp::BYTES);
        latest.copy_from_slice(&self.latest.to_bytes());
        second.copy_from_slice(&self.second.to_bytes());
        bytes
    }

    /// The stamps that were sent as these bytes; any are some.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let (halves, _) = bytes.as_chunks::<{ PiggybackStamp::BYTES }>();
        let half = |at: usize| PiggybackStamp::from_bytes(halves[at]);
        Self {
            latest: half(0),
            second: half(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stamps() -> impl Strategy<Value = Vec<PiggybackStamp>> {
        let time = || prop_oneof![-3_i64..3, any::<i64>()];
        let stamp =
            (time(), time()).prop_map(|(simple, controlled)| PiggybackStamp { simple, controlled });
        proptest::collection::vec(stamp, 1..8)
    }

    proptest! {
        /// Merged in any order and by any tree, each hears the largest of the others.
        #[test]
        fn everybody_hears_the_others(all in stamps(), split in any::<prop::sample::Index>()) {
            let merged = |some: &[PiggybackStamp]| {
                let some = some.iter().rev().map(|it| PiggybackStamps::of(*it));
                some.fold(PiggybackStamps::NOTHING, PiggybackStamps::merged)
            };
            let (left, right) = all.split_at(split.index(all.len()));
            let together = merged(right).merged(merged(left));
            let sent = PiggybackStamps::from_bytes(together.to_bytes());
            prop_assert_eq!(sent, together);
            for (place, own) in all.iter().enumerate() {
                let others = all.iter().enumerate().filter(|it| it.0 != place);
                let largest = |of: fn(&PiggybackStamp) -> i64| {
                    others.clone().map(|it| of(it.1)).max().unwrap_or(i64::MIN)
                };
                let expected = PiggybackStamp {
                    simple: largest(|it| it.simple),
                    controlled: largest(|it| it.controlled),
                };
                prop_assert_eq!(together.besides(*own), expected);
            }
        }

        #[test]
        fn bytes_are_those_of_the_two_numbers(stamp in stamps()) {
            let stamp = stamp[0];
            let mut expected = stamp.simple.to_le_bytes().to_vec();
            expected.extend(stamp.controlled.to_le_bytes());
            prop_assert_eq!(&stamp.to_bytes()[..], &expected[..]);
            prop_assert_eq!(PiggybackStamp::from_bytes(stamp.to_bytes()), stamp);
        }
    }
}
