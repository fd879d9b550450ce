//! Who sends something to whom.
//!
//! Before processes send each other something, each has to know from whom something comes.
//! Senders go up the tree with a row of bits, one for each receiver, and back comes to each
//! process what is for itself and those above it: the columns of some receivers in a row. So
//! only the first process sees `P^2` bits, and rows without any are left out.

use std::ops::Range;

use retime::causality::Partial;
use serde::{Deserialize, Serialize};

/// Who sends something to receivers that follow each other.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Talks {
    /// The first of the receivers.
    first: usize,
    /// Senders, each with a bit for each of the receivers.
    rows: Vec<(u32, Vec<u64>)>,
}

impl Talks {
    /// The messages that one of so many processes sends.
    pub(super) fn of(sender: usize, receivers: impl Iterator<Item = usize>, size: usize) -> Self {
        let row = row_of(receivers, size);
        let rows = row.map(|row| (sender as u32, row));
        Self {
            first: 0,
            rows: rows.into_iter().collect(),
        }
    }

    /// The messages to some of the receivers.
    pub(super) fn to(&self, receivers: Range<usize>) -> Self {
        let from = receivers.start - self.first;
        let part = |(sender, row): &(u32, Vec<u64>)| {
            let part = part_of(row, from..from + receivers.len());
            part.iter().any(|&it| it != 0).then_some((*sender, part))
        };
        Self {
            first: receivers.start,
            rows: self.rows.iter().filter_map(part).collect(),
        }
    }

    /// True for each of so many processes that sends something to one.
    pub(super) fn senders(&self, receiver: usize, size: usize) -> Vec<bool> {
        let mut senders = vec![false; size];
        for (sender, row) in &self.rows {
            if let Some(sends) = senders.get_mut(*sender as usize) {
                *sends = is_set(row, receiver - self.first);
            }
        }
        senders
    }
}

impl Partial for Talks {
    fn pack(&self) -> Option<Vec<u8>> {
        postcard::to_allocvec(self).ok()
    }

    fn merge(&mut self, other: &[u8]) -> bool {
        let other = postcard::from_bytes::<Self>(other);
        other
            .map(|other| {
                self.rows.extend(other.rows);
            })
            .is_ok()
    }

    fn replace(&mut self, all: &[u8]) -> bool {
        postcard::from_bytes(all).map(|all| *self = all).is_ok()
    }
}

/// A row of bits, set at some places, if there are any.
fn row_of(places: impl Iterator<Item = usize>, length: usize) -> Option<Vec<u64>> {
    let mut row = vec![0_u64; length.div_ceil(64)];
    let mut is_any = false;
    for place in places {
        row[place / 64] |= 1 << (place % 64);
        is_any = true;
    }
    is_any.then_some(row)
}

/// Some bits of a row, as a row.
fn part_of(row: &[u64], bits: Range<usize>) -> Vec<u64> {
    let word = |at: usize| row.get(at).copied().unwrap_or(0);
    let mut part: Vec<u64> = { bits.clone() }
        .step_by(64)
        .map(|bit| match (bit / 64, bit % 64) {
            (at, 0) => word(at),
            (at, shift) => word(at) >> shift | word(at + 1) << (64 - shift),
        })
        .collect();
    if let (Some(last), beyond @ 1..) = (part.last_mut(), bits.len() % 64) {
        *last &= (1 << beyond) - 1;
    }
    part
}

fn is_set(row: &[u64], place: usize) -> bool {
    row.get(place / 64)
        .is_some_and(|word| word >> (place % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hears_who_sends_to_it() {
        const SIZE: usize = 150;
        let sends = |from: usize, to: usize| from != to && (from * 7 + to * 3).is_multiple_of(5);
        let of = |from: usize| Talks::of(from, (0..SIZE).filter(|&to| sends(from, to)), SIZE);
        let mut all = of(0);
        assert!((1..SIZE).all(|from| all.merge(&of(from).pack().unwrap())));
        let some = all.to(64..128);
        let fewer = some.to(70..80);
        for to in 70..80 {
            let expected: Vec<bool> = (0..SIZE).map(|from| sends(from, to)).collect();
            for known in [&all, &some, &fewer] {
                assert_eq!(known.senders(to, SIZE), expected);
            }
        }
    }

    #[test]
    fn who_sends_nothing_has_no_row() {
        let none = |sender: usize| Talks::of(sender, [].into_iter(), 100);
        let mut nothing = none(3);
        assert!(nothing.merge(&none(4).pack().unwrap()));
        assert!(nothing.rows.is_empty());
        let mut other = nothing;
        let one = Talks::of(5, [99].into_iter(), 100);
        assert!(other.merge(&one.pack().unwrap()));
        assert!(other.to(0..50).rows.is_empty());
    }
}
