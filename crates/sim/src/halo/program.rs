//! The parameters of a program with halo exchanges, and of its machine.

use crate::{
    clock::{Clock, Timer},
    duration::Duration,
    failure::{Error, Result},
    layout::Layout,
    load::Load,
    network::Network,
    scenario::{Length, none_is_zero},
};

/// A simulated program that exchanges halos.
///
/// The grid is a torus unless told otherwise. With two rows, the neighbours
/// above and below are then the same process; with one, there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct HaloExchange {
    /// Rows and columns of the process grid.
    pub grid: (u32, u32),
    /// True if the grid is a torus; if not, processes at its rim have fewer
    /// neighbours.
    pub periodic: bool,
    /// Number of iterations.
    pub iterations: u64,
    /// The length that the run has to reach besides before it ends; nothing by default.
    pub length: Length,
    /// The number that all randomness derives from: equal seeds give equal events.
    pub seed: u64,
    /// The collective operation that synchronises all processes.
    pub collective: Collective,
    /// Iterations from one collective to the next; 0 for none at all.
    pub collective_every: u64,
    /// Bytes of each message.
    pub message_bytes: u64,
    /// Processes on each node.
    pub ranks_per_node: u32,
    /// Threads of each process, the first included.
    pub threads: u32,
    /// True if the further threads send their share of the messages.
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

    /// Fails if there is nobody to run, or not one clock for each.
    pub(super) fn check(&self) -> Result<()> {
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
