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

use std::hash::Hash;

use rayon::prelude::*;
use retime_model::{ClockId, Clocks, Location, LocationIndex, TraceInfo};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::causality::{Causality, EventNode};
use crate::clock::Cycle;

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
        numbered(&owners, refuted)
    }
}

/// Splits the clocks that `cycle` passes from one location to another, where
/// nothing but the common clock says what came first: a chain of dependencies
/// through other clocks refutes them, though no single one does. `None` if
/// there are none, for then the trace contradicts itself.
pub fn split_clocks(clocks: &Clocks, info: &TraceInfo, cycle: &Cycle) -> Option<Clocks> {
    let mut met: FxHashMap<ClockId, LocationIndex> = FxHashMap::default();
    let mut refuted = vec![false; clocks.len()];
    for (place, _) in &cycle.events {
        let clock = clocks.of(place.location);
        let first = *met.entry(clock).or_insert(place.location);
        refuted[clock.as_usize()] |= first != place.location;
    }
    refuted
        .contains(&true)
        .then(|| taken_apart(clocks, info, &refuted))
}

/// Takes clocks apart, into one per process, or if it is one process, one per
/// location.
fn taken_apart(clocks: &Clocks, info: &TraceInfo, refuted: &[bool]) -> Clocks {
    let count = refuted.iter().filter(|&&refuted| refuted).count();
    let process = |location: usize| info.locations.get(location).map(|it| it.process);
    let owner = |(location, clock): (usize, &ClockId)| {
        if !refuted[clock.as_usize()] {
            return Owner::Node(clock.as_usize());
        }
        match process(location) {
            Some(process) if joins_processes(clocks, info, *clock) => Owner::Process(process),
            _ => Owner::Location(location),
        }
    };
    let owners: Vec<Owner> = clocks.by_location().iter().enumerate().map(owner).collect();
    numbered(&owners, clocks.refuted() + count)
}

/// Whether several processes read a clock.
fn joins_processes(clocks: &Clocks, info: &TraceInfo, clock: ClockId) -> bool {
    let process = |location: &LocationIndex| {
        let known = info.locations.get(location.as_usize());
        known.map(|location| location.process)
    };
    let locations = clocks.locations(clock);
    let first = locations.first().map(process);
    locations
        .iter()
        .any(|location| Some(process(location)) != first)
}

/// The same with a clock of its own for each process that shares one with
/// another; `None` if none does.
pub(crate) fn split_by_process(clocks: &Clocks, info: &TraceInfo) -> Option<Clocks> {
    let joining: Vec<bool> = clocks
        .iter()
        .map(|clock| joins_processes(clocks, info, clock))
        .collect();
    joining
        .contains(&true)
        .then(|| taken_apart(clocks, info, &joining))
}

/// The clocks of `finer`, joined where they are one of `coarse` and `group` gives
/// them the same number; the other clocks of `coarse` count as refuted.
pub(crate) fn joined(coarse: &Clocks, finer: &Clocks, group: &[usize]) -> Clocks {
    let owner = |(location, clock): (usize, &ClockId)| {
        let fine = finer.by_location()[location].as_usize();
        (*clock, group.get(fine).copied().unwrap_or(fine))
    };
    let owners: Vec<_> = coarse.by_location().iter().enumerate().map(owner).collect();
    let mut parts: Vec<_> = owners.clone();
    parts.sort_unstable();
    parts.dedup();
    let split = parts.chunk_by(|a, b| a.0 == b.0).filter(|it| it.len() > 1);
    numbered(&owners, coarse.refuted() + split.count())
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
