//! Messages that go one way only.
//!
//! Some processes produce, others consume, and nothing ever goes back. From
//! such a trace nobody can tell a long delay from a clock that is ahead: the
//! error of a clock is bounded on one side only. A correction must say so.

use crate::{
    duration::Duration,
    event::Sink,
    failure::Result,
    layout::Layout,
    load::Load,
    network::Network,
    scenario::{
        Length, Scenario, Statistics,
        machine::{Letter, Machine},
        none_is_zero,
    },
};

/// Producers that send to consumers.
///
/// Ranks below `producers` produce; the items of each go to the consumers in
/// turn.
///
/// ```
/// use retime_sim::{Length, ProducerConsumer, Recording, Scenario};
///
/// let program = ProducerConsumer { length: Length::iterations(10), ..ProducerConsumer::default() };
/// let statistics = program.run(&mut Recording::default())?;
/// assert_eq!(statistics.messages, 10);
/// # Ok::<(), retime_sim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ProducerConsumer {
    /// Processes that only send.
    pub producers: u32,
    /// Processes that only receive.
    pub consumers: u32,
    /// Processes on each node.
    pub ranks_per_node: u32,
    /// An iteration is one item of each producer.
    pub length: Length,
    /// The number that all randomness derives from: equal seeds give equal events.
    pub seed: u64,
    /// How long an item takes to produce.
    pub production: Duration,
    /// How long an item takes to consume.
    pub consumption: Duration,
    /// How long messages take.
    pub network: Network,
    /// Who else wants the processors.
    pub load: Load,
    /// Bytes of each item.
    pub bytes: u64,
}

impl Default for ProducerConsumer {
    fn default() -> Self {
        Self {
            producers: 1,
            consumers: 1,
            ranks_per_node: 1,
            length: Length::iterations(100),
            seed: 0,
            production: Duration::exponential(5_000, 2_000.0),
            consumption: Duration::exponential(2_000, 2_000.0),
            network: Network::default(),
            load: Load::default(),
            bytes: 1024,
        }
    }
}

impl ProducerConsumer {
    fn round(&self, machine: &mut Machine<'_>, round: u64) -> Result<()> {
        let letter = |peer| Letter {
            peer,
            tag: 0,
            bytes: self.bytes,
        };
        for producer in 0..self.producers {
            let turn = (round + u64::from(producer)) % u64::from(self.consumers);
            let consumer = self.producers + turn as u32;
            machine.compute(producer, self.production)?;
            machine.send(producer, letter(consumer))?;
            machine.receive(consumer, letter(producer))?;
            machine.compute(consumer, self.consumption)?;
        }
        Ok(())
    }
}

impl Scenario for ProducerConsumer {
    fn layout(&self) -> Layout {
        Layout {
            ranks: self.producers.saturating_add(self.consumers),
            threads: 1,
            ranks_per_node: self.ranks_per_node,
        }
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics> {
        none_is_zero([
            ("the number of producers", self.producers.into()),
            ("the number of consumers", self.consumers.into()),
            ("the number of ranks per node", self.ranks_per_node.into()),
        ])?;
        let machine = Machine::new(self, self.network, self.load, sink);
        machine.run(&self.length, |machine, round| self.round(machine, round))
    }
}
