//! A halo exchange on a grid of processes.
//!
//! The commonest pattern of parallel programs: in each iteration every process
//! swaps the rim of its part of the data with its four neighbours, computes,
//! and now and then all processes agree on something. The sequence of events
//! is that of a real recording: receives are posted, sends started, all of
//! them waited for, and every call is enclosed in enter and leave.

mod exchange;

use std::path::Path;

use self::exchange::Exchange;
use crate::{
    clock::{Clock, Timer},
    duration::Duration,
    event::Sink,
    experiment::{Experiment, Written},
    failure::{Error, Result},
    layout::Layout,
    load::Load,
    network::Network,
    scenario::{Length, Scenario, Statistics, none_is_zero},
};

/// A simulated program that exchanges halos.
///
/// The grid is a torus unless told otherwise. With two rows, the neighbours
/// above and below are then the same process; with one, there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct HaloExchange {
    /// Rows and columns of the process grid.
    pub grid: (u32, u32),
    /// Whether the grid is a torus; if not, processes at its rim have fewer
    /// neighbours.
    pub periodic: bool,
    /// Number of iterations.
    pub iterations: u64,
    /// What else the run has to reach before it ends; nothing by default.
    pub length: Length,
    /// What all randomness derives from.
    pub seed: u64,
    /// What synchronises all processes.
    pub collective: Collective,
    /// Iterations from one collective to the next; 0 for none at all.
    pub collective_every: u64,
    /// Bytes of each message.
    pub message_bytes: u64,
    /// Processes on each node.
    pub ranks_per_node: u32,
    /// Threads of each process, the first included.
    pub threads: u32,
    /// Whether the further threads send their share of the messages.
    pub threads_send: bool,
    /// How long messages and collectives take.
    pub network: Network,
    /// Who else wants the processors.
    pub load: Load,
    /// How long a process computes between exchanges.
    pub compute: Duration,
    /// The clock of each rank. Empty: all show true time.
    pub clocks: Vec<Clock>,
    /// How the clocks' times are written down.
    pub timer: Timer,
}

/// A collective operation of a [`HaloExchange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    /// `MPI_Barrier`
    Barrier,
    /// `MPI_Allreduce`
    Allreduce,
}

impl Default for HaloExchange {
    fn default() -> Self {
        Self {
            grid: (2, 2),
            periodic: true,
            iterations: 100,
            length: Length::default(),
            seed: 0,
            collective: Collective::Allreduce,
            collective_every: 1,
            message_bytes: 256,
            ranks_per_node: u32::MAX,
            threads: 1,
            threads_send: false,
            network: Network::default(),
            load: Load::default(),
            compute: Duration::exponential(4_000, 1_000.0),
            clocks: Vec::new(),
            timer: Timer::default(),
        }
    }
}

impl HaloExchange {
    /// The most square grid for a number of processes.
    pub fn square_grid(ranks: u32) -> (u32, u32) {
        let rows = (1..=ranks.isqrt())
            .rev()
            .find(|rows| ranks.is_multiple_of(*rows));
        rows.map_or((1, ranks), |rows| (rows, ranks / rows))
    }

    /// Where the processes run.
    pub fn layout(&self) -> Layout {
        Layout {
            ranks: self.grid.0.saturating_mul(self.grid.1),
            threads: self.threads,
            ranks_per_node: self.ranks_per_node,
        }
    }

    /// The number of iterations for at least this many events of all
    /// processes together.
    pub fn iterations_for(&self, events: u64) -> Result<u64> {
        // What an iteration adds does not depend on anything but its number:
        // compare the shortest runs with the same place in the cycle.
        let cycle = self.collective_every.max(1);
        let count = |iterations| {
            let shorter = Self {
                iterations,
                length: Length::default(),
                ..self.clone()
            };
            shorter.run(&mut ()).map(|it| it.events)
        };
        let (fixed, more) = (count(0)?, count(cycle)?);
        let per_cycle = more - fixed;
        Ok(events.saturating_sub(fixed).div_ceil(per_cycle) * cycle)
    }

    /// Runs the program. The same configuration gives the same events.
    pub fn run(&self, sink: &mut impl Sink) -> Result<Statistics> {
        self.check()?;
        Exchange::new(self, sink).run()
    }

    /// Runs the program and writes the trace with the given anchor file.
    pub fn write(&self, anchor: &Path) -> Result<Written> {
        self.experiment().write(anchor)
    }

    /// Runs the program and writes two traces: one as the clocks stamped it,
    /// and one with the same events at their true times.
    pub fn write_with_truth(&self, anchor: &Path, truth: &Path) -> Result<Written> {
        self.experiment().write_with_truth(anchor, truth)
    }

    /// The program with its clocks.
    pub fn experiment(&self) -> Experiment<'_> {
        Experiment::new(self)
            .clocks(self.clocks.clone())
            .timer(self.timer)
    }

    fn check(&self) -> Result<()> {
        none_is_zero([
            ("the number of rows", self.grid.0.into()),
            ("the number of columns", self.grid.1.into()),
            ("the number of threads", self.threads.into()),
            ("the number of ranks per node", self.ranks_per_node.into()),
        ])?;
        let ranks = self.layout().ranks;
        if !self.clocks.is_empty() && self.clocks.len() != ranks as usize {
            return Err(Error::Clocks {
                clocks: self.clocks.len(),
                ranks,
            });
        }
        Ok(())
    }
}

impl Scenario for HaloExchange {
    fn layout(&self) -> Layout {
        self.layout()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics> {
        self.check()?;
        Exchange::new(self, sink).run()
    }
}
