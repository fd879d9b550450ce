//! `retime stream`: the filter, or segments that are shifted, between standard input and standard
//! output.
//!
//! [`Lines`](retime_stream::lines::Lines) and [`SegmentLines`](retime_stream::lines::SegmentLines)
//! say what each line means and what leaves. Here the command waits for input, keeps the output flowing, counts what is left out, and ends
//! in order.
//!
//! An interrupt counts as the end of the input, and so does it when nobody is left
//! who reads the output. A line that cannot be understood ends the command after all
//! that came before it is given out; with `--skip-bad` it is counted and left out,
//! unless it is the header.

mod args;
mod flow;
mod input;
mod pump;
mod report;
mod wait;

use std::io::{self, Write};

pub(crate) use self::args::StreamArgs;
use self::input::Input;
use self::pump::Stream;
use crate::error::{CliError, INTERRUPTED};
use crate::progress;
use crate::report::target;

/// Runs the command.
pub(crate) fn run(args: &StreamArgs) -> Result<u8, CliError> {
    args.fit()?;
    let report = args.report.as_deref().map(|path| {
        target::check_file(path)?;
        target::Place::prepare(path)
    });
    let report = report.transpose()?;
    let mut stream = Stream::new(args);
    let outcome = stream.pump(Input::new(io::stdin().lock()));
    let summary = report::StreamSummary::new(&stream);
    if let Some(place) = report {
        place.write(&summary)?;
    }
    if !args.quiet && (outcome.is_ok() || summary.says_something()) {
        // If even this cannot be written, the exit code still tells.
        let _ = write!(anstream::stderr(), "{summary}");
    }
    outcome.map(|()| {
        if progress::interrupted() {
            INTERRUPTED
        } else {
            0
        }
    })
}
