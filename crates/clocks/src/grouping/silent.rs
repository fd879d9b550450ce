//! Which clock is read by what no dependency ties to another clock.
//!
//! The stream of an accelerator, a thread that never communicates, a record of metrics
//! and a helper without messages have no dependencies by which their clocks could be
//! judged. Whoever groups clocks by what dependencies say would leave each of them
//! alone, and where a process is moved its streams would stay behind: a kernel would
//! start long after its launch, or before it. But none of them has a time of its own.
//! Each reads the clock that it most probably reads, which is of these the first
//! that dependencies tie to others:
//!
//! 1. that of its *process*, of several that of the first location;
//! 2. that of the process which made its own, or what that one reads by these rules,
//!    unless the two are known to be on different nodes;
//! 3. that of its *node*; where the node has several clocks, that of the process
//!    next to its own in the order of definition, of two equally near the earlier.
//!
//! In the last case nothing proves which it is; but the clocks of one node mostly
//! are one, and staying behind would be right only if the process' clock were the
//! reference. Without any of these a location keeps its clock, and so its times.
//!
//! What has dependencies across clocks is judged by those, whatever it belongs to:
//! times of a device that a driver has converted may really differ from its host's. But
//! those of a stream with its host alone, launches and synchronisations, say little
//! about how far apart two clocks are, and somebody has converted the one to the other
//! when they were recorded. So they count only once one of them is violated. Threads
//! that each have a clock of their own, and depend only on each other, do not move with
//! the rest of their process.
//!
//! ```
//! use retime_clocks::{Grouping, ClockAttribution};
//! use retime_model::LocationIndex;
//! # use retime_causality::{Causality, CausalityOptions};
//! # let mut trace = retime_testing::trace("0: send 1 @10
//! #                                        1: receive 0 @20
//! #                                        2:
//! #                                        3 of 1:")?;
//! # trace.info.processes[2].creator = Some(1);
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! // Two ranks exchange a message; the second has a stream and a thread without any.
//! let clocks = Grouping::Location.clocks(&trace.info, &causality);
//! let of = [0, 1, 2, 3].map(|location| clocks.of(LocationIndex(location)).0);
//! assert_eq!(of, [0, 1, 1, 1]);
//! let found = ClockAttribution::of_locations(&clocks, &trace.info, &causality);
//! assert_eq!(found, [ClockAttribution::Tied, ClockAttribution::Tied, ClockAttribution::OfCreator, ClockAttribution::OfProcess]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use retime_model::{ClockId, Clocks, TraceInfo};
use serde::Serialize;

use super::made::creator;
use super::numbered::numbered;
use super::ties::Ties;
use retime_causality::Causality;

/// Why a location is taken to read its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockAttribution {
    /// Dependencies tie it to other clocks.
    Tied,
    /// None does, but its process reads this clock.
    OfProcess,
    /// The process that made its own does.
    OfCreator,
    /// Its node has this one clock.
    OfNode,
    /// Its node has several; this is that of the process next to its own.
    OfNearest,
    /// Nothing tells which clock it reads.
    Unknown,
}

/// A clock that something may be taken to read, and by what right.
type Home = (ClockAttribution, ClockId);

impl ClockAttribution {
    /// The attribution of each location.
    pub fn of_locations(clocks: &Clocks, info: &TraceInfo, causality: &Causality) -> Vec<Self> {
        let tied = Ties::of(info, causality).across(clocks);
        let speaks = speaking(clocks, &tied);
        let homes = Homes::find(clocks, info, &tied);
        let attribution = |(location, clock): (usize, &ClockId)| {
            if tied[location] {
                Self::Tied
            } else if speaks[clock.as_usize()] {
                homes
                    .of(info, location)
                    .map_or(Self::Unknown, |home| home.0)
            } else {
                Self::Unknown
            }
        };
        let locations = clocks.by_location().iter().enumerate();
        locations.map(attribution).collect()
    }
}

/// These clocks, but each that no dependency ties to another joined with the one that
/// its locations most probably read.
pub(super) fn silent_attached(clocks: Clocks, info: &TraceInfo, causality: &Causality) -> Clocks {
    if clocks.len() < 2 {
        return clocks;
    }
    let tied = Ties::of(info, causality).across(&clocks);
    let speaks = speaking(&clocks, &tied);
    if !speaks.contains(&true) || !speaks.contains(&false) {
        return clocks;
    }
    let homes = Homes::find(&clocks, info, &tied);
    let read = |clock: ClockId| {
        if speaks[clock.as_usize()] {
            return clock;
        }
        let locations = clocks.locations(clock).iter();
        let homes = locations.filter_map(|it| homes.of(info, it.as_usize()));
        homes
            .min_by_key(|home| home.0)
            .map_or(clock, |(_, home)| home)
    };
    let owner: Vec<ClockId> = clocks.iter().map(read).collect();
    let owners: Vec<ClockId> = clocks
        .by_location()
        .iter()
        .map(|clock| owner[clock.as_usize()])
        .collect();
    numbered(&owners, clocks.refuted())
}

/// Per clock: true if a dependency ties it to another.
fn speaking(clocks: &Clocks, tied: &[bool]) -> Vec<bool> {
    let mut speaks = vec![false; clocks.len()];
    for (clock, tied) in clocks.by_location().iter().zip(tied) {
        speaks[clock.as_usize()] |= tied;
    }
    speaks
}

/// Per process: the clock that its locations read where they are not judged.
struct Homes(Vec<Option<Home>>);

impl Homes {
    fn find(clocks: &Clocks, info: &TraceInfo, tied: &[bool]) -> Self {
        let mut homes: Vec<Option<Home>> = vec![None; info.processes.len()];
        let locations = info.locations.iter().zip(clocks.by_location());
        for ((location, &clock), _) in locations.zip(tied).filter(|(_, tied)| **tied) {
            if let Some(home) = homes.get_mut(location.process) {
                home.get_or_insert((ClockAttribution::OfProcess, clock));
            }
        }
        let nodes = OfNodes::find(info, &homes);
        let mut known: Vec<bool> = homes.iter().map(Option::is_some).collect();
        for process in 0..homes.len() {
            let (mut line, mut next) = (Vec::new(), Some(process));
            // A damaged trace may name creators in a circle.
            while let Some(process) = next.filter(|&process| !known[process]) {
                known[process] = true;
                line.push(process);
                next = creator(info, process);
            }
            for process in line.into_iter().rev() {
                let made_by = creator(info, process).and_then(|creator| homes[creator]);
                homes[process] = made_by
                    .map(|(_, clock)| (ClockAttribution::OfCreator, clock))
                    .or_else(|| nodes.home(info, process));
            }
        }
        Self(homes)
    }

    /// The clock that a location may be taken to read.
    fn of(&self, info: &TraceInfo, location: usize) -> Option<Home> {
        let process = info.locations.get(location)?.process;
        self.0.get(process).copied().flatten()
    }
}

/// Per node: the clocks of those of its processes of which dependencies tell them.
struct OfNodes(BTreeMap<usize, OfNode>);

struct OfNode {
    /// Processes and their clocks, in order.
    told: Vec<(usize, ClockId)>,
    /// True if these are one clock.
    one: bool,
}

impl OfNodes {
    fn find(info: &TraceInfo, homes: &[Option<Home>]) -> Self {
        let mut nodes: BTreeMap<usize, OfNode> = BTreeMap::new();
        for (process, (it, home)) in info.processes.iter().zip(homes).enumerate() {
            if let (Some(node), Some((_, clock))) = (it.node, home) {
                let node = nodes.entry(node).or_insert(OfNode {
                    told: Vec::new(),
                    one: true,
                });
                node.one &= node.told.first().is_none_or(|(_, first)| first == clock);
                node.told.push((process, *clock));
            }
        }
        Self(nodes)
    }

    fn home(&self, info: &TraceInfo, process: usize) -> Option<Home> {
        let OfNode { told, one } = self.0.get(&info.processes.get(process)?.node?)?;
        let after = told.partition_point(|&(other, _)| other < process);
        let (before, after) = told.split_at(after);
        let nearest = before.last().into_iter().chain(after.first());
        let &(_, clock) = nearest.min_by_key(|&&(other, _)| other.abs_diff(process))?;
        let attribution = if *one {
            ClockAttribution::OfNode
        } else {
            ClockAttribution::OfNearest
        };
        Some((attribution, clock))
    }
}
