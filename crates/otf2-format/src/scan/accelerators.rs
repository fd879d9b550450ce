//! Proofs that the streams of accelerators give about their hosts.
//!
//! A host launches kernels and starts copies of memory; streams carry them out, each
//! one after the other. So a kernel does not begin before the call that launched it was
//! entered, and a call that waits for a device is not left before the kernels have
//! ended that were launched before it. No record says which call launched which kernel.
//! Score-P's parameter "callsite id", which both carry, does not either: it is a hash
//! of the regions that are open at the launch, the same for all rounds of a loop. What
//! is certain follows from order alone ([`embedding`]):
//!
//! | cause | effect |
//! |---|---|
//! | enter of the first call that can have launched it | begin of a kernel or copy |
//! | end of the last activity of a stream that must have been launched before the call | leave of a call that waits for the device or for the stream |
//! | end of the last one that must have been launched before an event was recorded in the stream | leave of a call that waits for the event |
//!
//! This takes that no launch is missing. Calls with a call site that was launched less
//! often than it was carried out prove nothing; without call sites there have to be as
//! many launches as activities in the whole process. The same call site in several
//! threads proves nothing, for which came first is not recorded; neither does a process
//! whose recording was off, or that launches whole graphs of kernels.
//!
//! A call that waits for a device waits for the one that the thread has chosen. That is
//! the one of the last kernel that it launched, unless it has chosen since: kernels
//! cannot be launched on streams of other devices. Calls that wait for a stream or an
//! event prove something where [attributes](references) say which; without them nothing
//! even in a process of one stream, for a stream without kernels is not recorded and is
//! waited for in no time. Score-P records a copy of
//! memory (as a one-sided operation) with begin and end on the stream itself; nothing in
//! it leads to the host but the call that started it.
//!
//! Sources: Score-P 9.0, `src/adapters/hip/scorep_hip_callbacks.c` (`kernel_cb`,
//! `memcpy_cb`, `activity_cb`) and `src/adapters/cuda/scorep_cupti_activity.c`; CUDA C++
//! Programming Guide, sections Streams and Device Selection.
//!
//! Which events these are shows only when host and streams are both known. So a trace
//! with streams is read twice: first for this, then for everything.

mod activities;
mod calls;
mod embedding;
mod family;
mod references;

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use retime_model::{
    Class, LocationIndex, LogBuilder, MessageId, Monitor, OperationId, OperationPart, Timestamp,
    TraceInfo,
};
use retime_otf2::{LocationType, Trace};

use self::activities::{HostPass, StreamPass};
use self::calls::LaunchCalls;
use self::family::{Edge, Family};
use self::references::{Named, References};
use crate::error::TraceError;

/// The number space of launches and synchronisations: "ACCL" in ASCII, so that no other kind of
/// numbers is mistaken for them, and in the lower half the process, so that they do not depend on
/// which others are read.
const SPACE: u64 = (u32::from_be_bytes(*b"ACCL") as u64) << u32::BITS;

/// The part that an event has in a dependency between a host and its streams.
#[derive(Clone, Copy, Debug)]
enum EdgePart {
    Cause(MessageId),
    Effect(MessageId),
    /// A cause in an operation with this number of causes.
    CauseOf(OperationId, Class, u32),
    /// An effect in an operation with this number of effects.
    EffectOf(OperationId, Class, u32),
}

/// The events of each location that have a part, and the number of activities that dependencies
/// rest on.
#[derive(Debug, Default)]
pub(crate) struct Accelerators {
    parts: BTreeMap<LocationIndex, Vec<(u64, EdgePart)>>,
    /// Activities that dependencies rest on, by stream.
    taken_up: BTreeMap<LocationIndex, u64>,
}

impl Accelerators {
    /// Looks for streams among some locations, and for what they carried out. Hosts have
    /// to be there with their streams.
    pub(crate) fn find(
        trace: &Trace,
        info: &TraceInfo,
        part: &[LocationIndex],
        monitor: &dyn Monitor,
    ) -> Result<Self, TraceError> {
        let mut found = Self::default();
        let families = families(trace, info, part);
        let calls = LaunchCalls::find(trace.definitions());
        if families.is_empty() || !calls.launch_anything() {
            return Ok(found);
        }
        let references = References::find(trace.definitions());
        for (process, places) in families {
            let family = read(trace, &calls, references.as_ref(), &places, monitor)?;
            let space = SPACE | process as u64;
            for (number, edge) in (0..).zip(family.edges()) {
                found.add(&edge, space, number);
            }
        }
        for parts in found.parts.values_mut() {
            parts.sort_unstable_by_key(|(event, _)| *event);
        }
        Ok(found)
    }

    fn add(&mut self, edge: &Edge, space: u64, number: u64) {
        let mut part = |(location, event): (LocationIndex, u64), part| {
            self.parts.entry(location).or_default().push((event, part));
        };
        if let ([cause], [effect]) = (&edge.causes[..], &edge.effects[..]) {
            let id = MessageId { space, number };
            part(*cause, EdgePart::Cause(id));
            part(*effect, EdgePart::Effect(id));
        } else {
            let id = OperationId { space, number };
            let class = if edge.causes.len() > 1 {
                Class::AllToOne
            } else {
                Class::OneToAll
            };
            for &cause in &edge.causes {
                part(
                    cause,
                    EdgePart::CauseOf(id, class, edge.causes.len() as u32),
                );
            }
            for &effect in &edge.effects {
                part(
                    effect,
                    EdgePart::EffectOf(id, class, edge.effects.len() as u32),
                );
            }
        }
        for (location, _) in edge.begun() {
            *self.taken_up.entry(*location).or_default() += 1;
        }
    }

    /// How many activities of a stream dependencies rest on.
    pub(crate) fn taken_up(&self, location: LocationIndex) -> u64 {
        self.taken_up.get(&location).copied().unwrap_or(0)
    }

    /// The events of a location that have a part.
    pub(super) fn of(&self, location: LocationIndex) -> Parts<'_> {
        Parts {
            rest: self.parts.get(&location).map_or(&[], Vec::as_slice),
        }
    }
}

/// The events of a location that have a part and are still to come.
pub(super) struct Parts<'a> {
    rest: &'a [(u64, EdgePart)],
}

impl Parts<'_> {
    pub(super) const fn are_all_reported(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reports an event to the log if it has a part.
    pub(super) fn report(&mut self, event: u64, time: Timestamp, log: &mut LogBuilder) {
        if let [(next, part), rest @ ..] = self.rest
            && *next == event
        {
            self.rest = rest;
            match *part {
                EdgePart::Cause(id) => log.named_send(event, time, id),
                EdgePart::Effect(id) => log.named_receive(event, time, id),
                EdgePart::CauseOf(id, class, of) => {
                    log.named_begin(event, time, unranked(id, class, of));
                }
                EdgePart::EffectOf(id, class, of) => {
                    log.named_end(event, time, unranked(id, class, of));
                }
            }
        }
    }
}

/// A part in an operation whose ranks do not count.
const fn unranked(id: OperationId, class: Class, expected: u32) -> OperationPart {
    OperationPart {
        id,
        class,
        rank: 0,
        expected,
    }
}

/// The threads of a process, and the streams that belong to it with the processes that
/// they are taken for. Streams of one process are of one device.
#[derive(Default)]
struct HostAndStreams {
    hosts: Vec<LocationIndex>,
    streams: Vec<(LocationIndex, usize)>,
}

/// All processes that have streams, among some locations.
fn families(
    trace: &Trace,
    info: &TraceInfo,
    part: &[LocationIndex],
) -> BTreeMap<usize, HostAndStreams> {
    let mut families: BTreeMap<usize, HostAndStreams> = BTreeMap::new();
    let described = part
        .iter()
        .filter_map(|&it| Some((it, info.locations.get(it.as_usize())?)));
    for (index, location) in described {
        let process = location.process;
        let defined = trace.definitions().locations.get(location.id);
        match defined.map(|it| it.kind) {
            Some(LocationType::ACCELERATOR_STREAM) => {
                let creator = info.processes.get(process).and_then(|it| it.creator);
                let family = families.entry(creator.unwrap_or(process)).or_default();
                family.streams.push((index, process));
            }
            Some(LocationType::CPU_THREAD) => {
                families.entry(process).or_default().hosts.push(index);
            }
            _ => {}
        }
    }
    families.retain(|_, it| !it.streams.is_empty());
    families
}

/// Watches for the end of the work only: the same bytes are read again.
struct Again<'a>(&'a dyn Monitor);

impl Monitor for Again<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

fn read(
    trace: &Trace,
    calls: &LaunchCalls,
    references: Option<&References>,
    places: &HostAndStreams,
    monitor: &dyn Monitor,
) -> Result<Family, TraceError> {
    let again = Again(monitor);
    let streams = places.streams.iter();
    let streams = streams.map(|&(stream, _)| Ok((trace.local(stream)?.location, stream)));
    let streams: HashMap<u64, LocationIndex> = streams.collect::<Result<_, TraceError>>()?;
    let hosts = places.hosts.par_iter().map(|&location| {
        let named = match references {
            Some(references) => references.read(trace, location, &streams, monitor)?,
            None => Named::new(),
        };
        let mut pass = HostPass::new(calls, trace.local(location)?, location, named);
        trace.glance(location, &again, |event| pass.event(event))?;
        Ok(pass.finish())
    });
    let streams = places.streams.par_iter().map(|&(location, context)| {
        let mut pass = StreamPass::new(calls, trace.local(location)?, location, context);
        trace.glance(location, &again, |event| pass.event(event))?;
        Ok(pass.stream)
    });
    Ok(Family {
        hosts: hosts.collect::<Result<_, TraceError>>()?,
        streams: streams.collect::<Result<_, TraceError>>()?,
    })
}
