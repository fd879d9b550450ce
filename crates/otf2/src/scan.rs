//! What the events of a location say about causality.
//!
//! Of the ninety-odd kinds of events, two dozen have a role in
//! happened-before: point-to-point messages and collective operations of MPI.
//! Only those are decoded, so the speed of a scan is that of walking over the
//! rest. Each is handed to the [`LogBuilder`] of the location, with ranks
//! resolved to locations and communicators to handles.
//!
//! Times are sent through the clock offsets of the location. Should an event
//! be stamped earlier than the one before it, which no location can have
//! lived through, it is taken to be as late as that one; the log counts it.

mod partners;
mod roles;

use std::collections::HashMap;

use retime_model::{LocationIndex, Timestamp, TraceInfo};
use retime_model::{LocationLog, LogBuilder};

use crate::chunk::ChunkReader;
use crate::clock::ClockCursor;
use crate::counts::EventCounts;
use crate::error::{Error, Result, WireError};
use crate::local::LocalDefinitions;
use crate::refs::CommRef;
use crate::steps::{BUFFER_FLUSH, Steps, read_time};
use crate::walk::each_chunk;
use retime_model::Monitor;

use self::partners::Partners;
use self::roles::{has_role, report};

/// What [`Otf2Trace::scan`](crate::Otf2Trace::scan) finds.
#[derive(Debug)]
pub struct Scanned {
    /// The events with a role in happened-before.
    pub log: LocationLog,
    /// All events.
    pub counts: EventCounts,
}

/// Reads the events of a location; `info` comes with the handles of
/// communicators by their ids.
pub(crate) fn read(
    reader: ChunkReader,
    local: &LocalDefinitions,
    (info, handles): (&TraceInfo, &HashMap<CommRef, u32>),
    location: LocationIndex,
    monitor: &dyn Monitor,
) -> Result<Scanned> {
    let mut scan = Scan {
        clock: local.clock.cursor(),
        partners: Partners::new(info, handles, local, location),
        log: LogBuilder::new(location),
        counts: EventCounts::default(),
        event: 0,
        first: 0,
        latest: 0,
    };
    let path = reader.path().to_owned();
    each_chunk(reader, monitor, |steps, bytes| scan.chunk(steps, bytes))?;
    let (first, last) = (Timestamp(scan.first), Timestamp(scan.latest));
    let log = scan.log.finish(scan.event, first, last);
    Ok(Scanned {
        log: log.map_err(|source| Error::Log { path, source })?,
        counts: scan.counts,
    })
}

struct Scan<'a> {
    clock: ClockCursor,
    partners: Partners<'a>,
    log: LogBuilder,
    counts: EventCounts,
    /// Number of the next event.
    event: u64,
    /// Time of the first event.
    first: u64,
    /// Greatest time so far.
    latest: u64,
}

impl Scan<'_> {
    fn chunk(&mut self, steps: &mut Steps, bytes: &[u8]) -> Result<(), WireError> {
        let mut walk = *steps;
        let endian = walk.header().endian;
        while let Some(step) = walk.step(bytes)? {
            self.counts.add(&step);
            let time = self.clock.correct(step.raw);
            if self.event == 0 {
                self.first = time;
            }
            if time < self.latest {
                self.log.stamped_backwards(self.event);
            } else {
                self.latest = time;
            }
            let code = step.record.code;
            if has_role(code) {
                let payload =
                    crate::wire::Cursor::within(bytes, step.record.payload_range(), endian);
                let when = (self.event, Timestamp(self.latest));
                report(code, payload, when, &mut self.partners, &mut self.log)?;
            } else if code == BUFFER_FLUSH {
                // Its end moves the clock on, as it does in every OTF2 tool.
                let stop = read_time(bytes, step.record, walk.header())?;
                self.clock.correct(stop);
            }
            self.event += 1;
        }
        *steps = walk;
        Ok(())
    }
}
