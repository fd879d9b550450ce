//! The command `retime`, and what `retime-mpi` does in each of its processes.
//!
//! `command_line` says what can be asked for, `commands` does it, `report` tells what
//! came out; `shared` has the work on a trace shared by several processes, [`library`] the
//! commands for a program that has them in its own process. A command
//! returns its exit code or a `CliError`; [`run`] and [`run_shared`] turn either into the
//! end of the process.

mod analysed;
mod args;
mod bounds;
mod call;
mod clock_offsets;
mod collectives;
mod command_line;
mod commands;
mod delay;
mod delay_beside;
mod drawn;
mod error;
mod explained;
mod foreign;
mod formats;
mod given;
pub mod library;
mod limits;
mod lines;
mod load;
mod memory;
mod method;
mod offsets;
mod origin;
mod pipe;
mod progress;
mod quantity;
mod recorded;
mod remedy;
mod report;
mod saved;
mod saved_delay;
mod serial;
mod shared;
mod staging;
mod table;
mod temporary;
mod truth;
mod value_or_file;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;

use command_line::{Cli, Command};
use error::CliError;
use memory::Supervision;
use progress::Again;
use retime::format::Format;
use retime::pipeline::Algorithm;
use retime::printable;

pub use formats::FORMATS;
pub use shared::run_shared;
pub use table::BadTable;

/// The command line of `retime`, as clap knows it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Does what the command line asks `retime` for.
pub fn run() -> ExitCode {
    match command_line::parsed::<Cli>(std::env::args_os()) {
        Ok(cli) => ExitCode::from(ended(&cli)),
        Err(instead) => ExitCode::from(command_line::answered(&instead, "retime")),
    }
}

/// Runs the command with formats and methods of one's own: each table replaces the one that is built
/// in, which is [`FORMATS`] or [`METHODS`](retime_methods::METHODS). Of the methods the first
/// is the default. A table that cannot be used is told as an error of the command.
///
/// ```no_run
/// # use retime::pipeline::Algorithm;
/// # fn command_with(mine: &'static dyn Algorithm) -> std::process::ExitCode {
/// let mut methods = retime_methods::METHODS.to_vec();
/// methods.push(mine);
/// retime_cli::run_with(retime_cli::FORMATS, &methods)
/// # }
/// ```
pub fn run_with(formats: &[&'static dyn Format], methods: &[&'static dyn Algorithm]) -> ExitCode {
    if let Err(error) = give(formats, methods) {
        report_error("retime", &CliError::Usage(error.to_string()));
        return ExitCode::from(error::FAILURE);
    }
    run()
}

/// Lets all commands of this process know these formats and methods instead of those that
/// are built in; once, and before anything else here is called.
pub fn give(
    formats: &[&'static dyn Format],
    methods: &[&'static dyn Algorithm],
) -> Result<(), BadTable> {
    formats::give(formats)?;
    method::give(methods)
}

/// Does what [`run`] does, with other words than those of the process, where the command is part of
/// a program: `program` are that and the words before those of the command. Returns the exit code.
pub fn run_as(program: Vec<OsString>, words: Vec<OsString>) -> u8 {
    let named = std::iter::once(OsString::from("retime")).chain(words.iter().cloned());
    let cli = match command_line::parsed::<Cli>(named) {
        Ok(cli) => cli,
        Err(instead) => return command_line::answered(&instead, "retime"),
    };
    let watch = None;
    let call = call::Call {
        words,
        program,
        watch,
    };
    call::within(call, || ended(&cli))
}

/// Does what is asked for, and says what went wrong; returns the exit code.
fn ended(cli: &Cli) -> u8 {
    remedy::outlive_the_limit_of_files();
    work(&cli.command).unwrap_or_else(|error| {
        report_error("retime", &error);
        error.exit_code()
    })
}

/// Does what is asked for, in this process or in another one.
fn work(command: &Command) -> Result<u8, CliError> {
    let again = match memory::supervise(command.max_memory(), &command.targets())? {
        Supervision::Done(code) => return Ok(code),
        Supervision::Alone => Again::Ends,
        Supervision::Supervised => Again::Waits,
    };
    progress::catch_interrupts(again);
    obey(command)
}

fn obey(command: &Command) -> Result<u8, CliError> {
    match command {
        Command::Check(args) => commands::check::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Correct(args) => commands::correct::run(args),
        Command::Apply(args) => commands::apply::run(args),
        Command::Undo(args) => commands::undo::run(args),
        Command::Order(args) => commands::order::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Export(args) => commands::export::run(args),
        Command::Merge(args) => commands::merge::run(args),
        Command::View(args) => commands::view::run(args),
        Command::Stream(args) => commands::stream::run(args),
        Command::Simulate(args) => commands::simulate::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Reproduce(args) => commands::reproduce::run(args),
        Command::Completions { shell } => commands::meta::completions(*shell, self::command()),
        Command::Man => commands::meta::man(&self::command()),
    }
}

fn report_error(command: &str, error: &CliError) {
    let style = anstyle::Style::new()
        .bold()
        .fg_color(Some(anstyle::AnsiColor::Red.into()));
    // Paths and names are from outside; messages of several lines are not.
    let mut text = error.to_string();
    if let Some(remedy) = remedy::of(error) {
        text = format!("{text}; {remedy}");
    }
    let lines: Vec<_> = text.lines().map(printable).collect();
    // If even this cannot be written, the exit code still tells.
    let _ = writeln!(
        anstream::stderr(),
        "{style}{command}:{style:#} {}",
        lines.join("\n")
    );
}
