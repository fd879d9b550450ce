//! Ways that are congested for a while.
//!
//! What many send over one way queues, and the way back is free meanwhile. For as
//! long as that lasts, all messages of one direction are late, about as late as
//! those before them. To whoever knows only stamps it looks like a clock
//! that went wrong for a second and then was right again.
//!
//! Time is cut into stretches of equal length, at places of its own for each way.
//! Whether a stretch is congested, and how much, is drawn for it alone, so nothing
//! has to be kept and messages may be asked about in any order. Every message
//! waits for at least half of what the stretch has on average.
//!
//! A way leads from one node to another, for all their processes; within a node
//! each process has one to each other.
//!
//! ```
//! use retime_sim::{Congestion, Duration};
//!
//! let congestion = Congestion {
//!     share: 1.0,
//!     lasts: 1_000_000_000,
//!     delay: Duration::constant(50_000),
//!     seed: 1,
//! };
//! let now = 5_000_000_000;
//! assert_eq!(congestion.mean_wait(0, 1, now), 50_000.0);
//! // Nothing is congested for no part of the time.
//! assert_eq!(Congestion { share: 0.0, ..congestion }.mean_wait(0, 1, now), 0.0);
//! ```

use crate::{duration::Duration, random::Random};

/// The first of the streams from which ways are drawn, apart from those of the
/// locations.
const STREAMS: u64 = 1 << 42;

/// Ways that are congested part of the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Congestion {
    /// The part of the time in which a way is congested, from 0 to 1.
    pub share: f64,
    /// For how long at a time, in nanoseconds.
    pub lasts: u64,
    /// The average wait, anew each time.
    pub delay: Duration,
    /// The number that its randomness derives from: equal seeds give equal waits.
    pub seed: u64,
}

impl Congestion {
    /// How long messages of a way wait on average at a time, in nanoseconds: 0
    /// while it is not congested.
    pub fn mean_wait(&self, from: u32, to: u32, time: u64) -> f64 {
        let ways = Random::new(self.seed, STREAMS + u64::from(from)).bits();
        let mut way = Random::new(ways, u64::from(to));
        let lasts = self.lasts.max(1);
        let stretch = time.saturating_add(way.bits() % lasts) / lasts;
        let mut stretch = Random::new(way.bits(), stretch);
        if stretch.uniform() < self.share {
            self.delay.draw(&mut stretch) as f64
        } else {
            0.0
        }
    }

    /// How long one message waits, in nanoseconds.
    pub(crate) fn wait(&self, from: u32, to: u32, time: u64, random: &mut Random) -> f64 {
        let half = self.mean_wait(from, to, time) / 2.0;
        if half > 0.0 {
            half + random.exponential(half)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LASTS: u64 = 1_000_000;

    fn congestion() -> Congestion {
        Congestion {
            share: 0.3,
            lasts: LASTS,
            delay: Duration::exponential(0, 20_000.0),
            seed: 3,
        }
    }

    /// Mean waits of a way, ten to a stretch.
    fn waits(from: u32, to: u32) -> Vec<f64> {
        let at = |number: u64| congestion().mean_wait(from, to, number * LASTS / 10);
        (0..100_000).map(at).collect()
    }

    #[test]
    fn ways_are_congested_as_often_and_as_much_as_said() {
        let waits = waits(4, 5);
        let congested: Vec<f64> = waits.iter().copied().filter(|&it| it > 0.0).collect();
        let share = congested.len() as f64 / waits.len() as f64;
        assert!((share - 0.3).abs() < 0.02, "{share}");
        let mean = congested.iter().sum::<f64>() / congested.len() as f64;
        assert!((mean / 20_000.0 - 1.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn they_stay_so_for_a_while() {
        let waits = waits(4, 5);
        let differ = |it: &&[f64]| it[0].to_bits() != it[1].to_bits();
        let changes = waits.windows(2).filter(differ).count();
        // Of ten thousand stretches half are congested, or come after one that is.
        assert!((4_500..5_700).contains(&changes), "{changes}");
    }

    #[test]
    fn the_way_back_is_another() {
        let (there, back) = (waits(4, 5), waits(5, 4));
        let both = there
            .iter()
            .zip(&back)
            .filter(|it| *it.0 > 0.0 && *it.1 > 0.0);
        let both = both.count() as f64 / there.len() as f64;
        assert!((both - 0.09).abs() < 0.02, "{both}");
    }

    #[test]
    fn a_message_waits_as_long_as_others_do_on_average_and_half_of_it_at_least() {
        let always = Congestion {
            share: 1.0,
            delay: Duration::constant(8_000),
            ..congestion()
        };
        let mut random = Random::new(1, 1);
        let waits: Vec<f64> = (0..10_000)
            .map(|_| always.wait(0, 1, 0, &mut random))
            .collect();
        let mean = waits.iter().sum::<f64>() / 1e4;
        assert!((mean - 8_000.0).abs() < 200.0, "{mean}");
        assert!(waits.iter().all(|&wait| wait >= 4_000.0));
    }
}
