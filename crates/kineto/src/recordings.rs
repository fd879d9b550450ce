//! Which of several recordings of a rank is taken.
//!
//! A profiler that records again and again (`schedule(repeat=2)`) writes a file each time, and
//! all lie in one directory:
//!
//! ```text
//! rank 0   |-- first --|            |-- second --|
//! rank 1    |-- first --|            |-- second --|
//! ```
//!
//! They are one recording of the job for each time. One is taken: the last of the rank that
//! has the fewest, and of each other rank the one that begins nearest to it. Hosts differ by
//! far less than such recordings lie apart, so a corrected copy leads to the same choice.
//!
//! Rank and begin stand near the beginning of a file. Files that do not say them there are
//! all taken, and so are those of one rank that begin at the same time: they are copies.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;
use retime_gzip::first_bytes;
use retime_model::{open_regular, printable_path};

use crate::few::few;
use crate::header::{Header, KEYS};
use crate::named_ranks::by_name;
use retime_chrome_json::json::{space, value_end};
use retime_chrome_json::micros;

/// How what is said of a recording of a rank begins.
const OF_RANK: &str = "of rank ";
/// How much of a file is looked at.
const PROBE: u64 = 1 << 16;

/// A recording of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recording {
    rank: u32,
    /// When its first event begins, in nanoseconds.
    begin: i64,
}

impl Recording {
    /// The recording of a file, if its beginning says it; of the rank that is given, if any.
    fn of(path: &Path, rank: Option<u32>) -> io::Result<Option<Self>> {
        Ok(Self::in_text(
            &first_bytes(open_regular(path)?, PROBE)?,
            rank,
        ))
    }

    fn in_text(text: &[u8], rank: Option<u32>) -> Option<Self> {
        let events = memmem::find(text, b"\"traceEvents\"")?;
        let (before, events) = text.split_at_checked(events)?;
        let mut header = Header::default();
        for key in KEYS {
            if let Some(value) = value_of(before, key) {
                header.take(key, value).ok()?;
            }
        }
        // What only names something may have the time 0.
        let mut times = values_of(events, b"ts").map_while(micros::parse);
        let first = times.find(|it| it.nanoseconds != 0)?;
        Some(Self {
            rank: rank.or(header.rank)?,
            begin: header.base.checked_add(first.nanoseconds)?,
        })
    }
}

/// The first value of a key.
fn value_of<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    values_of(text, key).next()
}

/// The values of a key, until there is none.
fn values_of<'a>(text: &'a [u8], key: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let key = [b"\"", key, b"\""].concat();
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = memmem::find(rest, &key)? + key.len();
        rest = rest.get(at..)?;
        value_behind(rest)
    })
}

/// The value behind a key.
fn value_behind(text: &[u8]) -> Option<&[u8]> {
    let at = space(text, 0).ok()?;
    let at = space(text, at + 1)
        .ok()
        .filter(|_| text.get(at) == Some(&b':'))?;
    text.get(at..value_end(text, at).ok()?)
}

/// Takes the files out of others that are other recordings of a rank than those that are taken,
/// each with what it is in words.
pub(crate) fn take_others(
    files: &mut Vec<PathBuf>,
    rank: &dyn Fn(&Path) -> Option<u32>,
) -> io::Result<Vec<(PathBuf, String)>> {
    let found = files.iter().map(|path| Recording::of(path, rank(path)));
    let found = found.collect::<io::Result<Vec<_>>>()?;
    let chosen = chosen(&found);
    let mut others = Vec::new();
    for (path, recording) in files.iter().zip(&found) {
        let taken = recording.and_then(|it| Some((it.rank, chosen.get(&it.rank)?)));
        let Some((rank, begin)) = taken.filter(|it| Some(*it.1) != recording.map(|it| it.begin))
        else {
            continue;
        };
        let is_taken = |it: &Option<Recording>| {
            *it == Some(Recording {
                rank,
                begin: *begin,
            })
        };
        let taken = found.iter().position(is_taken);
        let taken = taken.and_then(|it| files.get(it)?.file_name());
        let taken = printable_path(Path::new(taken.unwrap_or_default()));
        others.push((path.clone(), format!("{OF_RANK}{rank}, as {taken}")));
    }
    let out: BTreeSet<&PathBuf> = others.iter().map(|it| &it.0).collect();
    files.retain(|it| !out.contains(it));
    Ok(others)
}

/// The begin of the recording of each rank that is taken, if a rank has several.
fn chosen(found: &[Option<Recording>]) -> BTreeMap<u32, i64> {
    let mut begins: BTreeMap<u32, BTreeSet<i64>> = BTreeMap::new();
    for recording in found.iter().flatten() {
        begins
            .entry(recording.rank)
            .or_default()
            .insert(recording.begin);
    }
    let fewest = begins.values().min_by_key(|it| it.len());
    let Some(&last) = fewest.and_then(|it| it.last()) else {
        return BTreeMap::new();
    };
    let nearest = |(rank, begins): (&u32, &BTreeSet<i64>)| {
        let nearest = begins.iter().min_by_key(|begin| begin.abs_diff(last))?;
        Some((*rank, *nearest))
    };
    begins.iter().filter_map(nearest).collect()
}

/// Files that are named in one warning.
const NAMED: usize = 8;

/// Says that files were left out for other recordings of a rank or process; nothing if there are
/// none.
pub(crate) fn warning(others: &[(PathBuf, String)]) -> Option<String> {
    let named = others.iter().map(|(path, what)| {
        let name = Path::new(path.file_name().unwrap_or_default());
        format!("{} ({what})", printable_path(name))
    });
    let named = few(named, NAMED)?;
    let is_called_otherwise = |(path, what): &(PathBuf, String)| {
        let called = by_name(path).map(|it| format!("{OF_RANK}{it}, "));
        called.is_some_and(|it| what.starts_with(OF_RANK) && !what.starts_with(&it))
    };
    let way_out = if others.iter().any(is_called_otherwise) {
        "; if ranks are those of their names, --rank-from 'rank[-_=]?(\\d+)' takes these"
    } else {
        ""
    };
    Some(format!(
        "left out, since other recordings of their ranks or processes are taken: {named}; their \
         times are not corrected, give them by themselves for that{way_out}"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_is_given_counts_more_than_that_of_the_file() {
        let text = br#"{"distributedInfo": {"rank": 0}, "traceEvents": [{"ts": 12.5}]}"#;
        let of = |rank: Option<u32>| Recording::in_text(text, rank).unwrap().rank;
        assert_eq!((of(None), of(Some(7))), (0, 7));
    }

    #[test]
    fn rank_and_begin_are_near_the_beginning() {
        let text = br#" { "schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3},
            "baseTimeNanoseconds": 5000, "traceEvents": [
            { "ph": "X", "name": "a", "ts": 12.5, "dur": 1}, {"ts": 11}"#;
        let found = Recording::in_text(text, None).unwrap();
        assert_eq!((found.rank, found.begin), (3, 17_500));
        for without in [
            &b"\"rank\": 3"[..],
            b"\"traceEvents\"",
            b"\"ts\": 12.5, \"dur\": 1}, {\"ts\": 11",
        ] {
            let at = memmem::find(text, without).unwrap();
            let text = [&text[..at], &text[at + without.len()..]].concat();
            assert_eq!(Recording::in_text(&text, None), None);
        }
    }

    #[test]
    fn what_only_names_something_does_not_say_when_a_recording_begins() {
        let text =
            br#"{"distributedInfo": {"rank": 3}, "baseTimeNanoseconds": 5000, "traceEvents": [
            {"ph": "M", "name": "process_name", "ts": 0.000}, {"ph": "M", "ts":0},
            {"ph": "X", "name": "a", "ts": 12.5, "dur": 1}, {"ts": 11}]}"#;
        assert_eq!(Recording::in_text(text, None).unwrap().begin, 17_500);
    }

    #[test]
    fn recordings_of_one_time_are_taken() {
        let of = |all: &[(u32, i64)]| -> Vec<(u32, i64)> {
            let all = all
                .iter()
                .map(|&(rank, begin)| Some(Recording { rank, begin }));
            chosen(&all.collect::<Vec<_>>()).into_iter().collect()
        };
        let all = [(0, 100), (0, 900), (1, 103), (1, 905)];
        assert_eq!(of(&all), [(0, 900), (1, 905)]);
        // One of the second rank is missing.
        assert_eq!(of(&all[..3]), [(0, 100), (1, 103)]);
        assert_eq!(of(&[]), []);
    }
}
