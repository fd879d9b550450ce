//! The options of the commands, as clap reads them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use retime::causality::{CausalityOptions, Implementation};
use retime::{Delay, Grouping};
use serde::Serialize;

use crate::bounds::BoundsArgs;
use crate::delay::MinDelay;
use crate::error::CliError;
use crate::formats::{FormatArgs, FormatName, OtherFiles, RanksByPath};
use crate::given::Given;
use crate::limits::LimitArgs;
use crate::load::Source;
use crate::memory::MemoryArgs;
use crate::method::{MethodArgs, MethodOption, WindowArgs};
use crate::staging::{Inputs, Target};

/// Which trace is read, in the words of the help.
pub(crate) const THE_TRACE: &str = "The trace: an OTF2 anchor file (*.otf2) or the directory that holds it, a \
                         directory of profiles of one training job, or a file in Chrome's format \
                         or of JSON lines";

/// Which trace is read.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[arg(help = THE_TRACE)]
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) others: OtherFiles,
}

impl TraceArgs {
    /// The files to read.
    pub(crate) fn inputs(&self) -> Inputs<'_> {
        Inputs {
            trace: &self.trace,
            others: &self.others.files,
        }
    }

    /// The trace to load, read by this process alone.
    pub(crate) fn source(&self, format: Option<FormatName>, quiet: bool) -> Source<'_> {
        Source {
            others: &self.others.files,
            ..Source::alone(&self.trace, format, quiet)
        }
    }

    /// The trace to load, read by all processes of the team if there is one.
    pub(crate) fn shared<'a>(&'a self, format: &'a FormatArgs, quiet: bool) -> Source<'a> {
        Source {
            team: format.team.as_ref(),
            together: format.together,
            ..self.source(format.asked(), quiet)
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retime check scorep-20261101_1200/           a directory or its traces.otf2
  retime check trace.otf2 --json report.json   the whole report, for a script
  retime check profiles/ --html page.html      the profiles of a training job; a page to look at")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: TraceArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 some method leaves no effect before its cause, or the trace \
    has none; 1 all leave some, or are refused; 2 usage, input or system error; 3 as 0, but \
    nothing, or fewer than half, of what the trace records of communication could be used, or \
    nothing recorded relates some clocks to others; 130 interrupted."
)]
pub(crate) struct CompareArgs {
    #[arg(required_unless_present = "features", help = THE_TRACE)]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) others: OtherFiles,
    /// Compare this method, alone and followed by the controlled logical clock;
    /// may be repeated. All if not given
    #[arg(long, value_name = "NAME", ignore_case = true)]
    pub(crate) method: Vec<MethodOption>,
    /// Instead of a trace: what each method can do, decided by runs on simulated
    /// traces, beside the comparison of the thesis (half a minute)
    #[arg(long, conflicts_with_all = ["trace", "method", "ModelArgs", "BoundsArgs", "LimitArgs", "FormatArgs", "OtherFiles", "RunArgs"])]
    pub(crate) features: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    #[command(flatten)]
    pub(crate) given: Given,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("force", |force| force.help(
    "Replace PATH if it exists and holds nothing but a trace; and write what leaves \
     more dependencies reversed than the recording has, or cannot be right"
)))]
#[command(after_help = "\
Examples:
  retime correct trace/ -o corrected/                    the default, for any trace
  retime correct trace/ -o corrected/ --method clc       the controlled logical clock alone
  retime correct trace/ -o corrected/ --min-delay 500ns  no message is faster than this
  retime undo corrected/ -o original/                    the original again, byte for byte")]
pub(crate) struct CorrectArgs {
    #[command(flatten)]
    pub(crate) input: TraceArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write one file with all events in one order, as retime stream writes them,
    /// instead of a trace
    #[arg(long)]
    pub(crate) merged: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) offsets: OffsetsOutArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// How a trace is analysed and corrected by a command that shows or merges what comes of it.
#[derive(Debug, Args)]
pub(crate) struct SolvingArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl SolvingArgs {
    /// Refuses options that were given and have no part in what is asked for.
    pub(crate) fn refuse_strangers(&self) -> Result<(), CliError> {
        self.method.refuse_strangers(&self.bounds)
    }
}

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    pub(crate) input: TraceArgs,
    /// How events are written: text, csv, or jsonl (the format of retime stream)
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: OrderFormat,
    /// The format of the trace [default: the one that its path shows]
    #[arg(
        long,
        value_name = "FORMAT",
        help_heading = "Running",
        conflicts_with = "rank_from"
    )]
    pub(crate) input_format: Option<FormatName>,
    #[command(flatten)]
    pub(crate) ranks: RanksByPath,
    /// List events from this time after the first event on
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Delay>,
    /// List events up to this time after the first event
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Delay>,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    #[command(flatten)]
    pub(crate) run: PlainRunArgs,
}

/// How a list of events is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderFormat {
    /// Columns for people
    Text,
    /// Comma-separated values
    Csv,
    /// One JSON object per line
    Jsonl,
}

/// How operations are taken that recordings leave in doubt.
#[derive(Debug, Args)]
pub(crate) struct MatchingArgs {
    /// Take Alltoallv and Alltoallw as if everybody exchanged data with everybody
    #[arg(long)]
    pub(crate) dense_alltoallv: bool,
    /// Use what this implementation of MPI does though the standard does not promise it,
    /// as that creating a communicator synchronises; false for other implementations
    #[arg(long, value_name = "NAME")]
    pub(crate) trust_implementation: Option<TrustedImplementation>,
}

impl MatchingArgs {
    /// The options of the library.
    pub(crate) fn options(&self) -> CausalityOptions {
        CausalityOptions {
            dense_alltoallv: self.dense_alltoallv,
            trusted: self.trust_implementation.map(Into::into),
            ..CausalityOptions::default()
        }
    }
}

/// Knowledge of the trace's clocks and messages that the user gives.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Least time from a cause to its effect: auto (that of the correction beside the
    /// trace, else learned), a value such as 2us or 1tick, or a file with lines "FROM TO
    /// DELAY [BANDWIDTH]" (location ids or *; or within-process, within-node,
    /// between-nodes instead of both), where bytes take time by the bandwidth, such as
    /// 10GB/s. What is faster than a given one counts as a contradiction. Or learned by
    /// name: by-length, quarter-call (1/4 of the most frequent round trip of an empty
    /// call), quarter-call-90 (90 % of that)
    // A negative one is refused by its own message, not as an unknown option.
    #[arg(
        long,
        value_name = "DELAY|FILE|RULE",
        default_value = "auto",
        allow_hyphen_values = true
    )]
    pub(crate) min_delay: MinDelay,
    /// Which locations share a clock: those of a node, of a process, none; or
    /// as coarse as the trace does not refute. What no dependency ties to another
    /// clock moves with its process, the process that made its own, or its node
    #[arg(long, value_name = "GROUP", default_value = "auto")]
    pub(crate) clocks: ClockGrouping,
    /// A trace with the same events at their true times, if they are known: the
    /// report then says how far recorded and corrected times are from them
    #[arg(long, value_name = "TRACE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    /// Fail with exit code 1 on anything that does not match: unmatched
    /// messages, incomplete collectives, unknown ranks
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Where to write: a directory or a file, as the trace is one; must not exist, its
    /// parent must
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
    /// Replace PATH if it exists and holds nothing but a trace
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    /// Where to write, and whether what is there may be replaced.
    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            path: &self.output,
            force: self.force,
        }
    }
}

/// How the command runs and what it prints.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunArgs {
    /// Threads to use; all cores if not given. Results do not depend on it. With more than one,
    /// up to 16 wait for the disk at the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Write the full report as JSON to a file, or to standard output with -
    /// (then instead of the summary)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a report to look at: one HTML file that needs nothing else, however large
    /// the trace below 2 MB
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more places and pairs
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
}

impl RunArgs {
    /// Refuses `--verbose` where it adds nothing: to no summary, nor to the report of `--json`.
    pub(crate) fn refuse_verbose(&self, place: &str) -> Result<(), CliError> {
        if self.verbose && self.json.is_none() {
            let message = format!("-v has no part {place}; leave it out");
            return Err(CliError::Usage(message));
        }
        Ok(())
    }
}

/// Tables of what was found.
#[derive(Debug, Default, Args)]
pub(crate) struct TableArgs {
    /// Write a table of every collective operation to a file that is called *.csv or *.jsonl:
    /// a row for each participant with its group, number, kind and bytes, when it came, how
    /// long it waited for the last, what the transfer took, and whether that is certain
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub(crate) collectives: Option<PathBuf>,
}

/// The offsets of clocks, for programs that merge traces themselves.
#[derive(Debug, Default, Args)]
pub(crate) struct OffsetsOutArgs {
    /// Write by how much each clock was off, piece by piece, with its hosts, ranks, rate,
    /// bound and evidence, as JSON; retime apply --offsets reads it
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub(crate) offsets_out: Option<PathBuf>,
}

/// The options of [`RunArgs`] for commands without a report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct PlainRunArgs {
    /// Threads to use; all cores if not given. Results do not depend on it. With more than one,
    /// up to 16 wait for the disk at the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("force", |force| force.help(
    "Replace PATH if it exists and holds nothing but a trace; and apply a correction that \
     was made for other locations or another run, or names locations that the trace does not \
     have"
)))]
pub(crate) struct ApplyArgs {
    /// The correction: the *.retime of a corrected trace, or one of your own; not with
    /// --offsets
    #[arg(value_name = "CORRECTION")]
    first: PathBuf,
    #[arg(value_name = "TRACE", help = THE_TRACE, required_unless_present = "offsets")]
    second: Option<PathBuf>,
    /// Apply the offsets that --offsets-out wrote, instead of a correction
    #[arg(long, value_name = "FILE", conflicts_with = "second")]
    pub(crate) offsets: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) run: PlainRunArgs,
}

impl ApplyArgs {
    /// The trace to correct: the second path, or the only one where offsets are given.
    pub(crate) fn trace(&self) -> &Path {
        self.second.as_ref().unwrap_or(&self.first)
    }

    /// The file with the correction or the offsets.
    pub(crate) fn given(&self) -> &Path {
        self.offsets.as_ref().unwrap_or(&self.first)
    }
}

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// A trace that retime corrected, with its *.retime
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) run: PlainRunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// One of ring, recurrence, curves, runaway, strict, finite-elements, conditions, minute,
    /// assumed-delay, transfer-rates, set-clocks, variable-rates, asymmetry, global-receive and
    /// pseudo-sync, or all of these; or accuracy: how near to the truth each method comes, on
    /// simulated traces of many kinds; or features: what each method can do
    #[arg(default_value = "all")]
    pub(crate) experiment: String,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the recording and the corrected trace in this new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}

/// An implementation of MPI whose habits are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrustedImplementation {
    /// Open MPI 4.1: communicators and windows are made, windows fenced and freed by all
    /// together
    Openmpi,
}

impl From<TrustedImplementation> for Implementation {
    fn from(it: TrustedImplementation) -> Self {
        match it {
            TrustedImplementation::Openmpi => Self::OpenMpi,
        }
    }
}

/// A clock grouping by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockGrouping {
    /// As coarse as the trace does not refute
    Auto,
    /// Every location has its own clock
    Location,
    /// The threads of a process share a clock
    Process,
    /// The processes of a node share a clock
    Node,
}

impl From<ClockGrouping> for Grouping {
    fn from(name: ClockGrouping) -> Self {
        match name {
            ClockGrouping::Auto => Self::Auto,
            ClockGrouping::Location => Self::Location,
            ClockGrouping::Process => Self::Process,
            ClockGrouping::Node => Self::Node,
        }
    }
}
