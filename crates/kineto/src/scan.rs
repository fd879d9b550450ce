//! The causality of a run: from calls that belong together to logs.

use std::path::{Path, PathBuf};

use retime_model::format::{Contents, FileError, FormatError, SILENT_RANK, Scan};
use retime_model::{LocationIndex, LocationLog, LogBuilder, OperationPart, Ticks, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::between::{self, Roles, between};
use crate::busy::Busy;
use crate::columns::{Columns, is_event};
use crate::flows::{Arrows, arrows};
use crate::hosts::{Hosts, hosts};
use crate::joined_moments::JoinedMoments;
use crate::matching::{Joined, Matching, Part};
use crate::merged::matched;
use crate::order::{Boundary, Order, Side, boundaries};
use crate::places::Places;
use crate::profile::FileRead;
use crate::silent::silent_ranks;

/// Events that communicate and prove nothing, by what they are and location.
pub(crate) type Unmatched = Vec<(&'static str, Vec<u64>)>;

/// Calls and arrows of a run that belong together.
#[derive(Debug)]
pub(crate) struct Matched {
    matching: Matching,
    /// The arrows that begin or end in each file.
    arrows: Vec<Vec<Joined>>,
    /// Begins and ends of arrows within each file that say what calls say.
    said_again: Vec<Vec<(u32, u32)>>,
    /// The parts of events between host and devices of each file.
    driven: Vec<Roles>,
    /// True if whoever has the files in hands knows such parts.
    pub(crate) are_driven: bool,
}

impl Matched {
    /// Finds the calls that belong together at the times of the files `at`, as they were recorded
    /// in `files`. Arrows are told by names and by their order, which corrections keep.
    pub(crate) fn of(at: &[FileRead], files: &[FileRead], places: &Places) -> Self {
        let mut matching = matched(at);
        let known = JoinedMoments::of(files, places, &matching);
        let Arrows {
            joined: arrows,
            said_again,
            left_out,
        } = arrows(files, places, &known);
        for (file, kind) in left_out {
            matching.leave_out(file, kind);
        }
        let taken = |number: usize| {
            let joined = [&matching.joined, &arrows].map(|it| it.get(number).into_iter().flatten());
            let events = joined.into_iter().flatten().map(|it| it.event);
            events.collect::<FxHashSet<u32>>()
        };
        let driven = files.iter().zip(&places.apart).enumerate();
        let driven = driven.map(|(number, (file, apart))| {
            if apart.is_empty() {
                return Roles::default();
            }
            let taken = taken(number);
            between(number, file, apart, |event| taken.contains(&event))
        });
        let driven = driven.collect();
        Self {
            matching,
            arrows,
            said_again,
            driven,
            are_driven: false,
        }
    }

    /// True if nothing belongs together.
    pub(crate) fn is_empty(&self) -> bool {
        let are_driven = self.are_driven || !self.driven.iter().all(Roles::is_empty);
        self.joined() == 0 && !are_driven
    }

    /// How many calls and ends of arrows belong together.
    pub(crate) fn joined(&self) -> u64 {
        let all = self.matching.joined.iter().chain(&self.arrows);
        all.map(|it| it.len() as u64).sum()
    }

    /// True if the same calls and arrows belong together, and so all that follows from that.
    pub(crate) fn joins_as(&self, other: &Self) -> bool {
        self.matching == other.matching && self.arrows == other.arrows
    }

    /// The parts that events of a file have in what ranks do together.
    pub(crate) fn parts(&self, file: usize) -> impl Iterator<Item = Joined> + '_ {
        let both = [&self.matching.joined, &self.arrows];
        let both = both.map(|it| it.get(file).into_iter().flatten().copied());
        both.into_iter().flatten()
    }

    /// The hosts of files, or the parts of them that have one clock.
    pub(crate) fn hosts(&self, files: &[FileRead], places: &Places) -> Hosts {
        let strangers: Vec<(usize, u32)> = self.matching.of_other_runs().collect();
        hosts(files, &self.matching.joined, &places.apart, &strangers)
    }

    /// The arrows that begin or end in a file.
    pub(crate) fn arrows(&self, file: usize) -> &[Joined] {
        self.arrows.get(file).map_or(&[], |it| it)
    }

    /// The events at which arrows begin and end in a file that say what calls say.
    pub(crate) fn said_again(&self, file: usize) -> &[(u32, u32)] {
        self.said_again.get(file).map_or(&[], |it| it)
    }

    /// The logs of the tracks of each file, by recorded times.
    pub(crate) fn logs(
        &self,
        paths: &[PathBuf],
        files: &[FileRead],
        places: &Places,
    ) -> Result<Vec<Vec<LocationLog>>, FormatError> {
        let none = Roles::default();
        let files = paths.iter().zip(files).enumerate();
        let logs = files.map(|(number, (path, file))| {
            let driven = self.driven.get(number).unwrap_or(&none);
            let first = places.location(number, 0);
            logs_of(path, file, self.parts(number), driven, first)
        });
        logs.collect()
    }

    /// All of the trace, with the logs of the tracks of each file.
    pub(crate) fn scan(
        &self,
        logs: Vec<Vec<LocationLog>>,
        files: &[FileRead],
        places: &Places,
    ) -> Scan {
        let hosts = self.hosts(files, places);
        Scan {
            info: places.info(files, &self.matching.groups, &hosts),
            logs: logs.into_iter().flatten().collect(),
            contents: files.iter().flat_map(contents_of).collect(),
        }
    }

    /// Says why groups of calls could not be told.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.matching.warnings()
    }

    /// Counts the calls that were not matched, for a track of the file: all of a rank have one
    /// clock.
    pub(crate) fn unmatched(&self, files: &[FileRead], places: &Places) -> Unmatched {
        let mut all = Unmatched::new();
        let mut count = |file: usize, track: u32, kind: &'static str, count: u64| {
            let at = all.iter().position(|it| it.0 == kind).unwrap_or_else(|| {
                all.push((kind, vec![0; places.info.locations.len()]));
                all.len() - 1
            });
            let own = places.location(file, track).as_usize();
            if let Some(records) = all.get_mut(at)
                && let Some(records) = records.1.get_mut(own)
            {
                *records += count;
            }
        };
        let of_files = files.iter().enumerate().flat_map(|(file, it)| {
            let unused = it.unused.iter();
            unused.map(move |it| (file, it.track, it.kind, it.events))
        });
        let of_files: Vec<_> = of_files.chain(self.matching.left_out()).collect();
        // In the order of files, whoever counts.
        for number in 0..files.len() {
            for &(file, track, kind, records) in of_files.iter().filter(|it| it.0 == number) {
                count(file, track, kind, records);
            }
        }
        let silent = self.silent(&all, files, places);
        all.extend(silent.map(|it| (SILENT_RANK, it)));
        all
    }

    /// Ranks that neither have a part in anything nor anything that was not matched, by location.
    fn silent(
        &self,
        unmatched: &Unmatched,
        files: &[FileRead],
        places: &Places,
    ) -> Option<Vec<u64>> {
        let mut records: Vec<u64> = vec![0; places.info.locations.len()];
        for counted in unmatched.iter().map(|it| &it.1) {
            for (all, own) in records.iter_mut().zip(counted) {
                *all += own;
            }
        }
        for (number, file) in files.iter().enumerate() {
            let tracks = self.parts(number).map(|it| file.columns.track(it.event));
            for track in tracks.filter(|&it| is_event(it)) {
                let own = places.location(number, track);
                if let Some(records) = records.get_mut(own.as_usize()) {
                    *records += 1;
                }
            }
        }
        let communicates = |it: usize| records.get(it).is_some_and(|it| *it > 0);
        let silent = silent_ranks(files, places, communicates);
        let is_silent = |it: usize| u64::from(silent.contains(&it));
        (!silent.is_empty()).then(|| (0..records.len()).map(is_silent).collect())
    }
}

/// The log of each track of a file, the first of which is a location, given the parts of its events
/// in what ranks do together, and between host and devices.
pub(crate) fn logs_of(
    path: &Path,
    file: &FileRead,
    parts: impl Iterator<Item = Joined>,
    driven: &Roles,
    first: LocationIndex,
) -> Result<Vec<LocationLog>, FormatError> {
    // A kernel that does several messages has two parts: its begin sends, its end receives.
    let (receives, others): (Vec<Joined>, Vec<Joined>) =
        parts.partition(|it| matches!(it.part, Part::Receive(_)));
    let by_event = |all: Vec<Joined>| all.into_iter().map(|it| (it.event, it.part)).collect();
    let (receives, others): (FxHashMap<u32, Part>, FxHashMap<u32, Part>) =
        (by_event(receives), by_event(others));
    let part_of = |boundary: Boundary| {
        let other = others.get(&boundary.entry);
        let receive = receives.get(&boundary.entry);
        match boundary.side {
            Side::End => receive.or(other),
            Side::Begin | Side::Moment => other.or(receive),
        }
    };
    let order = Order::of(&file.columns, file.tracks.len());
    let taking_part = receives.keys().chain(others.keys());
    let busy = Busy::of(file, &order, taking_part.map(|it| file.columns.track(*it)));
    let logs = (0..file.tracks.len()).map(|track| {
        let entries = order.of_track(track);
        let mut log = LogBuilder::new(LocationIndex(first.0 + track as u32));
        if busy.is_known(track as u32) {
            log.knows_work();
        }
        let mut count = 0;
        let mut last = 0;
        for boundary in boundaries(&file.columns, entries) {
            if let Some(part) = part_of(boundary) {
                if take(&mut log, count, boundary, part) {
                    overlaps(&mut log, boundary.entry, &file.columns, &busy);
                }
                let lasted = file.columns.length(boundary.entry);
                let lasted = Ticks(lasted.unwrap_or_default() as i64);
                match (boundary.side, part) {
                    (Side::End, Part::Receive(_) | Part::Collective { cause: None, .. }) => {
                        log.awaited(lasted);
                    }
                    // Who receives meanwhile waits for that.
                    (Side::Begin, Part::Send(_)) if !receives.contains_key(&boundary.entry) => {
                        log.held(lasted);
                    }
                    _ => {}
                }
            } else if let Some(role) = driven.get(&(boundary.entry, boundary.side)) {
                take_driven(&mut log, count, Timestamp(boundary.time), *role);
            }
            last = boundary.time;
            count += 1;
        }
        let first = entries.first().map_or(0, |&it| file.columns.begin(it));
        let log = log.finish(count, Timestamp(first), Timestamp(last));
        log.map_err(|source| FileError::log(path, source).into())
    });
    logs.collect()
}

/// Notes when the device computed while an operation or a message was under way.
fn overlaps(log: &mut LogBuilder, entry: u32, columns: &Columns, busy: &Busy) {
    let begin = columns.begin(entry);
    for (from, to) in busy.within(columns.track(entry), begin, columns.end(entry)) {
        let [since, lasted] = [from - begin, to - from].map(|it| Ticks(it as i64));
        log.overlapped(since, lasted);
    }
}

/// Takes a part of an event; true if that is one with which something begins, a receive, or the end of
/// an operation whose begin is none.
fn take(log: &mut LogBuilder, event: u64, boundary: Boundary, part: &Part) -> bool {
    let time = Timestamp(boundary.time);
    match (boundary.side, *part) {
        (
            side,
            Part::Collective {
                id,
                class,
                rank,
                cause,
                effect,
            },
        ) => {
            let part = |expected| OperationPart {
                id,
                class,
                rank,
                expected,
            };
            // Of what has no length, only one role can be told.
            match (side, cause.map(part), effect.map(part)) {
                (Side::Begin, Some(begin), _) | (Side::Moment, Some(begin), None) => {
                    log.named_begin(event, time, begin);
                    return true;
                }
                (Side::End, begin, Some(end)) | (Side::Moment, begin @ None, Some(end)) => {
                    log.named_end(event, time, end);
                    return begin.is_none();
                }
                _ => {}
            }
        }
        (Side::Begin | Side::Moment, Part::Send(id)) => {
            log.named_send(event, time, id);
            return true;
        }
        (Side::End | Side::Moment, Part::Receive(id)) => {
            log.named_receive(event, time, id);
            return true;
        }
        _ => {}
    }
    false
}

fn take_driven(log: &mut LogBuilder, event: u64, time: Timestamp, role: between::Role) {
    match role {
        between::Role::Cause(id) => log.named_send(event, time, id),
        between::Role::Effect(id) => log.named_receive(event, time, id),
        between::Role::CauseOf(part) => log.named_begin(event, time, part),
        between::Role::EffectOf(part) => log.named_end(event, time, part),
    }
}

/// The content of the tracks of a file besides times: their events, counted by type.
pub(crate) fn contents_of(file: &FileRead) -> impl Iterator<Item = Contents> + '_ {
    file.tracks.iter().map(|track| {
        let kinds = track
            .kinds
            .iter()
            .map(|&(kind, count)| (kind.into(), count));
        let mut kinds: Vec<(u32, u64)> = kinds.collect();
        kinds.sort_unstable();
        Contents {
            kinds,
            rest: file.rest.to_vec(),
        }
    })
}
