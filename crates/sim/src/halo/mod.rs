//! A halo exchange on a grid of processes.
//!
//! The commonest pattern of parallel programs: in each iteration every process
//! swaps the rim of its part of the data with its four neighbours, computes,
//! and now and then all processes agree on something. The sequence of events
//! is that of a real recording: receives are posted, sends started, all of
//! them waited for, and every call is enclosed in enter and leave.

mod exchange;
mod program;

use std::path::Path;

use self::exchange::Exchange;
pub use self::program::{Collective, HaloExchange};
use crate::{
    event::Sink,
    experiment::{Experiment, Written},
    failure::Result,
    layout::Layout,
    scenario::{Length, Scenario, Statistics},
};

impl HaloExchange {
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
