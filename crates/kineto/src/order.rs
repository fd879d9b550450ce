//! The events of a track in the order of time, and the number of each.
//!
//! In a file events stand in any order, and one entry can be two events: a stay begins and
//! ends. Here each begin, end and moment of a track is an event with a number:
//!
//! ```text
//! file     X "step" 10..50,  X "op" 10..20,  X "op" 30..50,  i 30
//! events   0 step+  1 op+  2 op-  3 op+  4 i  5 op-  6 step-
//! ```
//!
//! What ends goes before what begins at the same time, what is longer before what lies
//! inside it. [Corrected](crate::placing) times keep this order, so numbers say the same
//! event in the original and in a copy.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::columns::{Columns, is_event};

/// The entries of each track, by when they begin.
#[derive(Debug, Default)]
pub(crate) struct Order {
    sorted: Vec<u32>,
    /// Where those of each track begin, and where the last ends.
    starts: Vec<usize>,
}

impl Order {
    pub(crate) fn of(columns: &Columns, tracks: usize) -> Self {
        let mut starts = vec![0; tracks + 1];
        for &track in columns.tracks.iter().filter(|it| is_event(**it)) {
            if let Some(start) = starts.get_mut(track as usize + 1) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut sorted = vec![0; sum];
        let mut next = starts.clone();
        for (event, &track) in (0..).zip(&columns.tracks) {
            if let Some(next) = next.get_mut(track as usize)
                && let Some(place) = sorted.get_mut(*next)
            {
                *place = event;
                *next += 1;
            }
        }
        for range in starts.windows(2) {
            if let Some(own) = sorted.get_mut(range[0]..range[1]) {
                // Profilers write long runs in this order, which a stable sort merges.
                own.sort_by_key(|&it| (columns.begin(it), Reverse(columns.end(it))));
            }
        }
        Self { sorted, starts }
    }

    /// The entries of a track, by when they begin.
    pub(crate) fn of_track(&self, track: usize) -> &[u32] {
        let range = self.starts.get(track).zip(self.starts.get(track + 1));
        range
            .and_then(|(start, end)| self.sorted.get(*start..*end))
            .unwrap_or_default()
    }
}

/// An event of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Boundary {
    /// The entry in the columns of the file.
    pub(crate) entry: u32,
    /// Its place among the entries of the track.
    pub(crate) at: usize,
    pub(crate) side: Side,
    pub(crate) time: u64,
}

/// The part of an entry that an event of a track is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Begin,
    End,
    Moment,
}

/// The events of a track, of entries that are sorted, in order.
pub(crate) fn boundaries<'a>(
    columns: &'a Columns,
    entries: &'a [u32],
) -> impl Iterator<Item = Boundary> + 'a {
    let mut entries = entries.iter().copied().enumerate().peekable();
    // Stays that have not ended; the earliest end first, of equal ones the one that began
    // last.
    let mut open: BinaryHeap<(Reverse<u64>, usize, u32)> = BinaryHeap::new();
    std::iter::from_fn(move || {
        let next = entries.peek().map(|it| columns.begin(it.1));
        if let Some(&(Reverse(end), at, entry)) = open.peek()
            && next.is_none_or(|begin| end <= begin)
        {
            open.pop();
            return Some(Boundary {
                entry,
                at,
                side: Side::End,
                time: end,
            });
        }
        let (at, entry) = entries.next()?;
        let side = if columns.length(entry).is_some() {
            open.push((Reverse(columns.end(entry)), at, entry));
            Side::Begin
        } else {
            Side::Moment
        };
        Some(Boundary {
            entry,
            at,
            side,
            time: columns.begin(entry),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::MOMENT;

    #[test]
    fn stays_and_moments_are_in_order() {
        let columns = Columns {
            begins: vec![10, 10, 30, 30, 5],
            lengths: vec![40, 10, 20, MOMENT, 0],
            tracks: vec![0, 0, 0, 0, 1],
            digits: vec![],
        };
        let order = Order::of(&columns, 2);
        assert_eq!(order.of_track(0), [0, 1, 2, 3]);
        assert_eq!(order.of_track(1), [4]);
        let found: Vec<_> = boundaries(&columns, order.of_track(0))
            .map(|it| (it.entry, it.side, it.time))
            .collect();
        let expected = [
            (0, Side::Begin, 10),
            (1, Side::Begin, 10),
            (1, Side::End, 20),
            (2, Side::Begin, 30),
            (3, Side::Moment, 30),
            (2, Side::End, 50),
            (0, Side::End, 50),
        ];
        assert_eq!(found, expected);
    }
}
