//! Files with new times, and nothing else new.

use std::collections::BTreeSet;
use std::path::Path;

use retime_model::format::{FileError, FormatError};
use retime_model::{
    ClockMap, Correction, LocationIndex, MapCursor, Monitor, SavedName, StampLog, Timestamp,
};
use rustc_hash::{FxHashMap, FxHashSet};

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
    let what = "the corrected time of an event does not fit into 64 bits";
    let too_far = || FileError::inconsistent(path, what);
    // A send does not wait; all other calls do.
    let calls = file.calls.iter();
    let waits = calls.filter(|it| !matches!(it.what, What::Send(_)));
    let mut moving = Moving {
        file,
        maps,
        order: Order::of(&file.columns, file.tracks.len()),
        anchors: Anchors {
            ends: waits.map(|it| it.event).collect(),
            both: FxHashSet::default(),
            keep_lengths: false,
        },
        begins: file.columns.begins.clone(),
        lengths: None,
    };
    let tracks = 0..file.tracks.len() as u32;
    tracks
        .into_iter()
        .try_for_each(|it| moving.place(it))
        .ok_or_else(too_far)?;
    moving.keep_launches().ok_or_else(too_far)?;
    let mut times = moving.begins;
    move_others(file, maps, &mut times).ok_or_else(too_far)?;
    Ok(Moved {
        begins: times,
        lengths: moving.lengths,
    })
}

/// A file while its events get new times.
struct Moving<'a> {
    file: &'a FileRead,
    maps: &'a Maps<'a>,
    order: Order,
    anchors: Anchors,
    begins: Vec<u64>,
    /// New lengths, if any has changed.
    lengths: Option<Vec<u64>>,
}

impl Moving<'_> {
    /// Places the entries of a track; `None` if a time does not fit into 64 bits.
    fn place(&mut self, track: u32) -> Option<()> {
        let columns = &self.file.columns;
        let about = self.file.tracks.get(track as usize)?;
        if self.maps.of(track).is_none() {
            return Some(());
        }
        let entries = self.order.of_track(track as usize);
        let (correction, location) = (self.maps.correction, self.maps.location(track));
        self.anchors.keep_lengths = about.keeps_lengths;
        let places = if about.has_both_ends {
            followed(columns, entries, correction, location)?
        } else {
            placed(columns, entries, &self.anchors, correction, location)?
        };
        for (&entry, place) in entries.iter().zip(places) {
            *self.begins.get_mut(entry as usize)? = place.begin;
            let length = place.end.saturating_sub(place.begin);
            let is = columns.length(entry);
            if is.is_none() || self.lengths.is_none() && is == Some(length) {
                continue;
            }
            let lengths = self.lengths.get_or_insert_with(|| columns.lengths.clone());
            *lengths.get_mut(entry as usize)? = length;
        }
        Some(())
    }

    /// Lets kernels, and their launches, begin where their maps say if they would else come before
    /// these and did not.
    fn keep_launches(&mut self) -> Option<()> {
        let columns = &self.file.columns;
        let after = |begins: &[u64], it: &(u32, u32)| {
            let begin = |event: u32| begins.get(event as usize).map(|it| *it as i64);
            begin(it.0) <= begin(it.1)
        };
        loop {
            let mut tracks = BTreeSet::new();
            for it in &self.file.driven.kernels {
                if !after(&self.begins, it) && after(&columns.begins, it) {
                    let both = [it.0, it.1];
                    let added = both.into_iter().filter(|it| self.anchors.both.insert(*it));
                    tracks.extend(added.map(|it| columns.track(it)));
                }
            }
            if tracks.is_empty() {
                return Some(());
            }
            tracks.into_iter().try_for_each(|it| self.place(it))?;
        }
    }
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
    let lengths = moved.new_lengths(file);
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
        Some(Renewal { event, is, becomes })
    };
    let renewed = document.rewrite(path, file, &mut renew, &lengths, to, monitor)?;
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
        lengths: lengths.len() as u64,
        stamps: log.finish(),
        forms: renewed.forms,
    })
}
