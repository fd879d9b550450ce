//! All ranks in one file.
//!
//! Calls are matched as if each rank had a file, with the same events. A rank is known by the
//! [label](crate::labels) of its tracks. A label that is a number is that of the rank; other
//! labels tell it if they count in one dimension only, and there is one such file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::header::Header;
use crate::matching::{self, Matching};
use crate::profile::{FileRead, Requests};

/// Which calls of all ranks belong together, by file.
pub(crate) fn matched(files: &[FileRead]) -> Matching {
    if !files.iter().any(FileRead::is_merged) {
        return matching::matched(files);
    }
    let mut parts = Vec::new();
    let mut file_of = Vec::new();
    for (number, file) in files.iter().enumerate() {
        for part in parts_of(file, files.len() == 1) {
            parts.push(part);
            file_of.push(number);
        }
    }
    matching::matched(&parts).by_file(&file_of, files.len())
}

/// The calls of each rank in a file.
fn parts_of(file: &FileRead, is_alone: bool) -> Vec<FileRead> {
    let mut tracks: BTreeMap<Option<&str>, Vec<bool>> = BTreeMap::new();
    let is_merged = file.is_merged();
    for (number, track) in file.tracks.iter().enumerate() {
        let label = track.label.as_deref().filter(|_| is_merged);
        let own = tracks.entry(label);
        let own = own.or_insert_with(|| vec![false; file.tracks.len()]);
        if let Some(own) = own.get_mut(number) {
            *own = true;
        }
    }
    let of_label = |(label, own): (Option<&str>, Vec<bool>)| {
        let counted = label.filter(|_| is_alone);
        let counted = counted.map(|it| it.trim_start_matches(|it: char| it.is_ascii_alphabetic()));
        let number = label.and_then(|it| it.parse().ok());
        let number = number.or_else(|| counted?.parse().ok());
        let said = label.and_then(|it| file.of_ranks.get(it));
        part_of(file, said.unwrap_or(&file.header), number, own)
    };
    tracks.into_iter().map(of_label).collect()
}

/// The calls on some tracks of a file, with the header of their rank, and its number if that is
/// known elsewhere.
fn part_of(file: &FileRead, said: &Header, rank: Option<u32>, tracks: Vec<bool>) -> FileRead {
    let is_own = |event: u32| {
        let track = file.columns.track(event) as usize;
        tracks.get(track).copied().unwrap_or(false)
    };
    let header = Header {
        base: file.header.base,
        rank: rank.or(said.rank),
        ..said.clone()
    };
    let requests = file.requests.iter().map(|(operation, requests)| {
        let own = requests.events.iter().copied();
        let requests = Requests {
            events: own.filter(|it| is_own(*it)).collect(),
            root: requests.root,
        };
        (*operation, requests)
    });
    let calls = file.calls.iter().filter(|it| is_own(it.event));
    let iterations = file.iterations.iter().filter(|it| is_own(it.event));
    FileRead {
        header,
        columns: Arc::clone(&file.columns),
        tracks: file.tracks.clone(),
        calls: calls.cloned().collect(),
        requests: requests.collect(),
        iterations: iterations.copied().collect(),
        own: Some(tracks),
        unseen: file.unseen.clone(),
        ..FileRead::default()
    }
}
