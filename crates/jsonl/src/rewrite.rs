//! A file with new times, and nothing else new.
//!
//! Line by line, the digits of each time are replaced. An event that is stamped
//! before its predecessor waits for that: it gets the time of the latest stamp so
//! far. A heartbeat says that nothing earlier comes, and its new time says so too:
//! it is where the next event would be, were it stamped like the heartbeat. The same
//! goes for the time of a line that ends a location, if it has one.

use std::path::Path;

use retime_model::format::{FileError, FormatError};
use retime_model::{
    ClockMap, Correction, EventTimes, LocationIndex, Monitor, StampLog, Timestamp, plural,
};

use crate::error::JsonlError;
use crate::output::Output;
use crate::pass::{Pass, Said, Stamp};
use crate::undo::{FORMAT, Saved};

/// Copies `path` to the new file `to`, with times sent through their maps.
pub(crate) fn rewrite(
    path: &Path,
    correction: &Correction,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<Saved, FormatError> {
    let mut pass = Pass::open(path, monitor)?;
    let mut output = Output::create(to, pass.lines.is_gzip())?;
    let mut retimer = Retimer::new(correction);
    let mut log = StampLog::default();
    while let Some(entry) = pass.next()? {
        let Some((said, stamp)) = timed(entry.said) else {
            output.write(entry.bytes)?;
            continue;
        };
        // A location without a map fails the pass at its end.
        let Some(track) = retimer.track(said.location) else {
            continue;
        };
        let time = track.time(&said, stamp.time);
        let Some(time) = time else {
            let line = pass.lines.number;
            let what = "its corrected time does not fit into 64 bits".to_owned();
            return Err(pass.lines.error(line, what).into());
        };
        log.note(track.map, stamp.time, time);
        write_line(&mut output, entry.bytes, &stamp, time)?;
    }
    check_fits(path, correction, pass.places.len())?;
    Ok(Saved {
        format: FORMAT,
        original: pass.lines.crc(),
        corrected: output.finish()?,
        modified: None,
        stamps: log.finish(),
    })
}

/// A line with its time, if it has one.
pub(crate) fn timed(said: Option<Said<'_>>) -> Option<(Said<'_>, Stamp)> {
    let said = said?;
    let stamp = said.stamp.clone()?;
    Some((said, stamp))
}

/// Writes a line with another time.
pub(crate) fn write_line(
    output: &mut Output,
    line: &[u8],
    stamp: &Stamp,
    time: u64,
) -> Result<(), JsonlError> {
    output.write(line.get(..stamp.digits.start).unwrap_or_default())?;
    output.number(time)?;
    output.write(line.get(stamp.digits.end..).unwrap_or_default())
}

/// A correction of another trace could speak of other locations.
pub(crate) fn check_fits(
    path: &Path,
    correction: &Correction,
    locations: usize,
) -> Result<(), FileError> {
    let corrected = correction.clocks().by_location().len();
    if corrected == locations {
        return Ok(());
    }
    let locations = plural(locations as u64, "location");
    let what = format!("has {locations}, but the correction is for {corrected}");
    Err(FileError::inconsistent(path, what))
}

/// The map of each location, and how far each has come.
struct Retimer<'a> {
    tracks: Vec<RetimedTrack<'a>>,
}

struct RetimedTrack<'a> {
    map: &'a ClockMap,
    times: EventTimes<'a>,
    /// Number of the next event.
    event: u64,
    /// The latest stamp of an event so far.
    latest: u64,
}

impl<'a> Retimer<'a> {
    fn new(correction: &'a Correction) -> Self {
        let count = correction.clocks().by_location().len() as u32;
        let track = |location| {
            let map = correction.map_of(location);
            RetimedTrack {
                map,
                times: correction.events(location),
                event: 0,
                latest: 0,
            }
        };
        Self {
            tracks: (0..count).map(LocationIndex).map(track).collect(),
        }
    }

    fn track(&mut self, location: LocationIndex) -> Option<&mut RetimedTrack<'a>> {
        self.tracks.get_mut(location.as_usize())
    }
}

impl RetimedTrack<'_> {
    /// The new time of a line; `None` if it does not fit into 64 bits.
    fn time(&mut self, said: &Said<'_>, raw: u64) -> Option<u64> {
        if said.what.kind().is_none() {
            return Some(self.bound(raw));
        }
        self.latest = self.latest.max(raw);
        let time = self.times.at(self.event, Timestamp(self.latest))?;
        self.event += 1;
        Some(time.0)
    }

    /// The new time of a stamp that bounds what comes.
    fn bound(&mut self, raw: u64) -> u64 {
        match self.times.before(self.event, Timestamp(raw)) {
            Some(time) => time.0,
            // Shifted beyond what can be written, it bounds nothing more, or
            // everything.
            None if self.map.knots().first().is_some_and(|it| raw < it.raw.0) => 0,
            None => u64::MAX,
        }
    }
}
