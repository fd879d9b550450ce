//! `retime-mpi`: the same commands, with the work on the trace shared by processes.
//!
//! Process 0 reads the command line, does what it asks for and says what came out; the
//! others serve it. Whether a file is there or a value makes sense is its decision alone,
//! so that something is wrong once and not once in each process.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use retime::format_seconds;
use retime::{group_digits, plural};
use retime_distributed::Broken;
use retime_parallel::{Communicator, Lost, Team, Usage, serve};

use crate::args::{ApplyArgs, CheckArgs, CorrectArgs, ModelArgs};
use crate::command_line::{answered, parsed};
use crate::commands;
use crate::error::{CliError, FAILURE};
use crate::formats::known;
use crate::load::with_threads;
use crate::progress::{Again, Interrupts, catch_interrupts, check_interrupt};
use crate::remedy::outlive_the_limit_of_files;

const NAME: &str = "retime-mpi";

/// retime on many nodes: mpirun -n P retime-mpi correct TRACE -o OUT.
///
/// Does what retime does, with the same options, the same output and the same exit codes,
/// for any number of processes. Each holds the events of its own locations, and with --method
/// auto, clc or simple no process holds those of all; else, where events wait for each
/// other in a circle, and for profiles of training jobs, of which each process reads and writes
/// some files, process 0 has to have room for all events that communicate.
/// TRACE and the output have to lie on a file system that all nodes see.
///
/// Without a trace, retime-mpi measure tells how far the clocks of the processes are apart;
/// it has a --help of its own.
#[derive(Debug, Parser)]
#[command(name = NAME, version, max_term_width = 100, color = clap::ColorChoice::Never)]
struct SharedCli {
    #[command(subcommand)]
    command: SharedCommand,
}

#[derive(Debug, Subcommand)]
enum SharedCommand {
    /// Count the contradictions in a trace; change nothing
    Check(CheckArgs),
    /// Write a corrected copy of a trace
    Correct(Box<CorrectArgs>),
    /// Send the time stamps of a trace through a saved correction
    Apply(ApplyArgs),
}

/// How a command runs.
struct Manner {
    threads: Option<u16>,
    quiet: bool,
    verbose: bool,
}

impl SharedCommand {
    fn manner(&self) -> Manner {
        let (threads, quiet, verbose) = match self {
            Self::Check(args) => (args.run.threads, args.run.quiet, args.run.verbose),
            Self::Correct(args) => (args.run.threads, args.run.quiet, args.run.verbose),
            Self::Apply(args) => (args.run.threads, args.run.quiet, false),
        };
        Manner {
            threads,
            quiet,
            verbose,
        }
    }

    /// True if processes can analyse the trace together: not where true times are read, where
    /// delays come from a table or a rule that has a name, where all is to be drawn, where part of the run or one order of
    /// all events is asked for, or where the method looks at all clocks at a time.
    fn can_be_together(&self) -> bool {
        let model = |it: &ModelArgs| it.truth.is_none() && it.min_delay.can_be_together();
        match self {
            Self::Check(args) => {
                let whole = args.run.html.is_some() || args.tables.collectives.is_some();
                model(&args.model) && !whole
            }
            Self::Correct(args) => {
                let drawn = args.run.html.is_some() || args.tables.collectives.is_some();
                let whole = args.merged || drawn || !args.window.is_all();
                model(&args.model) && !whole && args.method.can_be_together()
            }
            Self::Apply(_) => true,
        }
    }

    fn run(&mut self, team: &Arc<Team>, together: bool) -> Result<u8, CliError> {
        let memory = match self {
            Self::Check(args) => args.run.memory,
            Self::Correct(args) => args.run.memory,
            Self::Apply(args) => args.run.memory,
        };
        if memory.max_memory.is_some() {
            let message = "--max-memory: who starts the processes limits what each may use";
            return Err(CliError::Usage(message.into()));
        }
        let format = match self {
            Self::Check(args) => &mut args.format,
            Self::Correct(args) => &mut args.format,
            Self::Apply(args) => &mut args.format,
        };
        (format.team, format.together) = (Some(Arc::clone(team)), together);
        match self {
            Self::Check(args) => commands::check::run(args),
            Self::Correct(args) => commands::correct::run(args),
            Self::Apply(args) => commands::apply::run(args),
        }
    }
}

/// Does what is asked for; where that takes the whole trace in one process after all, again
/// with the events of all locations in this one.
fn obey(command: &mut SharedCommand, team: &Arc<Team>, quiet: bool) -> Result<u8, CliError> {
    let together = team.size() > 1 && command.can_be_together();
    let done = command.run(team, together);
    let reason = match (&done, team.broken()) {
        (Err(_), Some(why @ (Broken::NeedsWhole(_) | Broken::Failed))) if together => {
            why.to_string()
        }
        _ if !together && team.size() > 1 && !matches!(command, SharedCommand::Apply(_)) => {
            if !quiet {
                say("what is asked for takes the events of all locations in process 0");
            }
            return done;
        }
        _ => return done,
    };
    check_interrupt()?;
    if !quiet {
        say(&format!(
            "{reason}, so process 0 takes the events of all locations"
        ));
    }
    command.run(team, false)
}

/// The message that the others get before they serve: `None` if there is nothing to do, else the
/// number of threads, if one was asked for.
type Briefing = Option<Option<u16>>;

/// Does what the command line asks `retime-mpi` for, in one of the processes of a
/// communicator; the exit code. Only process 0 looks at the command line.
pub fn run_shared(
    communicator: Box<dyn Communicator>,
    command_line: impl IntoIterator<Item = OsString>,
) -> u8 {
    // mpirun shows process 0 a terminal, even where what it says goes into a file.
    anstream::ColorChoice::Never.write_global();
    outlive_the_limit_of_files();
    catch_interrupts(Again::Ends);
    let team = Arc::new(Team::new(communicator));
    let done = if team.rank() == 0 {
        lead(&team, command_line)
    } else {
        follow(&team).map(|()| 0)
    };
    done.unwrap_or_else(|error| {
        crate::report_error(NAME, &error);
        FAILURE
    })
}

fn follow(team: &Arc<Team>) -> Result<(), CliError> {
    let briefing: Briefing = team.hear().map_err(lost)?;
    match briefing {
        Some(threads) => with_threads(threads, || serve(team, known(), &Interrupts).map_err(lost)),
        None => Ok(()),
    }
}

fn lead(
    team: &Arc<Team>,
    command_line: impl IntoIterator<Item = OsString>,
) -> Result<u8, CliError> {
    let mut command = match parsed::<SharedCli>(command_line) {
        Ok(cli) => cli.command,
        Err(message) => {
            team.tell(&Briefing::None).map_err(lost)?;
            return Ok(answered(&message, NAME));
        }
    };
    let manner = command.manner();
    team.tell(&Briefing::Some(manner.threads)).map_err(lost)?;
    let code = obey(&mut command, team, manner.quiet).unwrap_or_else(|error| {
        crate::report_error(NAME, &error);
        error.exit_code()
    });
    let usage = team.dismiss().map_err(lost)?;
    if team.worked_alone() && team.size() > 1 && !manner.quiet {
        say("process 0 worked alone: such a trace is not read in parts");
    }
    if manner.verbose {
        say(&describe(&usage, team.events()));
    }
    Ok(code)
}

fn lost(lost: Lost) -> CliError {
    CliError::Usage(lost.to_string())
}

/// Beside the report, which is that of `retime`.
fn say(text: &str) {
    // Nothing depends on it.
    let _ = writeln!(anstream::stderr(), "{NAME}: {text}");
}

/// Describes the messages, bytes, time and memory that the processes took for a trace of `events`
/// events.
fn describe(usage: &[Usage], events: u64) -> String {
    let messages = usage.iter().map(|it| it.messages).sum();
    let bytes: u64 = usage.iter().map(|it| it.bytes).sum();
    let seconds = usage.iter().map(|it| it.worked.as_secs_f64());
    let memory = usage.iter().map(|it| it.memory);
    let memory = memory.collect::<Option<Vec<u64>>>().map_or_else(
        || "unknown".to_owned(),
        |all| {
            spread(all.into_iter().map(|it| it as f64 / 1e6), |it| {
                format!("{it:.0} MB")
            })
        },
    );
    let per_event = match events {
        0 => String::new(),
        _ => format!(", {:.2} for each event", bytes as f64 / events as f64),
    };
    format!(
        "{}, {}, {} bytes sent{per_event}\n\
         {NAME}: each worked for {}\n\
         {NAME}: each took at most {memory} of memory",
        plural(usage.len() as u64, "process"),
        plural(messages, "message"),
        group_digits(bytes),
        spread(seconds, format_seconds),
    )
}

/// The least, the mean and the most.
fn spread(values: impl Iterator<Item = f64> + Clone, text: impl Fn(f64) -> String) -> String {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.clone().fold(0.0, f64::max);
    let mean = values.clone().sum::<f64>() / values.count() as f64;
    format!(
        "{} to {}, {} on average",
        text(least),
        text(most),
        text(mean)
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_processes_took_is_summed_up() {
        let usage = |worked, memory| Usage {
            worked: Duration::from_millis(worked),
            memory: Some(memory),
            messages: 700,
            bytes: 1_000_000,
        };
        assert_eq!(
            describe(&[usage(500, 10_000_000), usage(100, 30_000_000)], 800_000),
            "2 processes, 1,400 messages, 2,000,000 bytes sent, 2.50 for each event\n\
             retime-mpi: each worked for 100 ms to 500 ms, 300 ms on average\n\
             retime-mpi: each took at most 10 MB to 30 MB, 20 MB on average of memory"
        );
    }
}
