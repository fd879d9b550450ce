//! The command line: every command, as clap reads it.

use std::path::Path;

use clap::{Parser, Subcommand};

use crate::args::{
    ApplyArgs, CheckArgs, CompareArgs, CorrectArgs, DemoArgs, OrderArgs, ReproduceArgs, UndoArgs,
};
use crate::commands::export::args::ExportArgs;
use crate::commands::simulate::args::SimulateArgs;
use crate::commands::stream::StreamArgs;
use crate::commands::view::ViewArgs;
use crate::memory::Size;

/// Puts the events of a parallel program's trace on one global time.
///
/// Processes stamp events with clocks that disagree: in a recorded trace
/// messages arrive before they were sent. retime finds such contradictions
/// (check), corrects the time stamps and nothing else (correct), and can take
/// the correction back (undo).
#[derive(Debug, Parser)]
#[command(name = "retime", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 success; 1 the trace has, or would keep, violations; \
                        2 usage, input or system error; 3 check, correct, compare, order and export \
                        found or left no violation, but nothing, or fewer than half, of what the trace records of \
                        communication could be used; 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Count the contradictions in a trace; change nothing
    Check(CheckArgs),
    /// Compare all methods on a trace; change nothing
    Compare(CompareArgs),
    /// Write a corrected copy of a trace
    Correct(Box<CorrectArgs>),
    /// Send the time stamps of a trace through a saved correction
    Apply(ApplyArgs),
    /// Restore the original of a corrected trace, byte for byte
    Undo(UndoArgs),
    /// List all events of a trace in one order, on the common time line
    Order(OrderArgs),
    /// Write a trace for Perfetto or Chrome, corrected if it has contradictions
    Export(Box<ExportArgs>),
    /// Show a trace in the browser, recorded and corrected
    View(Box<ViewArgs>),
    /// Correct a stream of events, line by line, while it comes in
    Stream(Box<StreamArgs>),
    /// Write the trace of a simulated program with clock errors, and the truth
    Simulate(Box<SimulateArgs>),
    /// Show check, correct and check on a bundled recording with known truth
    Demo(DemoArgs),
    /// Run the experiments of the papers again, our figures beside the printed ones
    Reproduce(ReproduceArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

impl Command {
    /// How much memory may be used.
    pub(crate) fn max_memory(&self) -> Option<Size> {
        match self {
            Self::Check(args) => args.run.memory.max_memory,
            Self::Compare(args) => args.run.memory.max_memory,
            Self::Correct(args) => args.run.memory.max_memory,
            Self::Apply(args) => args.run.memory.max_memory,
            Self::Undo(args) => args.run.memory.max_memory,
            Self::Order(args) => args.run.memory.max_memory,
            Self::Export(args) => args.run.memory.max_memory,
            Self::View(args) => args.run.memory.max_memory,
            _ => None,
        }
    }

    /// What of a large trace is written beside its place first.
    pub(crate) fn targets(&self) -> Vec<&Path> {
        match self {
            Self::Correct(args) => vec![&args.output.output],
            Self::Apply(args) => vec![&args.output.output],
            Self::Undo(args) => vec![&args.output.output],
            Self::Export(args) => args.file().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}
