//! Processes of one node that really read one clock, and those that do not.
//!
//! A clock that several processes share is known three to ten times as well as
//! one of its own for each, for the dependencies of all of them speak about it.
//! But nodes do not always share: wrongly joined clocks leave thousands of
//! dependencies violated that no map can repair. That a dependency inside is
//! reversed refutes a clock ([`Grouping`](retime_clocks::Grouping)). Where dependencies between nodes stay
//! violated, processes of one node may differ by less than their messages take, and every process
//! is aligned with a clock of its own. Two of a node *agree* if, in nine of ten windows of the trace in
//! which they exchange something both ways,
//!
//! ```text
//! |shown by a - shown by b|  <=  half the fastest round trip between them + 1 tick + 1 us
//! ```
//!
//! which is as far as it is open whether they show the same. Round trips over
//! other clocks count too: messages to other nodes may tell more than the seldom
//! ones within, and in a ring nobody answers directly: there a [search](super::ways) goes as
//! far as it takes to tell whether some way is fast enough to matter. Where any two of a node
//! disagree, its clock is *refuted*, and all of it have their own. Where none do, a clock is
//! *confirmed* as far as a chain of agreeing pairs connects processes; of those without any
//! exchange inside the node nothing is known.
//!
//! The windows are 64 parts of the trace, or 16, 4 or one for pairs that
//! exchange too seldom.
//!
//! ```
//! use retime_alignment::sharing;
//! use retime_clocks::estimate::{Estimate, Offset};
//! use retime_clocks::Grouping;
//! use retime_model::ClockId;
//! use retime_testing::trace;
//! # use retime_causality::{Causality, CausalityOptions};
//!
//! // Two ranks of a node, which exchange messages of 3 us.
//! let trace = trace(
//!     "0 on 0: send 1 @1000, receive 1 @8000
//!      1 on 0: receive 0 @4000, send 0 @5000",
//! )?;
//!
//! let info = &trace.info;
//! let causality = Causality::build(info, trace.logs, CausalityOptions::default())?;
//! let nodes = Grouping::Node.clocks(info, &causality);
//! let processes = Grouping::Process.clocks(info, &causality);
//! let clocks_if = |second_is_ahead_by: f64| {
//!     let offsets = [0.0, -second_is_ahead_by].map(|add| Some(Offset::constant(add)));
//!     let estimate = Estimate { offsets: offsets.to_vec(), reference: ClockId(0) };
//!     let found = sharing(info, &causality, &nodes, &processes, &estimate, &());
//!     found.map(|it| (it.unless_refuted.len(), it.confirmed.len()))
//! };
//! assert_eq!(clocks_if(500.0)?, (1, 1));
//! assert_eq!(clocks_if(9_000.0)?, (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::latency::{LatencyExchange, WindowedWay};
use super::options::OPTIONS;
use super::ways::Ways;
use retime_causality::Causality;
use retime_causality::edges::TraceEdges;
use retime_clocks::estimate::{Estimate, Offset};
use retime_clocks::joined;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks, TraceInfo};

/// Parts into which the trace is divided, until a pair can be judged in one.
const WINDOWS: [u32; 4] = [64, 16, 4, 1];

/// Who shares a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The processes of a node, unless two of them disagree.
    pub unless_refuted: Clocks,
    /// The clocks of processes that agree, by a chain of pairs.
    pub confirmed: Clocks,
}

/// The clocks of `nodes`, as far as an estimate for `processes`, in which no
/// two processes share one, does not contradict that they do; fails only if `monitor`
/// says to give up.
pub fn sharing(
    info: &TraceInfo,
    causality: &Causality,
    nodes: &Clocks,
    processes: &Clocks,
    estimate: &Estimate,
    monitor: &dyn Monitor,
) -> Result<Sharing, Cancelled> {
    let trace = TraceEdges {
        causality,
        clocks: processes,
        monitor,
    };
    let shared = |clock: ClockId| processes.locations(clock).first().map(|it| nodes.of(*it));
    let (groups, refuted) = trace.at_root::<Estimate, _>(|| {
        let add = |clock: ClockId, stamp: i64| estimate.at(clock, stamp);
        let exchange = LatencyExchange::of(&trace.dependencies(estimate)?, add, monitor)?;
        let offsets = estimate.offsets.iter();
        let judge = SharingJudge {
            shared: processes.iter().map(shared).collect(),
            shown: offsets.map(|it| shown(it.as_ref())).collect(),
            exchange,
            tolerance: 1.0 + info.rate.get() as f64 / 1e6,
        };
        let agreed = judge.pairs(monitor)?;
        let node = |clock| shared(ClockId(clock));
        Ok(groups(processes.len(), &agreed, node))
    })?;
    let [unless_refuted, confirmed] =
        groups.map(|group| joined(nodes, processes, &group, refuted, info, causality));
    Ok(Sharing {
        unless_refuted,
        confirmed,
    })
}

/// The lead of a clock over the common time, by common time.
fn shown(offset: Option<&Offset>) -> Option<Offset> {
    offset?.inverse()
}

/// Two clocks, the lower first.
type Pair = (ClockId, ClockId);

struct SharingJudge {
    /// Per clock: the clock of its node.
    shared: Vec<Option<ClockId>>,
    shown: Vec<Option<Offset>>,
    exchange: LatencyExchange,
    /// Ticks by which clocks that are one may seem to differ.
    tolerance: f64,
}

impl SharingJudge {
    /// Tells if they agree, for each pair that exchanges anything and has a way
    /// there and back.
    fn pairs(&self, monitor: &dyn Monitor) -> Result<BTreeMap<Pair, bool>, Cancelled> {
        let mut judged = BTreeMap::new();
        for windows in WINDOWS {
            monitor.check()?;
            for (pair, (met, disagreed)) in self.counts(windows, monitor)? {
                let agree = disagreed * OPTIONS.disagree_one_in <= met;
                judged.entry(pair).or_insert(agree);
            }
        }
        Ok(judged)
    }

    /// In how many windows pairs can be judged, and in how many of these they
    /// disagree.
    fn counts(
        &self,
        windows: u32,
        monitor: &dyn Monitor,
    ) -> Result<BTreeMap<Pair, (usize, usize)>, Cancelled> {
        let mut counts = BTreeMap::new();
        let parts = self.exchange.windows(windows);
        for (number, steps) in (0..).zip(&parts) {
            let ways = Ways::new(steps);
            let once = |step: &&WindowedWay| {
                step.from < step.to || ways.find(step.to, step.from).is_none()
            };
            let inside = steps.iter().filter(|step| self.inside(step));
            for &WindowedWay { from, to, .. } in inside.filter(once) {
                monitor.check()?;
                let middle = self.exchange.middle(number, windows);
                let Some(agree) = self.agree(&ways, from, to, middle, monitor)? else {
                    continue;
                };
                let pair = (from.min(to), from.max(to));
                let (met, disagreed): &mut (usize, usize) = counts.entry(pair).or_default();
                *met += 1;
                *disagreed += usize::from(!agree);
            }
        }
        Ok(counts)
    }

    fn inside(&self, step: &WindowedWay) -> bool {
        let node = |clock: ClockId| self.shared.get(clock.as_usize());
        node(step.from) == node(step.to)
    }

    /// Tells if two clocks, of which the first sends to the second, show about the same at a
    /// time; `None` where nothing comes back, or it is not found out whether it does fast enough.
    fn agree(
        &self,
        ways: &Ways<'_>,
        from: ClockId,
        to: ClockId,
        time: i64,
        monitor: &dyn Monitor,
    ) -> Result<Option<bool>, Cancelled> {
        if !ways.return_from(from, to) {
            return Ok(None);
        }
        let shown = |clock: ClockId| Some(self.shown.get(clock.as_usize())?.as_ref()?.at(time));
        let Some((a, b)) = shown(from).zip(shown(to)) else {
            return Ok(Some(false));
        };
        let beyond = (a - b).abs() - self.tolerance;
        if beyond <= 0.0 {
            return Ok(Some(true));
        }
        // No round trip may be faster than this.
        let slowest = 2.0 * beyond;
        let there = ways.short(from, to).unwrap_or(f64::INFINITY);
        match ways.short(to, from) {
            Some(back) => Ok(Some(there + back >= slowest)),
            None => ways.none_below(to, from, slowest - there, monitor),
        }
    }
}

/// A number for each clock, the same for those that share one unless that is refuted, and if
/// it is confirmed; and in how many nodes two disagree.
fn groups<N: Ord>(
    clocks: usize,
    agreed: &BTreeMap<Pair, bool>,
    node: impl Fn(u32) -> N,
) -> ([Vec<usize>; 2], usize) {
    let refuted = agreed.iter().filter(|&(_, &agree)| !agree);
    let refuted: BTreeSet<N> = refuted.map(|((clock, _), _)| node(clock.0)).collect();
    let mut first: BTreeMap<N, usize> = BTreeMap::new();
    let connected = connected(clocks, agreed.keys());
    let groups = (0..clocks).map(|clock| match node(clock as u32) {
        node if refuted.contains(&node) => (clock, clock),
        node => (*first.entry(node).or_insert(clock), connected[clock]),
    });
    let (unless_refuted, confirmed) = groups.unzip();
    ([unless_refuted, confirmed], refuted.len())
}

/// Per clock: the least clock to which a chain of pairs connects it.
fn connected<'a>(clocks: usize, pairs: impl Iterator<Item = &'a Pair>) -> Vec<usize> {
    let mut group: Vec<usize> = (0..clocks).collect();
    // Ways to a root are halved as they are walked, or many clocks would make long ones.
    let root = |group: &mut [usize], mut at: usize| {
        while group[at] != at {
            group[at] = group[group[at]];
            at = group[at];
        }
        at
    };
    for (low, high) in pairs {
        let ends = [low, high].map(|clock| root(&mut group, clock.as_usize()));
        let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        group[high] = low;
    }
    for clock in 0..clocks {
        group[clock] = root(&mut group, clock);
    }
    group
}
