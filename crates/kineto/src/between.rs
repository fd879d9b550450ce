//! Proofs that a host and a device with a [clock of its own](crate::apart) give about each other.
//!
//! | cause | effect | known by |
//! |---|---|---|
//! | begin of a call that launches | begin of the first of its kernels on each stream | the number that both have ("correlation") |
//! | begin of a copy by `cudaMemcpy` | begin of the copy | the same |
//! | end of a copy to the host | end of its `cudaMemcpy` | the same; "the function returns only once the copy has completed" |
//! | end of the last kernel on each stream whose launch had returned before | end of `cudaDeviceSynchronize` | "blocks until the device has completed all preceding requested tasks"; it is the device on which its thread launched kernels before, if its process has only one |
//!
//! Other calls that wait do not say for which stream or event. A kernel that takes part in an
//! operation of ranks stands for that already, as an event has one part; in its stead arrives
//! the arrow from its launch, which ends when it begins.
//!
//! Sources: CUDA Runtime API, sections API synchronization behavior and Device Management; HIP
//! has the same calls. Kineto writes what CUPTI numbers, `output_json.cpp`.

use std::collections::BTreeMap;

use retime_model::{Class, MessageId, OperationId, OperationPart};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::apart::Apart;
use crate::columns::Columns;
use crate::order::{Order, Side};
use crate::profile::FileRead;

/// The space in which dependencies of the first file are numbered: none that groups have, nor
/// arrows; those of others follow.
const SPACE: u64 = (u32::from_be_bytes(*b"ACCL") as u64) << u32::BITS;

/// The part of one end of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Cause(MessageId),
    Effect(MessageId),
    CauseOf(OperationPart),
    EffectOf(OperationPart),
}

/// The parts that ends of the events of a file have.
pub(crate) type Roles = FxHashMap<(u32, Side), Role>;

/// An end of an event.
type End = (u32, Side);

/// The dependencies between the host and the devices of a file, whose number among files this
/// is; events that are taken have a part already.
pub(crate) fn between(
    number: usize,
    file: &FileRead,
    apart: &Apart,
    is_taken: impl Fn(u32) -> bool,
) -> Roles {
    let mut found = Between {
        file,
        apart,
        is_taken,
        space: SPACE | number as u64,
        next: 0,
        roles: Roles::default(),
    };
    if !apart.is_empty() {
        found.launches();
        found.copies();
        found.waits();
    }
    found.roles
}

struct Between<'a, T> {
    file: &'a FileRead,
    apart: &'a Apart,
    is_taken: T,
    space: u64,
    /// The number of the next dependency.
    next: u64,
    roles: Roles,
}

impl<T: Fn(u32) -> bool> Between<'_, T> {
    fn columns(&self) -> &Columns {
        &self.file.columns
    }

    fn begin(&self, event: u32) -> End {
        let lasts = self.columns().length(event).is_some();
        (event, if lasts { Side::Begin } else { Side::Moment })
    }

    fn end(&self, event: u32) -> End {
        let lasts = self.columns().length(event).is_some();
        (event, if lasts { Side::End } else { Side::Moment })
    }

    fn is_free(&self, end: End) -> bool {
        !(self.is_taken)(end.0) && !self.roles.contains_key(&end)
    }

    /// Pairs of calls and what they started on devices with clocks of their own.
    fn on_devices(&self, pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let is_on = |it: &&(u32, u32)| self.apart.device(self.columns().track(it.1)).is_some();
        pairs.iter().filter(is_on).copied().collect()
    }

    fn launches(&mut self) {
        let mut started: BTreeMap<u32, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
        for (launch, kernel) in self.on_devices(&self.file.driven.kernels) {
            let of_launch = started.entry(launch).or_default();
            let track = self.columns().track(kernel);
            of_launch.entry(track).or_default().push(kernel);
        }
        let has_taken = started.values().flatten();
        let has_taken = has_taken.flat_map(|it| it.1).any(|&it| (self.is_taken)(it));
        let order = has_taken.then(|| Order::of(self.columns(), self.file.tracks.len()));
        for (launch, streams) in started {
            let first = streams.into_iter().filter_map(|(track, mut kernels)| {
                kernels.sort_unstable_by_key(|&it| (self.columns().begin(it), it));
                let shown = |kernel: u32| {
                    let own = self.begin(kernel);
                    if self.is_free(own) {
                        return Some(own);
                    }
                    self.arrow(order.as_ref()?.of_track(track as usize), kernel)
                };
                kernels.into_iter().find_map(shown)
            });
            let first: Vec<End> = first.collect();
            self.add(&[self.begin(launch)], &first);
        }
    }

    /// The end of an arrow that arrives where a kernel begins.
    fn arrow(&self, entries: &[u32], kernel: u32) -> Option<End> {
        let begin = self.columns().begin(kernel);
        let from = entries.partition_point(|&it| self.columns().begin(it) < begin);
        let there = entries.get(from..)?.iter();
        let mut there = there.take_while(|it| self.columns().begin(**it) == begin);
        let is_arrow = |it: &&u32| self.columns().length(**it).is_none();
        let arrow = self.begin(*there.find(is_arrow)?);
        self.is_free(arrow).then_some(arrow)
    }

    fn copies(&mut self) {
        for (call, copy) in self.on_devices(&self.file.driven.copies) {
            self.add(&[self.begin(call)], &[self.begin(copy)]);
            self.add(&[self.end(copy)], &[self.end(call)]);
        }
    }

    /// Calls that wait for all that their device has been asked for.
    fn waits(&mut self) {
        let columns = self.columns();
        let mut waits = self.file.driven.waits.clone();
        waits.sort_unstable_by_key(|&it| (columns.begin(it), it));
        let mut launched = self.on_devices(&self.file.driven.kernels);
        launched.sort_unstable_by_key(|&it| (columns.end(it.0), it));
        let mut launched = launched.into_iter().peekable();
        // The last kernel of each stream that no call has waited for yet, and who launched any.
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        let mut launching: FxHashSet<u32> = FxHashSet::default();
        for wait in waits {
            let columns = self.columns();
            let asked = columns.begin(wait);
            while let Some((launch, kernel)) = launched.next_if(|it| columns.end(it.0) <= asked) {
                launching.insert(columns.track(launch));
                if self.is_free(self.end(kernel)) {
                    let last = last.entry(columns.track(kernel)).or_insert(kernel);
                    if columns.end(kernel) >= columns.end(*last) {
                        *last = kernel;
                    }
                }
            }
            let Some(device) = self.only_device(wait) else {
                continue;
            };
            if !launching.contains(&columns.track(wait)) {
                continue;
            }
            let own = last
                .iter()
                .filter(|it| self.apart.device(*it.0) == Some(device));
            let own: Vec<u32> = own.map(|it| *it.0).collect();
            let ended = own.into_iter().filter_map(|track| last.remove(&track));
            let ended: Vec<End> = ended.map(|it| self.end(it)).collect();
            self.add(&ended, &[self.end(wait)]);
        }
    }

    /// The device that a call waits for, if its process drives one alone.
    fn only_device(&self, wait: u32) -> Option<u32> {
        let track = |number: u32| self.file.tracks.get(number as usize);
        let own = track(self.columns().track(wait))?;
        let is_beside = |it: u32| {
            let it = track(it);
            it.is_some_and(|it| it.machine == own.machine && it.label == own.label)
        };
        let hosts = (0..).zip(self.apart.hosts());
        let mut driven = hosts.filter(|it| is_beside(*it.1));
        let (device, &host) = driven.next()?;
        let all = 0..self.file.tracks.len() as u32;
        let is_device = |it: &u32| track(*it).is_some_and(|it| it.is_device);
        let mut devices = all.filter(is_device).filter(|it| is_beside(*it));
        let is_alone =
            driven.next().is_none() && devices.all(|it| self.apart.device(it) == Some(device));
        let is_its_host = track(host).is_some_and(|it| it.pid == own.pid);
        (is_alone && is_its_host).then_some(device)
    }

    /// Adds a dependency of all these effects on all these causes, as far as they are free.
    fn add(&mut self, causes: &[End], effects: &[End]) {
        let free = |ends: &[End]| {
            let free = ends.iter().copied().filter(|it| self.is_free(*it));
            free.collect::<Vec<End>>()
        };
        let (causes, effects) = (free(causes), free(effects));
        let (space, number) = (self.space, self.next);
        match (&causes[..], &effects[..]) {
            ([], _) | (_, []) => return,
            (&[cause], &[effect]) => {
                let id = MessageId { space, number };
                self.roles.insert(cause, Role::Cause(id));
                self.roles.insert(effect, Role::Effect(id));
            }
            _ => {
                let class = if causes.len() > 1 {
                    Class::AllToOne
                } else {
                    Class::OneToAll
                };
                let part = |expected: usize| OperationPart {
                    id: OperationId { space, number },
                    class,
                    rank: 0,
                    expected: expected as u32,
                };
                for &cause in &causes {
                    self.roles.insert(cause, Role::CauseOf(part(causes.len())));
                }
                for &effect in &effects {
                    self.roles
                        .insert(effect, Role::EffectOf(part(effects.len())));
                }
            }
        }
        self.next += 1;
    }
}
