//! The command line: every command, as clap reads it.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use retime::printable_path;

use crate::args::{
    ApplyArgs, CheckArgs, CompareArgs, CorrectArgs, DemoArgs, OrderArgs, ReproduceArgs, UndoArgs,
};
use crate::commands::explain::args::ExplainArgs;
use crate::commands::export::args::ExportArgs;
use crate::commands::merge::args::MergeArgs;
use crate::commands::simulate::args::SimulateArgs;
use crate::commands::stream::StreamArgs;
use crate::commands::view::ViewArgs;
use crate::error::{CliError, FAILURE};
use crate::memory::Size;
use crate::report_error;

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
                        communication could be used, or nothing recorded relates some clocks to others; \
                        130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Reads a command line. An error shows its words without what a terminal obeys.
pub(crate) fn parsed<C: Parser>(
    words: impl IntoIterator<Item: Into<OsString>>,
) -> Result<C, clap::Error> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    C::try_parse_from(&words).map_err(|error| {
        let shown: Vec<String> = words.iter().map(printable_path).collect();
        if words
            .iter()
            .zip(&shown)
            .all(|(word, shown)| word == shown.as_str())
        {
            let error = of_standard_input(without_output(error, &shown), &shown);
            return with_output_suggested(error, &shown);
        }
        // Errors of clap quote words raw; those of printable words say as much.
        match C::try_parse_from(shown) {
            Err(error) => error,
            Ok(_) => C::command().error(
                ErrorKind::InvalidValue,
                "the command line has control characters or is not Unicode",
            ),
        }
    })
}

/// Prints the words that came instead of a command: help, the version, or what is wrong with a command
/// line. Returns the exit code.
pub(crate) fn answered(instead: &clap::Error, command: &str) -> u8 {
    let code = u8::try_from(instead.exit_code()).unwrap_or(FAILURE);
    match instead.print().and_then(|()| io::stdout().flush()) {
        // That nobody reads on is no error, and where errors go tells nobody of itself.
        Err(error) if code == 0 && error.kind() != io::ErrorKind::BrokenPipe => {
            report_error(command, &CliError::io(Path::new("standard output"), error));
            FAILURE
        }
        _ => code,
    }
}

/// Where an output is required and the last word is a path at which nothing is, as after `cp`, that
/// may be the output.
fn with_output_suggested(mut error: clap::Error, words: &[String]) -> clap::Error {
    let lacks_output = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::Strings(all)) if all.iter().any(|it| it.starts_with("--output"))
    );
    // The program, the command, a trace, and that.
    let last = words.last().filter(|_| words.len() > 3);
    if lacks_output
        && let Some(last) = last.filter(|it| !it.starts_with('-'))
        && Path::new(last).symlink_metadata().is_err()
    {
        let tip = StyledStr::from(format!("did you mean '-o {last}'?"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Where a command that writes nothing is given an output, the error says so, and which one writes.
fn without_output(mut error: clap::Error, words: &[String]) -> clap::Error {
    let is_output = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(it)) if it == "-o" || it == "--output"
    );
    let command = words.get(1).map_or("", String::as_str);
    let tip = match command {
        "check" | "compare" | "explain" | "view" => {
            "writes no trace; retime correct TRACE -o PATH writes a corrected copy"
        }
        "order" => "writes its list to standard output: give > FILE instead",
        _ => return error,
    };
    if is_output && error.kind() == ErrorKind::UnknownArgument {
        let tip = StyledStr::from(format!("retime {command} {tip}"));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Where the command that reads standard input is given a file, the error says how.
fn of_standard_input(mut error: clap::Error, words: &[String]) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_of_stream = words.get(1).is_some_and(|it| it == "stream");
    if is_of_stream && error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') {
        let tip = format!("retime stream reads standard input: give < {word}");
        let tip = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tip));
    }
    error
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
    /// Say what became of an event of communication: its dependencies, or why it has none
    Explain(Box<ExplainArgs>),
    /// Write a trace for Perfetto or Chrome, corrected if it has contradictions
    Export(Box<ExportArgs>),
    /// Put the profiles of a job into one file with one time, and say which clocks were off
    Merge(Box<MergeArgs>),
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
            Self::Explain(args) => args.solving.run.memory.max_memory,
            Self::Export(args) => args.solving.run.memory.max_memory,
            Self::Merge(args) => args.solving.run.memory.max_memory,
            Self::View(args) => args.solving.run.memory.max_memory,
            _ => None,
        }
    }

    /// Paths of the output that may be large: those beside which it is written first.
    pub(crate) fn targets(&self) -> Vec<&Path> {
        match self {
            Self::Correct(args) => vec![&args.output.output],
            Self::Apply(args) => vec![&args.output.output],
            Self::Undo(args) => vec![&args.output.output],
            Self::Export(args) => args.file().into_iter().collect(),
            Self::Merge(args) => args.file().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_of_a_command_that_writes_nothing_is_answered_with_one_that_writes() {
        for (command, way_out) in [
            ("check", "retime correct TRACE -o PATH"),
            ("compare", "retime correct TRACE -o PATH"),
            ("explain", "retime correct TRACE -o PATH"),
            ("view", "retime correct TRACE -o PATH"),
            ("order", "> FILE"),
        ] {
            for option in [
                &["-o", "x"][..],
                &["--output", "x"],
                &["-ox"],
                &["--output=x"],
            ] {
                let words = [&["retime", command, "trace"], option].concat();
                let text = parsed::<Cli>(words).unwrap_err().to_string();
                let tip = format!("tip: retime {command} writes ");
                assert!(text.contains(&tip) && text.contains(way_out), "{text}");
                assert!(!text.contains("-- -"), "{text}");
            }
        }
        let other = parsed::<Cli>(["retime", "check", "trace", "--outpt"]).unwrap_err();
        assert!(!other.to_string().contains("writes no trace"), "{other}");
    }

    #[test]
    fn a_file_for_the_stream_is_answered_with_how_it_is_read() {
        let text = parsed::<Cli>(["retime", "stream", "log.jsonl"]).unwrap_err();
        let tip = "tip: retime stream reads standard input: give < log.jsonl";
        assert!(text.to_string().contains(tip), "{text}");
    }

    #[test]
    fn errors_show_words_without_what_a_terminal_obeys() {
        const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}";
        let lines: [&[&str]; 4] = [
            &["check", "--bad"],
            &["correct", "trace", "-o", "out", "--method", ""],
            &["correct", "trace", "-o", "out", "--gamma-max", ""],
            &[""],
        ];
        for line in lines {
            let (last, others) = line.split_last().unwrap();
            let last = format!("{last}{HOSTILE}");
            let words = ["retime"].iter().chain(others).copied();
            let error = parsed::<Cli>(words.chain([&*last])).unwrap_err();
            // With the colours that a terminal gets.
            let text = error.render().ansi().to_string();
            let orders = ["\u{1b}[2J", "\u{1b}]", "\u{7}", "\u{202e}"];
            assert!(!orders.iter().any(|it| text.contains(it)), "{text:?}");
            assert!(text.contains(r"\u{1b}[2J"), "{text:?}");
        }
    }
}
