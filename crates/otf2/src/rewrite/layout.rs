//! An event file laid out anew, with time records where they are needed.
//!
//! Events are copied byte for byte, in their order, into new chunks. Each
//! keeps its time record if it had one, and gets one if its new time differs
//! from the one before it or if it opens a chunk:
//!
//! ```text
//! 05 [7] enter leave      two events at 7, which come apart
//! 05 [8] enter 05 [9] leave
//! ```
//!
//! There is never more than one in a row, since libotf2 cannot read that. An
//! event does not cross the end of a chunk, and one more byte must fit behind
//! it for the mark that ends the chunk.

use super::draft::Draft;
use super::job::{Job, Outcome};
use super::output::Output;
use super::retime::Retimer;
use super::source::Source;
use super::stamp::{Trouble, put};
use crate::chunk::{CHUNK_HEADER, ChunkHeader, FileKind};
use crate::error::{Error, Result, WireError};
use crate::framing::{CHUNK_CODE, TIMESTAMP, Walker};
use crate::schema::event_code;
use crate::steps::{STAMP, Step, Steps, read_time};
use crate::undo::stamps::StampLog;
use crate::wire::Endian;

/// Bytes of the marks that end a file.
const END_MARKS: usize = 2;

/// Copies an event file with new times and new chunks.
pub(super) fn rewrite(
    job: Job<'_>,
    source: &mut Source<'_>,
    output: &mut Output,
) -> Result<Outcome> {
    let mut buffer = Vec::new();
    let mut header = source.next(&mut buffer)?;
    let mut steps = Steps::new(source.kind(), header);
    let mut layout = Layout {
        retimer: job.retimer(),
        log: StampLog::new(job.guess()),
        draft: Draft::new(output),
        chunk_size: source.chunk_size(),
        endian: header.endian,
        written: None,
    };
    layout.open();
    loop {
        layout
            .take_chunk(&mut steps, &mut buffer)
            .map_err(|problem| problem.located(source, &header))?;
        if steps.ended_file() {
            break;
        }
        header = source.next(&mut buffer)?;
        steps.enter(header);
    }
    layout.end(buffer.get(steps.position()..).unwrap_or_default())?;
    while source.rest(&mut buffer)? {
        layout.draft.keep(&buffer);
        layout.draft.flush()?;
    }
    Ok(Outcome {
        edits: layout.draft.finish()?,
        stamps: layout.log.finish(),
        extent: layout.retimer.extent(),
        laid_out: true,
    })
}

struct Layout<'a> {
    retimer: Retimer<'a>,
    log: StampLog<'a>,
    draft: Draft<'a>,
    chunk_size: usize,
    endian: Endian,
    /// The last time record of the chunk.
    written: Option<u64>,
}

impl Layout<'_> {
    /// Takes the events of a chunk of the source.
    fn take_chunk(&mut self, steps: &mut Steps, bytes: &mut [u8]) -> Result<(), Problem> {
        self.draft
            .drop(bytes.get(..CHUNK_HEADER).unwrap_or_default());
        if steps.header().endian != self.endian {
            self.close()?;
            self.endian = steps.header().endian;
            self.open();
        }
        while let Some(step) = steps.step(bytes)? {
            let new = self.retimer.event(step.raw);
            let new = new.ok_or(Trouble::range(step.record))?;
            self.begin(&step, new)?;
            self.copy(&step, steps.header(), bytes, new)?;
        }
        if !steps.ended_file() {
            self.draft
                .drop(bytes.get(steps.position()..).unwrap_or_default());
        }
        Ok(())
    }

    /// Makes room for an event, in a new chunk if necessary.
    fn begin(&mut self, step: &Step, new: u64) -> Result<(), Problem> {
        let body = (step.record.end - step.first) as usize - STAMP * step.stamps as usize;
        let stamped = step.stamps > 0 || self.written != Some(new);
        let need = body + if stamped { STAMP } else { 0 };
        if self.draft.len() + need < self.chunk_size {
            return Ok(());
        }
        if CHUNK_HEADER + STAMP + body >= self.chunk_size {
            return Err(Problem::TooLarge(step.record.start));
        }
        // The event is counted already.
        self.close_after(self.retimer.events() - 1)?;
        self.open_after(self.retimer.events() - 1);
        Ok(())
    }

    /// Copies an event.
    fn copy(
        &mut self,
        step: &Step,
        header: &ChunkHeader,
        bytes: &mut [u8],
        new: u64,
    ) -> Result<(), Trouble> {
        let mut stamp = [TIMESTAMP; STAMP];
        put(&mut stamp, 1, self.endian, new);
        // Those that stand at the very front of the event.
        let mut at_front = bytes.get(step.first as usize) == Some(&TIMESTAMP);
        if at_front {
            self.draft.keep(&stamp);
        } else if step.stamps > 0 || self.written != Some(new) {
            self.draft.add(&stamp);
        }
        self.written = Some(new);
        let mut walker = Walker::at(FileKind::Events, header, step.first as usize);
        while walker.position() < step.record.start as usize
            && let Some(record) = walker.step(bytes)?
        {
            if record.code == TIMESTAMP {
                self.log.note(read_time(bytes, record, header)?, new);
                if !std::mem::take(&mut at_front) {
                    self.draft.drop(&stamp);
                }
            } else {
                self.draft
                    .keep(bytes.get(record.range()).unwrap_or_default());
            }
        }
        if step.record.code == event_code::BufferFlush {
            let old = read_time(bytes, step.record, header)?;
            let end = self.retimer.flush_end(old);
            let end = end.ok_or(Trouble::range(step.record))?;
            put(bytes, step.record.payload, header.endian, end);
            self.log.note(old, end);
        }
        self.draft
            .keep(bytes.get(step.record.range()).unwrap_or_default());
        Ok(())
    }

    fn open(&mut self) {
        self.open_after(self.retimer.events());
    }

    fn open_after(&mut self, events: u64) {
        self.draft.add(&[CHUNK_CODE, self.endian.mark()]);
        self.draft.add(&self.endian.bytes(events + 1));
        self.draft.add(&self.endian.bytes(events));
        self.written = None;
    }

    fn close(&mut self) -> Result<()> {
        self.close_after(self.retimer.events())
    }

    fn close_after(&mut self, events: u64) -> Result<()> {
        self.count(events);
        self.draft.pad(self.chunk_size);
        self.draft.flush()
    }

    /// Writes the number of the last event into the header.
    fn count(&mut self, events: u64) {
        let at = CHUNK_HEADER - size_of::<u64>();
        self.draft.amend(at, &self.endian.bytes(events));
    }

    /// Ends the file with the end marks of the source and what follows them.
    fn end(&mut self, marks: &[u8]) -> Result<()> {
        if self.draft.len() + END_MARKS > self.chunk_size {
            self.close()?;
            self.open();
        }
        self.count(self.retimer.events());
        self.draft.keep(marks);
        self.draft.flush()
    }
}

/// Why events cannot be laid out.
enum Problem {
    Trouble(Trouble),
    /// The event at this position fills its chunk so that no time fits in.
    TooLarge(u32),
    Failed(Error),
}

impl Problem {
    #[cold]
    fn located(self, source: &Source<'_>, header: &ChunkHeader) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Trouble(trouble) => {
                trouble.located(source.path(), header, |e| source.error(header, e))
            }
            Self::TooLarge(at) => Error::Unsupported {
                path: source.path().to_owned(),
                what: format!(
                    "the event at byte {} needs a time of its own, but fills its chunk",
                    header.offset + u64::from(at)
                ),
            },
        }
    }
}

impl From<WireError> for Problem {
    fn from(error: WireError) -> Self {
        Self::Trouble(error.into())
    }
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
