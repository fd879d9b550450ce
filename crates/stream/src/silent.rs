//! Clocks of which nothing is known but that time has passed.
//!
//! Such a clock gives nothing before the *floor*, the newest time less the longest
//! silence. The floor rises with every event, and is the same for all silent clocks. So
//! only the first of them takes part in the merge: where it lets an event pass, the
//! others would, and an event costs nothing for each location that says nothing.

use std::collections::BTreeSet;

use crate::merge::Merge;
use retime_model::ClockId;

/// The silent clocks.
#[derive(Debug, Default)]
pub(crate) struct Silent {
    clocks: BTreeSet<ClockId>,
}

impl Silent {
    /// A clock gives nothing before `floor`, and is known for nothing else.
    pub(crate) fn add(&mut self, clock: ClockId, floor: i64, merge: &mut Merge) {
        let first = self.clocks.first().copied();
        self.clocks.insert(clock);
        match first {
            Some(first) if first < clock => merge.set(clock, i64::MAX),
            Some(first) if first > clock => {
                merge.set(first, i64::MAX);
                merge.set(clock, floor);
            }
            _ => merge.set(clock, floor),
        }
    }

    /// More is known of a clock now.
    pub(crate) fn remove(&mut self, clock: ClockId, merge: &mut Merge) {
        let Some(&first) = self.clocks.first() else {
            return;
        };
        if !self.clocks.remove(&clock) {
            return;
        }
        let time = merge.time(first);
        merge.set(clock, time);
        if first == clock
            && let Some(&next) = self.clocks.first()
        {
            merge.set(next, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stands_for_all() {
        let mut merge = Merge::new(4);
        let mut silent = Silent::default();
        merge.set(ClockId(0), 7);
        for (clock, floor) in [(2, 3), (3, 4), (1, 5)] {
            silent.add(ClockId(clock), floor, &mut merge);
        }
        assert_eq!(merge.winner(), (ClockId(1), 5));
        merge.set(ClockId(1), 6);
        silent.remove(ClockId(1), &mut merge);
        assert_eq!(merge.winner(), (ClockId(1), 6));
        merge.set(ClockId(1), 9);
        assert_eq!(merge.winner(), (ClockId(2), 6));
        // What is known of one that was not in the merge is what is known of the first.
        merge.set(ClockId(2), 8);
        silent.remove(ClockId(3), &mut merge);
        merge.set(ClockId(0), 9);
        merge.set(ClockId(2), 9);
        assert_eq!(merge.winner(), (ClockId(3), 8));
    }
}
