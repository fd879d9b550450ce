//! Who comes last, and what that costs the others.
//!
//! In an operation in which everybody waits for everybody, all stand still until
//! the last has begun. With corrected times `t` of the begins, the last `a`, the
//! next to last `n` of another process, and the own end `e` of participant `m`:
//!
//! ```text
//! later      = t(a) - t(n)
//! waited(m)  = min(t(a), e(m)) - t(m)             until a came, or m left
//! alone(m)   = min(t(a), e(m)) - max(t(m), t(n))  of this, when all others had come
//! ```
//!
//! Where a recording says when the streams of a device computed, only the part of both spans counts that
//! is [exposed]: in which they did not.
//!
//! What a location waited in all operations is the length of the union of these
//! spans: of what goes on side by side it waits for the longest. A process of several threads stands
//! still while all of them wait.
//!
//! Times are known within bounds: that of `a` may be `before(a)` less, that of
//! another `after(b)` more. Locations of one clock are off alike, so nothing is open
//! between them. Only who stays last whatever is open has *certainly* been last:
//!
//! ```text
//! open(a, b) = 0 for one clock, before(a) + after(b) else
//! beyond     = min over b of other processes of t(a) - t(b) - open(a, b)
//! certain    if beyond > 0
//! ```
//!
//! A difference within the bounds says nothing: who seems to be last there may have
//! been first.
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions};
//! use retime_bounds::{ClockErrorBound, ErrorBounds, ErrorKnot};
//! use retime_model::LocationIndex;
//! # use retime_model::Clocks;
//! use retime_stragglers::Stragglers;
//! # let trace = retime_testing::trace("0: barrier @100..140, barrier @500..540
//! #                                    1: barrier @110..140, barrier @530..540
//! #                                    2: barrier @130..140, barrier @528..540")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Clocks::each_location(3);
//! // Two barriers: the three begin at 100, 110 and 130, and at 500, 530 and 528.
//! // Each clock is known to within 3.
//! let bound = ClockErrorBound::through(vec![ErrorKnot(0, Some(3.0), Some(3.0))]);
//! let bounds = ErrorBounds { clocks: vec![Some(bound); 3] };
//! let times = causality.nodes().timestamps();
//! let found = Stragglers::find(&causality, &trace.info, &clocks, times, Some(&bounds), &())?;
//! // In the first the third is last, 20 after the second, of which 6 are open.
//! let worst = &found.worst[0];
//! assert_eq!((worst.last.location, worst.later, worst.beyond), (LocationIndex(2), 20, Some(14)));
//! // In the second nobody knows who was: 2 are less than 6.
//! assert_eq!((found.operations, found.certain), (2, 1));
//! // The first process waited 30 in both, and in each for another.
//! assert_eq!((found.processes[0].waited, found.processes[2].waited_for), (60, 30 + 20));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where one waits for all, or all for one, the own begin of a waiting participant proves nothing and is
//! not kept. Such operations are judged if it is recorded since when each waited, as profiles do: who
//! reads what a root sends out waits for that root, and for nobody else. Others are
//! counted, not judged, as are those within one process, and those of which a begin is
//! missing: who gave no bytes, or began outside of the stretch that is looked at, may
//! have been the last. Who was not recorded at all is not missed. An operation that goes on
//! beside the program (of a non-blocking call, or on a stream of its own) waits as
//! others do, but the program may have had something else to do. Only of streams of devices of
//! which a recording says when they computed it is known: what is hidden behind that is told
//! [apart](HiddenWaits).
//!
//! Who came last may have waited itself before, for somebody else: [`Origin`] says for whom
//! everybody waited in the end, and whether that is more than chance.
//!
//! Source: the wait state "wait at N x N" of Scalasca (Geimer et al., "The Scalasca
//! performance toolset architecture"); what is open between two clocks is ours.

mod chance;
mod costs;
mod counted;
mod cursor;
mod exposed;
mod history;
mod messages;
mod origin;
mod partial;
mod sides;
mod sums;
mod threads;
mod united;
mod visits;
mod waits;
mod working;

use std::cmp::Reverse;

use rayon::prelude::*;

use retime_bounds::ErrorBounds;
use retime_causality::merge::Merge;
use retime_causality::{Causality, Class, EventNode, Ids, Instance, Participant, Place};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks, LocationIndex, Timestamp, TraceInfo};

use origin::{Known, Origins};
use sums::{Begun, GroupSums, WaitSums, Waiters};
use visits::{Late, WaitedBy};

pub use exposed::exposed;
pub use origin::{Origin, Reach};
pub use sides::{HostWork, SlowTogether};
pub use waits::{GroupWaits, HiddenWaits, LateBegin, ProcessWaits};
pub use working::{ComparedWork, OutsideCalls};

/// Operations judged per parallel task.
const INSTANCES_PER_BLOCK: u32 = 4096;

/// Work can be compared if one in so many records of communication, at most, may have waited unseen.
const NEGLIGIBLE: u64 = 10;

/// Who came last in the collective operations of a trace. All times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stragglers {
    /// Operations that were judged: everybody waits for everybody, and at least two
    /// processes do.
    pub operations: u64,
    /// Operations, of those judged, in which it is certain who came last.
    pub certain: u64,
    /// Operations that were not judged.
    pub others: u64,
    /// Operations in which some wait for some, as all for a root, of which it is recorded since when
    /// each waited.
    pub partial: u64,
    /// Messages of which it is recorded since when they were awaited.
    pub messages: u64,
    /// One entry per process.
    pub processes: Vec<ProcessWaits>,
    /// The processes with which waiting for operations and messages began, those first that others certainly
    /// waited most for.
    pub origins: Vec<Origin>,
    /// The part of the waits of each process that was hidden behind work, where it is known when devices computed.
    pub hidden: Vec<HiddenWaits>,
    /// The work of the processes of each host, compared with that of others, where it is known of
    /// what is waited for.
    pub hosts: Vec<HostWork>,
    /// Several processes that are slow by more than chance, if there are such.
    pub several: Option<SlowTogether>,
    /// One entry per set of participants and class; the most waited in first.
    pub groups: Vec<GroupWaits>,
    /// The operations in which most was waited for the last alone; worst first.
    pub worst: Vec<LateBegin>,
}

impl Stragglers {
    /// Finds who came last, by these times of all nodes; `bounds` say how far they can be from the
    /// truth, by recorded stamps. Of a trace in parts each visits some of the operations, and all
    /// find what is so of the whole trace. Fails only if `monitor` says to give up.
    pub fn find(
        causality: &Causality,
        info: &TraceInfo,
        clocks: &Clocks,
        times: &[Timestamp],
        bounds: Option<&ErrorBounds>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let judge = LatenessJudge::of(causality, info, clocks, times, bounds);
        let side_by_side = united::side_by_side(causality);
        let instances = causality.collectives().instances();
        let blocks: Vec<Ids<Instance>> = instances.chunks(INSTANCES_PER_BLOCK).collect();
        let sums = blocks
            .into_par_iter()
            .map(|block| judge.all(block, &side_by_side, monitor));
        let mut own = sums.try_reduce(WaitSums::default, |mut a, b| {
            a.merge(b);
            Ok(a)
        })?;
        judge.messages(&mut own, monitor)?;
        own.visits.threads = judge.threads();
        judge.finish(causality.whole().all_reduce(own), monitor)
    }
}

/// The times of a trace and how far they can be from the truth, to judge by.
struct LatenessJudge<'a> {
    causality: &'a Causality,
    info: &'a TraceInfo,
    clocks: &'a Clocks,
    times: &'a [Timestamp],
    bounds: Option<&'a ErrorBounds>,
    /// Per clock: the ticks by which the true time of any event can be after its time.
    most_after: Vec<f64>,
    /// Per location: the process that holds others up by what it does.
    processes: Vec<usize>,
}

/// Finds the participant that came last in an operation.
pub struct LateBegins<'a>(LatenessJudge<'a>);

impl<'a> LateBegins<'a> {
    /// Compares begins by these clocks, as [`Stragglers::find`] does.
    pub fn of(
        causality: &'a Causality,
        info: &'a TraceInfo,
        clocks: &'a Clocks,
        times: &'a [Timestamp],
        bounds: Option<&'a ErrorBounds>,
    ) -> Self {
        Self(LatenessJudge::of(causality, info, clocks, times, bounds))
    }

    /// The participant that came last in an operation; `None` if it is not judged.
    pub fn find(&self, instance: Instance) -> Option<LateBegin> {
        let participants = self.0.causality.collectives().participants(instance);
        let begun = participants.iter().filter_map(|it| self.0.begun(it));
        self.0.late(instance, &begun.collect::<Vec<_>>())
    }
}

/// Per clock: the ticks by which the true time of any event can be after its time.
fn most_after(clocks: &Clocks, bounds: Option<&ErrorBounds>) -> Vec<f64> {
    let most = |clock: ClockId| {
        let bound = bounds?.clocks.get(clock.as_usize())?.as_ref()?;
        let after = bound.knots().iter().map(|it| it.2.unwrap_or(f64::INFINITY));
        after.reduce(f64::max)
    };
    clocks
        .iter()
        .map(|it| most(it).unwrap_or(f64::INFINITY))
        .collect()
}

/// Per location: the process that holds others up by what it does, which is the one that has made its
/// own.
fn processes(info: &TraceInfo) -> Vec<usize> {
    let locations = info.locations.iter();
    locations.map(|it| info.family(it.process)).collect()
}

impl<'a> LatenessJudge<'a> {
    fn of(
        causality: &'a Causality,
        info: &'a TraceInfo,
        clocks: &'a Clocks,
        times: &'a [Timestamp],
        bounds: Option<&'a ErrorBounds>,
    ) -> Self {
        Self {
            causality,
            info,
            clocks,
            times,
            bounds,
            most_after: most_after(clocks, bounds),
            processes: processes(info),
        }
    }

    /// The locations here that are threads.
    fn threads(&self) -> Vec<LocationIndex> {
        let here = (0..self.info.locations.len()).filter(|&it| self.causality.whole().has(it));
        let here = here.map(|it| LocationIndex(it as u32));
        here.filter(|&it| self.causality.is_thread(it)).collect()
    }

    /// The sums of some operations; `side_by_side` as [`united::side_by_side`] finds it.
    fn all(
        &self,
        instances: Ids<Instance>,
        side_by_side: &[bool],
        monitor: &dyn Monitor,
    ) -> Result<WaitSums, Cancelled> {
        let mut sums = WaitSums::of(self.info.locations.len());
        let mut begun = Vec::new();
        let mut group = Waiters {
            locations: Vec::new(),
            class: Class::None,
        };
        let mut pace = Pace::of(monitor);
        for instance in instances {
            let participants = self.causality.collectives().participants(instance);
            pace.events(participants.len())?;
            group.class = self.causality.collectives().operation(instance).class;
            self.members(participants, &mut group.locations);
            begun.clear();
            begun.extend(participants.iter().filter_map(|it| self.begun(it)));
            let late = self.late(instance, &begun);
            sums.group(&group, late.as_ref());
            match late {
                Some(late) => {
                    self.visited(&mut sums, &begun, &late);
                    sums.judged(self.causality, &begun, late, side_by_side);
                }
                None if !self.partial(&mut sums, instance) => sums.others += 1,
                None => {}
            }
        }
        sums.keep_worst();
        sums.visits.sort();
        Ok(sums)
    }

    /// Notes who took part in an operation and until when they waited.
    fn visited(&self, sums: &mut WaitSums, begun: &[Begun], late: &LateBegin) {
        let begins = begun.iter().map(|it| it.time).max().unwrap_or_default();
        let process = self.process(late.last.location);
        let stays = begun.iter().map(|it| it.stay(begins));
        let its = Late {
            process: process as u32,
            is_certain: late.beyond.is_some(),
            waited_by: WaitedBy::All,
        };
        sums.visits.add(late.last, its, self.causality, stays);
    }

    /// Who takes part: those that hold a rank, whichever of their threads does it; or where
    /// several of one rank take part, each for itself.
    fn members(&self, participants: &[Participant], members: &mut Vec<LocationIndex>) {
        let nodes = self.causality.nodes();
        let location = |it: &Participant| Some(nodes.location(it.cause().or(it.effect())?));
        let locations = || participants.iter().filter_map(location);
        members.clear();
        members.extend(locations().map(|it| self.info.locations[it.as_usize()].endpoint));
        members.sort_unstable();
        if members.windows(2).any(|it| it[0] == it[1]) {
            members.clear();
            members.extend(locations());
            members.sort_unstable();
        }
    }

    /// True if everybody waits for everybody in an operation.
    fn waits_for_all(&self, instance: Instance) -> bool {
        let operation = self.causality.collectives().operation(instance);
        operation.class == Class::AllToAll && !operation.across_sides
    }

    fn begun(&self, participant: &Participant) -> Option<Begun> {
        let end = participant.effect().map(|it| self.at(it).time);
        Some(Begun {
            end,
            ..self.at(participant.cause()?)
        })
    }

    fn process(&self, location: LocationIndex) -> usize {
        self.processes
            .get(location.as_usize())
            .copied()
            .unwrap_or_default()
    }

    /// Something that begins with an event.
    fn at(&self, node: EventNode) -> Begun {
        let nodes = self.causality.nodes();
        let location = nodes.location(node);
        Begun {
            node,
            location,
            process: self.process(location),
            clock: self.clocks.of(location),
            time: nodes.relative(self.times[node.index()]).0,
            end: None,
        }
    }

    /// The participant that came last in an operation; `None` if it is not judged.
    fn late(&self, instance: Instance, begun: &[Begun]) -> Option<LateBegin> {
        let everybody = self.causality.collectives().participants(instance).len();
        if !self.waits_for_all(instance) || begun.len() < everybody {
            return None;
        }
        // Of those that come at the same time, the first by rank.
        let last = begun.iter().rev().max_by_key(|it| it.time)?;
        let others = || begun.iter().filter(|it| it.process != last.process);
        let next = others().rev().max_by_key(|it| it.time)?;
        let begins = last.time;
        let nodes = self.causality.nodes();
        let place = |of: &Begun| Place {
            location: of.location,
            event: nodes.event(of.node),
        };
        let beyond = self.beyond(last, next, others().copied());
        let sum = |of: &dyn Fn(&Begun) -> u64| begun.iter().map(of).fold(0, u64::saturating_add);
        let still = |it: &Begun, since: i64| it.stands_still(self.causality, begins, since);
        let waited = sum(&|it| still(it, i64::MIN));
        Some(LateBegin {
            last: place(last),
            next: place(next),
            later: begins.abs_diff(next.time),
            beyond: (beyond > 0.0).then_some(beyond as u64),
            waited,
            alone: sum(&|it| still(it, next.time)),
            longest: begun
                .iter()
                .map(|it| still(it, i64::MIN))
                .max()
                .unwrap_or_default(),
            hidden: sum(&|it| it.waits(begins)).saturating_sub(waited),
        })
    }

    /// The ticks by which the last is later than any of the others, `next` among them, whatever the
    /// bounds leave open; negative if it may be earlier.
    fn beyond(&self, last: &Begun, next: &Begun, others: impl Iterator<Item = Begun>) -> f64 {
        let before = self.bound(last).0;
        let gap = |it: &Begun, after: f64| {
            let gap = last.time.saturating_sub(it.time) as f64;
            if it.clock == last.clock {
                gap
            } else {
                gap - before - after
            }
        };
        let mut least = gap(next, self.bound(next).1);
        for it in others {
            // Seldom does it take more than the next to last, and looking up takes time.
            if gap(&it, self.most_after[it.clock.as_usize()]) < least {
                least = least.min(gap(&it, self.bound(&it).1));
            }
        }
        least
    }

    /// The ticks by which the true time can be before and after a begin.
    fn bound(&self, of: &Begun) -> (f64, f64) {
        let raw = self.causality.nodes().timestamp(of.node);
        let bounds = self.bounds.map_or(&[][..], |it| &it.clocks);
        let bound = bounds.get(of.clock.as_usize()).and_then(Option::as_ref);
        bound.map_or((f64::INFINITY, f64::INFINITY), |it| it.at(raw))
    }

    /// How much is known of the waits of a trace.
    fn known(&self, sums: &WaitSums) -> Known {
        let usage = self.causality.usage();
        let judged: u64 = sums.locations.iter().map(|it| it.operations).sum();
        let messages = usage
            .message_ends
            .recorded
            .saturating_sub(2 * sums.messages);
        let unknown = messages + usage.calls.used.saturating_sub(judged);
        let all = usage.message_ends.recorded + usage.calls.recorded;
        if unknown <= all / NEGLIGIBLE {
            Known::Most
        } else {
            Known::Some
        }
    }

    /// From locations to processes.
    fn finish(&self, sums: WaitSums, monitor: &dyn Monitor) -> Result<Stragglers, Cancelled> {
        let known = self.known(&sums);
        let nodes: Vec<Option<usize>> = self.info.processes.iter().map(|it| it.node).collect();
        let Origins {
            found: origins,
            hosts,
            several,
            hidden,
            waited,
            has_threads,
        } = sums
            .visits
            .origins(&self.processes, &nodes, known, monitor)?;
        let mut processes = vec![ProcessWaits::default(); self.info.processes.len()];
        let mut locations = sums.locations;
        for (location, length) in sums.spans.lengths() {
            if let Some(own) = locations.get_mut(location.as_usize()) {
                own.waited = own.waited.saturating_add(length);
            }
        }
        for (number, (location, mut waits)) in self.info.locations.iter().zip(locations).enumerate()
        {
            let family = self.info.family(location.process);
            if has_threads.get(family) == Some(&true) {
                // Its waits as a whole are added below.
                waits.waited = 0;
            }
            let extent = self.causality.nodes().extent(number);
            if let Some(extent) = extent.filter(|_| waits.takes_part()) {
                waits.recorded = extent.last.0.abs_diff(extent.first.0);
                waits.lasted = waits.recorded;
                // Where stamps run backwards, spans are longer than what was recorded.
                waits.waited = waits.waited.min(waits.recorded);
            }
            if let Some(process) = processes.get_mut(family) {
                process.add(waits);
            }
        }
        for (process, waited) in processes.iter_mut().zip(waited) {
            process.waited = process.waited.saturating_add(waited).min(process.recorded);
        }
        let recorded: u64 = processes.iter().map(|it| it.recorded).sum();
        for process in &mut processes {
            process.limit_to(recorded);
        }
        let group = |(Waiters { locations, class }, sums): (Waiters, GroupSums)| GroupWaits {
            locations,
            class,
            operations: sums.operations,
            certain: sums.certain,
            waited: sums.waited,
            hidden: sums.hidden,
        };
        let mut groups: Vec<GroupWaits> = sums.groups.into_iter().map(group).collect();
        groups.sort_unstable_by(|a, b| {
            let waits = |it: &GroupWaits| (Reverse(it.waited), Reverse(it.operations));
            let class = |it: &GroupWaits| it.class as u8;
            let names = || a.locations.cmp(&b.locations).then(class(a).cmp(&class(b)));
            waits(a).cmp(&waits(b)).then_with(names)
        });
        Ok(Stragglers {
            operations: sums.operations,
            certain: sums.certain,
            others: sums.others,
            partial: sums.partial,
            messages: sums.messages,
            processes,
            origins,
            hidden,
            hosts,
            several,
            groups,
            worst: sums.worst,
        })
    }
}
