//! Messages between anybody, of any size.
//!
//! In each round some random pairs of processes talk, by blocking and
//! non-blocking operations, with messages from a few bytes to many. No pair
//! talks often, some never do: what an irregular application looks like.

use crate::{
    duration::Duration,
    event::Sink,
    failure::Result,
    layout::Layout,
    load::Load,
    network::Network,
    random::Random,
    scenario::{
        Length, Scenario, Statistics,
        machine::{Letter, Machine, Posted},
        none_is_zero,
    },
};

/// Random pairs that exchange messages of random sizes.
///
/// ```
/// use retime_sim::{Length, RandomTraffic, Recording, Scenario};
///
/// let program = RandomTraffic { ranks: 8, length: Length::iterations(10), ..RandomTraffic::default() };
/// let statistics = program.run(&mut Recording::default())?;
/// assert_eq!(statistics.messages, 10 * 8);
/// # Ok::<(), retime_sim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RandomTraffic {
    /// Processes, at least 2.
    pub ranks: u32,
    /// Processes on each node.
    pub ranks_per_node: u32,
    /// An iteration is a round with as many messages as ranks.
    pub length: Length,
    /// The number that all randomness derives from: equal seeds give equal events.
    pub seed: u64,
    /// Share of sends, and of receives, that are non-blocking: from 0 to 1.
    pub non_blocking: f64,
    /// Messages have less than two to the power of this many bytes.
    pub size_bits: u32,
    /// How long a process computes between rounds.
    pub compute: Duration,
    /// How long messages take.
    pub network: Network,
    /// Who else wants the processors.
    pub load: Load,
}

impl Default for RandomTraffic {
    fn default() -> Self {
        Self {
            ranks: 4,
            ranks_per_node: u32::MAX,
            length: Length::iterations(100),
            seed: 0,
            non_blocking: 0.5,
            size_bits: 20,
            compute: Duration::exponential(2_000, 2_000.0),
            network: Network {
                per_byte: 0.1,
                ..Network::default()
            },
            load: Load::default(),
        }
    }
}

/// A message of a round.
struct Planned {
    from: u32,
    to: u32,
    letter: Letter,
    /// True where the send does not block, and where the receive does not.
    non_blocking: (bool, bool),
}

impl Planned {
    fn seen_by_receiver(&self) -> Letter {
        Letter {
            peer: self.from,
            ..self.letter
        }
    }
}

/// The requests that the processes have to wait for at the end of a round.
struct Open {
    sends: Vec<Vec<u64>>,
    receives: Vec<Vec<Posted>>,
}

impl RandomTraffic {
    fn plan(&self, random: &mut Random) -> Planned {
        let ranks = u64::from(self.ranks);
        let from = random.bits() % ranks;
        let to = (from + 1 + random.bits() % (ranks - 1)) % ranks;
        // All magnitudes are equally likely.
        let most = 1 << (random.bits() % u64::from(self.size_bits.clamp(1, 40)));
        let letter = Letter {
            peer: to as u32,
            tag: (random.bits() % 3) as u32,
            bytes: most + random.bits() % most,
        };
        let mut chance = || random.uniform() < self.non_blocking;
        Planned {
            from: from as u32,
            to: to as u32,
            letter,
            non_blocking: (chance(), chance()),
        }
    }

    /// Receives are posted before anything is sent and blocking ones come after
    /// all sends, so nothing can lock.
    fn round(&self, machine: &mut Machine<'_>, random: &mut Random) -> Result<()> {
        let planned: Vec<_> = (0..self.ranks).map(|_| self.plan(random)).collect();
        let none = || (0..self.ranks).map(|_| Vec::new());
        let mut open = Open {
            sends: none().collect(),
            receives: (0..self.ranks).map(|_| Vec::new()).collect(),
        };
        for it in planned.iter().filter(|it| it.non_blocking.1) {
            let posted = machine.start_receive(it.to, it.seen_by_receiver())?;
            open.receives[it.to as usize].push(posted);
        }
        for it in &planned {
            if it.non_blocking.0 {
                let request = machine.start_send(it.from, it.letter)?;
                open.sends[it.from as usize].push(request);
            } else {
                machine.send(it.from, it.letter)?;
            }
        }
        for it in planned.iter().filter(|it| !it.non_blocking.1) {
            machine.receive(it.to, it.seen_by_receiver())?;
        }
        self.finish_round(machine, &open)
    }

    fn finish_round(&self, machine: &mut Machine<'_>, open: &Open) -> Result<()> {
        let opened = open.sends.iter().zip(&open.receives);
        for (rank, (sends, receives)) in (0..self.ranks).zip(opened) {
            if !sends.is_empty() || !receives.is_empty() {
                machine.wait(rank, sends, receives)?;
            }
            machine.compute(rank, self.compute)?;
        }
        Ok(())
    }
}

impl Scenario for RandomTraffic {
    fn layout(&self) -> Layout {
        Layout {
            ranks: self.ranks,
            threads: 1,
            ranks_per_node: self.ranks_per_node,
        }
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics> {
        none_is_zero([
            (
                "the number of ranks but one",
                self.ranks.saturating_sub(1).into(),
            ),
            ("the number of ranks per node", self.ranks_per_node.into()),
        ])?;
        // A stream apart from those of the ranks.
        let mut random = Random::new(self.seed, 1 << 40);
        let machine = Machine::new(self, self.network, self.load, sink);
        machine.run(&self.length, |machine, _| self.round(machine, &mut random))
    }
}
