//! Clocks that are wrong in known ways.
//!
//! The simulation knows the true time of every event, in nanoseconds since its
//! start. A process stamps the event with what its [`Clock`] shows. Clocks
//! differ by a constant offset, by their rate (a few parts per million for
//! quartz), and by slow variations of that rate; some only advance in coarse
//! steps. A [`Timer`] says how the shown time is written down.

use crate::{
    failure::{Error, Result},
    layout::Layout,
    random::Random,
};

/// A clock of one process or node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Nanoseconds it is ahead at the start.
    pub offset: i64,
    /// How much faster than true time it runs: 2e-6 is 2 ppm.
    pub drift: f64,
    /// Slow variation of its rate.
    pub wander: Option<Wander>,
    /// Nanoseconds by which it advances at a time, at least 1.
    pub step: u64,
    /// What it shows are multiples of `step` plus this.
    pub phase: i64,
}

/// A sinusoidal deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wander {
    /// Largest deviation in nanoseconds.
    pub amplitude: f64,
    /// Nanoseconds from one maximum to the next.
    pub period: f64,
    /// Part of a period by which it is ahead at the start.
    pub phase: f64,
}

impl Clock {
    /// The clock that shows true time.
    pub const TRUE: Self = Self {
        offset: 0,
        drift: 0.0,
        wander: None,
        step: 1,
        phase: 0,
    };

    /// What the clock shows at a true time, in nanoseconds since the start.
    ///
    /// Never runs backwards as long as drift and wander slow it down by less
    /// than its whole rate.
    pub fn show(&self, time: u64) -> i64 {
        let elapsed = time as f64;
        let wander = self.wander.map_or(0.0, |it| it.deviation(elapsed));
        // Only the small deviation goes through floating point numbers.
        let deviation = (self.drift * elapsed + wander).round() as i64;
        let shown = (time as i64)
            .saturating_add(self.offset)
            .saturating_add(deviation);
        let step = self.step.max(1) as i64;
        if step == 1 {
            shown
        } else {
            (shown - self.phase).div_euclid(step) * step + self.phase
        }
    }
}

impl Wander {
    fn deviation(&self, elapsed: f64) -> f64 {
        self.amplitude * sine_of_turns(elapsed / self.period + self.phase)
    }
}

/// The sine of an angle given in full turns.
///
/// A polynomial of our own, because library sines differ between platforms.
/// The error stays below 1e-7.
fn sine_of_turns(turns: f64) -> f64 {
    // Into -0.5..=0.5, then mirrored into the quarter turns around zero.
    let turns = turns - turns.round();
    let folded = if turns > 0.25 {
        0.5 - turns
    } else if turns < -0.25 {
        -0.5 - turns
    } else {
        turns
    };
    let x = folded * std::f64::consts::TAU;
    let square = x * x;
    // x - x^3/3! + x^5/5! - ..., from the inside out.
    [110.0, 72.0, 42.0, 20.0, 6.0]
        .iter()
        .fold(1.0, |sum, divisor| 1.0 - square * sum / divisor)
        * x
}

/// How the shown time becomes the ticks of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// Ticks per second.
    pub resolution: u64,
    /// Ticks at the start of the simulation on a true clock. Clocks that are
    /// behind need some, since there are no negative ticks.
    pub epoch: u64,
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            resolution: NANOSECONDS,
            epoch: NANOSECONDS,
        }
    }
}

const NANOSECONDS: u64 = 1_000_000_000;

impl Timer {
    /// The ticks for what a clock shows; `None` outside of what 64 bits hold.
    pub fn ticks(&self, shown: i64) -> Option<u64> {
        if self.resolution == NANOSECONDS {
            return self.epoch.checked_add_signed(shown);
        }
        let scaled = i128::from(shown) * i128::from(self.resolution);
        let ticks = scaled.div_euclid(i128::from(NANOSECONDS)) + i128::from(self.epoch);
        u64::try_from(ticks).ok()
    }

    /// The ticks for what the clock of a rank shows.
    pub(crate) fn stamp(&self, rank: u32, shown: i64) -> Result<u64> {
        self.ticks(shown).ok_or(Error::OutOfRange { rank, shown })
    }
}

/// Bounds within which clocks are drawn at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Largest offset in nanoseconds, to either side.
    pub offset: f64,
    /// Largest drift, to either side.
    pub drift: f64,
    /// Largest amplitude of the wander in nanoseconds; 0 for none.
    pub wander: f64,
    /// Period of the wander in nanoseconds.
    pub period: f64,
    /// Steps of all clocks in nanoseconds.
    pub step: u64,
}

impl Default for Spread {
    /// Perfect clocks.
    fn default() -> Self {
        Self {
            offset: 0.0,
            drift: 0.0,
            wander: 0.0,
            period: 10e9,
            step: 1,
        }
    }
}

impl Spread {
    /// One clock for each process.
    pub fn per_process(&self, layout: &Layout, seed: u64) -> Vec<Clock> {
        (0..layout.ranks)
            .map(|rank| self.draw(seed, rank))
            .collect()
    }

    /// One clock for each node, shared by its processes.
    pub fn per_node(&self, layout: &Layout, seed: u64) -> Vec<Clock> {
        (0..layout.ranks)
            .map(|rank| self.draw(seed, layout.node(rank)))
            .collect()
    }

    fn draw(&self, seed: u64, number: u32) -> Clock {
        // Streams apart from those of the simulation, which count from zero.
        let mut random = Random::new(seed, !u64::from(number));
        let offset = random.within(self.offset).round() as i64;
        let drift = random.within(self.drift);
        let wander = Wander {
            amplitude: random.uniform() * self.wander,
            period: self.period,
            phase: random.uniform(),
        };
        Clock {
            offset,
            drift,
            wander: (self.wander > 0.0).then_some(wander),
            step: self.step,
            phase: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANDERING: Clock = Clock {
        offset: -5_000,
        drift: -80e-6,
        wander: Some(Wander {
            amplitude: 900.0,
            period: 1e6,
            phase: 0.3,
        }),
        ..Clock::TRUE
    };

    #[test]
    fn the_true_clock_shows_true_time() {
        for time in [0, 1, 1 << 53, (1 << 62) + 1] {
            assert_eq!(Clock::TRUE.show(time), time as i64);
        }
    }

    #[test]
    fn offset_and_drift_add_up() {
        let clock = Clock {
            offset: -100,
            drift: 2e-6,
            ..Clock::TRUE
        };
        assert_eq!(clock.show(0), -100);
        assert_eq!(clock.show(1_000_000_000), 1_000_001_900);
    }

    #[test]
    fn clocks_never_run_backwards() {
        let mut last = i64::MIN;
        for time in 0..2_000_000 {
            let shown = WANDERING.show(time);
            assert!(shown >= last, "{time}");
            last = shown;
        }
    }

    #[test]
    fn wander_stays_within_its_amplitude() {
        let plain = Clock {
            wander: None,
            ..WANDERING
        };
        let deviations = (0..1_000_000).map(|time| WANDERING.show(time) - plain.show(time));
        assert_eq!(deviations.clone().max(), Some(900));
        assert_eq!(deviations.min(), Some(-900));
    }

    #[test]
    fn the_sine_is_one() {
        for step in -1000..1000 {
            let turns = f64::from(step) / 300.0;
            let expected = (turns * std::f64::consts::TAU).sin();
            assert!((sine_of_turns(turns) - expected).abs() < 1e-7, "{turns}");
        }
    }

    #[test]
    fn coarse_clocks_show_multiples_of_their_step() {
        let clock = Clock {
            offset: -10,
            step: 1000,
            ..Clock::TRUE
        };
        assert_eq!(clock.show(9), -1000);
        assert_eq!(clock.show(1009), 0);
        assert_eq!(clock.show(1010), 1000);
        let shifted = Clock {
            phase: 250,
            ..clock
        };
        assert_eq!(shifted.show(259), -750);
        assert_eq!(shifted.show(260), 250);
    }

    #[test]
    fn ticks_follow_resolution_and_epoch() {
        let timer = Timer {
            resolution: 2_500_000_000,
            epoch: 100,
        };
        assert_eq!(timer.ticks(4), Some(110));
        assert_eq!(timer.ticks(-4), Some(90));
        assert_eq!(timer.ticks(-1000), None);
        let late = Timer {
            epoch: u64::MAX - 5,
            ..Timer::default()
        };
        assert_eq!(late.ticks(5), Some(u64::MAX));
        assert_eq!(late.ticks(6), None);
    }

    #[test]
    fn nodes_share_a_clock_and_processes_do_not() {
        let spread = Spread {
            offset: 1e5,
            drift: 2e-6,
            wander: 10.0,
            ..Spread::default()
        };
        let layout = Layout {
            ranks_per_node: 2,
            ..Layout::one_node(4)
        };
        let shared = spread.per_node(&layout, 1);
        assert_eq!(shared[0], shared[1]);
        assert_ne!(shared[1], shared[2]);
        let own = spread.per_process(&layout, 1);
        assert_ne!(own[0], own[1]);
        assert!(
            own.iter()
                .all(|it| it.offset.abs() <= 100_000 && it.drift.abs() <= 2e-6)
        );
    }
}
