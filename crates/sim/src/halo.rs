//! A halo exchange on a grid of processes.
//!
//! The commonest pattern of parallel programs: in each iteration every process
//! swaps the rim of its part of the data with its four neighbours, computes,
//! and now and then all processes agree on something. The sequence of events
//! is that of a real recording: receives are posted, sends started, all of
//! them waited for, and every call is enclosed in enter and leave.

use std::path::Path;

use retime_otf2::writer::{ArchiveSummary, Options};

use crate::{
    clock::{Clock, Timer},
    event::Sink,
    exchange::Exchange,
    failure::{Error, Result},
    layout::Layout,
    trace::{StampingWriter, TraceWriter},
};

/// A simulated program that exchanges halos.
///
/// The grid is a torus. With two rows, the neighbours above and below are the
/// same process; with one, there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct HaloExchange {
    /// Rows and columns of the process grid.
    pub grid: (u32, u32),
    /// Number of iterations.
    pub iterations: u64,
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

/// A random duration: at least so long, and on average so much longer, with
/// an exponential tail. In nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duration {
    /// The least it can be.
    pub least: u64,
    /// The average of what is added.
    pub tail: f64,
}

/// How long messages and collectives take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// A message within a node.
    pub within_node: Duration,
    /// A message between nodes.
    pub between_nodes: Duration,
    /// A collective, from the begin of the last process to an end.
    pub collective: Duration,
}

impl Default for Network {
    /// The shortest times seen in real recordings, with tails of our own.
    fn default() -> Self {
        Self {
            within_node: Duration {
                least: 176,
                tail: 400.0,
            },
            between_nodes: Duration {
                least: 500,
                tail: 900.0,
            },
            collective: Duration {
                least: 285,
                tail: 500.0,
            },
        }
    }
}

impl Default for HaloExchange {
    fn default() -> Self {
        Self {
            grid: (2, 2),
            iterations: 100,
            seed: 0,
            collective: Collective::Allreduce,
            collective_every: 1,
            message_bytes: 256,
            ranks_per_node: u32::MAX,
            threads: 1,
            threads_send: false,
            network: Network::default(),
            compute: Duration {
                least: 4_000,
                tail: 1_000.0,
            },
            clocks: Vec::new(),
            timer: Timer::default(),
        }
    }
}

/// What a simulation amounted to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Events of all locations.
    pub events: u64,
    /// Messages sent and received.
    pub messages: u64,
    /// Collective operations.
    pub collectives: u64,
    /// True time of the last event, in nanoseconds.
    pub end: u64,
}

/// A trace that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The simulation.
    pub statistics: Statistics,
    /// The trace as the processes' clocks stamped it.
    pub trace: ArchiveSummary,
    /// The trace with true times, if asked for.
    pub truth: Option<ArchiveSummary>,
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
                ..self.clone()
            };
            shorter.run(&mut Nobody).map(|it| it.events)
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
        self.check()?;
        let mut trace = self.stamping(anchor, self.clocks.clone())?;
        Ok(Written {
            statistics: self.run(&mut trace)?,
            trace: trace.finish()?,
            truth: None,
        })
    }

    /// Runs the program and writes two traces: one as the clocks stamped it,
    /// and one with the same events at their true times.
    pub fn write_with_truth(&self, anchor: &Path, truth: &Path) -> Result<Written> {
        self.check()?;
        let mut both = (
            self.stamping(anchor, self.clocks.clone())?,
            self.stamping(truth, Vec::new())?,
        );
        Ok(Written {
            statistics: self.run(&mut both)?,
            trace: both.0.finish()?,
            truth: Some(both.1.finish()?),
        })
    }

    fn stamping(&self, anchor: &Path, mut clocks: Vec<Clock>) -> Result<StampingWriter> {
        let layout = self.layout();
        clocks.resize(layout.ranks as usize, Clock::TRUE);
        let options = Options {
            resolution: self.timer.resolution,
            machine: "simulation".to_owned(),
            creator: "retime-sim".to_owned(),
            trace_id: self.seed,
            ..Options::default()
        };
        let trace = TraceWriter::create(anchor, &layout, options)?;
        Ok(StampingWriter::new(trace, layout, clocks, self.timer))
    }

    fn check(&self) -> Result<()> {
        let sizes = [
            ("the number of rows", self.grid.0),
            ("the number of columns", self.grid.1),
            ("the number of threads", self.threads),
            ("the number of ranks per node", self.ranks_per_node),
        ];
        if let Some((what, _)) = sizes.into_iter().find(|it| it.1 == 0) {
            return Err(Error::Zero(what));
        }
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

/// For whoever only wants to know how many events there would be.
struct Nobody;

impl Sink for Nobody {
    fn event(&mut self, _: usize, _: u64, _: crate::Event) -> Result<()> {
        Ok(())
    }
}
