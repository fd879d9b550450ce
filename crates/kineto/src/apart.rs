//! Devices that read clocks of their own.
//!
//! Profilers convert the stamps of devices to the clock of the host, so a file is taken to have
//! one clock. No device begins what nobody has asked for yet: where a kernel begins before the
//! call that launched it, the conversion has failed, and the two are [clocks](early) that differ.
//!
//! ```text
//! launch 41246     on a thread of process 2191     begins at 1000 us
//! kernel 41246     on stream 7 of device 3         begins at  988 us
//!                  --> all streams of device 3 read another clock than process 2191
//! ```
//!
//! Then such a device is a process that its host has made, on the same node, with a clock of its
//! own. So is every other device of the run, since one profiler has converted them all: those that
//! contradict nothing are left with their host by whoever groups clocks. Where no kernel is early, or all
//! that are of one moment, at which the clock was set back, nothing says that there is a second clock, and
//! there is none.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::profile::{FileRead, Track};

/// The devices of a file that read clocks of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Apart {
    /// The device that each track is of, if that is one of these; empty if there are none.
    of_track: Vec<Option<u32>>,
    /// A track of the host that drives each of them.
    hosts: Vec<u32>,
}

/// The machine, rank and process that streams of one device have in common.
pub(crate) type Device<'a> = (Option<u32>, Option<&'a str>, &'a str);

impl Apart {
    /// The devices apart of each file, given all devices that calls drive in it.
    pub(crate) fn of_files(files: &[FileRead], driven: impl Fn(usize) -> Self) -> Vec<Self> {
        if files.iter().any(|it| it.early().shows_two_clocks()) {
            (0..files.len()).map(driven).collect()
        } else {
            vec![Self::default(); files.len()]
        }
    }

    /// All devices of a file that calls drive.
    pub(crate) fn of(file: &FileRead) -> Self {
        let driven = &file.driven.kernels;
        let track = |event: u32| file.columns.track(event);
        // Tracks that start kernels, too, are of no device, whatever they are called.
        let starting: FxHashSet<u32> = driven.iter().map(|it| track(it.0)).collect();
        let device = |number: u32| {
            let it = file.tracks.get(number as usize)?;
            (it.is_device && !starting.contains(&number)).then(|| device_of(it))
        };
        let mut numbers: FxHashMap<Device<'_>, u32> = FxHashMap::default();
        let mut hosts = Vec::new();
        for &(launch, kernel) in driven {
            let Some(device) = device(track(kernel)) else {
                continue;
            };
            numbers.entry(device).or_insert_with(|| {
                hosts.push(track(launch));
                hosts.len() as u32 - 1
            });
        }
        if hosts.is_empty() {
            return Self::default();
        }
        let all = 0..file.tracks.len() as u32;
        let number = |it: u32| numbers.get(&device(it)?).copied();
        Self {
            of_track: all.map(number).collect(),
            hosts,
        }
    }

    /// The device that a track is of, if it has a clock of its own.
    pub(crate) fn device(&self, track: u32) -> Option<u32> {
        self.of_track.get(track as usize).copied().flatten()
    }

    /// A track of the host of each of them.
    pub(crate) fn hosts(&self) -> &[u32] {
        &self.hosts
    }

    /// True if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

pub(crate) fn device_of(track: &Track) -> Device<'_> {
    (track.machine, track.label.as_deref(), &track.pid)
}
