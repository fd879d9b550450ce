//! Which locations read the same physical clock.
//!
//! All times of one clock are corrected by one map, so what threads of one
//! process measured between each other stays exact. The coarser the grouping,
//! the more dependencies speak about each clock; but a grouping that joins
//! clocks which differ cannot be repaired by any map. [`Grouping::Auto`] starts
//! from nodes and believes them only while no dependency inside is violated:
//!
//! > one clock per node; where that is refuted, one per process of that node;
//! > where that is refuted, one per location of that process.
//!
//! Where processes and what they have made, streams of accelerators in their contexts,
//! contradict each other, or two such contexts do, these get clocks of their own before
//! anything else of their node does: stamps of a device were converted to its host's clock,
//! and that may have failed while all hosts of the node read one clock. Such a device
//! contradicts those of other processes, too, and that tells nothing of their hosts.
//!
//! A chain of dependencies through other clocks can refute a group too; it then
//! shows as a [`Cycle`] in the run of the logical clock, and [`split_clocks`]
//! takes that group apart.
//!
//! Dependencies say nothing about [what has none](silent). Whatever the grouping, and
//! whichever clocks are split, that reads the clock of its process, creator or node.

mod made;
mod numbered;
mod shared;
mod silent;
mod ties;

use std::collections::BTreeSet;

use retime_model::{ClockId, Clocks, Location, LocationIndex, TraceInfo};
use retime_numerics::parallel;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use self::made::{creator, made_of};
use self::numbered::numbered;
use self::silent::silent_attached;
use self::ties::Ties;
use retime_causality::merge::Merge;
use retime_causality::{Causality, EventNode};
use retime_logical_clocks::Cycle;

pub use shared::SharedClock;
pub use silent::ClockAttribution;

/// How locations are grouped into clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// Each location has its own clock.
    Location,
    /// The locations of a process share one.
    Process,
    /// The processes of a node share one; a process without a node has its own.
    Node,
    /// Clocks as coarse as the trace does not refute.
    Auto,
}

/// The owner of a candidate clock; finer kinds split coarser ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Node(usize),
    Process(usize),
    Location(usize),
}

impl Grouping {
    /// Groups the locations of a trace.
    pub fn clocks(self, info: &TraceInfo, causality: &Causality) -> Clocks {
        let node_of = |process: usize| info.processes.get(process).and_then(|process| process.node);
        let owner = |(index, location): (usize, &Location)| match self {
            Self::Location => Owner::Location(index),
            Self::Process => Owner::Process(location.process),
            Self::Node | Self::Auto => {
                node_of(location.process).map_or(Owner::Process(location.process), Owner::Node)
            }
        };
        let mut owners: Vec<Owner> = info.locations.iter().enumerate().map(owner).collect();
        let mut refuted: FxHashSet<Owner> = FxHashSet::default();
        if self == Self::Auto {
            // Each round makes something finer: node -> what was made -> process -> location.
            loop {
                let clocks = numbered(&owners, refuted.len());
                let violated = violated_inside(&clocks, info, causality);
                if !violated.iter().any(Violated::is_refuted) {
                    break;
                }
                for (index, location) in info.locations.iter().enumerate() {
                    let violated = &violated[clocks.by_location()[index].as_usize()];
                    if violated.is_refuted() {
                        refuted.insert(owners[index]);
                    }
                    owners[index] = match owners[index] {
                        Owner::Node(_) if violated.refutes(location.process) => {
                            Owner::Process(location.process)
                        }
                        Owner::Process(_) if violated.whole => Owner::Location(index),
                        other => other,
                    };
                }
            }
        }
        silent_attached(numbered(&owners, refuted.len()), info, causality)
    }
}

/// Splits the clocks that `cycle` passes from one location to another, where
/// nothing but the common clock says what came first: a chain of dependencies
/// through other clocks refutes them, though no single one does. `None` if
/// there are none, for then the trace contradicts itself.
pub fn split_clocks(
    clocks: &Clocks,
    info: &TraceInfo,
    causality: &Causality,
    cycle: &Cycle,
) -> Option<Clocks> {
    let mut met: FxHashMap<ClockId, LocationIndex> = FxHashMap::default();
    let mut refuted = vec![false; clocks.len()];
    for (place, _) in &cycle.events {
        let clock = clocks.of(place.location);
        let first = *met.entry(clock).or_insert(place.location);
        refuted[clock.as_usize()] |= first != place.location;
    }
    if !refuted.contains(&true) {
        return None;
    }
    let by_made = made_taken_apart(clocks, info, &refuted, cycle);
    let by_made = silent_attached(by_made, info, causality);
    if by_made.len() > clocks.len() {
        return Some(by_made);
    }
    // What is silent comes back to its process, so that one per process may be none more.
    let joining = joining_processes(clocks, info, &Ties::of(info, causality));
    let by_process = taken_apart(clocks, info, &refuted, &joining);
    let by_process = silent_attached(by_process, info, causality);
    if by_process.len() > clocks.len() {
        return Some(by_process);
    }
    let by_location = taken_apart(clocks, info, &refuted, &[]);
    let by_location = silent_attached(by_location, info, causality);
    (by_location.len() > clocks.len()).then_some(by_location)
}

/// Takes from each refuted clock what processes have made that the cycle passes besides.
fn made_taken_apart(clocks: &Clocks, info: &TraceInfo, refuted: &[bool], cycle: &Cycle) -> Clocks {
    let passed = cycle.events.iter().map(|(place, _)| place.location);
    let passed: BTreeSet<LocationIndex> = passed.collect();
    let mut made: BTreeSet<usize> = BTreeSet::new();
    for (&a, &b) in passed
        .iter()
        .flat_map(|a| passed.range(..a).map(move |b| (a, b)))
    {
        if clocks.of(a) == clocks.of(b) {
            made.extend(made_of(info, [a, b]).into_iter().flatten());
        }
    }
    let mut count = vec![false; clocks.len()];
    let owner = |(location, &clock): (&Location, &ClockId)| {
        if refuted[clock.as_usize()] && made.contains(&location.process) {
            count[clock.as_usize()] = true;
            Owner::Process(location.process)
        } else {
            Owner::Node(clock.as_usize())
        }
    };
    let owners: Vec<Owner> = info
        .locations
        .iter()
        .zip(clocks.by_location())
        .map(owner)
        .collect();
    let count = count.into_iter().filter(|&refuted| refuted).count();
    numbered(&owners, clocks.refuted() + count)
}

/// Takes refuted clocks apart, into one per process where they join several, and else
/// into one per location.
fn taken_apart(clocks: &Clocks, info: &TraceInfo, refuted: &[bool], joining: &[bool]) -> Clocks {
    let count = refuted.iter().filter(|&&refuted| refuted).count();
    let process = |location: usize| info.locations.get(location).map(|it| it.process);
    let owner = |(location, clock): (usize, &ClockId)| {
        if !refuted[clock.as_usize()] {
            return Owner::Node(clock.as_usize());
        }
        let joins = joining.get(clock.as_usize()).copied().unwrap_or(false);
        match process(location) {
            Some(process) if joins => Owner::Process(process),
            _ => Owner::Location(location),
        }
    };
    let owners: Vec<Owner> = clocks.by_location().iter().enumerate().map(owner).collect();
    numbered(&owners, clocks.refuted() + count)
}

/// Per clock: true if several processes read it that have dependencies.
fn joining_processes(clocks: &Clocks, info: &TraceInfo, ties: &Ties) -> Vec<bool> {
    let joins = |clock: ClockId| {
        let tied = |location: &&LocationIndex| ties.tied()[location.as_usize()];
        let tied = clocks.locations(clock).iter().filter(tied);
        let mut processes = tied.map(|location| {
            let known = info.locations.get(location.as_usize());
            known.map(|location| location.process)
        });
        let first = processes.next();
        processes.any(|process| Some(process) != first)
    };
    clocks.iter().map(joins).collect()
}

/// Clocks with one of its own for each process that shares one with another, if
/// both have dependencies; `None` if none does.
pub fn split_by_process(
    clocks: &Clocks,
    info: &TraceInfo,
    causality: &Causality,
) -> Option<Clocks> {
    let joining = joining_processes(clocks, info, &Ties::of(info, causality));
    joining.contains(&true).then(|| {
        let apart = taken_apart(clocks, info, &joining, &joining);
        // Streams go on with their hosts.
        silent_attached(apart, info, causality)
    })
}

/// The clocks of `finer`, joined where they are one of `coarse` and `group` gives
/// them the same number. So many of `coarse` were `refuted`; others may be split because
/// nothing confirms them.
pub fn joined(
    coarse: &Clocks,
    finer: &Clocks,
    group: &[usize],
    refuted: usize,
    info: &TraceInfo,
    causality: &Causality,
) -> Clocks {
    let owner = |(location, clock): (usize, &ClockId)| {
        let fine = finer.by_location()[location].as_usize();
        (*clock, group.get(fine).copied().unwrap_or(fine))
    };
    let owners: Vec<_> = coarse.by_location().iter().enumerate().map(owner).collect();
    let clocks = numbered(&owners, coarse.refuted() + refuted);
    silent_attached(clocks, info, causality)
}

/// The sharing of a clock that violated dependencies between its locations refute.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Violated {
    /// It is refuted that any two of its locations share it.
    whole: bool,
    /// These processes, which others have made, are refuted to read it, by what relates them to
    /// those.
    made: BTreeSet<usize>,
    /// Such processes are refuted to read it, by what relates them to each other.
    devices: BTreeSet<usize>,
}

impl Violated {
    /// A dependency between these is violated.
    fn add(&mut self, info: &TraceInfo, pair: [LocationIndex; 2]) {
        let (made, devices) = (made_of(info, pair), both_made(info, pair));
        if made[0].is_some() {
            self.made.extend(made.into_iter().flatten());
        } else if devices[0].is_some() {
            self.devices.extend(devices.into_iter().flatten());
        } else {
            self.whole = true;
        }
    }

    fn is_refuted(&self) -> bool {
        self.whole || !self.made.is_empty() || !self.devices.is_empty()
    }

    /// True if it is refuted that a process shares the clock. What contradicts the process that made
    /// it is taken out first, then what contradicts others that were made: it may be all that does.
    fn refutes(&self, process: usize) -> bool {
        match (self.made.is_empty(), self.devices.is_empty()) {
            (false, _) => self.made.contains(&process),
            (true, false) => self.devices.contains(&process),
            (true, true) => self.whole,
        }
    }
}

impl Merge for Violated {
    fn merge(&mut self, other: Self) {
        self.whole |= other.whole;
        self.made.extend(other.made);
        self.devices.extend(other.devices);
    }
}

/// Finds the violated dependencies between locations of each clock.
fn violated_inside(clocks: &Clocks, info: &TraceInfo, causality: &Causality) -> Vec<Violated> {
    let joins = |clock: &ClockId| clocks.locations(*clock).len() > 1;
    if !clocks.iter().any(|clock| joins(&clock)) {
        // Nothing lies inside, and nothing has to be looked at.
        return vec![Violated::default(); clocks.len()];
    }
    let nodes = causality.nodes();
    let has_made = holding_made(clocks, info);
    let of_clock = |clock: ClockId| {
        let mut violated = Violated::default();
        let locations = clocks.locations(clock).iter().filter(|_| joins(&clock));
        for node in locations.flat_map(|location| nodes.of(location.as_usize())) {
            if let Some(send) = causality.message_source(node)
                && nodes.time(node) < nodes.time(send)
                && clocks.of(nodes.location(send)) == clock
            {
                violated.add(info, [send, node].map(|it| nodes.location(it)));
                if violated.whole && !has_made[clock.as_usize()] {
                    break;
                }
            }
        }
        violated
    };
    let all: Vec<ClockId> = clocks.iter().collect();
    let mut violated: Vec<Violated> = parallel::map(&all, |it| of_clock(*it));
    violated_collectives(clocks, info, causality, &has_made, &mut violated);
    causality.whole().all_reduce(violated)
}

/// The processes of two locations, if others have made both: hosts of one node share its clock
/// sooner than their devices do.
fn both_made(info: &TraceInfo, pair: [LocationIndex; 2]) -> [Option<usize>; 2] {
    let process = |it: LocationIndex| info.locations.get(it.as_usize()).map(|it| it.process);
    let made = pair.map(|it| process(it).filter(|it| creator(info, *it).is_some()));
    match made {
        [Some(a), Some(b)] if a != b => made,
        _ => [None; 2],
    }
}

/// Per clock: true if something reads it that a process has made, which is taken out before a
/// violated dependency says anything of the others.
fn holding_made(clocks: &Clocks, info: &TraceInfo) -> Vec<bool> {
    let is_made = |location: &LocationIndex| {
        let process = info.locations.get(location.as_usize()).map(|it| it.process);
        process.is_some_and(|it| creator(info, it).is_some())
    };
    let clocks = clocks.iter().map(|it| clocks.locations(it));
    clocks.map(|it| it.iter().any(is_made)).collect()
}

fn violated_collectives(
    clocks: &Clocks,
    info: &TraceInfo,
    causality: &Causality,
    has_made: &[bool],
    violated: &mut [Violated],
) {
    let (nodes, collectives) = (causality.nodes(), causality.collectives());
    let mut by_clock: FxHashMap<ClockId, Vec<usize>> = FxHashMap::default();
    for instance in collectives.instances() {
        by_clock.clear();
        for (place, it) in collectives.participants(instance).iter().enumerate() {
            if let Some(node) = it.cause().or(it.effect()) {
                let clock = clocks.of(nodes.location(node));
                let is_known = violated[clock.as_usize()].whole && !has_made[clock.as_usize()];
                if clocks.locations(clock).len() > 1 && !is_known {
                    by_clock.entry(clock).or_default().push(place);
                }
            }
        }
        for (clock, places) in by_clock.iter().filter(|(_, places)| places.len() > 1) {
            let time = |node: EventNode| nodes.time(node).0;
            let violated = &mut violated[clock.as_usize()];
            let visit = |cause: EventNode, effect: EventNode| {
                if time(effect) < time(cause) {
                    violated.add(info, [cause, effect].map(|it| nodes.location(it)));
                }
            };
            let places = places.iter().copied();
            collectives.latest_causes(instance, places, time, |place| place, visit);
        }
    }
}
