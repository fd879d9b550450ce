//! A command, done for another program.

use std::path::PathBuf;

use super::json::json;
use super::{Call, Failure, Summary, parsed};
use crate::args::{CompareArgs, RunArgs};
use crate::call;
use crate::command_line::Command;
use crate::commands::done::Done;
use crate::commands::{apply, check, compare, correct, merge, simulate, undo};
use crate::error::CliError;

/// The answer to a call: the report of the command, and the outcome.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The report as JSON, if the command gives one.
    pub report: Option<String>,
    /// The figures of the report, if it is that of one trace.
    pub summary: Option<Summary>,
    /// The outcome in a sentence, which the command would print last.
    pub outcome: String,
    /// The exit code that the command would have.
    pub exit_code: u8,
    /// The files and directories that were written.
    pub written: Vec<PathBuf>,
}

/// Does what a call asks for: `check`, `compare`, `correct`, `merge`, `apply`, `undo` or
/// `simulate`.
pub fn ask(call: Call) -> Result<Answer, Failure> {
    let mut command = parsed(&call)?;
    if command.max_memory().is_some() {
        return Err(Failure::option(
            "--max-memory limits a whole process: use the command retime",
        ));
    }
    match &mut command {
        Command::Check(args) => hush(&mut args.run)?,
        Command::Compare(args) => hush(&mut args.run)?,
        Command::Correct(args) => hush(&mut args.run)?,
        Command::Merge(args) => hush(&mut args.solving.run)?,
        Command::Apply(args) => args.run.quiet = true,
        Command::Undo(args) => args.run.quiet = true,
        _ => {}
    }
    call::within(call, || {
        done(&command).map_err(|error| Failure::of(&error, &outputs(&command)))
    })
}

/// Lets a command print nothing and report everything.
pub(super) fn hush(run: &mut RunArgs) -> Result<(), Failure> {
    if run.json.as_ref().is_some_and(|it| it.as_os_str() == "-") {
        return Err(Failure::option(
            "--json takes a file here: the report is what is returned",
        ));
    }
    run.quiet = true;
    // The report is then that of --json.
    run.verbose = true;
    Ok(())
}

/// Where a command writes.
fn outputs(command: &Command) -> Vec<PathBuf> {
    let run = match command {
        Command::Check(args) => Some(&args.run),
        Command::Compare(args) => Some(&args.run),
        Command::Correct(args) => Some(&args.run),
        Command::Merge(args) => Some(&args.solving.run),
        _ => None,
    };
    let reports = run.map(|it| [it.json.clone(), it.html.clone()]);
    let simulated = match command {
        Command::Simulate(args) => vec![args.output.output.clone()],
        _ => Vec::new(),
    };
    let written = command.targets().into_iter().map(PathBuf::from);
    let reports = reports.into_iter().flatten().flatten();
    let table = match command {
        Command::Check(args) => args.tables.collectives.clone(),
        Command::Correct(args) => args.tables.collectives.clone(),
        _ => None,
    };
    let offsets = match command {
        Command::Correct(args) => args.offsets.offsets_out.clone(),
        Command::Merge(args) => args.offsets.offsets_out.clone(),
        _ => None,
    };
    written
        .chain(simulated)
        .chain(reports)
        .chain(table)
        .chain(offsets)
        .collect()
}

fn done(command: &Command) -> Result<Answer, CliError> {
    let in_words = |outcome, written| Answer {
        report: None,
        summary: None,
        outcome,
        exit_code: 0,
        written,
    };
    match command {
        Command::Check(args) => {
            let done = check::check(args)?;
            done.tell(&args.run)?;
            told(done, Vec::new())
        }
        Command::Correct(args) => {
            let done = correct::told(args)?;
            let written = vec![args.output.output.clone()];
            told(done, written)
        }
        Command::Merge(args) => {
            let done = merge::merged(args)?;
            let written = args.file().map(PathBuf::from).into_iter().collect();
            Ok(Answer {
                exit_code: done.exit,
                ..in_words(done.outcome, written)
            })
        }
        Command::Compare(args) => comparison(args),
        Command::Apply(args) => {
            let written = vec![args.output.output.clone()];
            Ok(in_words(apply::applied(args)?, written))
        }
        Command::Undo(args) => {
            let written = vec![args.output.output.clone()];
            Ok(in_words(undo::undone(args)?, written))
        }
        Command::Simulate(args) => {
            let mut written = vec![args.output.output.clone()];
            written.extend(simulate::truth_directory(args)?);
            Ok(in_words(simulate::simulated(args)?, written))
        }
        _ => Err(CliError::Usage("only the command retime does that".into())),
    }
}

fn comparison(args: &CompareArgs) -> Result<Answer, CliError> {
    let Some(path) = &args.trace else {
        return Err(CliError::Usage("give a trace to compare methods on".into()));
    };
    let done = compare::compared(args, path)?;
    done.tell(&args.run)?;
    Ok(Answer {
        report: Some(json(&done.comparison)?),
        summary: None,
        outcome: String::new(),
        exit_code: done.exit,
        written: Vec::new(),
    })
}

/// The answer of a command that reports on one trace.
fn told(done: Done, written: Vec<PathBuf>) -> Result<Answer, CliError> {
    Ok(Answer {
        report: Some(json(&done.report.judged())?),
        summary: Some(Summary::from(&done.report)),
        outcome: done.outcome,
        exit_code: done.exit,
        written,
    })
}
