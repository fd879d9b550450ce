//! Who is in a run: a location for each track of each file, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use retime_model::{
    ClockSetBack, Communicator, Location, LocationIndex, Members, Process, TickRate, Timestamp,
    TraceInfo, printable_path,
};

use crate::apart::Apart;
use crate::call::On;
use crate::columns::is_event;
use crate::error::KinetoError;
use crate::few::few;
use crate::header::Header;
use crate::hosts::Hosts;
use crate::matching::Group;
use crate::merged::{SetBackThere, set_back};
use crate::profile::{FileRead, Track};

/// The machine and the name that tracks of one process have in common, and the device if that
/// has a clock of its own.
type Owner<'a> = (Option<u32>, Option<&'a str>, Option<u32>);

/// The locations of a run.
#[derive(Debug)]
pub(crate) struct Places {
    /// Without hosts.
    pub(crate) info: TraceInfo,
    /// The first location of each file, and their number.
    pub(crate) starts: Vec<u32>,
    /// The devices of each file that have clocks of their own.
    pub(crate) apart: Vec<Apart>,
}

impl Places {
    pub(crate) fn of(paths: &[PathBuf], files: &[FileRead], apart: Vec<Apart>) -> Self {
        let mut places = Self {
            info: TraceInfo {
                rate: TickRate::NANOSECONDS,
                locations: Vec::new(),
                processes: Vec::new(),
                nodes: Vec::new(),
                communicators: Vec::new(),
                streams: Vec::new(),
                set_back: Vec::new(),
            },
            starts: vec![0],
            apart: Vec::new(),
        };
        for ((path, file), apart) in paths.iter().zip(files).zip(&apart) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stem = if paths.len() > 1 { &*name } else { "" };
            places.file(file, apart, stem);
        }
        places.apart = apart;
        places
    }

    /// The tracks of a file. A rank is one process, whatever it calls its devices; another
    /// file can be of several processes, or of several ranks. A device with a clock of its own is
    /// one that its host has made.
    fn file(&mut self, file: &FileRead, apart: &Apart, stem: &str) {
        let mut process_of: BTreeMap<Owner<'_>, usize> = BTreeMap::new();
        let mut first_of: BTreeMap<Owner<'_>, u32> = BTreeMap::new();
        let start = self.info.locations.len();
        let is_merged = file.is_merged();
        for (number, track) in (0..).zip(&file.tracks) {
            let device = apart.device(number);
            let label = track.label.as_deref().filter(|_| is_merged);
            let is_rank = file.header.rank.is_some() || label.is_some();
            let owner = file.header.rank.is_none();
            let owner = owner.then_some(label.unwrap_or(&track.pid));
            let next = self.info.processes.len();
            let index = self.info.locations.len() as u32;
            let process = *process_of
                .entry((track.machine, owner, device))
                .or_insert(next);
            let first = *first_of
                .entry((track.machine, owner, None))
                .or_insert(index);
            if process == next {
                let rank = match (file.header.rank, label) {
                    (Some(rank), _) => Some(format!("rank {rank}")),
                    (None, label) => label.map(|it| format!("rank {it}")),
                };
                let name = match (rank, device) {
                    (Some(rank), None) => rank,
                    (Some(rank), Some(_)) => format!("{rank} {}", device_name(file, track)),
                    (None, _) => process_name(file, track, stem),
                };
                self.info.processes.push(Process {
                    name,
                    node: None,
                    creator: None,
                });
            }
            self.info.locations.push(Location {
                id: index.into(),
                name: track_name(file, track),
                process,
                // The tracks of a rank communicate as one.
                endpoint: LocationIndex(if is_rank { first } else { index }),
            });
        }
        for (device, &host) in (0..).zip(apart.hosts()) {
            let creator = self.info.locations.get(start + host as usize);
            let creator = creator.map(|it| it.process);
            let made = process_of
                .iter()
                .filter(|(owner, _)| owner.2 == Some(device));
            for (_, &process) in made {
                if let Some(process) = self.info.processes.get_mut(process) {
                    process.creator = creator;
                }
            }
        }
        self.starts.push(self.info.locations.len() as u32);
    }

    /// Describes the trace, with the host of each file and the groups of ranks.
    pub(crate) fn info(&self, files: &[FileRead], groups: &[Group], hosts: &Hosts) -> TraceInfo {
        let mut info = self.info.clone();
        let first_of = self.first_of_ranks(files);
        let location_of = |rank: &u32| first_of.get(rank).copied();
        info.communicators = groups
            .iter()
            .map(|group| Communicator {
                name: format!("process group {}", group.name),
                members: Members::Ranks(group.ranks.iter().filter_map(location_of).collect()),
            })
            .collect();
        info.streams = self.streams(files);
        info.set_back = self.set_back(files);
        for (number, file) in files.iter().enumerate() {
            let tracks = (0..).zip(&file.tracks);
            for (location, (at, track)) in self.of_file(number).zip(tracks) {
                let Some(host) = hosts.of_track(number, at) else {
                    continue;
                };
                let name = match track.machine {
                    Some(machine @ 1..) => format!("{host}, machine {machine}"),
                    _ => host.to_owned(),
                };
                let known = info.nodes.iter().position(|it| *it == name);
                let node = known.unwrap_or_else(|| {
                    info.nodes.push(name);
                    info.nodes.len() - 1
                });
                let process = info.locations.get(location).map(|it| it.process);
                if let Some(process) = process.and_then(|it| info.processes.get_mut(it)) {
                    process.node = Some(node);
                }
            }
        }
        info
    }

    /// The first location of each rank.
    fn first_of_ranks(&self, files: &[FileRead]) -> BTreeMap<u32, LocationIndex> {
        let mut first_of = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            let is_merged = file.is_merged();
            for (at, track) in (0..).zip(&file.tracks) {
                let label = track.label.as_deref().filter(|_| is_merged);
                let rank = file.header.rank.or_else(|| label?.parse().ok());
                if let Some(rank) = rank {
                    first_of
                        .entry(rank)
                        .or_insert_with(|| self.location(number, at));
                }
            }
        }
        first_of
    }

    /// The streams of devices whose kernels are calls. What XLA does on a processor, in the process
    /// `/host:CPU`, its threads do.
    fn streams(&self, files: &[FileRead]) -> Vec<LocationIndex> {
        let of_file = |(number, file): (usize, &FileRead)| {
            let is_of_host = |track: &u32| {
                let track = file.tracks.get(*track as usize);
                let name = track.and_then(|it| file.process_names.get(&it.pid));
                name.is_some_and(|it| it.starts_with("/host:"))
            };
            let calls = file.calls.iter().filter(|it| it.on != On::Thread);
            let tracks = calls.filter_map(|it| file.columns.tracks.get(it.event as usize).copied());
            let tracks = tracks.filter(|&track| is_event(track));
            let tracks: BTreeSet<u32> = tracks.filter(|it| !is_of_host(it)).collect();
            let places = tracks.into_iter().map(|track| self.location(number, track));
            places.collect::<Vec<_>>()
        };
        files.iter().enumerate().flat_map(of_file).collect()
    }

    /// The clocks that were set back, those of hosts for each of their ranks.
    fn set_back(&self, files: &[FileRead]) -> Vec<ClockSetBack> {
        let processes = |it: &SetBackThere| -> BTreeSet<usize> {
            let of_rank = self.location(it.file, it.track).as_usize();
            let of_several = files.get(it.file).is_some_and(FileRead::is_merged);
            let all = self.of_file(it.file);
            let own = all.filter(|own| !of_several || *own == of_rank);
            own.filter_map(|own| Some(self.info.locations.get(own)?.process))
                .collect()
        };
        let set_back = set_back(files).into_iter().flat_map(|it| {
            let of_process = move |process| ClockSetBack {
                process,
                from: Timestamp(it.stamps.from),
                to: Timestamp(it.stamps.to),
            };
            processes(&it).into_iter().map(of_process)
        });
        set_back.collect()
    }

    /// The location of a track of a file.
    pub(crate) fn location(&self, file: usize, track: u32) -> LocationIndex {
        LocationIndex(self.starts.get(file).copied().unwrap_or_default() + track)
    }

    /// The file and the track that a location is.
    pub(crate) fn track(&self, location: LocationIndex) -> (usize, u32) {
        let file = self.starts.partition_point(|it| *it <= location.0);
        let file = file.saturating_sub(1);
        let first = self.starts.get(file).copied().unwrap_or_default();
        (file, location.0.saturating_sub(first))
    }

    /// The locations of a file.
    pub(crate) fn of_file(&self, file: usize) -> std::ops::Range<usize> {
        let at = |it: usize| self.starts.get(it).copied().unwrap_or_default() as usize;
        at(file)..at(file + 1)
    }
}

fn process_name(file: &FileRead, track: &Track, stem: &str) -> String {
    let given = file.process_names.get(&track.pid);
    let name = given.map_or_else(|| format!("process {}", track.pid), Clone::clone);
    if stem.is_empty() {
        name
    } else {
        format!("{stem}: {name}")
    }
}

/// The name of a device among those of its rank.
fn device_name(file: &FileRead, track: &Track) -> String {
    if is_numbered(track) {
        return format!("device {}", track.pid);
    }
    let given = file.process_names.get(&track.pid);
    given.map_or_else(|| format!("device {}", track.pid), Clone::clone)
}

/// True if a track is of a device by its number: they are numbered from 0, and a process has a
/// larger number.
fn is_numbered(track: &Track) -> bool {
    track.pid.parse().is_ok_and(|it: u32| it < 256)
}

fn track_name(file: &FileRead, track: &Track) -> String {
    let key = (track.pid.clone(), track.tid.clone());
    match file.thread_names.get(&key) {
        Some(name) => name.clone(),
        None if file.header.rank.is_some() && is_numbered(track) => {
            format!("device {} stream {}", track.pid, track.tid)
        }
        None if track.tid.is_empty() => "track without a name".to_owned(),
        None => format!("track {}", track.tid),
    }
}

/// Refuses files that cannot be of one run.
pub(crate) fn one_run(paths: &[PathBuf], files: &[FileRead]) -> Result<(), KinetoError> {
    let mut of_rank: BTreeMap<String, &PathBuf> = BTreeMap::new();
    let mut world: Option<(u32, &PathBuf)> = None;
    for (path, file) in paths.iter().zip(files) {
        let refused = |what: String| KinetoError::NotOneRun {
            path: path.clone(),
            what,
        };
        let tracks: &[Track] = if file.is_merged() { &file.tracks } else { &[] };
        for label in tracks.iter().filter_map(|it| it.label.as_ref()) {
            let other = *of_rank.entry(label.clone()).or_insert(path);
            if other != path {
                return Err(refused(format!(
                    "has events of rank {label}, as {} has; give the files of one job",
                    printable_path(other)
                )));
            }
        }
        if let Some(rank) = file.header.rank
            && let Some(other) = of_rank.insert(rank.to_string(), path)
            && other != path
        {
            return Err(refused(format!(
                "is a file of rank {rank}, as {} is; give one file of each rank, all of one \
                 recording",
                printable_path(other)
            )));
        }
        let Some(size) = world_size(file) else {
            continue;
        };
        match world {
            Some((other, first)) if other != size => {
                return Err(refused(format!(
                    "is of a job with {size} ranks, and {} of one with {other}; give the files of \
                     one job",
                    printable_path(first)
                )));
            }
            _ => world = Some((size, path)),
        }
    }
    Ok(())
}

/// The number of ranks that a file gives its job; profiles of several jobs in one file give none.
fn world_size(file: &FileRead) -> Option<u32> {
    let headers = std::iter::once(&file.header).chain(file.of_ranks.values());
    let mut sizes = headers.filter_map(|it| it.world_size);
    let first = sizes.next()?;
    sizes.all(|it| it == first).then_some(first)
}

/// Files that are named in one warning.
const NAMED: usize = 8;

/// Says that files were left out which one could take for traces; nothing if there are none.
pub(crate) fn left_out(others: &[(PathBuf, String)]) -> Option<String> {
    let named = others.iter().map(|(path, why)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name} ({why})")
    });
    let named = few(named, NAMED)?;
    Some(format!(
        "left out, since called like a profile but none: {named}"
    ))
}

/// Warns that ranks of a job of so many have no file; nothing if all are there.
#[must_use]
pub fn missing_ranks(size: u32, there: &BTreeSet<u32>) -> Option<String> {
    // The number is only what a file says: there may be far fewer files than that.
    let missing = size - there.range(..size).count() as u32;
    if missing == 0 {
        return None;
    }
    let absent = (0..size).filter(|rank| !there.contains(rank));
    let shown: Vec<String> = absent.take(NAMED).map(|it| it.to_string()).collect();
    let more = if missing as usize > shown.len() {
        ", ..."
    } else {
        ""
    };
    let have = if missing == 1 { "has" } else { "have" };
    Some(format!(
        "the job has {size} ranks, and {missing} of them {have} {NO_FILE}{}{more}",
        shown.join(", ")
    ))
}

/// True if a warning is that of [`missing_ranks`].
#[must_use]
pub fn is_of_missing_ranks(warning: &str) -> bool {
    warning.starts_with("the job has ") && warning.contains(NO_FILE)
}

const NO_FILE: &str = "no file here: ";

/// Warnings on a run of which something is missing, or different from what one would expect.
pub(crate) fn warnings(paths: &[PathBuf], files: &[FileRead]) -> Vec<String> {
    let mut warnings = Vec::new();
    let of_ranks = files.iter().filter(|it| it.is_merged());
    let of_ranks = of_ranks.flat_map(|it| it.of_ranks.values());
    let headers: Vec<&Header> = files.iter().map(|it| &it.header).chain(of_ranks).collect();
    let Some(size) = headers.iter().find_map(|it| it.world_size) else {
        return warnings;
    };
    let there: BTreeSet<u32> = headers.iter().filter_map(|it| it.rank).collect();
    warnings.extend(missing_ranks(size, &there));
    let is_of_none = |it: &FileRead| it.header.rank.is_none() && it.of_ranks.is_empty();
    let without = paths.iter().zip(files).filter(|it| is_of_none(it.1));
    let name = |(path, _): (&PathBuf, &FileRead)| {
        printable_path(Path::new(path.file_name().unwrap_or_default()))
    };
    let without: Vec<String> = without.map(name).collect();
    if let Some(named) = few(without.into_iter(), NAMED) {
        warnings.push(format!(
            "no rank is said among files of a job by {named}: what is in it counts as further \
             processes; --rank-from takes ranks from paths"
        ));
    }
    warnings
}
