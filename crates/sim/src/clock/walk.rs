//! Drift that changes at random.
//!
//! The rate of a clock takes a random step at regular times and keeps within a
//! limit, where it is turned back:
//!
//! ```text
//! rate_k = rate_(k-1) + uniform(-change, change),   deviation = integral of rate
//! ```

use crate::random::Random;

/// A rate that does a random walk.
///
/// ```
/// use retime_sim::{Clock, RandomWalk};
///
/// let walk = RandomWalk { every: 1_000_000, change: 1e-6, limit: 5e-6, seed: 3 };
/// let clock = Clock { walk: Some(walk), ..Clock::TRUE };
/// let mut reader = clock.reader();
/// let shown: Vec<i64> = (0..1_000).map(|step| reader.show(step * 1_000_000)).collect();
/// let rates = shown.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6 - 1.0);
/// assert!(rates.clone().all(|rate| rate.abs() < 5e-6 + 1e-6));
/// assert!(rates.clone().any(|rate| rate < -2e-6) && rates.clone().any(|rate| rate > 2e-6));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomWalk {
    /// Nanoseconds of true time from one change of the rate to the next.
    pub every: u64,
    /// Largest change of the rate at a time: 1e-6 is 1 ppm.
    pub change: f64,
    /// The rate stays within this, to either side.
    pub limit: f64,
    /// The number that the changes derive from: equal seeds give equal walks.
    pub seed: u64,
}

/// Where a walk has come to.
#[derive(Debug, Clone)]
pub(super) struct Walking {
    walk: RandomWalk,
    random: Random,
    /// When the present rate began, and the deviation at that time.
    since: u64,
    deviation: f64,
    rate: f64,
}

impl Walking {
    pub(super) fn new(walk: RandomWalk) -> Self {
        let mut walking = Self {
            walk,
            random: Random::new(walk.seed, 0),
            since: 0,
            deviation: 0.0,
            rate: 0.0,
        };
        walking.turn();
        walking
    }

    /// The deviation in nanoseconds at a time not before the last.
    pub(super) fn deviation(&mut self, time: u64) -> f64 {
        let every = self.walk.every.max(1);
        while time - self.since >= every {
            self.since += every;
            self.deviation += self.rate * every as f64;
            self.turn();
        }
        self.deviation + self.rate * (time - self.since) as f64
    }

    fn turn(&mut self) {
        let limit = self.walk.limit.abs();
        let next = self.rate + self.random.within(self.walk.change);
        self.rate = next.clamp(-limit, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: RandomWalk = RandomWalk {
        every: 1_000,
        change: 1e-3,
        limit: 1e-2,
        seed: 9,
    };

    /// The formula by hand, for the first three intervals.
    #[test]
    fn rates_add_up() {
        let mut random = Random::new(9, 0);
        let rate: Vec<f64> = (0..3)
            .scan(0.0, |rate, _| {
                *rate += random.within(1e-3);
                Some(*rate)
            })
            .collect();
        let mut walking = Walking::new(WALK);
        let mut near = |time, expected: f64| {
            let deviation = walking.deviation(time);
            assert!((deviation - expected).abs() < 1e-9, "{time}: {deviation}");
        };
        near(0, 0.0);
        near(500, 500.0 * rate[0]);
        near(1_000, 1_000.0 * rate[0]);
        near(1_200, 1_000.0 * rate[0] + 200.0 * rate[1]);
        near(2_700, 1_000.0 * (rate[0] + rate[1]) + 700.0 * rate[2]);
    }

    #[test]
    fn it_does_not_matter_when_it_is_read() {
        let mut often = Walking::new(WALK);
        let all: Vec<f64> = (0..100_000).map(|time| often.deviation(time)).collect();
        let mut seldom = Walking::new(WALK);
        for time in (0..100_000).step_by(7_777) {
            assert!((seldom.deviation(time) - all[time as usize]).abs() < 1e-12);
        }
    }
}
