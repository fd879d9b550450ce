//! The lines of standard input, none longer than [`LONGEST`].
//!
//! Before more is read, the caller is asked whether it is wanted. What stands in the
//! buffer without a line end by then is not given out: a line that an interrupt cuts off
//! is no line.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use retime_jsonl::line::LONGEST;

use crate::error::CliError;

/// Bytes that are read at a time. Standard input has a smaller buffer of its own, and so
/// is read past it: what has come is here, or still in the pipe where it can be waited for.
const BUFFER: usize = 1 << 16;

/// The next piece of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A line with its end, if it has one.
    Line(&'a [u8]),
    /// The start of a line that is too long, and the byte of the input where that stands.
    TooLong {
        start: &'a [u8],
        from: u64,
    },
    End,
}

/// Reads lines.
pub(super) struct Input<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Bytes taken from the input.
    taken: u64,
    /// The rest of the line that was given out last is still to come.
    is_cut: bool,
}

/// An error of the input.
pub(super) fn failed(source: std::io::Error) -> CliError {
    CliError::io(Path::new("standard input"), source)
}

/// The state of the buffer after trying to fill it.
#[derive(PartialEq, Eq)]
enum Filled {
    Yes,
    AtEnd,
    Unwanted,
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            line: Vec::with_capacity(BUFFER),
            taken: 0,
            is_cut: false,
        }
    }

    /// The next line. `go_on` is asked whenever more has to be read.
    pub(super) fn next(
        &mut self,
        mut go_on: impl FnMut() -> Result<bool, CliError>,
    ) -> Result<Next<'_>, CliError> {
        self.line.clear();
        while self.is_cut {
            if self.fill(&mut go_on)? != Filled::Yes {
                return Ok(Next::End);
            }
            let unread = self.reader.buffer();
            let end = { unread }.skip_until(b'\n').map_err(failed)?;
            self.is_cut = !unread[..end].ends_with(b"\n");
            self.consume(end);
        }
        let from = self.taken;
        while !self.line.ends_with(b"\n") {
            if self.line.len() > LONGEST {
                self.is_cut = true;
                let start = &self.line;
                return Ok(Next::TooLong { start, from });
            }
            match self.fill(&mut go_on)? {
                Filled::Yes => {}
                Filled::AtEnd if !self.line.is_empty() => break,
                Filled::AtEnd | Filled::Unwanted => return Ok(Next::End),
            }
            let room = LONGEST + 1 - self.line.len();
            let mut unread = self.reader.buffer();
            unread = &unread[..unread.len().min(room)];
            let length = unread.read_until(b'\n', &mut self.line).map_err(failed)?;
            self.consume(length);
        }
        Ok(Next::Line(&self.line))
    }

    /// Reads more if nothing is left.
    fn fill(
        &mut self,
        go_on: &mut impl FnMut() -> Result<bool, CliError>,
    ) -> Result<Filled, CliError> {
        while self.reader.buffer().is_empty() {
            if !go_on()? {
                return Ok(Filled::Unwanted);
            }
            match self.reader.fill_buf() {
                Ok([]) => return Ok(Filled::AtEnd),
                Ok(_) => {}
                // A signal came first, or somebody else has taken what was there.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(Filled::Yes)
    }

    fn consume(&mut self, length: usize) {
        self.reader.consume(length);
        self.taken += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of input, lines by their length, given out in pieces of `piece` bytes.
    fn all(input: &[u8], piece: usize) -> Vec<(usize, Option<u64>)> {
        let mut input = Input::new(Pieces(input, piece));
        let mut found = Vec::new();
        loop {
            match input.next(|| Ok(true)).unwrap() {
                Next::Line(text) => found.push((text.len(), None)),
                Next::TooLong { start, from } => found.push((start.len(), Some(from))),
                Next::End => return found,
            }
        }
    }

    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn lines_up_to_the_longest_are_given_out_whole_and_longer_ones_are_not() {
        for piece in [BUFFER, 7_777] {
            let mut text = b"one\n".to_vec();
            text.resize(4 + LONGEST, b'x');
            text.extend_from_slice(b"\n\n");
            text.resize(text.len() + 3 * LONGEST, b'y');
            text.extend_from_slice(b"\nlast");
            let from = Some(LONGEST as u64 + 6);
            let expected = [
                (4, None),
                (LONGEST + 1, None),
                (1, None),
                (LONGEST + 1, from),
                (4, None),
            ];
            assert_eq!(all(&text, piece), expected);
        }
        let short = [(3, None), (2, None)];
        assert_eq!(all(b"ab\ncd", 1), short);
        assert_eq!(all(b"", 1), []);
    }

    #[test]
    fn a_line_that_is_cut_off_by_an_interrupt_is_none() {
        let mut input = Input::new(Pieces(b"ab\ncd\n", 4));
        let mut reads = 0..;
        let mut go_on = || Ok(reads.next() == Some(0));
        assert_eq!(input.next(&mut go_on).unwrap(), Next::Line(b"ab\n"));
        assert_eq!(input.next(&mut go_on).unwrap(), Next::End);
    }
}
