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
//! What a location waited in all operations is the length of the [union](united) of these
//! spans: of what goes on side by side it waits for the longest.
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
//! # use retime::causality::{Causality, CausalityOptions};
//! # use retime::Grouping;
//! use retime::optimal::{ClockErrorBound, ErrorBounds, ErrorKnot};
//! use retime::{LocationIndex, Stragglers};
//! # let trace = retime_testing::trace("0: barrier @100..140, barrier @500..540
//! #                                    1: barrier @110..140, barrier @530..540
//! #                                    2: barrier @130..140, barrier @528..540")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Grouping::Location.clocks(&trace.info, &causality);
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
//! Where one waits for all, or all for one, a trace does not say since when: the own
//! begin of who waits proves nothing there and is not kept. Such operations are
//! counted, not judged, as are those within one process, and those of which a begin is
//! missing: who gave no bytes, or began outside of the stretch that is looked at, may
//! have been the last. Who was not recorded at all is not missed. An operation that goes on
//! beside the program (of a non-blocking call, or on a stream of its own) waits as
//! others do, but the program may have had something else to do.
//!
//! Who came last may have waited itself before, for somebody else: [`Origin`] says for whom
//! everybody waited in the end.
//!
//! Source: the wait state "wait at N x N" of Scalasca (Geimer et al., "The Scalasca
//! performance toolset architecture"); what is open between two clocks is ours.

mod origin;
mod united;

use std::cmp::Reverse;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::causality::{
    AwaitedMessage, Causality, Class, EventNode, Ids, Instance, Participant, Place,
};
use crate::merge::Merge;
use crate::optimal::ErrorBounds;
use crate::pace::Pace;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks, LocationIndex, Timestamp, TraceInfo};

use origin::{Stay, Visits};
use united::Spans;

pub use origin::{Origin, Reach};

/// How many of the worst operations are kept.
const WORST_KEPT: usize = 10;
/// Operations judged per parallel task.
const INSTANCES_PER_BLOCK: u32 = 4096;

/// Who came last in the collective operations of a trace. All times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stragglers {
    /// Operations that were judged: everybody waits for everybody, and at least two
    /// processes do.
    pub operations: u64,
    /// Those of them in which it is certain who came last.
    pub certain: u64,
    /// Operations that were not judged.
    pub others: u64,
    /// Messages of which it is recorded since when they were awaited.
    pub messages: u64,
    /// One entry per process.
    pub processes: Vec<ProcessWaits>,
    /// The processes with which waiting for operations and messages began, those first that others certainly
    /// waited most for.
    pub origins: Vec<Origin>,
    /// One entry per set of participants and class; the most waited in first.
    pub groups: Vec<GroupWaits>,
    /// The operations in which most was waited for the last alone; worst first.
    pub worst: Vec<LateBegin>,
}

/// How often a process came last, and how long it waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessWaits {
    /// How often one of its locations took part.
    pub operations: u64,
    /// How often one of them came last,
    pub last: u64,
    /// and how often it certainly did.
    pub certainly_last: u64,
    /// The messages that it sent or got and of which is recorded since when they were awaited.
    pub messages: u64,
    /// The ticks that others waited until it came,
    pub waited_for: u64,
    /// of this, where it certainly came last,
    pub certainly_waited_for: u64,
    /// and when all other processes had come.
    pub waited_for_alone: u64,
    /// The longest that one other participant waited until it came, in one operation.
    pub waited_for_longest: u64,
    /// The ticks that it waited itself, until the last came. Of a location operations that go on
    /// beside each other are waited in at once, and no longer than it was recorded.
    pub waited: u64,
    /// How long its locations that took part were recorded, together.
    pub recorded: u64,
}

/// Operations of the same participants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWaits {
    /// Who takes part, in order of ranks.
    pub locations: Vec<LocationIndex>,
    /// The class of the operations, which says what they prove.
    pub class: Class,
    /// Operations.
    pub operations: u64,
    /// Those in which it is certain who came last; none of those not judged.
    pub certain: u64,
    /// The ticks that were waited in them.
    pub waited: u64,
}

/// The last begin of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateBegin {
    /// The begin.
    pub last: Place,
    /// The last begin of another process.
    pub next: Place,
    /// The ticks by which it is later than the next.
    pub later: u64,
    /// The ticks by which it is later than any other whatever the bounds leave open, rounded down;
    /// `None` if they leave open who came last.
    pub beyond: Option<u64>,
    /// The ticks that all others waited until it came, together,
    pub waited: u64,
    /// and of this, when all other processes had come.
    pub alone: u64,
    /// The longest that one of them waited.
    pub longest: u64,
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

/// A participant that has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    node: EventNode,
    location: LocationIndex,
    process: usize,
    clock: ClockId,
    time: i64,
    end: Option<i64>,
}

/// The sums over several operations.
#[derive(Clone, Default, Serialize, Deserialize)]
struct WaitSums {
    operations: u64,
    certain: u64,
    others: u64,
    messages: u64,
    visits: Visits,
    /// One entry per location.
    locations: Vec<ProcessWaits>,
    /// The waits of locations that begin operations while others go on.
    spans: Spans,
    groups: FxHashMap<Waiters, GroupSums>,
    worst: Vec<LateBegin>,
    /// The place in their order of the last of them that is kept in any case.
    least_kept: Option<Badness>,
}

/// The key by which operations are sorted: of those that are as bad the first by who was last come
/// first, which is the same whoever has visited them.
type Badness = (Reverse<u64>, Place);

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Waiters {
    locations: Vec<LocationIndex>,
    class: Class,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct GroupSums {
    operations: u64,
    certain: u64,
    waited: u64,
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
        }
    }

    /// The sums of some operations; `side_by_side` as [`united::side_by_side`] finds it.
    fn all(
        &self,
        instances: Ids<Instance>,
        side_by_side: &[bool],
        monitor: &dyn Monitor,
    ) -> Result<WaitSums, Cancelled> {
        let mut sums = WaitSums {
            locations: vec![ProcessWaits::default(); self.info.locations.len()],
            ..WaitSums::default()
        };
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
                    sums.judged(&begun, late, side_by_side);
                }
                None => sums.others += 1,
            }
        }
        sums.keep_worst();
        Ok(sums)
    }

    /// Notes who took part in an operation and until when they waited.
    fn visited(&self, sums: &mut WaitSums, begun: &[Begun], late: &LateBegin) {
        let begins = begun.iter().map(|it| it.time).max().unwrap_or_default();
        let process = self.process(late.last.location);
        let stay = |it: &Begun| Stay {
            process: it.process,
            begin: it.time,
            until: it.until(begins),
            end: it.end.unwrap_or(i64::MAX),
        };
        let stays = begun.iter().map(stay);
        sums.visits
            .add(late.last, process, late.beyond.is_some(), stays);
    }

    /// Notes who waited for messages, which are operations of two in which one waits.
    fn messages(&self, sums: &mut WaitSums, monitor: &dyn Monitor) -> Result<(), Cancelled> {
        let mut pace = Pace::of(monitor);
        for it in self.causality.awaited() {
            pace.events(1)?;
            sums.messages += 1;
            sums.locations
                .resize(self.info.locations.len(), ProcessWaits::default());
            self.message(sums, it);
        }
        Ok(())
    }

    fn message(&self, sums: &mut WaitSums, message: AwaitedMessage) {
        let nodes = self.causality.nodes();
        let [sent, received] = [message.send, message.receive].map(|it| self.at(it));
        let asked = Begun {
            time: received.time.saturating_sub(message.lasted.0.max(0)),
            end: Some(received.time),
            ..received
        };
        let beyond = self.beyond(&sent, &asked, std::iter::empty());
        let place = Place {
            location: sent.location,
            event: nodes.event(sent.node),
        };
        let stay = Stay {
            process: asked.process,
            begin: asked.time,
            until: asked.until(sent.time),
            end: received.time,
        };
        sums.visits.add(place, sent.process, beyond > 0.0, [stay]);
        for end in [&sent, &received] {
            if let Some(own) = sums.locations.get_mut(end.location.as_usize()) {
                own.messages += 1;
            }
        }
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

    fn begun(&self, participant: &Participant) -> Option<Begun> {
        let end = participant.effect().map(|it| self.at(it).time);
        Some(Begun {
            end,
            ..self.at(participant.cause()?)
        })
    }

    /// The process that holds others up by what a location does: that which has made its own.
    fn process(&self, location: LocationIndex) -> usize {
        self.info
            .family(self.info.locations[location.as_usize()].process)
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
        let operation = self.causality.collectives().operation(instance);
        let everybody = self.causality.collectives().participants(instance).len();
        let is_judged = operation.class == Class::AllToAll && !operation.across_sides;
        if !is_judged || begun.len() < everybody {
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
        let beyond = self.beyond(last, next, others());
        let sum = |since: i64| {
            let waits = begun.iter().map(|it| it.waits(begins, since));
            waits.fold(0, u64::saturating_add)
        };
        Some(LateBegin {
            last: place(last),
            next: place(next),
            later: begins.abs_diff(next.time),
            beyond: (beyond > 0.0).then_some(beyond as u64),
            waited: sum(i64::MIN),
            alone: sum(next.time),
            longest: begun
                .iter()
                .map(|it| it.waits(begins, i64::MIN))
                .max()
                .unwrap_or_default(),
        })
    }

    /// The ticks by which the last is later than any of the others, `next` among them, whatever the
    /// bounds leave open; negative if it may be earlier.
    fn beyond<'b>(
        &self,
        last: &Begun,
        next: &Begun,
        others: impl Iterator<Item = &'b Begun>,
    ) -> f64 {
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
            if gap(it, self.most_after[it.clock.as_usize()]) < least {
                least = least.min(gap(it, self.bound(it).1));
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

    /// From locations to processes.
    fn finish(&self, sums: WaitSums, monitor: &dyn Monitor) -> Result<Stragglers, Cancelled> {
        let mut pace = Pace::of(monitor);
        let origins = sums.visits.origins(self.info.processes.len(), &mut pace)?;
        let mut processes = vec![ProcessWaits::default(); self.info.processes.len()];
        let mut locations = sums.locations;
        for (location, length) in sums.spans.lengths() {
            if let Some(own) = locations.get_mut(location.as_usize()) {
                own.waited = own.waited.saturating_add(length);
            }
        }
        for (number, (location, mut waits)) in self.info.locations.iter().zip(locations).enumerate()
        {
            let extent = self.causality.nodes().extent(number);
            if let Some(extent) = extent.filter(|_| waits.takes_part()) {
                waits.recorded = extent.last.0.abs_diff(extent.first.0);
                // Where stamps run backwards, spans are longer than what was recorded.
                waits.waited = waits.waited.min(waits.recorded);
            }
            if let Some(process) = processes.get_mut(self.info.family(location.process)) {
                process.add(waits);
            }
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
            messages: sums.messages,
            processes,
            origins,
            groups,
            worst: sums.worst,
        })
    }
}

impl Begun {
    /// When it no longer waits for who comes at a time.
    fn until(&self, comes: i64) -> i64 {
        self.end.map_or(comes, |end| end.min(comes))
    }

    /// How long it waits until a time, but not longer than to its end, from its begin or
    /// from another time, whichever is later.
    fn waits(&self, until: i64, since: i64) -> u64 {
        let until = self.until(until);
        let since = self.time.max(since);
        if until > since {
            until.abs_diff(since)
        } else {
            0
        }
    }
}

impl WaitSums {
    fn group(&mut self, group: &Waiters, late: Option<&LateBegin>) {
        let add = |sums: &mut GroupSums| {
            sums.operations += 1;
            sums.certain += u64::from(late.is_some_and(|it| it.beyond.is_some()));
            sums.waited = sums.waited.saturating_add(late.map_or(0, |it| it.waited));
        };
        match self.groups.get_mut(group) {
            Some(sums) => add(sums),
            None => add(self.groups.entry(group.clone()).or_default()),
        }
    }

    /// One more operation.
    fn judged(&mut self, begun: &[Begun], late: LateBegin, side_by_side: &[bool]) {
        let is_certain = late.beyond.is_some();
        self.operations += 1;
        self.certain += u64::from(is_certain);
        let begins = begun.iter().map(|it| it.time).max().unwrap_or_default();
        for it in begun {
            let location = it.location.as_usize();
            let is_beside = side_by_side.get(location) == Some(&true);
            if is_beside {
                self.spans.add(it.location, it.time, it.until(begins));
            }
            self.locations[location].add(ProcessWaits {
                operations: 1,
                waited: if is_beside {
                    0
                } else {
                    it.waits(begins, i64::MIN)
                },
                ..ProcessWaits::default()
            });
        }
        let certainly = |of: u64| if is_certain { of } else { 0 };
        self.locations[late.last.location.as_usize()].add(ProcessWaits {
            last: 1,
            certainly_last: certainly(1),
            waited_for: late.waited,
            certainly_waited_for: certainly(late.waited),
            waited_for_alone: late.alone,
            waited_for_longest: late.longest,
            ..ProcessWaits::default()
        });
        if self.least_kept.is_none_or(|least| late.badness() < least) {
            self.worst.push(late);
        }
        if self.worst.len() >= 2 * WORST_KEPT {
            self.keep_worst();
        }
    }

    fn keep_worst(&mut self) {
        self.worst.sort_unstable_by_key(LateBegin::badness);
        self.worst.truncate(WORST_KEPT);
        self.least_kept = self.worst.get(WORST_KEPT - 1).map(LateBegin::badness);
    }
}

impl Merge for WaitSums {
    fn merge(&mut self, other: Self) {
        self.operations += other.operations;
        self.certain += other.certain;
        self.others += other.others;
        self.messages += other.messages;
        self.visits.merge(other.visits);
        if self.locations.is_empty() {
            self.locations = other.locations;
        } else {
            let both = self.locations.iter_mut().zip(other.locations);
            both.for_each(|(own, its)| own.add(its));
        }
        self.spans.merge(other.spans);
        for (group, its) in other.groups {
            let own = self.groups.entry(group).or_default();
            own.operations += its.operations;
            own.certain += its.certain;
            own.waited = own.waited.saturating_add(its.waited);
        }
        self.worst.extend(other.worst);
        self.keep_worst();
    }
}

impl LateBegin {
    fn badness(&self) -> Badness {
        (Reverse(self.alone), self.last)
    }
}

impl ProcessWaits {
    fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.last += other.last;
        self.certainly_last += other.certainly_last;
        self.messages += other.messages;
        self.waited_for_longest = self.waited_for_longest.max(other.waited_for_longest);
        for (own, its) in [
            (&mut self.waited_for, other.waited_for),
            (&mut self.certainly_waited_for, other.certainly_waited_for),
            (&mut self.waited_for_alone, other.waited_for_alone),
            (&mut self.waited, other.waited),
            (&mut self.recorded, other.recorded),
        ] {
            *own = own.saturating_add(its);
        }
    }

    /// Nobody waited longer for it than everybody was recorded.
    fn limit_to(&mut self, all: u64) {
        for own in [
            &mut self.waited_for,
            &mut self.certainly_waited_for,
            &mut self.waited_for_alone,
            &mut self.waited_for_longest,
        ] {
            *own = (*own).min(all);
        }
    }

    /// True if others waited for it, or it for others, as far as that can be seen.
    pub fn takes_part(&self) -> bool {
        self.operations > 0 || self.messages > 0
    }

    /// The share of its time that it waited.
    pub fn share(&self) -> f64 {
        if self.recorded == 0 {
            return 0.0;
        }
        self.waited as f64 / self.recorded as f64
    }
}
