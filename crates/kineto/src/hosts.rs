//! Which ranks of a host read one clock.
//!
//! Processes of one host have its clock, and what is known of one is known of all. But a name
//! is no proof: containers and virtual machines can share one, with clocks of their own. So
//! ranks of one name are taken for one host only if, for all operations that any two of them share,
//!
//! ```text
//! begin of either <= end of the other      by the times as recorded
//! ```
//!
//! where one has to wait for the other. A call that ends when it begins is left out: its clock was set
//! back meanwhile, as that of all others of the host. Where that fails once, the name joins ranks whose clocks
//! differ, and none of them is joined by it any more: they are divided as far as
//! [other evidence](crate::one_name) goes. A file of another run was recorded at another time, between which and
//! this one clocks may have been set, so it is on its own. What a
//! [device with a clock of its own](crate::apart) does tells nothing of the host. Where no rank says
//! its host, each is on its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use retime_model::printable_path;

use crate::apart::Apart;
use crate::few::few;
use crate::header::Header;
use crate::matching::{Joined, Part};
use crate::one_name::Rooms;
use crate::profile::{FileRead, Track};

/// The names of the hosts that files are from, or of parts of them.
#[derive(Debug)]
pub(crate) struct Hosts {
    units: Units,
    names: Vec<Option<String>>,
}

impl Hosts {
    /// The host of a track of a file, if it is said.
    pub(crate) fn of_track(&self, file: usize, track: u32) -> Option<&str> {
        let unit = self.units.of_track(file, track)?;
        self.names.get(unit)?.as_deref()
    }
}

/// Warns of files of several ranks none of which says its host; `None` if there is no such file.
pub(crate) fn warning<'a>(files: impl Iterator<Item = (&'a Path, &'a FileRead)>) -> Option<String> {
    let hosts = |file: &FileRead| {
        let headers = file.of_ranks.values().chain(file.of_processes.values());
        headers.filter(|it| it.host.is_some()).count()
    };
    let hostless = files.filter(|(_, file)| file.is_merged() && hosts(file) == 0);
    let name =
        |(path, _): (&Path, _)| printable_path(Path::new(path.file_name().unwrap_or_default()));
    let names: Vec<String> = hostless.map(name).collect();
    let named = few(names.into_iter(), NAMED)?;
    Some(format!(
        "nothing says on which host a rank in {named} ran, so each has a clock of its own, also where \
         several read one; newer profilers write it into the file of each rank, and retime merge keeps it"
    ))
}

/// Files that are named in one warning.
const NAMED: usize = 4;

/// The parts of files that have a header: a file, or a rank or a process in one of several.
#[derive(Debug)]
struct Units {
    /// The unit of each track, by file; a single one if all are of it.
    of_tracks: Vec<Vec<usize>>,
}

impl Units {
    /// The units of files, and their headers.
    fn of(files: &[FileRead]) -> (Self, Vec<&Header>) {
        let mut headers: Vec<&Header> = Vec::new();
        let mut of_tracks = Vec::with_capacity(files.len());
        for file in files {
            let next = headers.len();
            headers.push(&file.header);
            let is_one = file.of_ranks.is_empty() && file.of_processes.is_empty();
            if is_one || !file.is_merged() {
                of_tracks.push(vec![next]);
                continue;
            }
            let units: BTreeMap<&str, usize> = (next + 1..)
                .zip(&file.of_ranks)
                .map(|(unit, (label, _))| (&**label, unit))
                .collect();
            headers.extend(file.of_ranks.values());
            let processes: BTreeMap<&str, usize> = (headers.len()..)
                .zip(&file.of_processes)
                .map(|(unit, (pid, _))| (&**pid, unit))
                .collect();
            headers.extend(file.of_processes.values());
            let of_track = |it: &Track| {
                let unit = match it.label.as_deref() {
                    Some(label) => units.get(label),
                    None => processes.get(&*it.pid),
                };
                unit.copied().unwrap_or(next)
            };
            of_tracks.push(file.tracks.iter().map(of_track).collect());
        }
        (Self { of_tracks }, headers)
    }

    fn of_track(&self, file: usize, track: u32) -> Option<usize> {
        let of_tracks = self.of_tracks.get(file)?;
        match of_tracks.as_slice() {
            [all] => Some(*all),
            each => each.get(track as usize).copied(),
        }
    }
}

/// The hosts of files, or of parts of them, of which some share nothing with most: a file each, and a track there.
pub(crate) fn hosts(
    files: &[FileRead],
    joined: &[Vec<Joined>],
    devices: &[Apart],
    strangers: &[(usize, u32)],
) -> Hosts {
    let (units, headers) = Units::of(files);
    let operations = operations(files, &units, joined, devices);
    let mut names: Vec<Option<String>> = headers.iter().map(|it| it.host.clone()).collect();
    for host in contradicted(&headers, &operations) {
        let all = headers.iter().enumerate();
        let own = all.filter(|it| it.1.host.as_deref() == Some(host));
        let mut own: Vec<(Option<u32>, usize)> = own.map(|(unit, it)| (it.rank, unit)).collect();
        own.sort_unstable();
        // Files without a rank have no order.
        let is_ordered = own.iter().all(|it| it.0.is_some());
        let own: Vec<usize> = own.into_iter().map(|it| it.1).collect();
        let run = if is_ordered {
            rooms(&own, &operations).run()
        } else {
            1
        };
        for (place, unit) in own.into_iter().enumerate().filter(|it| it.0 >= run) {
            if let Some(name) = names.get_mut(unit) {
                *name = Some(format!("{host} (clock {})", place / run + 1));
            }
        }
    }
    for &(file, track) in strangers {
        let unit = units.of_track(file, track);
        let header = unit.and_then(|it| headers.get(it));
        let name = unit.and_then(|it| names.get_mut(it));
        if let Some((header, name)) = header.zip(name) {
            let whose = header
                .rank
                .map_or_else(|| format!("file {file}"), |it| format!("rank {it}"));
            *name = name.take().map(|host| format!("{host} ({whose})"));
        }
    }
    Hosts { units, names }
}

/// The rooms between files of one host.
fn rooms(own: &[usize], operations: &[Vec<Taken>]) -> Rooms {
    let place: BTreeMap<usize, usize> = own.iter().copied().zip(0..).collect();
    let mut rooms = Rooms::new(own.len());
    for calls in operations {
        let calls = calls
            .iter()
            .filter_map(|it| Some((*place.get(&it.unit)?, it)));
        let calls: Vec<(usize, &Taken)> = calls.collect();
        for &(from, a) in &calls {
            for &(to, b) in calls.iter().filter(|it| it.0 != from) {
                if let Some((begin, end)) = a.cause.zip(b.effect) {
                    rooms.take(from, to, (end as i64).saturating_sub(begin as i64));
                }
            }
        }
    }
    rooms
}

/// A call of an operation.
#[derive(Clone, Copy)]
struct Taken {
    unit: usize,
    /// When it began, if others wait for that,
    cause: Option<u64>,
    /// and when it ended, if it waited for others.
    effect: Option<u64>,
}

/// The calls of each operation, without those of devices that have clocks of their own.
fn operations(
    files: &[FileRead],
    units: &Units,
    joined: &[Vec<Joined>],
    devices: &[Apart],
) -> Vec<Vec<Taken>> {
    let mut operations: BTreeMap<(u64, u64, bool), Vec<Taken>> = BTreeMap::new();
    for (file, ((it, joined), devices)) in files.iter().zip(joined).zip(devices).enumerate() {
        let is_of_host = |call: &&Joined| devices.device(it.columns.track(call.event)).is_none();
        for call in joined.iter().filter(is_of_host) {
            let Some(unit) = units.of_track(file, it.columns.track(call.event)) else {
                continue;
            };
            let (begin, end) = (it.columns.begin(call.event), it.columns.end(call.event));
            if begin == end {
                continue;
            }
            let (key, cause, effect) = match call.part {
                Part::Collective {
                    id, cause, effect, ..
                } => (
                    (id.space, id.number, false),
                    cause.map(|_| begin),
                    effect.map(|_| end),
                ),
                Part::Send(id) => ((id.space, id.number, true), Some(begin), None),
                Part::Receive(id) => ((id.space, id.number, true), None, Some(end)),
            };
            operations.entry(key).or_default().push(Taken {
                unit,
                cause,
                effect,
            });
        }
    }
    operations.into_values().collect()
}

/// The names under which units have a dependency reversed between them.
fn contradicted<'a>(headers: &[&'a Header], operations: &[Vec<Taken>]) -> BTreeSet<&'a str> {
    let host = |unit: usize| headers.get(unit)?.host.as_deref();
    let mut found = BTreeSet::new();
    for calls in operations {
        for (at, a) in calls.iter().enumerate() {
            for b in calls.iter().skip(at + 1) {
                let reversed = |cause: &Taken, effect: &Taken| {
                    cause
                        .cause
                        .zip(effect.effect)
                        .is_some_and(|(begin, end)| begin > end)
                };
                if a.unit != b.unit
                    && host(a.unit) == host(b.unit)
                    && (reversed(a, b) || reversed(b, a))
                {
                    found.extend(host(a.unit));
                }
            }
        }
    }
    found
}
