//! Which location of a clock comes next.
//!
//! A clock that many locations read goes on with the smallest raw time of all of them. So
//! locations with events are kept by the time of the first of these, and the others by the
//! time before which nothing comes from them: an event costs the logarithm of how many
//! locations there are.
//!
//! ```text
//! waiting  (40, location 7) (45, location 2)     the next event is that at 40,
//! idle     (42, location 1) (60, location 3)     since nothing comes before 42
//! ```

use std::collections::BTreeSet;

use retime_model::LocationIndex;

/// The state of the next event of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// It has come, and has this raw time.
    Waiting(i64),
    /// It has not come, and has no smaller raw time than this.
    Idle(i64),
    /// There is none any more.
    Ended,
}

/// The locations of a clock by their next event; empty for a clock of one location, which
/// needs no order.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    waiting: BTreeSet<(i64, LocationIndex)>,
    idle: BTreeSet<(i64, LocationIndex)>,
}

impl Heads {
    /// The heads of locations from which nothing is known.
    pub(crate) fn of(locations: &[LocationIndex]) -> Self {
        let mut heads = Self::default();
        if locations.len() > 1 {
            heads.idle = locations.iter().map(|&it| (i64::MIN, it)).collect();
        }
        heads
    }

    /// The smallest raw time of an event, and the first location that has one of it.
    pub(crate) fn first_waiting(&self) -> Option<(i64, LocationIndex)> {
        self.waiting.first().copied()
    }

    /// The least time before which nothing comes from a location without events.
    pub(crate) fn first_idle(&self) -> Option<i64> {
        self.idle.first().map(|it| it.0)
    }

    /// The locations whose next event is not after `raw`, in their order.
    pub(crate) fn waiting_until(&self, raw: i64) -> Vec<LocationIndex> {
        let until = self.waiting.range(..=(raw, LocationIndex(u32::MAX)));
        let mut locations: Vec<LocationIndex> = until.map(|it| it.1).collect();
        locations.sort_unstable();
        locations
    }

    /// Adds what is known of a location, or takes it away.
    pub(crate) fn set(&mut self) -> impl FnMut(Head, LocationIndex, bool) {
        |head, location, is_there| {
            let (set, time) = match head {
                Head::Waiting(raw) => (&mut self.waiting, raw),
                Head::Idle(horizon) => (&mut self.idle, horizon),
                Head::Ended => return,
            };
            if is_there {
                set.insert((time, location));
            } else {
                set.remove(&(time, location));
            }
        }
    }
}
