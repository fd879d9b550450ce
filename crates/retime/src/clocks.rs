//! Which locations read the same physical clock.
//!
//! All times of one clock are corrected by one map, so what threads of one
//! process measured between each other stays exact. The coarser the grouping,
//! the more dependencies speak about each clock; but a grouping that joins
//! clocks which differ cannot be repaired by any map. [`Grouping::Auto`] starts
//! from nodes and believes them only while no dependency inside is reversed:
//!
//! > one clock per node; where that is refuted, one per process of that node;
//! > where that is refuted, one per location of that process.
//!
//! A chain of dependencies through other clocks can refute a group too; it then
//! shows as a [`Cycle`] in the run of the logical clock, and [`Clocks::split`]
//! takes that group apart.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::causality::Causality;
use crate::clock::Cycle;
use crate::trace::{LocationIndex, TraceInfo};

/// A physical clock, by its position in [`Clocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockId(pub u32);

impl ClockId {
    /// The position as an index into slices.
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

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

/// The clocks of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    of_location: Vec<ClockId>,
    locations: Vec<Vec<LocationIndex>>,
    refuted: usize,
}

/// What a candidate clock is made of; finer kinds split coarser ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Node(usize),
    Process(usize),
    Location(usize),
}

impl Clocks {
    /// Groups the locations of a trace.
    pub fn group(info: &TraceInfo, causality: &Causality, grouping: Grouping) -> Self {
        let node_of = |process: usize| info.processes.get(process).and_then(|process| process.node);
        let owner = |(index, location): (usize, &crate::trace::Location)| match grouping {
            Grouping::Location => Owner::Location(index),
            Grouping::Process => Owner::Process(location.process),
            Grouping::Node | Grouping::Auto => {
                node_of(location.process).map_or(Owner::Process(location.process), Owner::Node)
            }
        };
        let mut owners: Vec<Owner> = info.locations.iter().enumerate().map(owner).collect();
        let mut refuted = 0;
        if grouping == Grouping::Auto {
            // Node -> process -> location: two refinements at most.
            for _ in 0..2 {
                let clocks = Self::number(&owners, refuted);
                let reversed = clocks.reversed_inside(causality);
                refuted += reversed.iter().filter(|&&reversed| reversed).count();
                for (index, location) in info.locations.iter().enumerate() {
                    if reversed[clocks.of_location[index].as_usize()] {
                        owners[index] = match owners[index] {
                            Owner::Node(_) => Owner::Process(location.process),
                            Owner::Process(_) | Owner::Location(_) => Owner::Location(index),
                        };
                    }
                }
            }
        }
        Self::number(&owners, refuted)
    }

    /// One clock per location.
    pub(crate) fn each_location(count: usize) -> Self {
        Self::from_owners(&(0..count).collect::<Vec<_>>()).0
    }

    /// Splits the clocks that `cycle` passes from one location to another, where
    /// nothing but the common clock says what came first: a chain of dependencies
    /// through other clocks refutes them, though no single one does. `None` if
    /// there are none, for then the trace contradicts itself.
    pub fn split(&self, info: &TraceInfo, cycle: &Cycle) -> Option<Self> {
        let mut met: FxHashMap<ClockId, LocationIndex> = FxHashMap::default();
        let mut refuted = vec![false; self.len()];
        for (place, _) in &cycle.events {
            let clock = self.of(place.location);
            let first = *met.entry(clock).or_insert(place.location);
            refuted[clock.as_usize()] |= first != place.location;
        }
        refuted
            .contains(&true)
            .then(|| self.taken_apart(info, &refuted))
    }

    /// Takes clocks apart, into one per process, or if it is one process, one per
    /// location.
    fn taken_apart(&self, info: &TraceInfo, refuted: &[bool]) -> Self {
        let count = refuted.iter().filter(|&&refuted| refuted).count();
        let process = |location: usize| info.locations.get(location).map(|it| it.process);
        let owner = |(location, clock): (usize, &ClockId)| {
            if !refuted[clock.as_usize()] {
                return Owner::Node(clock.as_usize());
            }
            match process(location) {
                Some(process) if self.joins_processes(info, *clock) => Owner::Process(process),
                _ => Owner::Location(location),
            }
        };
        let owners: Vec<Owner> = self.of_location.iter().enumerate().map(owner).collect();
        Self::number(&owners, self.refuted + count)
    }

    /// Whether several processes read a clock.
    fn joins_processes(&self, info: &TraceInfo, clock: ClockId) -> bool {
        let process = |location: &LocationIndex| {
            let known = info.locations.get(location.as_usize());
            known.map(|location| location.process)
        };
        let locations = self.locations(clock);
        let first = locations.first().map(process);
        locations
            .iter()
            .any(|location| Some(process(location)) != first)
    }

    /// The same with a clock of its own for each process that shares one with
    /// another; `None` if none does.
    pub(crate) fn by_process(&self, info: &TraceInfo) -> Option<Self> {
        let joining: Vec<bool> = self
            .iter()
            .map(|clock| self.joins_processes(info, clock))
            .collect();
        joining
            .contains(&true)
            .then(|| self.taken_apart(info, &joining))
    }

    /// The clocks of `finer`, joined where they are one here and `group` gives
    /// them the same number; the other clocks here count as refuted.
    pub(crate) fn joined(&self, finer: &Self, group: &[usize]) -> Self {
        let owner = |(location, clock): (usize, &ClockId)| {
            let fine = finer.of_location[location].as_usize();
            (*clock, group.get(fine).copied().unwrap_or(fine))
        };
        let owners: Vec<_> = self.of_location.iter().enumerate().map(owner).collect();
        let mut parts: Vec<_> = owners.clone();
        parts.sort_unstable();
        parts.dedup();
        let split = parts.chunk_by(|a, b| a.0 == b.0).filter(|it| it.len() > 1);
        Self::number(&owners, self.refuted + split.count())
    }

    fn number<O: Copy + Eq + Hash>(owners: &[O], refuted: usize) -> Self {
        let (clocks, _) = Self::from_owners(owners);
        Self { refuted, ..clocks }
    }

    /// Clocks numbered in the order in which locations name their owners, and
    /// the owner of each.
    pub(crate) fn from_owners<O: Copy + Eq + Hash>(owners: &[O]) -> (Self, Vec<O>) {
        let mut number = FxHashMap::default();
        let mut order = Vec::new();
        let mut clocks = Self {
            of_location: Vec::new(),
            locations: Vec::new(),
            refuted: 0,
        };
        for (index, owner) in owners.iter().enumerate() {
            let clock = *number.entry(*owner).or_insert(order.len());
            if clock == order.len() {
                order.push(*owner);
                clocks.locations.push(Vec::new());
            }
            clocks.locations[clock].push(LocationIndex(index as u32));
            clocks.of_location.push(ClockId(clock as u32));
        }
        (clocks, order)
    }

    /// Per clock: is a dependency between two of its locations reversed?
    fn reversed_inside(&self, causality: &Causality) -> Vec<bool> {
        let mut reversed = vec![false; self.len()];
        let nodes = causality.nodes();
        for location in 0..nodes.locations() {
            let clock = self.of_location[location];
            if self.locations[clock.as_usize()].len() < 2 {
                continue;
            }
            for node in nodes.of(location) {
                if let Some(send) = causality.message_source(node)
                    && nodes.time(node) < nodes.time(send)
                    && self.of(nodes.location(send)) == clock
                {
                    reversed[clock.as_usize()] = true;
                }
            }
        }
        self.reversed_collectives(causality, &mut reversed);
        reversed
    }

    fn reversed_collectives(&self, causality: &Causality, reversed: &mut [bool]) {
        let (nodes, collectives) = (causality.nodes(), causality.collectives());
        let mut by_clock: FxHashMap<ClockId, Vec<usize>> = FxHashMap::default();
        for instance in 0..collectives.instances().len() as u32 {
            by_clock.clear();
            for (place, slot) in collectives.slots(instance).iter().enumerate() {
                if let Some(node) = slot.cause().or(slot.effect()) {
                    let clock = self.of(nodes.location(node));
                    if self.locations[clock.as_usize()].len() > 1 && !reversed[clock.as_usize()] {
                        by_clock.entry(clock).or_default().push(place);
                    }
                }
            }
            for (clock, places) in by_clock.iter().filter(|(_, places)| places.len() > 1) {
                let time = |node: u32| nodes.time(node).0;
                let visit = |cause: u32, effect: u32| {
                    reversed[clock.as_usize()] |= time(effect) < time(cause);
                };
                collectives.latest_causes(
                    instance,
                    places.iter().copied(),
                    time,
                    |place| place,
                    visit,
                );
            }
        }
    }

    /// Number of clocks.
    pub fn len(&self) -> usize {
        self.locations.len()
    }

    /// Whether the trace has no location.
    pub fn is_empty(&self) -> bool {
        self.locations.is_empty()
    }

    /// The clock a location reads.
    #[inline]
    pub fn of(&self, location: LocationIndex) -> ClockId {
        self.of_location[location.as_usize()]
    }

    /// The locations that read a clock, in order.
    pub fn locations(&self, clock: ClockId) -> &[LocationIndex] {
        &self.locations[clock.as_usize()]
    }

    /// All clocks.
    pub fn iter(&self) -> impl Iterator<Item = ClockId> + use<> {
        (0..self.locations.len() as u32).map(ClockId)
    }

    /// What a clock is called in messages: as its first location, and how many
    /// others read it.
    pub fn describe(&self, info: &TraceInfo, clock: ClockId) -> String {
        match self.locations(clock) {
            [] => format!("clock #{}", clock.0),
            [one] => info.describe(*one),
            [first, others @ ..] => format!(
                "the clock of {} and {} more",
                info.describe(*first),
                others.len()
            ),
        }
    }

    /// How many groups [`Grouping::Auto`] had to split because a dependency
    /// inside them was reversed.
    pub fn refuted(&self) -> usize {
        self.refuted
    }
}
