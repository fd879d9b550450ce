//! The times of chosen events, to verify a correction.

use std::path::Path;

use retime_model::format::{Checksum, FileError, FormatError, Timeline};
use retime_model::{Monitor, Timestamp, plural};

use crate::kinds::Kinds;
use crate::pass::Pass;

/// A location while its events are read.
#[derive(Default)]
struct TimedTrack<'a> {
    wanted: &'a [u32],
    kinds: Kinds,
    previous: u64,
    timeline: Timeline,
}

/// Reads the times of the `events` of each location, given by rising number.
pub(crate) fn read(
    path: &Path,
    events: &[&[u32]],
    monitor: &dyn Monitor,
) -> Result<Vec<Timeline>, FormatError> {
    let tracks = events.iter().map(|&wanted| TimedTrack {
        wanted,
        ..TimedTrack::default()
    });
    let mut tracks: Vec<TimedTrack<'_>> = tracks.collect();
    let mut pass = Pass::open(path, monitor)?;
    let mut checksum = Checksum::default();
    while let Some(entry) = pass.next()? {
        entry.add_to(&mut checksum);
        if let Some(said) = entry.said
            && let Some(stamp) = said.stamp
            && let Some(kind) = said.what.kind()
            && let Some(track) = tracks.get_mut(said.location.as_usize())
        {
            track.kinds.add(kind);
            track.take(stamp.time);
        }
    }
    let inconsistent = |what: String| FileError::inconsistent(path, what);
    let (found, asked) = (pass.places.len(), events.len());
    if found != asked {
        let found = plural(found as u64, "location");
        let what = format!("has {found}, but {asked} are asked for");
        return Err(inconsistent(what).into());
    }
    let rest = checksum.finish();
    let finished = tracks.into_iter().map(|track| match track.wanted.first() {
        Some(missing) => Err(inconsistent(format!(
            "a location has {}, but number {missing} (from 0) is asked for",
            plural(track.timeline.events, "event")
        ))),
        None => Ok(Timeline {
            contents: track.kinds.contents(&rest),
            ..track.timeline
        }),
    });
    Ok(finished.collect::<Result<_, _>>()?)
}

impl TimedTrack<'_> {
    fn take(&mut self, time: u64) {
        self.timeline.backwards += u64::from(time < self.previous);
        self.previous = time;
        if let Some((&next, others)) = self.wanted.split_first()
            && u64::from(next) == self.timeline.events
        {
            self.timeline.times.push(Timestamp(time));
            self.wanted = others;
        }
        self.timeline.count(Timestamp(time));
    }
}
