//! Clocks drawn at random.

use crate::{
    clock::{Clock, Glitch, Jump, Ntp, RandomWalk, Wander},
    layout::Layout,
    random::Random,
};

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
    /// Largest growth of the drift per second, to either side.
    pub bend: f64,
    /// A random walk of the rate, different for each clock.
    pub walk: Option<RandomWalk>,
    /// Jumps.
    pub jumps: Option<Jumps>,
    /// Readings that are off.
    pub glitches: Option<Glitches>,
    /// A time service, with different errors for each clock.
    pub ntp: Option<Ntp>,
    /// True if clocks run backwards where they are set back.
    pub backwards: bool,
}

/// Jumps at random times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jumps {
    /// How many each clock does.
    pub count: u32,
    /// Largest size in nanoseconds, to either side.
    pub size: f64,
    /// They all happen before this true time, in nanoseconds.
    pub until: u64,
}

impl Jumps {
    fn draw(&self, random: &mut Random) -> Vec<Jump> {
        let mut jumps: Vec<_> = (0..self.count)
            .map(|_| Jump {
                at: (random.uniform() * self.until as f64) as u64,
                by: random.within(self.size).round() as i64,
            })
            .collect();
        jumps.sort_by_key(|jump| jump.at);
        jumps
    }
}

/// Readings that are off, at random times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glitches {
    /// How many each clock has.
    pub count: u32,
    /// Largest size in nanoseconds, to either side.
    pub size: f64,
    /// They all happen before this true time, in nanoseconds.
    pub until: u64,
}

impl Glitches {
    fn draw(&self, random: &mut Random) -> Vec<Glitch> {
        let mut glitches: Vec<_> = (0..self.count)
            .map(|_| Glitch {
                at: (random.uniform() * self.until as f64) as u64,
                by: random.within(self.size).round() as i64,
            })
            .collect();
        glitches.sort_by_key(|glitch| glitch.at);
        glitches
    }
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
            bend: 0.0,
            walk: None,
            jumps: None,
            glitches: None,
            ntp: None,
            backwards: false,
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
        // Newer parts come last, so that older seeds keep their clocks.
        let bend = random.within(self.bend);
        let walk = self.walk.map(|walk| RandomWalk {
            seed: random.bits(),
            ..walk
        });
        let ntp = self.ntp.map(|ntp| Ntp {
            seed: random.bits(),
            ..ntp
        });
        let jumps = self.jumps.map(|jumps| jumps.draw(&mut random));
        let glitches = self.glitches.map(|glitches| glitches.draw(&mut random));
        Clock {
            offset,
            drift,
            bend,
            wander: (self.wander > 0.0).then_some(wander),
            walk,
            jumps: jumps.unwrap_or_default(),
            glitches: glitches.unwrap_or_default(),
            ntp,
            step: self.step,
            phase: 0,
            backwards: self.backwards,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    #[test]
    fn glitches_are_drawn_last_and_in_order() {
        let glitches = Glitches {
            count: 40,
            size: 1e6,
            until: 1_000_000_000,
        };
        let plain = Spread {
            offset: 1e5,
            drift: 2e-6,
            wander: 10.0,
            ..Spread::default()
        };
        let spread = Spread {
            glitches: Some(glitches),
            ..plain
        };
        let layout = Layout::one_node(3);
        let drawn = spread.per_process(&layout, 4);
        for (clock, plain) in drawn.iter().zip(plain.per_process(&layout, 4)) {
            assert!(clock.glitches.is_sorted_by_key(|it| it.at) && clock.glitches.len() == 40);
            assert!(clock.glitches.iter().all(|it| it.by.abs() <= 1_000_000));
            assert!(clock.glitches.iter().any(|it| it.by > 500_000));
            assert!(clock.glitches.iter().any(|it| it.by < -500_000));
            let without = Clock {
                glitches: Vec::new(),
                ..clock.clone()
            };
            assert_eq!(without, plain);
        }
        assert_ne!(drawn[0].glitches, drawn[1].glitches);
    }
}
