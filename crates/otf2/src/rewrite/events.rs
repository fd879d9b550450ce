//! The events of one location with new times.
//!
//! A time record is nine bytes whatever the time, so new times are written
//! over the old ones as chunk after chunk passes through. There are two cases
//! in which the file is done again from the start, by
//! [`layout`](super::layout): events that share a time record must come apart;
//! or there are two time records in a row, which libotf2 writes where a chunk
//! starts at time 0, but cannot read.

use super::job::{Job, Outcome};
use super::layout;
use super::output::Output;
use super::retime::Retimer;
use super::source::Source;
use super::stamp::{Trouble, each_time, put};
use crate::chunk::FileKind;
use crate::error::Result;
use crate::framing::{TIMESTAMP, Walker};
use crate::schema::event_code;
use crate::steps::{Step, Steps, read_time};
use crate::undo::stamps::StampLog;

/// Copies an event file with new times.
pub(super) fn rewrite(
    job: Job<'_>,
    source: &mut Source<'_>,
    output: &mut Output,
) -> Result<Outcome> {
    if let Some(outcome) = InPlace::new(job).run(source, output)? {
        return Ok(outcome);
    }
    source.restart()?;
    output.restart()?;
    layout::rewrite(job, source, output)
}

struct InPlace<'a> {
    retimer: Retimer<'a>,
    log: StampLog<'a>,
    /// The last time that was written.
    written: u64,
}

impl<'a> InPlace<'a> {
    fn new(job: Job<'a>) -> Self {
        Self {
            retimer: job.retimer(),
            log: StampLog::new(job.guess()),
            written: 0,
        }
    }

    /// `None` if the file must be laid out anew.
    fn run(mut self, source: &mut Source<'_>, output: &mut Output) -> Result<Option<Outcome>> {
        let mut buffer = Vec::new();
        let mut header = source.next(&mut buffer)?;
        let mut steps = Steps::new(source.kind(), header);
        loop {
            let fits = self.chunk(&mut steps, &mut buffer).map_err(|trouble| {
                trouble.located(source.path(), &header, |e| source.error(&header, e))
            })?;
            if !fits {
                return Ok(None);
            }
            output.write(&buffer)?;
            if steps.ended_file() {
                break;
            }
            header = source.next(&mut buffer)?;
            steps.enter(header);
        }
        while source.rest(&mut buffer)? {
            output.write(&buffer)?;
        }
        Ok(Some(Outcome {
            stamps: self.log.finish(),
            extent: self.retimer.extent(),
            ..Outcome::default()
        }))
    }

    /// `false` if the file must be laid out anew.
    fn chunk(&mut self, steps: &mut Steps, bytes: &mut [u8]) -> Result<bool, Trouble> {
        let mut walk = *steps;
        while let Some(step) = walk.step(bytes)? {
            let new = self.retimer.event(step.raw);
            let new = new.ok_or(Trouble::range(step.record))?;
            if step.stamps == 0 {
                if new != self.written {
                    return Ok(false);
                }
            } else if step.stamps > 1 && new != step.raw {
                return Ok(false);
            } else if step.stamps == 1 && bytes.get(step.first as usize) == Some(&TIMESTAMP) {
                put(bytes, step.first + 1, walk.header().endian, new);
                self.log.note(step.raw, new);
            } else {
                self.odd_stamps(&walk, &step, bytes, new)?;
            }
            self.written = new;
            if step.record.code == event_code::BufferFlush {
                let old = read_time(bytes, step.record, walk.header())?;
                let new = self.retimer.flush_end(old);
                let new = new.ok_or(Trouble::range(step.record))?;
                put(bytes, step.record.payload, walk.header().endian, new);
                self.log.note(old, new);
            }
        }
        *steps = walk;
        Ok(true)
    }

    /// Several time records, or one behind an attribute list. The last one
    /// counts; all get the new time.
    fn odd_stamps(
        &mut self,
        walk: &Steps,
        step: &Step,
        bytes: &mut [u8],
        new: u64,
    ) -> Result<(), Trouble> {
        let (kind, header) = (FileKind::Events, walk.header());
        let mut walker = Walker::at(kind, header, step.first as usize);
        let end = step.record.start as usize;
        each_time(kind, header, &mut walker, end, bytes, |old| {
            self.log.note(old, new);
            Some(new)
        })
    }
}
