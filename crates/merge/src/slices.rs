//! The stays of a document as slices that nest, though the document need not be in any order.
//!
//! Chrome's JSON gives a stay as one event with a length, and a reader sorts them. Packets have
//! an event for each end, and the end of a track's innermost slice is what an end means. So it
//! matters which of two events at one time comes first in the file, and that no slice ends
//! within another that began before it:
//!
//! ```text
//! one thread      |---a---|                lane 0   |---a---||--c--|
//!                     |----b----|          lane 1       |----b----|
//!                         |--c--|
//! ```
//!
//! A stay goes to the first lane in which it fits; each lane is a track of its own. Of events
//! at one time ends come first, which the writer does by writing all ends of a document before
//! all begins; then begins, the longest first; those of which the document has a shorter one
//! before a longer one are *held* until all others are written.

use std::cmp::Reverse;

/// Lanes of a thread, at most; what fits in none has no length in the file but as an argument.
const LANES: u16 = 1000;

/// The lane of what fits in none.
pub(crate) const NO_LANE: u16 = u16::MAX;

/// A stay of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    pub(crate) thread: u32,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    /// The number of the event that begins it, in the order of the document.
    pub(crate) event: u32,
    pub(crate) lane: u16,
    pub(crate) is_held: bool,
}

impl Stay {
    pub(crate) fn new(thread: u32, begin: i64, end: i64, event: u32) -> Self {
        Self {
            thread,
            begin,
            end: end.max(begin),
            event,
            lane: 0,
            is_held: false,
        }
    }

    /// The order of stays by thread and time, what lasts longer first.
    fn key(&self) -> (u32, i64, Reverse<i64>, u32) {
        (self.thread, self.begin, Reverse(self.end), self.event)
    }
}

/// Sorts stays by thread and time, and gives each its lane.
pub(crate) fn arrange(stays: &mut [Stay]) {
    stays.sort_unstable_by_key(Stay::key);
    for own in stays.chunk_by_mut(|a, b| a.thread == b.thread) {
        lanes(own);
        hold(own);
    }
}

fn lanes(own: &mut [Stay]) {
    // The ends of what is open in each lane, the innermost last.
    let mut open: Vec<Vec<i64>> = Vec::new();
    for stay in own {
        let fits = |lane: &mut Vec<i64>| {
            while lane.last().is_some_and(|end| *end <= stay.begin) {
                lane.pop();
            }
            lane.last().is_none_or(|end| stay.end <= *end)
        };
        let lane = open.iter_mut().position(fits).unwrap_or(open.len());
        if lane == open.len() {
            if lane >= usize::from(LANES) {
                stay.lane = NO_LANE;
                continue;
            }
            open.push(Vec::new());
        }
        stay.lane = lane as u16;
        if let Some(open) = open.get_mut(lane) {
            open.push(stay.end);
        }
    }
}

/// Marks what begins together in one lane, where the document has it in another order.
fn hold(own: &mut [Stay]) {
    for together in own.chunk_by_mut(|a, b| a.begin == b.begin) {
        if together.is_sorted_by_key(|it| it.event) {
            continue;
        }
        for stay in together {
            stay.is_held = true;
        }
    }
}

/// The innermost stay at a time, of stays that are sorted by thread and time; where several
/// touch it, the one that begins then.
pub(crate) fn around(stays: &[Stay], thread: u32, at: i64) -> Option<&Stay> {
    let until = stays.partition_point(|it| (it.thread, it.begin) <= (thread, at));
    let before = stays.get(..until)?.iter().rev().take(LOOKS);
    let own = before.take_while(|it| it.thread == thread);
    own.into_iter().find(|it| it.end >= at)
}

/// The first stay that begins at a time or later.
pub(crate) fn next(stays: &[Stay], thread: u32, at: i64) -> Option<&Stay> {
    let from = stays.partition_point(|it| (it.thread, it.begin) < (thread, at));
    stays.get(from).filter(|it| it.thread == thread)
}

/// The most stays that are looked at, back in time, for one that is not over: calls have far fewer
/// in them, and arrows mostly stand where one begins.
const LOOKS: usize = 10_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arranged(all: &[(i64, i64)]) -> Vec<Stay> {
        let stays = (0..).zip(all);
        let mut stays: Vec<Stay> = stays
            .map(|(event, &(begin, length))| Stay::new(0, begin, begin + length, event))
            .collect();
        arrange(&mut stays);
        stays
    }

    #[test]
    fn what_crosses_gets_a_lane_of_its_own() {
        let found = arranged(&[(0, 8), (4, 10), (8, 6)]);
        let lanes: Vec<u16> = found.iter().map(|it| it.lane).collect();
        assert_eq!(lanes, [0, 1, 0]);
        assert!(found.iter().all(|it| !it.is_held));
    }

    #[test]
    fn the_longer_comes_first() {
        let found = arranged(&[(5, 0), (5, 3), (9, 1), (5, 9)]);
        let order: Vec<u32> = found.iter().map(|it| it.event).collect();
        assert_eq!(order, [3, 1, 0, 2]);
        let held: Vec<bool> = found.iter().map(|it| it.is_held).collect();
        assert_eq!(held, [true, true, true, false]);
        assert_eq!(around(&found, 0, 5).map(|it| it.event), Some(0));
        assert_eq!(around(&found, 0, 7).map(|it| it.event), Some(1));
        assert_eq!(around(&found, 0, 10).map(|it| it.event), Some(2));
        assert_eq!(around(&found, 1, 10), None);
        assert_eq!(next(&found, 0, 6).map(|it| it.event), Some(2));
    }

    proptest! {
        /// By the rule of readers: an end ends what was begun last.
        #[test]
        fn readers_find_the_same_stays(
            all in prop::collection::vec((0_i64..20, 0_i64..12), 0..40),
        ) {
            let stays = arranged(&all);
            // What is written: ends, then begins with what is over at once, then what is held.
            let mut written: Vec<(i64, u16, Option<u32>)> = Vec::new();
            let lasts = |it: &&Stay| it.end > it.begin;
            written.extend(stays.iter().filter(lasts).map(|it| (it.end, it.lane, None)));
            let mut by_event = stays.clone();
            by_event.sort_by_key(|it| it.event);
            let begun = by_event.iter().filter(|it| !it.is_held);
            for stay in begun.chain(stays.iter().filter(|it| it.is_held)) {
                written.push((stay.begin, stay.lane, Some(stay.event)));
                if stay.end == stay.begin {
                    written.push((stay.end, stay.lane, None));
                }
            }
            written.sort_by_key(|it| it.0);
            let mut open: Vec<Vec<(u32, i64)>> = vec![Vec::new(); 64];
            let mut found = vec![None; all.len()];
            for (at, lane, begun) in written {
                let open = &mut open[usize::from(lane)];
                if let Some(event) = begun {
                    open.push((event, at));
                } else {
                    let (event, begin) = open.pop().unwrap();
                    found[event as usize] = Some((begin, at - begin));
                }
            }
            let expected: Vec<_> = all.into_iter().map(Some).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
