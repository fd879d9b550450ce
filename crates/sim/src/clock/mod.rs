//! Clocks that are wrong in known ways.
//!
//! The simulation knows the true time of every event, in nanoseconds since its
//! start. A process stamps the event with what its [`Clock`] shows:
//!
//! ```text
//! free(t)  = t + offset + drift t + bend t^2 / 2 + wander(t) + walk(t) + jumps up to t
//! shown(t) = free(t) + what a time service added up to t, in whole steps
//! ```
//!
//! | part | what it imitates |
//! |---|---|
//! | `offset`, `drift` | clocks that were set by hand, quartzes that differ |
//! | `bend` | a quartz that warms up |
//! | [`Wander`] | day and night, or the fan |
//! | [`RandomWalk`] | everything else that happens to a quartz |
//! | [`Jump`] | somebody sets the clock |
//! | [`Glitch`] | a single reading that is wrong |
//! | [`Ntp`] | a time service that slews and steps |
//! | `step`, `phase` | a clock that advances in coarse ticks |
//!
//! A clock never runs backwards, as long as its parts slow it down by less than
//! its whole rate: where a jump or a step would set it back, it stands still
//! until its time has come again. Only a clock that is explicitly allowed to
//! run `backwards` shows times twice; its traces have events out of order, as
//! those of some recorders do.
//!
//! [`Spread`] draws clocks at random, [`Timer`] says how the shown time is
//! written down.
//!
//! ```
//! use retime_sim::Clock;
//!
//! let clock = Clock { offset: -100, drift: 2e-6, bend: 1e-6, ..Clock::TRUE };
//! // After 2 s: -100 ns, 2 ppm of 2 s, and 1 ppm per second for 2 s.
//! assert_eq!(clock.show(2_000_000_000) - 2_000_000_000, -100 + 4_000 + 2_000);
//! ```

mod glitch;
mod jump;
mod ntp;
mod spread;
mod timer;
mod walk;
mod wander;

pub use self::{
    glitch::Glitch,
    jump::Jump,
    ntp::Ntp,
    spread::{Glitches, Jumps, Spread},
    timer::Timer,
    walk::RandomWalk,
    wander::Wander,
};
use self::{ntp::Discipline, walk::Walking};

/// A clock of one process or node.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    /// Nanoseconds it is ahead at the start.
    pub offset: i64,
    /// How much faster than true time it runs: 2e-6 is 2 ppm.
    pub drift: f64,
    /// How much the drift grows per second.
    pub bend: f64,
    /// Slow variation of its rate.
    pub wander: Option<Wander>,
    /// Random variation of its rate.
    pub walk: Option<RandomWalk>,
    /// When it is set, in order of time.
    pub jumps: Vec<Jump>,
    /// Readings that are off, in order of time.
    pub glitches: Vec<Glitch>,
    /// The time service that corrects it.
    pub ntp: Option<Ntp>,
    /// Nanoseconds by which it advances at a time, at least 1.
    pub step: u64,
    /// The remainder of the times that it shows, which are multiples of `step` plus this.
    pub phase: i64,
    /// True if it runs backwards where it is set back.
    pub backwards: bool,
}

impl Clock {
    /// The clock that shows true time.
    pub const TRUE: Self = Self {
        offset: 0,
        drift: 0.0,
        bend: 0.0,
        wander: None,
        walk: None,
        jumps: Vec::new(),
        glitches: Vec::new(),
        ntp: None,
        step: 1,
        phase: 0,
        backwards: false,
    };

    /// Reads the clock at a true time, in nanoseconds since the start, as it would show without any
    /// [`Glitch`].
    ///
    /// Takes time in proportion to what happened to the clock so far;
    /// [`reader`](Self::reader) is for many times in a row.
    pub fn show(&self, time: u64) -> i64 {
        let mut reader = self.reader();
        reader.next_glitch = self.glitches.len();
        reader.show(time)
    }

    /// Reads the clock at rising times.
    pub fn reader(&self) -> Reader {
        Reader {
            walking: self.walk.map(Walking::new),
            discipline: self.ntp.map(Discipline::new),
            next_jump: 0,
            next_glitch: 0,
            jumped: 0,
            floor: i64::MIN,
            clock: self.clone(),
        }
    }
}

/// Reads a [`Clock`] at rising true times, each in constant time on average.
#[derive(Debug, Clone)]
pub struct Reader {
    clock: Clock,
    walking: Option<Walking>,
    discipline: Option<Discipline>,
    next_jump: usize,
    next_glitch: usize,
    /// The sum of all jumps so far.
    jumped: i64,
    /// The clock has shown this, and shows no less.
    floor: i64,
}

impl Reader {
    /// Reads the clock at a true time, in nanoseconds since the start. Times must not fall from one
    /// call to the next.
    pub fn show(&mut self, time: u64) -> i64 {
        self.live_through(time);
        let mut shown = self.shown(time).saturating_add(self.glitch(time));
        if !self.clock.backwards {
            shown = shown.max(self.floor);
            self.floor = shown;
        }
        let step = self.clock.step.max(1) as i64;
        if step == 1 {
            return shown;
        }
        let phase = self.clock.phase;
        shown.saturating_sub(phase).div_euclid(step) * step + phase
    }

    /// Everything that happens to the clock up to a time.
    fn live_through(&mut self, time: u64) {
        loop {
            let jump = self.clock.jumps.get(self.next_jump).copied();
            let due = self.discipline.as_ref().and_then(Discipline::due);
            match (jump, due) {
                (Some(jump), due) if jump.at <= time && due.is_none_or(|due| jump.at <= due) => {
                    self.keep_floor(jump.at, jump.by < 0);
                    self.jumped = self.jumped.saturating_add(jump.by);
                    self.next_jump += 1;
                }
                (_, Some(due)) if due <= time => self.measure(due),
                _ => return,
            }
        }
    }

    /// The nanoseconds by which this reading alone is off.
    fn glitch(&mut self, time: u64) -> i64 {
        let rest = self.clock.glitches.get(self.next_glitch..);
        let due = rest.unwrap_or_default().iter();
        let due = due.take_while(|glitch| glitch.at <= time);
        let (count, sum) = due.fold((0, 0_i64), |(count, sum), glitch| {
            (count + 1, sum.saturating_add(glitch.by))
        });
        self.next_glitch += count;
        sum
    }

    fn measure(&mut self, due: u64) {
        let before = self.shown(due);
        let error = before.saturating_sub(due as i64) as f64;
        let stepped = self.discipline.as_mut().map(|it| it.measure(due, error));
        if stepped.is_some_and(|by| by < 0.0) {
            self.floor = self.floor.max(before);
        }
    }

    /// Where the clock is set back, it has shown more than it will.
    fn keep_floor(&mut self, at: u64, back: bool) {
        if back {
            self.floor = self.floor.max(self.shown(at));
        }
    }

    /// In whole nanoseconds, whatever was shown before.
    fn shown(&mut self, time: u64) -> i64 {
        let clock = &self.clock;
        let elapsed = time as f64;
        let bend = 0.5 * clock.bend * elapsed * (elapsed / 1e9);
        let wander = clock.wander.map_or(0.0, |it| it.deviation(elapsed));
        let walk = self.walking.as_mut().map_or(0.0, |it| it.deviation(time));
        let served = self
            .discipline
            .as_ref()
            .map_or(0.0, |it| it.correction(time));
        // Only the small deviation goes through floating point numbers.
        let deviation = (clock.drift * elapsed + bend + wander + walk + served).round() as i64;
        (time as i64)
            .saturating_add(clock.offset)
            .saturating_add(self.jumped)
            .saturating_add(deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wandering() -> Clock {
        Clock {
            offset: -5_000,
            drift: -80e-6,
            wander: Some(Wander {
                amplitude: 900.0,
                period: 1e6,
                phase: 0.3,
            }),
            ..Clock::TRUE
        }
    }

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
        let clock = wandering();
        let mut last = i64::MIN;
        for time in 0..2_000_000 {
            let shown = clock.show(time);
            assert!(shown >= last, "{time}");
            last = shown;
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

    /// Every part at once, read nanosecond by nanosecond and in leaps.
    fn eventful() -> Clock {
        let jump = |at, by| Jump { at, by };
        Clock {
            bend: -1e-2,
            walk: Some(RandomWalk {
                every: 3_000,
                change: 1e-4,
                limit: 1e-3,
                seed: 1,
            }),
            jumps: vec![
                jump(100_000, -9_000),
                jump(150_000, 400),
                jump(400_000, -50),
            ],
            ntp: Some(Ntp {
                interval: 70_000,
                noise: 100.0,
                slew: 1e-2,
                threshold: 4_000.0,
                seed: 2,
            }),
            ..wandering()
        }
    }

    #[test]
    fn nothing_that_happens_turns_a_clock_back() {
        for step in [1, 500] {
            let clock = Clock { step, ..eventful() };
            let mut reader = clock.reader();
            let shown: Vec<_> = (0..1_000_000).map(|time| reader.show(time)).collect();
            assert!(shown.is_sorted());
            // When it is read has no influence on what it shows.
            let mut leaping = clock.reader();
            for time in (0..1_000_000).step_by(12_345) {
                assert_eq!(leaping.show(time), shown[time as usize]);
            }
        }
    }

    #[test]
    fn unless_it_is_allowed() {
        let clock = Clock {
            backwards: true,
            ..eventful()
        };
        let mut reader = clock.reader();
        let shown: Vec<_> = (0..1_000_000).map(|time| reader.show(time)).collect();
        let back: Vec<_> = (1..shown.len())
            .filter(|&at| shown[at] < shown[at - 1])
            .collect();
        assert!(
            back.contains(&100_000) && back.contains(&400_000),
            "{back:?}"
        );
        assert_eq!(shown[100_000] - shown[99_999], -8_999);
    }

    #[test]
    fn a_service_keeps_a_drifting_clock_near() {
        let clock = Clock {
            offset: 200_000_000,
            drift: 50e-6,
            ntp: Some(Ntp::default()),
            ..Clock::TRUE
        };
        let mut reader = clock.reader();
        let off: Vec<_> = (1..100_u64)
            .map(|second| {
                reader.show(second * 1_000_000_000 + 1) - (second * 1_000_000_000 + 1) as i64
            })
            .collect();
        // Stepped once, which it has to wait out; then 50 us of drift and noise.
        assert!(off[0] > 199_000_000);
        assert!(off[1..].iter().all(|it| it.abs() <= 70_000), "{off:?}");
    }
}
