//! Files with new times, and nothing else new.

use std::path::Path;

use retime_model::format::{FileError, FormatError};
use retime_model::{
    ClockMap, Correction, LocationIndex, MapCursor, Monitor, SavedName, StampLog, Timestamp,
};
use rustc_hash::FxHashMap;

use crate::call::What;
use crate::columns::{is_event, moved_with};
use crate::document::{Document, Renewal};
use crate::order::Order;
use crate::placing::{Anchors, followed, placed};
use crate::profile::{FileRead, Moved, Track};
use crate::stamps::Stamp;
use crate::undo::SavedFile;

/// The map of each track of a file.
pub(crate) struct Maps<'a> {
    correction: &'a Correction,
    /// The location of the first track.
    first: LocationIndex,
    /// The track with whose map each goes that something is beside: a device has no names and
    /// tells no clocks, which its host does.
    beside: Vec<u32>,
}

impl<'a> Maps<'a> {
    pub(crate) fn new(correction: &'a Correction, first: LocationIndex, tracks: &[Track]) -> Self {
        let mut hosts: FxHashMap<Option<u32>, u32> = FxHashMap::default();
        for (number, track) in (0..).zip(tracks).filter(|it| !it.1.is_device) {
            hosts.entry(track.machine).or_insert(number);
        }
        let beside = (0..).zip(tracks).map(|(number, track)| {
            let host = hosts.get(&track.machine).filter(|_| track.is_device);
            host.copied().unwrap_or(number)
        });
        Self {
            correction,
            first,
            beside: beside.collect(),
        }
    }

    fn location(&self, track: u32) -> LocationIndex {
        let mut number = moved_with(track);
        if !is_event(track) {
            number = self.beside.get(number as usize).copied().unwrap_or(number);
        }
        LocationIndex(self.first.0 + number)
    }

    /// The map of a track; none if the file has no tracks at all.
    pub(crate) fn of(&self, track: u32) -> Option<&'a ClockMap> {
        let location = self.location(track).as_usize();
        let clock = self.correction.clocks().by_location().get(location)?;
        Some(self.correction.map(*clock))
    }
}

/// The new times of the entries of a file, in its order.
pub(crate) fn new_times(
    path: &Path,
    file: &FileRead,
    maps: &Maps<'_>,
) -> Result<Moved, FormatError> {
    let columns = &file.columns;
    let what = "the corrected time of an event does not fit into 64 bits";
    let too_far = || FileError::inconsistent(path, what);
    let mut times = columns.begins.clone();
    let has_both_ends = file.tracks.iter().any(|it| it.has_both_ends);
    let mut lengths = has_both_ends.then(|| columns.lengths.clone());
    let order = Order::of(columns, file.tracks.len());
    // A send does not wait; all other calls do.
    let waits = file
        .calls
        .iter()
        .filter(|it| !matches!(it.what, What::Send(_)));
    let anchors: Anchors = waits.map(|it| it.event).collect();
    for (track, about) in (0..).zip(&file.tracks) {
        let entries = order.of_track(track as usize);
        if maps.of(track).is_none() {
            continue;
        }
        let location = maps.location(track);
        if let Some(lengths) = lengths.as_mut().filter(|_| about.has_both_ends) {
            let places =
                followed(columns, entries, maps.correction, location).ok_or_else(too_far)?;
            for (&entry, place) in entries.iter().zip(places) {
                if let Some(time) = times.get_mut(entry as usize) {
                    *time = place.begin;
                }
                if let Some(length) = lengths.get_mut(entry as usize)
                    && columns.length(entry).is_some()
                {
                    *length = place.end.saturating_sub(place.begin);
                }
            }
            continue;
        }
        let places =
            placed(columns, entries, &anchors, maps.correction, location).ok_or_else(too_far)?;
        for (&entry, place) in entries.iter().zip(places) {
            if let Some(time) = times.get_mut(entry as usize) {
                *time = place;
            }
        }
    }
    move_others(file, maps, &mut times).ok_or_else(too_far)?;
    Ok(Moved {
        begins: times,
        lengths,
    })
}

/// Moves what is on no track; `None` if a time does not fit into 64 bits.
fn move_others(file: &FileRead, maps: &Maps<'_>, times: &mut [u64]) -> Option<()> {
    // A name at the time 0 of its file says nothing of time, and would not be found again.
    let zero = file.zero().filter(|_| file.stamps.is_none());
    let mut cursors: FxHashMap<u32, MapCursor<'_>> = FxHashMap::default();
    let others = times.iter_mut().zip(&file.columns.tracks);
    for (time, &track) in others.filter(|it| !is_event(*it.1)) {
        let Some(map) = maps.of(track) else {
            continue;
        };
        let cursor = cursors
            .entry(track)
            .or_insert_with(|| map.cursor(maps.location(track)));
        let moved = cursor.map_time(Timestamp(*time))?.0;
        *time = if Some(moved) == zero {
            moved + 1
        } else {
            moved
        };
    }
    Some(())
}

/// The stamps of a file, in their order.
pub(crate) fn stamps(file: &FileRead) -> impl Iterator<Item = Stamp> + '_ {
    let all = 0..file.columns.begins.len() as u32;
    let begins = all.filter(|_| file.stamps.is_none()).map(Stamp::begin);
    let said = file.stamps.iter().flatten().copied();
    begins.chain(said)
}

/// Copies a file to the new file `to`, with new times; undo data call it by `name`.
pub(crate) fn rewrite(
    document: &dyn Document,
    path: &Path,
    name: SavedName,
    file: &FileRead,
    maps: &Maps<'_>,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<SavedFile, FormatError> {
    let moved = new_times(path, file, maps)?;
    let identity = ClockMap::default();
    let mut stamps = stamps(file);
    let mut log = StampLog::default();
    let mut renew = || {
        let stamp = stamps.next()?;
        let event = stamp.event();
        let map = maps.of(file.columns.track(event)).unwrap_or(&identity);
        let (mut is, mut becomes) = (file.columns.begin(event), moved.begin(event));
        if stamp.is_end() {
            becomes = becomes.saturating_add(moved.length(event, &file.columns));
            is = file.columns.end(event);
        }
        log.note(map, is, becomes);
        Some(Renewal { is, becomes })
    };
    let renewed = document.rewrite(path, file, &mut renew, to, monitor)?;
    if renewed.read != file.crc {
        return Err(FileError::Changed {
            path: path.to_owned(),
        }
        .into());
    }
    Ok(SavedFile {
        name,
        original: renewed.read,
        corrected: renewed.written,
        modified: None,
        stamps: log.finish(),
        forms: renewed.forms,
    })
}
