//! The file of events of one process, in the lines that `retime stream` reads while the
//! program runs.
//!
//! Lines are gathered and written every 20 ms by a thread of their own, with a heartbeat if
//! nothing happened: so `retime stream` does not wait for a process that computes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use crate::operation::Operation;

/// No more is kept in memory.
const MOST_BYTES: usize = 1 << 16;

/// The lines of one process.
#[derive(Debug)]
pub(crate) struct EventLog {
    file: File,
    rank: u32,
    lines: String,
    latest: i64,
}

/// The physical and the logical time of an event, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) physical: i64,
    pub(crate) logical: i64,
}

impl EventLog {
    /// A new file; the first process also writes the header.
    pub(crate) fn new(directory: &Path, rank: u32, size: u32, ticks: u64) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        if rank == 0 {
            let mut header =
                format!("{{\"retime-stream\":1,\"ticks_per_second\":{ticks},\"locations\":[0");
            for rank in 1..size {
                // Writing to a string does not fail.
                let _ = write!(header, ",{rank}");
            }
            header.push_str("]}\n");
            File::create_new(directory.join("header.jsonl"))?.write_all(header.as_bytes())?;
        }
        let file = File::create_new(directory.join(format!("rank.{rank}.jsonl")))?;
        Ok(Self {
            file,
            rank,
            lines: String::with_capacity(MOST_BYTES),
            latest: i64::MIN,
        })
    }

    fn begin(&mut self, times: Times, kind: &str) {
        let rank = self.rank;
        let Times { physical, logical } = times;
        self.latest = physical;
        // Writing to a string does not fail.
        let _ = write!(
            self.lines,
            "{{\"location\":{rank},\"time\":{physical},\"type\":\"{kind}\",\"clock\":{logical}"
        );
    }

    fn end(&mut self) {
        self.lines.push_str("}\n");
        if self.lines.len() > MOST_BYTES {
            self.flush();
        }
    }

    /// A send or a receive.
    pub(crate) fn message(&mut self, times: Times, kind: &str, message: i64) {
        self.begin(times, kind);
        let _ = write!(self.lines, ",\"message\":{message}");
        self.end();
    }

    /// The begin or the end of a collective operation.
    pub(crate) fn collective(&mut self, times: Times, kind: &str, operation: &Operation) {
        self.begin(times, kind);
        let Operation {
            communicator,
            number,
            rank,
            participants,
            ..
        } = operation;
        let class = operation.class_name();
        let _ = write!(
            self.lines,
            ",\"collective\":\"{communicator}.{number}\",\"participants\":{participants},\"class\":\"{class}\""
        );
        match class {
            "scan" => drop(write!(self.lines, ",\"rank\":{rank}")),
            _ if operation.is_root => self.lines.push_str(",\"root\":true"),
            _ => {}
        }
        self.end();
    }

    /// Nothing earlier than `now` comes any more.
    pub(crate) fn heartbeat(&mut self, now: i64) {
        if now > self.latest {
            let rank = self.rank;
            let _ = writeln!(
                self.lines,
                "{{\"location\":{rank},\"time\":{now},\"type\":\"heartbeat\"}}"
            );
            self.latest = now;
        }
        self.flush();
    }

    /// Nothing comes any more.
    pub(crate) fn finish(&mut self) {
        let rank = self.rank;
        let _ = writeln!(self.lines, "{{\"location\":{rank},\"type\":\"end\"}}");
        self.flush();
    }

    /// Writes what has gathered. The program goes on where that fails: its clock does not need
    /// the file.
    fn flush(&mut self) {
        let _ = self.file.write_all(self.lines.as_bytes());
        self.lines.clear();
    }
}
