//! Files with new times, and nothing else new.

use std::path::Path;

use retime_model::format::{FileError, FormatError};
use retime_model::{ClockMap, Correction, LocationIndex, Monitor, SavedName, StampLog, Timestamp};

use crate::call::What;
use crate::columns::{Columns, NO_TRACK};
use crate::digits;
use crate::error::KinetoError;
use crate::micros;
use crate::order::Order;
use crate::placing::{Anchors, placed};
use crate::profile::FileRead;
use crate::undo::{Forms, SavedFile};

/// The map of each track of a file.
pub(crate) struct Maps<'a> {
    correction: &'a Correction,
    /// The location of the first track.
    first: LocationIndex,
}

impl<'a> Maps<'a> {
    pub(crate) fn new(correction: &'a Correction, first: LocationIndex) -> Self {
        Self { correction, first }
    }

    fn location(&self, track: u32) -> LocationIndex {
        // What is on no track only names others, and goes with the first.
        let track = if track == NO_TRACK { 0 } else { track };
        LocationIndex(self.first.0 + track)
    }

    /// The map of a track; none if the file has no tracks at all.
    pub(crate) fn of(&self, track: u32) -> Option<&'a ClockMap> {
        let location = self.location(track).as_usize();
        let clock = self.correction.clocks().by_location().get(location)?;
        Some(self.correction.map(*clock))
    }
}

/// The new time of each entry of a file, in the order of the file.
pub(crate) fn new_times(
    path: &Path,
    file: &FileRead,
    maps: &Maps<'_>,
) -> Result<Vec<u64>, FormatError> {
    let columns = &file.columns;
    let too_far = || KinetoError::Inconsistent {
        path: path.to_owned(),
        what: "the corrected time of an event does not fit into 64 bits".to_owned(),
    };
    let mut times = columns.begins.clone();
    let order = Order::of(columns, file.tracks.len());
    // A send does not wait; all other calls do.
    let waits = file
        .calls
        .iter()
        .filter(|it| !matches!(it.what, What::Send(_)));
    let anchors: Anchors = waits.map(|it| it.event).collect();
    for track in 0..file.tracks.len() {
        let entries = order.of_track(track);
        let track = track as u32;
        let Some(map) = maps.of(track) else {
            continue;
        };
        let places = placed(columns, entries, &anchors, map, maps.location(track));
        let places = places.ok_or_else(too_far)?;
        for (&entry, place) in entries.iter().zip(places) {
            if let Some(time) = times.get_mut(entry as usize) {
                *time = place;
            }
        }
    }
    if let Some(map) = maps.of(NO_TRACK) {
        let mut cursor = map.cursor(maps.location(NO_TRACK));
        // A name at the time 0 of its file says nothing of time, and would not be found again.
        let zero = file.zero();
        let names = times.iter_mut().zip(&columns.tracks);
        for (time, _) in names.filter(|it| *it.1 == NO_TRACK) {
            let moved = cursor.map_time(Timestamp(*time)).ok_or_else(too_far)?.0;
            *time = if Some(moved) == zero {
                moved + 1
            } else {
                moved
            };
        }
    }
    Ok(times)
}

/// Copies a file to the new file `to`, with new times; undo data call it by `name`.
pub(crate) fn rewrite(
    path: &Path,
    name: SavedName,
    file: &FileRead,
    maps: &Maps<'_>,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<SavedFile, FormatError> {
    let times = new_times(path, file, maps)?;
    let columns: &Columns = &file.columns;
    let mut forms = Forms::default();
    let identity = ClockMap::default();
    let mut entries = times.iter().zip(&columns.begins).zip(&columns.tracks);
    let mut log = StampLog::default();
    let (original, corrected) =
        digits::replaced(path, columns, to, monitor, &mut |out, digits| {
            let ((&time, &begin), &track) = entries.next().ok_or("an event too many")?;
            let map = maps.of(track).unwrap_or(&identity);
            log.note(map, begin, time);
            let was = micros::parse(digits).ok_or("ts is no number of microseconds")?;
            let by = time.wrapping_sub(begin) as i64;
            let moved = was.nanoseconds.checked_add(by);
            let moved = moved.ok_or("its corrected time does not fit into 64 bits")?;
            let form = was.form_at(moved);
            forms.note(form, digits);
            if time == begin {
                out.extend_from_slice(digits);
            } else {
                micros::write(out, moved, form, digits);
            }
            Ok(())
        })?;
    if original != file.crc {
        return Err(FileError::Changed {
            path: path.to_owned(),
        }
        .into());
    }
    Ok(SavedFile {
        name,
        original,
        corrected,
        modified: None,
        stamps: log.finish(),
        forms,
    })
}
