//! Other programs that want the processor.
//!
//! Recorded delays last: a process that shares its processor for a second is late
//! again and again in that second, and nothing says so but the messages that it
//! sends and gets. So load comes and goes. While it is there, the process and the
//! other program take turns of milliseconds each, a thousand times as long as a
//! message takes:
//!
//! ```text
//! processor   process......|other|process|other|process|other|process..........
//! load                     |<----------- lasts ------------->|<-- none -->
//! ```
//!
//! While it is not its turn a process records nothing and computes nothing. What
//! arrives for it waits, and so does what it was about to hand over: the delay of a
//! message is work of its sender. Of a collective operation it takes until all
//! have had a turn, for they hand on what they get.
//!
//! ```
//! use retime_sim::{Duration, HaloExchange, Load, Victims};
//!
//! let quiet = HaloExchange { iterations: 20_000, ..HaloExchange::default() };
//! let loaded = HaloExchange {
//!     load: Load { share: 1.0, victims: Victims::Rank(2), ..Load::default() },
//!     ..quiet.clone()
//! };
//! let (quiet, loaded) = (quiet.run(&mut ())?, loaded.run(&mut ())?);
//! // One process gets half of a processor, and the others wait for it.
//! assert!(loaded.end > 3 * quiet.end / 2);
//! assert_eq!(loaded.messages, quiet.messages);
//! # Ok::<(), retime_sim::Error>(())
//! ```

use crate::{duration::Duration, layout::Layout, random::Random};

/// The first of the streams from which loads are drawn, apart from those of the
/// locations.
const STREAMS: u64 = 1 << 41;

/// Other programs that take turns with processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The part of the time in which there are any, from 0 to 1.
    pub share: f64,
    /// How long they stay at a time.
    pub lasts: Duration,
    /// How long a turn is, of the process or of the other program.
    pub turn: Duration,
    /// Whom it hits.
    pub victims: Victims,
}

/// The processes that have to share their processors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Victims {
    /// Each process, at times of its own.
    #[default]
    Processes,
    /// The processes of a node, all at the same times.
    Nodes,
    /// One rank alone.
    Rank(u32),
}

impl Default for Load {
    /// None at all; if there were any, turns as schedulers give them.
    fn default() -> Self {
        Self {
            share: 0.0,
            lasts: Duration::uniform(20_000_000, 1_000_000_000),
            turn: Duration::uniform(1_000_000, 10_000_000),
            victims: Victims::default(),
        }
    }
}

impl Load {
    /// The processor on which the threads of a rank run.
    pub(crate) fn processor(&self, layout: &Layout, rank: u32, seed: u64) -> Processor {
        let group = match self.victims {
            Victims::Processes => Some(rank),
            Victims::Nodes => Some(layout.node(rank)),
            Victims::Rank(victim) => (rank == victim).then_some(rank),
        };
        let group = group.filter(|_| self.share > 0.0);
        let mut processor = Processor {
            load: group.map(|_| *self),
            random: Random::new(seed, STREAMS + u64::from(group.unwrap_or(0))),
            until: 0,
            away: (0, 0),
        };
        processor.next_turn();
        processor
    }

    /// Time until the next load.
    fn pause(&self, random: &mut Random) -> u64 {
        let mean = self.lasts.mean() * (1.0 / self.share - 1.0).max(0.0);
        random.exponential(mean) as u64
    }
}

/// When a process has the processor. It is asked about ever later times.
#[derive(Debug, Clone)]
pub(crate) struct Processor {
    load: Option<Load>,
    random: Random,
    /// When the present load goes, or the latest went.
    until: u64,
    /// The turn of another program that comes next or is there now: its begin,
    /// and when the process is back.
    away: (u64, u64),
}

impl Processor {
    /// The first moment from `time` on at which the process has the processor.
    pub(crate) fn at(&mut self, time: u64) -> u64 {
        while self.load.is_some() && self.away.1 <= time {
            self.next_turn();
        }
        if self.load.is_some() && self.away.0 <= time {
            self.away.1
        } else {
            time
        }
    }

    /// When the process is done with work that takes it so long, from `time` on.
    pub(crate) fn run(&mut self, time: u64, mut work: u64) -> u64 {
        let mut now = self.at(time);
        while self.load.is_some() && work >= self.away.0.saturating_sub(now) {
            work -= self.away.0.saturating_sub(now);
            now = self.away.1;
            self.next_turn();
        }
        now.saturating_add(work)
    }

    fn next_turn(&mut self) {
        let Some(load) = self.load else { return };
        let (turn, random) = (load.turn, &mut self.random);
        let mut begin = self.away.1.saturating_add(turn.draw(random));
        if begin >= self.until {
            begin = begin.max(self.until.saturating_add(load.pause(random)));
            self.until = begin.saturating_add(load.lasts.draw(random));
        }
        let end = begin.saturating_add(turn.draw(random)).min(self.until);
        // Time goes on even if turns take none.
        self.away = (begin, end.max(begin.saturating_add(1)));
        // The end of what can be told.
        if end == u64::MAX {
            self.load = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn load(share: f64, victims: Victims) -> Load {
        Load {
            share,
            victims,
            ..Load::default()
        }
    }

    fn of(load: Load, rank: u32) -> Processor {
        let layout = Layout {
            ranks_per_node: 2,
            ..Layout::one_node(4)
        };
        load.processor(&layout, rank, 7)
    }

    /// What each millisecond of work ends after, for so much work.
    fn paces(mut processor: Processor, work: usize) -> Vec<u64> {
        let mut now = 0;
        let mut pace = || {
            let before = now;
            now = processor.run(now, MS);
            now - before
        };
        (0..work).map(|_| pace()).collect()
    }

    #[test]
    fn a_processor_without_load_is_always_there() {
        let mut processor = of(load(0.0, Victims::Processes), 1);
        assert_eq!((processor.at(5), processor.run(7, 20)), (5, 27));
        assert_eq!(paces(of(load(1.0, Victims::Rank(2)), 1), 9), [MS; 9]);
    }

    #[test]
    fn half_of_the_loaded_time_is_lost() {
        for (share, expected) in [(1.0, 2.0), (0.5, 4.0 / 3.0), (0.1, 1.0 / 0.95)] {
            let paces = paces(of(load(share, Victims::Processes), 0), 400_000);
            let mean = paces.iter().sum::<u64>() as f64 / (400_000 * MS) as f64;
            assert!((mean / expected - 1.0).abs() < 0.05, "{share}: {mean}");
            assert!(paces.iter().all(|&pace| pace >= MS));
        }
    }

    #[test]
    fn nobody_runs_in_the_turn_of_another() {
        let mut processor = of(load(0.5, Victims::Processes), 0);
        let (begin, back) = processor.away;
        assert_eq!(processor.clone().at(begin - 1), begin - 1);
        assert_eq!(processor.clone().run(begin - 1, 4), back + 3);
        assert_eq!(processor.clone().at(begin), back);
        assert_eq!(processor.clone().run(begin, 3), back + 3);
        assert_eq!(processor.at(back), back);
    }

    #[test]
    fn load_lasts() {
        // Slow milliseconds of work among the next hundred, after a slow one and after any.
        let paces = paces(of(load(0.2, Victims::Processes), 3), 100_000);
        let slow: Vec<bool> = paces.iter().map(|&pace| pace > MS).collect();
        let share = |of: &[bool]| of.iter().filter(|it| **it).count() as f64 / of.len() as f64;
        let after: Vec<bool> = slow
            .windows(100)
            .filter(|it| it[0])
            .flat_map(|it| it[1..].to_vec())
            .collect();
        assert!(share(&after) > 2.0 * share(&slow));
    }

    #[test]
    fn processes_of_a_node_are_hit_together_if_so_wanted() {
        let all = |victims| [0, 1, 2].map(|rank| paces(of(load(0.5, victims), rank), 2_000));
        let [first, second, third] = all(Victims::Nodes);
        assert_eq!(first, second);
        assert_ne!(first, third);
        let [first, second, _] = all(Victims::Processes);
        assert_ne!(first, second);
    }
}
