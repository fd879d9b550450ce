//! The layout of libkineto's files.

use std::{
    fmt::Display,
    io::{self, Write},
};

use super::{
    happened::Span,
    stamp::{Stamps, microseconds},
};

/// A process and a thread, as written.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    pub(super) pid: &'a dyn Display,
    pub(super) tid: &'a dyn Display,
}

impl<'a> Lane<'a> {
    /// The main thread of a process, which has its number.
    pub(super) fn main(pid: &'a u32) -> Self {
        Self { pid, tid: pid }
    }
}

/// Writes events, and counts them.
pub(super) struct Events<'a, W> {
    pub(super) to: &'a mut W,
    pub(super) stamps: Stamps,
    written: u64,
}

/// Where in a file an event is.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    /// Among all events.
    pub(super) number: u64,
    /// The stamp as it is written.
    pub(super) ts: String,
}

impl<'a, W: Write> Events<'a, W> {
    pub(super) fn new(to: &'a mut W, stamps: Stamps) -> Self {
        Self {
            to,
            stamps,
            written: 0,
        }
    }

    fn next(&mut self, time: u64) -> io::Result<Placed> {
        if self.written > 0 {
            self.to.write_all(b",")?;
        }
        self.written += 1;
        Ok(Placed {
            number: self.written - 1,
            ts: microseconds(self.stamps.relative(time)),
        })
    }

    /// Something that lasts. What it lasts is the difference of the times that are
    /// written, as in recordings.
    pub(super) fn complete(
        &mut self,
        category: &str,
        name: &str,
        Lane { pid, tid }: Lane<'_>,
        span: Span,
        arguments: &str,
    ) -> io::Result<Placed> {
        let placed = self.next(span.begin)?;
        let lasts = self.stamps.relative(span.end) - self.stamps.relative(span.begin);
        // What a clock is set back in seems to take no time.
        let (ts, dur) = (&placed.ts, microseconds(lasts.max(0)));
        write!(
            self.to,
            r#"
  {{
    "ph": "X",
    "cat": "{category}",
    "name": "{name}",
    "pid": {pid},
    "tid": {tid},
    "ts": {ts},
    "dur": {dur}
    ,
    "args": {{
      {arguments}
    }}
  }}"#
        )?;
        Ok(placed)
    }

    /// One end of an arrow: `s` or `f`.
    pub(super) fn flow(
        &mut self,
        phase: char,
        id: u64,
        category: &str,
        Lane { pid, tid }: Lane<'_>,
        time: u64,
    ) -> io::Result<()> {
        let ts = self.next(time)?.ts;
        let binding = if phase == 'f' { r#", "bp": "e""# } else { "" };
        write!(
            self.to,
            r#"
  {{
    "ph": "{phase}",
    "id": {id},
    "pid": {pid},
    "tid": {tid},
    "ts": {ts},
    "cat": "{category}",
    "name": "{category}"
    {binding}
  }}"#
        )
    }

    /// Names a process or thread, or says where it is shown.
    pub(super) fn about(
        &mut self,
        name: &str,
        Lane { pid, tid }: Lane<'_>,
        time: u64,
        argument: &str,
    ) -> io::Result<()> {
        let ts = self.next(time)?.ts;
        write!(
            self.to,
            r#"
  {{
    "ph": "M",
    "name": "{name}",
    "ts": {ts},
    "pid": {pid},
    "tid": {tid},
    "args": {{
      {argument}
    }}
  }}"#
        )
    }

    /// A mark across everything.
    pub(super) fn mark(
        &mut self,
        name: &str,
        Lane { pid, tid }: Lane<'_>,
        time: u64,
    ) -> io::Result<()> {
        let ts = self.next(time)?.ts;
        write!(
            self.to,
            r#"
  {{
    "ph": "i",
    
    "s": "g",
    "name": "{name}",
    "pid": {pid},
    "tid": {tid},
    "ts": {ts}
    
  }}"#
        )
    }
}
