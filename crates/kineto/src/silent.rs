//! Ranks of which no communication was recorded.
//!
//! A job of several ranks communicates. What recorded nothing of that, as where only ranges of the program
//! were, or an iteration that does not communicate, says nothing of how its clock differs from those of the
//! others: that is as if what it recorded could not be used. One rank alone has nobody to differ from.

use std::collections::BTreeMap;

use crate::places::Places;
use crate::profile::FileRead;

/// The first location of each rank of a run of several of which no location is among those that communicate.
pub(crate) fn silent_ranks(
    files: &[FileRead],
    places: &Places,
    communicates: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut first_of: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        for (location, track) in places.of_file(number).zip(&file.tracks) {
            let label = track.label.clone().filter(|_| file.is_merged());
            let rank = file.header.rank.map(|it| it.to_string());
            let Some(rank) = rank.or(label) else {
                continue;
            };
            let rank = first_of.entry(rank).or_insert((location, true));
            rank.1 &= !communicates(location);
        }
    }
    if first_of.len() < 2 {
        return Vec::new();
    }
    let silent = first_of.into_values().filter(|it| it.1);
    silent.map(|it| it.0).collect()
}
