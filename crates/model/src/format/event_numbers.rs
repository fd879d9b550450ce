//! The numbers of all events of locations, as [`Trace::timelines`](super::Trace::timelines)
//! takes the events it is asked for.
//!
//! A location of `n` events has the numbers `0 .. n`, so one list as long as that of the location
//! with most events serves all: each takes as much of its beginning as it has events.
//!
//! ```
//! use retime_model::format::EventNumbers;
//!
//! let numbers = EventNumbers::of([2, 0, 3]);
//! assert_eq!(numbers.by_location(), [&[0, 1][..], &[], &[0, 1, 2]]);
//! ```

/// The numbers of all events of some locations.
#[derive(Clone, Debug)]
pub struct EventNumbers {
    longest: Vec<u32>,
    counts: Vec<usize>,
}

impl EventNumbers {
    /// For locations with so many events each. No log has more events than `u32` counts; numbers
    /// end there.
    pub fn of(counts: impl IntoIterator<Item = u64>) -> Self {
        let counted = |it| u32::try_from(it).unwrap_or(u32::MAX);
        let counts: Vec<u32> = counts.into_iter().map(counted).collect();
        Self {
            longest: (0..counts.iter().copied().max().unwrap_or(0)).collect(),
            counts: counts.into_iter().map(|it| it as usize).collect(),
        }
    }

    /// The numbers of each location, rising, in the order in which locations were given.
    pub fn by_location(&self) -> Vec<&[u32]> {
        let of = |&count: &usize| &self.longest[..count];
        self.counts.iter().map(of).collect()
    }
}
