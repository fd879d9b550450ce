//! Lines of the input go through the filter, or segment by segment, to the output.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Instant;

use retime_stream::lines::Refused;

use super::args::StreamArgs;
use super::flow::Flow;
use super::input::{self, Input, Next};
use super::wait::{Woken, for_input};
use crate::error::CliError;
use crate::progress;

/// Bytes of output that are buffered.
const BUFFER: usize = 1 << 16;

/// The error of a line that is not taken.
fn refused(why: &Refused, line: u64) -> CliError {
    CliError::input(Path::new("standard input"), format!("line {line}: {why}"))
}

/// The method that lines go through, with its input, its output and its counts.
pub(super) struct Stream<'a> {
    args: &'a StreamArgs,
    out: io::BufWriter<io::StdoutLock<'static>>,
    pub(super) flow: Flow<'a>,
    pub(super) count: u64,
    pub(super) bad: u64,
    pub(super) start: Instant,
    /// Microseconds since the start when input was last waited for.
    read: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(args: &'a StreamArgs) -> Self {
        Self {
            args,
            out: io::BufWriter::with_capacity(BUFFER, io::stdout().lock()),
            flow: Flow::new(args),
            count: 0,
            bad: 0,
            start: Instant::now(),
            read: 0,
        }
    }

    /// Sends all of the input through. What was taken is given out
    /// even if something fails after it.
    pub(super) fn pump(&mut self, mut input: Input<impl Read>) -> Result<(), CliError> {
        let outcome = loop {
            match self.pass_line(&mut input) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let finished = match outcome {
            Ok(()) => self
                .flow
                .finish()
                .map_err(|why| CliError::input(Path::new("standard input"), why.to_string())),
            Err(error) => {
                let _ = self.flow.finish();
                Err(error)
            }
        };
        let given = self.give().and_then(|()| self.flush());
        match finished.and(given) {
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
            Next::TooLong { start, from } => Err(self.flow.too_long(start, from)),
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
        self.flow.take(line, self.read, &mut self.out)
    }

    /// Writes what has left.
    fn give(&mut self) -> Result<(), CliError> {
        let given = self.flow.give(self.read, &mut self.out);
        given.map_err(|error| CliError::io(Path::new("standard output"), error))
    }

    fn flush(&mut self) -> Result<(), CliError> {
        let flushed = self.out.flush();
        flushed.map_err(|error| CliError::io(Path::new("standard output"), error))
    }
}
