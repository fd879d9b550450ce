//! A message that is handed from process to process and back.
//!
//! The thesis tests the controlled logical clock with a chain of messages
//! 0 → 1 → ... → 19 → ... → 1 → 0 and clocks that advance 10 ms at a time while
//! a message takes 250 us. They are set such that every clock advances just
//! between receiving a message on its way up and sending it on. So a message up
//! seems to take -9.75 ms, a message down -250 us, and a logical clock runs
//! away from the physical ones unless it is controlled.
//!
//! ```
//! use retime_sim::{Experiment, Length, RingChain};
//!
//! let chain = RingChain { length: Length::iterations(2), ..RingChain::default() };
//! let clocks = chain.coarse_clocks();
//! let memory = Experiment::new(&chain).clocks(clocks).timer(RingChain::TIMER).in_memory()?;
//! let shown = |rank: usize| -> Vec<u64> {
//!     let nodes = memory.of_location(rank);
//!     memory.stamps[nodes].iter().map(|it| it.0 / 10_000).collect()
//! };
//! // In units of 10 us: node 0 sends at 10.25 ms, node 1 receives at 0.5 ms,
//! // sends at 10.5 ms, receives from node 2 at 10.5 ms and sends to node 0.
//! assert_eq!(shown(0), [1025, 1025, 2025, 2025]);
//! assert_eq!(shown(1), [50, 1050, 1050, 1050, 1050, 2050, 2050, 2050]);
//! # Ok::<(), retime_sim::Error>(())
//! ```
//!
//! Source: Rabenseifner 2000, section 6.3.2.

use crate::{
    clock::{Clock, Timer},
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

/// Chains of messages from the first process to the last and back.
#[derive(Debug, Clone, PartialEq)]
pub struct RingChain {
    /// Processes, each on a node of its own.
    pub ranks: u32,
    /// How many times the message goes up and down.
    pub length: Length,
    /// The number that all randomness derives from; there is none unless `network` has.
    pub seed: u64,
    /// How long messages take.
    pub network: Network,
    /// Who else wants the processors.
    pub load: Load,
    /// Nanoseconds from receiving the message to sending it on.
    pub handling: u64,
    /// Nanoseconds from one start at the first process to the next; a chain
    /// that takes longer delays the next one.
    pub period: u64,
}

impl Default for RingChain {
    /// The example of the thesis: 20 nodes, 250 us, 10 ms.
    fn default() -> Self {
        Self {
            ranks: 20,
            length: Length::iterations(10),
            seed: 0,
            network: Network::of(Duration::constant(250_000)),
            load: Load::default(),
            handling: 1_000,
            period: 10_000_000,
        }
    }
}

impl RingChain {
    /// The clocks of the thesis: each advances by one `period` at a time, just
    /// between receiving and sending on the way up, and shows what puts a
    /// message delay between the readings of neighbours. For constant delays.
    ///
    /// Their absolute values are those of the thesis with [`Self::TIMER`].
    pub fn coarse_clocks(&self) -> Vec<Clock> {
        let delay = self.network.between_nodes.least as i64;
        let clock = |rank: i64| Clock {
            offset: delay - rank * self.handling as i64,
            step: self.period,
            phase: (rank + 1) * delay,
            ..Clock::TRUE
        };
        (0..i64::from(self.ranks)).map(clock).collect()
    }

    /// Nanoseconds from zero, as the thesis prints its times.
    pub const TIMER: Timer = Timer {
        resolution: 1_000_000_000,
        epoch: 0,
    };

    fn hand_on(&self, machine: &mut Machine<'_>, from: u32, to: u32) -> Result<()> {
        let letter = |peer| Letter {
            peer,
            tag: 0,
            bytes: 8,
        };
        machine.send_now(from, letter(to))?;
        machine.receive_now(to, letter(from))?;
        machine.pass(to, Duration::constant(self.handling));
        Ok(())
    }
}

impl Scenario for RingChain {
    fn layout(&self) -> Layout {
        Layout::node_per_rank(self.ranks)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics> {
        none_is_zero([("the number of ranks", self.ranks.into())])?;
        let mut machine = Machine::new(self, self.network, self.load, sink);
        // One period late, so that no clock shows a time before zero.
        (0..self.ranks).for_each(|rank| machine.idle_until(rank, self.period));
        machine.run(&self.length, |machine, round| {
            machine.idle_until(0, (round + 1).saturating_mul(self.period));
            for rank in 1..self.ranks {
                self.hand_on(machine, rank - 1, rank)?;
            }
            for rank in (1..self.ranks).rev() {
                self.hand_on(machine, rank, rank - 1)?;
            }
            if self.ranks == 1 {
                self.hand_on(machine, 0, 0)?;
            }
            Ok(())
        })
    }
}
