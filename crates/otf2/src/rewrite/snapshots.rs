//! The snapshots of one location with new times.
//!
//! What wrote them has sent their times through the clock offsets already, so
//! only the map applies: to the time of each snapshot and to the times of the
//! events that it recalls. All have full width and change in place.

use retime_model::Timestamp;

use super::job::{Job, Outcome};
use super::output::Output;
use super::source::Source;
use super::stamp::each_time;
use crate::error::Result;
use crate::framing::Walker;
use crate::undo::stamps::StampLog;

/// Copies a snapshot file with new times.
pub(super) fn rewrite(
    job: Job<'_>,
    source: &mut Source<'_>,
    output: &mut Output,
) -> Result<Outcome> {
    let mut cursor = job.map.cursor(job.location);
    let mut log = StampLog::new(job.guess_global());
    let kind = source.kind();
    let mut buffer = Vec::new();
    loop {
        let header = source.next(&mut buffer)?;
        let mut walker = Walker::new(kind, &header);
        each_time(kind, &header, &mut walker, usize::MAX, &mut buffer, |old| {
            let new = cursor.map_time(Timestamp(old))?.0;
            log.note(old, new);
            Some(new)
        })
        .map_err(|trouble| trouble.located(source.path(), &header, |e| source.error(&header, e)))?;
        output.write(&buffer)?;
        if walker.ended_file() {
            break;
        }
    }
    while source.rest(&mut buffer)? {
        output.write(&buffer)?;
    }
    Ok(Outcome {
        stamps: log.finish(),
        ..Outcome::default()
    })
}
