//! The times of chosen events of a file, to verify a copy.

use std::path::Path;

use retime_model::Timestamp;
use retime_model::format::{FileError, FormatError, Timeline};

use crate::order::{Order, Side, boundaries};
use crate::profile::{FileRead, Moved};
use crate::scan::contents_of;

/// The timelines of the tracks of a file, of which these events are asked for.
pub(crate) fn of_file(
    path: &Path,
    file: &FileRead,
    wanted: &[&[u32]],
) -> Result<Vec<Timeline>, FormatError> {
    if wanted.len() != file.tracks.len() {
        let (found, asked) = (file.tracks.len(), wanted.len());
        let what = format!("has {found} tracks, but {asked} are asked for");
        return Err(FileError::inconsistent(path, what).into());
    }
    let order = Order::of(&file.columns, file.tracks.len());
    let timelines = contents_of(file).zip(wanted).enumerate();
    let timelines = timelines.map(|(track, (contents, wanted))| {
        let mut timeline = Timeline::default();
        let all = boundaries(&file.columns, order.of_track(track)).map(|it| it.time);
        let mut all = all.inspect(|&time| timeline.count(Timestamp(time)));
        let times = chosen(all.by_ref(), wanted).map_err(|missing| {
            let what =
                format!("event {missing} (from 0) of a track is asked for, but it has fewer");
            FileError::inconsistent(path, what)
        })?;
        all.for_each(drop);
        Ok(Timeline {
            times,
            contents,
            ..timeline
        })
    });
    timelines.collect()
}

/// The times of events of the tracks of a file once it is moved.
pub(crate) fn moved(
    path: &Path,
    file: &FileRead,
    moved: Moved,
    wanted: &[&[u32]],
) -> Result<Vec<Vec<Timestamp>>, FormatError> {
    let moved = file.at(moved);
    let order = Order::of(&file.columns, file.tracks.len());
    let tracks = wanted.iter().enumerate().map(|(track, wanted)| {
        let all = boundaries(&file.columns, order.of_track(track));
        let times = all.map(|it| match it.side {
            Side::End => moved.columns.end(it.entry),
            Side::Begin | Side::Moment => moved.columns.begin(it.entry),
        });
        chosen(times, wanted).map_err(|missing| {
            let what = format!("event {missing} (from 0) of a track is asked for");
            FileError::inconsistent(path, what)
        })
    });
    Ok(tracks.collect::<Result<_, FileError>>()?)
}

/// The times that are asked for, of all, or the first that is missing.
fn chosen(all: impl Iterator<Item = u64>, wanted: &[u32]) -> Result<Vec<Timestamp>, u32> {
    let mut wanted = wanted.iter().copied().peekable();
    let mut times = Vec::new();
    for (number, time) in (0..).zip(all) {
        match wanted.peek() {
            None => break,
            Some(&next) if next == number => {
                times.push(Timestamp(time));
                wanted.next();
            }
            Some(_) => {}
        }
    }
    match wanted.peek() {
        Some(&missing) => Err(missing),
        None => Ok(times),
    }
}
