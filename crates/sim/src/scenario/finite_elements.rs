//! The finite-element computation with which the papers test.
//!
//! Processes on a grid of `n1` by `n2`, without wrap-around, each repeat:
//!
//! 1. compute the elements at the borders to the neighbours,
//! 2. send the results to the neighbours,
//! 3. compute the remaining elements,
//! 4. receive the values of the neighbours.
//!
//! "Execution times and message delays were defined randomly between given
//! limits", which the papers do not print; nor do they print the grid. Ours keep
//! the one ratio they give, a clock error of four times the least delay, and are
//! otherwise chosen such that the errors the papers report come out.
//!
//! Source: Rabenseifner 1997, sections 6.1 and 6.5; Rabenseifner 2000, section
//! 6.3.3.

use crate::{
    clock::Clock,
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

/// A finite-element computation on a grid of processes.
///
/// ```
/// use retime_sim::{FiniteElements, Length, Recording, Scenario};
///
/// let program = FiniteElements { length: Length::iterations(10), ..FiniteElements::default() };
/// let statistics = program.run(&mut Recording::default())?;
/// // 2 x 10 processes have 2 * 9 + 10 pairs of neighbours.
/// assert_eq!(statistics.messages, 10 * 2 * 28);
/// # Ok::<(), retime_sim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FiniteElements {
    /// Rows and columns of the grid.
    pub grid: (u32, u32),
    /// How many simulation steps.
    pub length: Length,
    /// The number that all randomness derives from: equal seeds give equal events.
    pub seed: u64,
    /// How long the elements at the borders take.
    pub border: Duration,
    /// How long the remaining elements take.
    pub interior: Duration,
    /// How long messages take.
    pub network: Network,
    /// Who else wants the processors.
    pub load: Load,
    /// Bytes of each message.
    pub bytes: u64,
}

impl Default for FiniteElements {
    /// 20 processes, messages of 250 us and more. With these limits the
    /// results come out as the paper has them (tests/it/papers.rs).
    fn default() -> Self {
        Self {
            grid: (2, 10),
            length: Length::iterations(100),
            seed: 0,
            border: Duration::uniform(100_000, 300_000),
            interior: Duration::uniform(300_000, 900_000),
            network: Network::of(Duration::uniform(250_000, 1_000_000)),
            load: Load::default(),
            bytes: 1024,
        }
    }
}

impl FiniteElements {
    /// True clocks but for one, which is ahead all the time by so many
    /// nanoseconds; behind if negative. The paper's experiment has clock 8 of 20
    /// ahead by 1000 us.
    pub fn one_wrong_clock(&self, which: u32, ahead: i64) -> Vec<Clock> {
        let mut clocks = vec![Clock::TRUE; self.layout().ranks as usize];
        if let Some(clock) = clocks.get_mut(which as usize) {
            clock.offset = ahead;
        }
        clocks
    }

    /// The neighbours of a rank: above, below, left, right.
    fn neighbours(&self, rank: u32) -> impl Iterator<Item = u32> + use<> {
        let (rows, columns) = self.grid;
        let (row, column) = (rank / columns, rank % columns);
        [
            (row > 0).then(|| rank - columns),
            (row + 1 < rows).then(|| rank + columns),
            (column > 0).then(|| rank - 1),
            (column + 1 < columns).then(|| rank + 1),
        ]
        .into_iter()
        .flatten()
    }

    fn step(&self, machine: &mut Machine<'_>) -> Result<()> {
        let letter = |peer| Letter {
            peer,
            tag: 0,
            bytes: self.bytes,
        };
        let ranks = self.layout().ranks;
        for rank in 0..ranks {
            machine.compute(rank, self.border)?;
            for neighbour in self.neighbours(rank) {
                machine.send(rank, letter(neighbour))?;
            }
            machine.compute(rank, self.interior)?;
        }
        for rank in 0..ranks {
            for neighbour in self.neighbours(rank) {
                machine.receive(rank, letter(neighbour))?;
            }
        }
        Ok(())
    }
}

impl Scenario for FiniteElements {
    fn layout(&self) -> Layout {
        Layout::node_per_rank(self.grid.0.saturating_mul(self.grid.1))
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics> {
        none_is_zero([
            ("the number of rows", self.grid.0.into()),
            ("the number of columns", self.grid.1.into()),
        ])?;
        let machine = Machine::new(self, self.network, self.load, sink);
        machine.run(&self.length, |machine, _| self.step(machine))
    }
}
