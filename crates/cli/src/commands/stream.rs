//! `retime stream`: the filter between standard input and standard output.
//!
//! [`Lines`] says what each line means and what leaves; this module waits for input, keeps
//! the output flowing, counts what is left out, and ends in order.
//!
//! An interrupt counts as the end of the input, and so does it when nobody is left
//! who reads the output. A line that cannot be understood ends the command after all
//! that came before it is given out; with `--skip-bad` it is counted and left out,
//! unless it is the header.

mod input;
mod report;
mod wait;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use retime::clock::{AmortizationRate, Control, Gamma};
use retime::{Delay, TickRate};
use retime_stream::lines::{Lines, Refused};
use retime_stream::{DelayBound, FilterControl, FilterOptions};

use crate::error::{CliError, INTERRUPTED};
use crate::method::{ConstantsArgs, Controller, to_ticks};
use crate::progress;
use crate::report::target;
use input::{Input, Next};
use wait::{Woken, for_input};

/// Bytes of input and output that are buffered.
const BUFFER: usize = 1 << 16;

#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// Least time from a cause to its effect
    #[arg(
        long,
        value_name = "DELAY",
        default_value = "0ticks",
        help_heading = "Model"
    )]
    min_delay: Delay,
    /// No two clocks differ by more
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5ms",
        help_heading = "Model"
    )]
    max_clock_difference: Delay,
    /// Clock difference to reckon with before any is seen
    /// [default: that of --max-clock-difference]
    #[arg(long, value_name = "TIME", help_heading = "Model")]
    start_clock_difference: Option<Delay>,
    /// An event comes at most so long after it happened
    #[arg(
        long,
        value_name = "TIME",
        default_value = "100ms",
        help_heading = "Model"
    )]
    transfer_delay: Delay,
    /// Lines come in the order of their times, whatever their location
    #[arg(long, help_heading = "Model")]
    merged: bool,
    /// Ticks of all times per second [default: that of the header, or 1000000000]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Model"
    )]
    ticks_per_second: Option<u64>,
    /// What controls the clock: constant, 1997, or some of the letters a to d
    #[arg(
        long,
        value_name = "NAME",
        default_value = "constant",
        help_heading = "Method"
    )]
    controller: Controller,
    /// Largest share of local time a clock keeps while it waits to be caught
    /// up, from 0 up to but not including 1 [default: 0.99998; 0.95 for 1997]
    #[arg(long, value_name = "FACTOR", help_heading = "Method")]
    gamma_max: Option<Gamma>,
    #[command(flatten)]
    constants: ConstantsArgs,
    /// How fast a correction may grow ahead of a jump, as a share of local time
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "5%",
        help_heading = "Method"
    )]
    amortization: AmortizationRate,
    /// How long an event may stay, or unlimited
    /// [default: what the other bounds explain, see docs/STREAM.md]
    #[arg(long, value_name = "TIME", help_heading = "Method")]
    delay: Option<Stay>,
    /// Leave out and count lines that cannot be understood, or are longer than
    /// 16 MiB
    #[arg(long, help_heading = "Running")]
    skip_bad: bool,
    /// Write the report as JSON to a file
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    report: Option<PathBuf>,
    /// Print no summary
    #[arg(short, long, help_heading = "Running")]
    quiet: bool,
}

impl StreamArgs {
    /// The bounds and constants that they ask for; of a stream whose header says how fast
    /// ticks run, if nothing else does.
    pub(crate) fn filter(&self, ticks_per_second: Option<u64>) -> Result<FilterOptions, CliError> {
        let args = self;
        let ticks = args.ticks_per_second.or(ticks_per_second);
        let rate = TickRate::per_second(ticks.unwrap_or(1_000_000_000));
        let rate = rate.ok_or_else(|| CliError::Usage("there are no 0 ticks per second".into()))?;
        let difference = to_ticks(args.max_clock_difference, rate)?;
        let start = args
            .start_clock_difference
            .map(|start| to_ticks(start, rate))
            .transpose()?;
        Ok(FilterOptions {
            min_delay: to_ticks(args.min_delay, rate)?,
            control: self.control(rate)?,
            amortization: args.amortization,
            start_difference: start.unwrap_or(difference),
            max_difference: difference,
            transfer: to_ticks(args.transfer_delay, rate)?,
            merged: args.merged,
            delay: match args.delay {
                None => DelayBound::Explained,
                Some(Stay::Unlimited) => DelayBound::Unlimited,
                Some(Stay::UpTo(delay)) => DelayBound::Ticks(to_ticks(delay, rate)?),
            },
            ..FilterOptions::new(rate)
        })
    }

    fn control(&self, rate: TickRate) -> Result<FilterControl, CliError> {
        let StreamArgs {
            constants,
            controller,
            gamma_max,
            ..
        } = self;
        Ok(match constants.control(*controller, *gamma_max, rate)? {
            Some(Control::Constant(factor)) => FilterControl::Constant(Gamma::from_factor(factor)),
            Some(Control::Degressive(constants)) => FilterControl::Degressive(constants),
            Some(Control::Combined(constants)) => FilterControl::Combined(constants),
            None => {
                let message = "--controller passes needs the whole trace; a stream has one pass";
                return Err(CliError::Usage(message.into()));
            }
        })
    }
}

/// How long an event may stay.
#[derive(Clone, Copy, Debug)]
enum Stay {
    Unlimited,
    UpTo(Delay),
}

impl std::str::FromStr for Stay {
    type Err = retime::ParseDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "unlimited" => Ok(Self::Unlimited),
            text => text.parse().map(Self::UpTo),
        }
    }
}

/// The error of a line that is not taken.
fn refused(why: &Refused, line: u64) -> CliError {
    CliError::input(Path::new("standard input"), format!("line {line}: {why}"))
}

/// Runs the command.
pub(crate) fn run(args: &StreamArgs) -> Result<u8, CliError> {
    let report = args.report.as_deref().map(|path| {
        target::check_file(path)?;
        target::Place::prepare(path)
    });
    let report = report.transpose()?;
    let mut stream = Stream::new(args);
    let outcome = stream.pump(Input::new(io::stdin().lock()));
    let summary = report::Summary::new(&stream);
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

/// The filter and what surrounds it.
struct Stream<'a> {
    args: &'a StreamArgs,
    out: io::BufWriter<io::StdoutLock<'static>>,
    lines: Lines,
    count: u64,
    bad: u64,
    start: Instant,
    /// Microseconds since the start when input was last waited for.
    read: u64,
}

impl<'a> Stream<'a> {
    fn new(args: &'a StreamArgs) -> Self {
        Self {
            args,
            out: io::BufWriter::with_capacity(BUFFER, io::stdout().lock()),
            lines: Lines::default(),
            count: 0,
            bad: 0,
            start: Instant::now(),
            read: 0,
        }
    }

    /// Sends all of the input through the filter. What was taken is given out
    /// even if something fails after it.
    fn pump(&mut self, mut input: Input<impl Read>) -> Result<(), CliError> {
        let outcome = loop {
            match self.pass_line(&mut input) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.lines.finish();
        let given = self.give().and_then(|()| self.flush());
        match outcome.and(given) {
            // Whoever read the output has seen enough.
            Err(CliError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Takes the next line and writes what it lets go; false at the end.
    fn pass_line(&mut self, input: &mut Input<impl Read>) -> Result<bool, CliError> {
        if progress::interrupted() {
            return Ok(false);
        }
        let next = input.next(|| self.wait())?;
        let taken = match next {
            Next::End => return Ok(false),
            Next::Line(text) => self.take(text),
            Next::TooLong { start, from } => Err(self.lines.too_long(start, from)),
        };
        self.count += 1;
        match taken {
            Err(Refused::Line(_)) if self.args.skip_bad => self.bad += 1,
            Err(why) => return Err(refused(&why, self.count)),
            Ok(()) => {}
        }
        self.give()?;
        Ok(true)
    }

    /// Lets the output go and waits for more input; false if none is wanted.
    fn wait(&mut self) -> Result<bool, CliError> {
        self.flush()?;
        let woken = for_input().map_err(input::failed)?;
        self.read = self.start.elapsed().as_micros() as u64;
        Ok(woken == Woken::Input)
    }

    /// Takes a line; says what is wrong with it.
    fn take(&mut self, line: &[u8]) -> Result<(), Refused> {
        let args = self.args;
        let options = |ticks_per_second| {
            let options = args.filter(ticks_per_second);
            options.map_err(|error| error.to_string())
        };
        self.lines.take(line, self.read, options, &mut self.out)
    }

    /// Writes what has left the filter.
    fn give(&mut self) -> Result<(), CliError> {
        let given = self.lines.give(self.read, &mut self.out);
        given.map_err(|error| CliError::io(Path::new("standard output"), error))
    }

    fn flush(&mut self) -> Result<(), CliError> {
        let flushed = self.out.flush();
        flushed.map_err(|error| CliError::io(Path::new("standard output"), error))
    }
}
