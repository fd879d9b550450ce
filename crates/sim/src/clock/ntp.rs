//! A clock that a time service corrects.
//!
//! Every `interval` the service measures how far the clock is off, with an
//! error of its own. A small deviation `e` is *slewed* away: until the next
//! measurement the clock runs slower by `e / interval`, at most by `slew`. One
//! beyond `threshold` is *stepped* away at once. The rate of the clock is not
//! learned, so a drift leaves up to `drift * interval`.
//!
//! ```text
//! e = shown - true + uniform(-noise, noise)
//! |e| <= threshold:  rate -= clamp(e / interval, -slew, slew)   until the next
//! |e| >  threshold:  shown -= e
//! ```
//!
//! Source: what RFC 5905 calls clock discipline, without its frequency loop.

use crate::random::Random;

/// A time service.
///
/// ```
/// use retime_sim::{Clock, Ntp};
///
/// let ntp = Ntp { interval: 1_000_000, noise: 0.0, slew: 500e-6, threshold: 1e6, seed: 0 };
/// let clock = Clock { offset: 700, ntp: Some(ntp), ..Clock::TRUE };
/// let off = |time| clock.show(time) - time as i64;
/// // 700 ns ahead; 500 ppm of a millisecond are taken away in the first interval.
/// assert_eq!([1_000_000, 1_500_000, 2_000_000, 3_000_000].map(off), [700, 450, 200, 0]);
/// // Far ahead: stepped, which for an ordered clock means to stand still.
/// let far = Clock { offset: 5_000_000, ..clock };
/// assert_eq!(far.show(1_000_000), 6_000_000);
/// assert_eq!(far.show(6_000_007), 6_000_007);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ntp {
    /// Nanoseconds of true time from one measurement to the next; the first is
    /// after one interval.
    pub interval: u64,
    /// Largest error of a measurement, in nanoseconds.
    pub noise: f64,
    /// Largest change of the rate: 500e-6 is usual.
    pub slew: f64,
    /// Deviation in nanoseconds beyond which the clock is stepped: 128e6 is
    /// usual.
    pub threshold: f64,
    /// The number that errors of measurements derive from: equal seeds give equal errors.
    pub seed: u64,
}

impl Default for Ntp {
    /// Measures every second, to 10 us.
    fn default() -> Self {
        Self {
            interval: 1_000_000_000,
            noise: 10_000.0,
            slew: 500e-6,
            threshold: 128e6,
            seed: 0,
        }
    }
}

/// The state of a time service: its last measurement, and the correction that followed.
#[derive(Debug, Clone)]
pub(super) struct Discipline {
    ntp: Ntp,
    random: Random,
    /// When the last measurement was made, and the correction at that time.
    since: u64,
    correction: f64,
    /// Change of rate since then.
    slope: f64,
}

impl Discipline {
    pub(super) fn new(ntp: Ntp) -> Self {
        Self {
            ntp,
            random: Random::new(ntp.seed, 1),
            since: 0,
            correction: 0.0,
            slope: 0.0,
        }
    }

    /// When the next measurement is due, if there is such a time.
    pub(super) fn due(&self) -> Option<u64> {
        self.since.checked_add(self.ntp.interval.max(1))
    }

    /// The nanoseconds that are added to the clock at a time up to the next measurement.
    pub(super) fn correction(&self, time: u64) -> f64 {
        self.correction + self.slope * (time - self.since) as f64
    }

    /// Measures, at a time when it is due, a clock that is off by `error`
    /// nanoseconds. Returns by how much it was stepped.
    pub(super) fn measure(&mut self, now: u64, error: f64) -> f64 {
        self.correction = self.correction(now);
        self.since = now;
        let measured = error + self.random.within(self.ntp.noise);
        if measured.abs() > self.ntp.threshold {
            self.slope = 0.0;
            self.correction -= measured;
            return -measured;
        }
        let limit = self.ntp.slew.abs();
        let wanted = -measured / self.ntp.interval.max(1) as f64;
        self.slope = wanted.clamp(-limit, limit);
        0.0
    }
}
