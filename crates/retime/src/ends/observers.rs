//! Whose ends of operations count, and how much they are worth.
//!
//! **Streams** of accelerators poll memory: their ends tell a clock to their spread.
//!
//! **Threads** that wait in MPI or gloo have to be woken. They return up to milliseconds after the others,
//! later on a host with more load than on another, and often in the order of ranks each time: the error of
//! a clock by their ends is several spreads, and where many dependencies go both ways, the
//! middle of what these leave open is nearer to the truth. So they count only in traces that are
//! [loose](crate::Alignment::is_loose), as pipelines and programs in which two ranks go on while all others wait
//! for them, as if their spread were ten times what it is, and only where they decide:
//! where dependencies leave a clock open by more than that, and have it elsewhere by more. Nothing is
//! called likely then.
//!
//! ```text
//!  of eight ranks two exchange messages, and all meet in six barriers:
//!  as recorded 65 us off on average, by dependencies 11, by ends of the barriers 0.6
//! ```
//!
//! With known truth (twelve recordings of programs whose groups of ranks hardly meet, 144 draws of clock
//! errors) dependencies alone come to 6.0 us in the geometric mean, ends that always count, to 3, 10 and 30
//! spreads, to 4.3, 4.2 and 4.1. On recordings of other programs ends that always count, to one spread, made
//! errors 12 % larger.

use retime_model::LocationIndex;

/// Spreads to which ends of threads tell a clock.
const OF_THREADS: f64 = 10.0;

/// Whose ends count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Observers<'a> {
    /// These streams of accelerators.
    Streams(&'a [LocationIndex]),
    /// All threads.
    Threads,
}

impl Observers<'_> {
    /// True for each location whose ends count, by its number, of so many `locations`.
    pub(super) fn count_by_location(self, locations: usize) -> Vec<bool> {
        let Self::Streams(streams) = self else {
            return vec![true; locations];
        };
        let mut counts = vec![false; locations];
        for stream in streams {
            if let Some(it) = counts.get_mut(stream.as_usize()) {
                *it = true;
            }
        }
        counts
    }

    /// The spreads to which ends tell a clock.
    pub(super) fn known_to(self) -> f64 {
        match self {
            Self::Streams(_) => 1.0,
            Self::Threads => OF_THREADS,
        }
    }
}
