//! The options of `retime simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use retime_sim::Victims;

use crate::args::OutputArgs;
use crate::quantity::{Count, Grid, Rate, Share, Time, Wrong};

#[derive(Debug, Args)]
#[command(
    after_help = "Times take ns, us, ms or s, rates ppm, ppb or %; counts may be written 1e6.\n\n\
    Examples:\n  \
    retime simulate halo -o halo --ranks 16 --events 1e6 --drift 20ppm\n  \
    retime simulate random -o far --duration 60s --compute 2ms --offset 5ms --ntp 1s\n  \
    retime simulate finite-elements -o one-fast --offset 0 --drift 0 --wrong-clock 8:1ms\n  \
    retime simulate halo -o busy --duration 2s --load nodes --congestion 20us\n  \
    retime simulate ring -o thesis --coarse-clocks"
)]
pub(crate) struct SimulateArgs {
    /// The program to simulate
    pub(crate) scenario: ScenarioName,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Directory for the same trace with true times, like PATH of --output,
    /// which with -truth appended is taken if this is not given
    #[arg(long, value_name = "DIR", conflicts_with = "no_truth")]
    pub(crate) truth: Option<PathBuf>,
    /// Do not write the trace with true times
    #[arg(long)]
    pub(crate) no_truth: bool,
    /// What all randomness derives from; the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
}

/// A scenario by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScenarioName {
    /// Halo exchange on a grid with a collective in each iteration: dense
    /// non-blocking traffic as in real MPI programs
    Halo,
    /// The papers' finite-element computation: blocking messages on a grid
    FiniteElements,
    /// A message handed from the first rank to the last and back
    Ring,
    /// Messages in one direction only: the first half of the ranks sends, the
    /// second receives
    ProducerConsumer,
    /// Messages of random sizes between random ranks
    Random,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Program")]
pub(crate) struct ProgramArgs {
    /// Processes; 4 if not given, 20 for ring and finite-elements
    #[arg(long, value_name = "N", conflicts_with = "grid",
          value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) ranks: Option<u32>,
    /// Rows and columns of the process grid (halo, finite-elements); as square
    /// as can be if not given
    #[arg(long, value_name = "AxB")]
    pub(crate) grid: Option<Grid>,
    /// Run until there are so many events; 1e5 if nothing is given
    #[arg(long, value_name = "N", group = "length")]
    pub(crate) events: Option<Count>,
    /// Run so many iterations
    #[arg(long, value_name = "N", group = "length")]
    pub(crate) iterations: Option<Count>,
    /// Run for so much true time
    #[arg(long, value_name = "TIME", group = "length")]
    pub(crate) duration: Option<Time>,
    /// Average time a process computes between messages; for ring the time from
    /// receiving the message to sending it on
    #[arg(long, value_name = "TIME")]
    pub(crate) compute: Option<Time>,
    /// Processes on each node; all if not given, 1 for ring and finite-elements
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks_per_node: Option<u32>,
    /// Threads of each process (halo)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Let further threads send their share of the messages (halo)
    #[arg(long)]
    pub(crate) threads_send: bool,
    /// Do not connect opposite rims of the grid (halo)
    #[arg(long)]
    pub(crate) open_grid: bool,
    /// What synchronises all processes (halo); allreduce if not given
    #[arg(long, value_name = "KIND")]
    pub(crate) collective: Option<CollectiveName>,
    /// Iterations from one collective to the next (halo); 1 if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,
}

/// A collective by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CollectiveName {
    /// `MPI_Allreduce`
    Allreduce,
    /// `MPI_Barrier`
    Barrier,
    /// None after the start
    None,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(crate) struct NetworkArgs {
    /// Least time a message or a collective takes; typical for the scenario if
    /// not given
    #[arg(long, value_name = "TIME")]
    pub(crate) min_delay: Option<Time>,
    /// Average time it takes beyond that; as long again if only --min-delay is
    /// given
    #[arg(long, value_name = "TIME")]
    pub(crate) delay_excess: Option<Time>,
    /// How that excess is distributed
    #[arg(long, value_name = "NAME")]
    pub(crate) delay_distribution: Option<TailName>,
    /// How many times as long messages to a higher rank take; no trace can
    /// reveal that the ways differ
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) uphill: f64,
    /// Tail index of the heavy distribution, above 1: the smaller the heavier
    #[arg(long, value_name = "INDEX", default_value_t = 2.0)]
    pub(crate) tail_index: f64,
    /// Let messages of one direction wait for a while, for this time on average:
    /// from node to node, within a node from process to process
    #[arg(long, value_name = "TIME")]
    pub(crate) congestion: Option<Time>,
    /// Part of the time in which a way is congested
    #[arg(long, value_name = "SHARE", default_value = "20%")]
    pub(crate) congestion_share: Share,
    /// How long it stays so
    #[arg(long, value_name = "TIME", default_value = "500ms")]
    pub(crate) congestion_lasts: Time,
}

/// Load by other programs, with which processes share their processors.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load (other programs take turns with processes)")]
pub(crate) struct LoadArgs {
    /// Whom they hit: processes (each at times of its own), nodes (all processes
    /// of a node at once), or one rank, by its number [default: nobody]
    #[arg(long, value_name = "WHOM", value_parser = victims)]
    pub(crate) load: Option<Victims>,
    /// Part of the time in which there are any
    #[arg(long, value_name = "SHARE", default_value = "20%")]
    pub(crate) load_share: Share,
    /// The longest they stay at a time; a fiftieth of it is the shortest
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) load_lasts: Time,
    /// The longest turn, of a process or of another program; a tenth of it is the
    /// shortest
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    pub(crate) load_turn: Time,
}

fn victims(text: &str) -> Result<Victims, String> {
    match text {
        "processes" => Ok(Victims::Processes),
        "nodes" => Ok(Victims::Nodes),
        rank => rank
            .parse()
            .map(Victims::Rank)
            .map_err(|_| "give processes, nodes, or the number of a rank".into()),
    }
}

/// A distribution by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TailName {
    /// No excess: every message takes the least time
    Constant,
    /// Anything from nothing to twice the average, equally likely
    Uniform,
    /// Most little above the least
    Exponential,
    /// A few messages a hundred times later than the average, see --tail-index
    Heavy,
}

/// Errors of clocks; each is drawn up to the given size, to either side.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clocks (errors up to the given size, to either side)")]
pub(crate) struct ClockArgs {
    /// Offset at the start
    #[arg(long, value_name = "TIME", default_value = "100us")]
    pub(crate) offset: Time,
    /// Deviation of the rate
    #[arg(long, value_name = "RATE", default_value = "2ppm")]
    pub(crate) drift: Rate,
    /// Growth of that deviation per second
    #[arg(long, value_name = "RATE", default_value = "0")]
    pub(crate) bend: Rate,
    /// Sinusoidal deviation
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub(crate) wander: Time,
    /// Its period
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) wander_period: Time,
    /// A random walk of the rate within this limit, by a tenth of it at a time
    #[arg(long, value_name = "RATE")]
    pub(crate) walk: Option<Rate>,
    /// Time between its steps
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    pub(crate) walk_every: Time,
    /// How often each clock is set during the run
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) jumps: u32,
    /// By how much
    #[arg(long, value_name = "TIME", default_value = "50us")]
    pub(crate) jump_size: Time,
    /// How many single readings of each clock are wrong
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) glitches: u32,
    /// By how much
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    pub(crate) glitch_size: Time,
    /// Correct clocks by a time service that measures at this interval
    #[arg(long, value_name = "TIME")]
    pub(crate) ntp: Option<Time>,
    /// Error of its measurements
    #[arg(long, value_name = "TIME", default_value = "10us")]
    pub(crate) ntp_noise: Time,
    /// Largest change of the rate by which it slews
    #[arg(long, value_name = "RATE", default_value = "500ppm")]
    pub(crate) ntp_slew: Rate,
    /// Deviation beyond which it steps
    #[arg(long, value_name = "TIME", default_value = "128ms")]
    pub(crate) ntp_threshold: Time,
    /// Let clocks that are set back run backwards, so that events are stamped
    /// out of order; else they stand still
    #[arg(long)]
    pub(crate) backwards: bool,
    /// Let clocks advance so much at a time
    #[arg(long, value_name = "TIME", default_value = "1ns")]
    pub(crate) tick: Time,
    /// Set off the clock of one rank further: 8:1ms is ahead, 8:-1ms behind,
    /// 8:50ppm too fast. May be repeated
    #[arg(long, value_name = "RANK:ERROR")]
    pub(crate) wrong_clock: Vec<Wrong>,
    /// One clock for each process, or for each node
    #[arg(long, value_name = "GROUP", default_value = "process")]
    pub(crate) clocks: SharingName,
    /// The clocks of the thesis (ring), instead of any others: they advance
    /// 10 ms at a time, just after each message
    #[arg(long)]
    pub(crate) coarse_clocks: bool,
    /// Ticks per second of the trace
    #[arg(long, value_name = "N", default_value = "1e9")]
    pub(crate) resolution: Count,
    /// Ticks at the start; more than any clock is behind if not given
    #[arg(long, value_name = "N")]
    pub(crate) epoch: Option<Count>,
}

/// Who shares a clock, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SharingName {
    /// Each process has its own
    Process,
    /// Those of a node share one
    Node,
}
