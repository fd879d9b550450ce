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
//! A chain of dependencies through other clocks can refute a group too; it then
//! shows as a [`Cycle`] in the run of the logical clock, and [`split_clocks`]
//! takes that group apart.
//!
//! Dependencies say nothing about [what has none](silent). Whatever the grouping, and
//! whichever clocks are split, that reads the clock of its process, creator or node.

mod silent;
mod ties;

use std::hash::Hash;

use rayon::prelude::*;
use retime_model::{ClockId, Clocks, Location, LocationIndex, TraceInfo};
use rustc_hash::FxHashMap;
use serde::Serialize;

use self::silent::silent_attached;
use self::ties::Ties;
use crate::causality::{Causality, EventNode};
use crate::clock::Cycle;

pub use silent::Standing;

/// How locations are grouped into clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// Each location has its own clock.
    Location,
    /// The locations of a process share one.
    Process,
    /// The processes of a node share one; a process without a node has its own.
    Node,
    /// As coarse as the trace does not refute.
    Auto,
}

/// What a candidate clock is made of; finer kinds split coarser ones.
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
        let mut refuted = 0;
        if self == Self::Auto {
            // Node -> process -> location: two refinements at most.
            for _ in 0..2 {
                let clocks = numbered(&owners, refuted);
                let violated = violated_inside(&clocks, causality);
                refuted += violated.iter().filter(|&&violated| violated).count();
                for (index, location) in info.locations.iter().enumerate() {
                    if violated[clocks.by_location()[index].as_usize()] {
                        owners[index] = match owners[index] {
                            Owner::Node(_) => Owner::Process(location.process),
                            Owner::Process(_) | Owner::Location(_) => Owner::Location(index),
                        };
                    }
                }
            }
        }
        silent_attached(numbered(&owners, refuted), info, causality)
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
    // What is silent comes back to its process, so that one per process may be none more.
    let joining = joining_processes(clocks, info, &Ties::of(causality));
    let by_process = taken_apart(clocks, info, &refuted, &joining);
    let by_process = silent_attached(by_process, info, causality);
    if by_process.len() > clocks.len() {
        return Some(by_process);
    }
    let by_location = taken_apart(clocks, info, &refuted, &[]);
    let by_location = silent_attached(by_location, info, causality);
    (by_location.len() > clocks.len()).then_some(by_location)
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

/// By clock, whether several processes read it that have dependencies.
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

/// The same with a clock of its own for each process that shares one with another, if
/// both have dependencies; `None` if none does.
pub(crate) fn split_by_process(
    clocks: &Clocks,
    info: &TraceInfo,
    causality: &Causality,
) -> Option<Clocks> {
    let joining = joining_processes(clocks, info, &Ties::of(causality));
    joining
        .contains(&true)
        .then(|| taken_apart(clocks, info, &joining, &joining))
}

/// The clocks of `finer`, joined where they are one of `coarse` and `group` gives
/// them the same number. So many of `coarse` were `refuted`; others may be split because
/// nothing confirms them.
pub(crate) fn joined(
    coarse: &Clocks,
    finer: &Clocks,
    group: &[usize],
    refuted: usize,
    of: (&TraceInfo, &Causality),
) -> Clocks {
    let owner = |(location, clock): (usize, &ClockId)| {
        let fine = finer.by_location()[location].as_usize();
        (*clock, group.get(fine).copied().unwrap_or(fine))
    };
    let owners: Vec<_> = coarse.by_location().iter().enumerate().map(owner).collect();
    let clocks = numbered(&owners, coarse.refuted() + refuted);
    silent_attached(clocks, of.0, of.1)
}

fn numbered<O: Copy + Eq + Hash>(owners: &[O], refuted: usize) -> Clocks {
    Clocks::from_owners(owners).0.with_refuted(refuted)
}

/// Per clock: is a dependency between two of its locations violated?
fn violated_inside(clocks: &Clocks, causality: &Causality) -> Vec<bool> {
    let joins = |clock: &ClockId| clocks.locations(*clock).len() > 1;
    if !clocks.iter().any(|clock| joins(&clock)) {
        // Nothing lies inside, and nothing has to be looked at.
        return vec![false; clocks.len()];
    }
    let nodes = causality.nodes();
    let of_clock = |clock: ClockId| {
        let locations = clocks.locations(clock).iter().filter(|_| joins(&clock));
        let mut own = locations.flat_map(|location| nodes.of(location.as_usize()));
        own.any(|node| {
            causality.message_source(node).is_some_and(|send| {
                nodes.time(node) < nodes.time(send) && clocks.of(nodes.location(send)) == clock
            })
        })
    };
    let all: Vec<ClockId> = clocks.iter().collect();
    let mut violated: Vec<bool> = all.into_par_iter().map(of_clock).collect();
    violated_collectives(clocks, causality, &mut violated);
    violated
}

fn violated_collectives(clocks: &Clocks, causality: &Causality, violated: &mut [bool]) {
    let (nodes, collectives) = (causality.nodes(), causality.collectives());
    let mut by_clock: FxHashMap<ClockId, Vec<usize>> = FxHashMap::default();
    for instance in collectives.instances() {
        by_clock.clear();
        for (place, it) in collectives.participants(instance).iter().enumerate() {
            if let Some(node) = it.cause().or(it.effect()) {
                let clock = clocks.of(nodes.location(node));
                if clocks.locations(clock).len() > 1 && !violated[clock.as_usize()] {
                    by_clock.entry(clock).or_default().push(place);
                }
            }
        }
        for (clock, places) in by_clock.iter().filter(|(_, places)| places.len() > 1) {
            let time = |node: EventNode| nodes.time(node).0;
            let visit = |cause: EventNode, effect: EventNode| {
                violated[clock.as_usize()] |= time(effect) < time(cause);
            };
            collectives.latest_causes(instance, places.iter().copied(), time, |place| place, visit);
        }
    }
}
