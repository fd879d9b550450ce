//! Who hears how late from whom.
//!
//! Of each pair of clocks: how many dependencies there are, how many are reversed, the
//! middle latency as recorded and as corrected, and the worst of them.

use retime::causality::EventNode;
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use crate::latencies::{LogBins, Middle};
use crate::subject::Kind;
use crate::{Lanes, Subject};

/// The pairs of the clocks that are shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pairs {
    /// The clocks, in the order of rows and columns.
    pub clocks: Vec<u32>,
    /// The pairs that have any dependencies.
    pub cells: Vec<PairCell>,
}

/// The latencies from one clock to another; as JSON a list in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCell {
    /// The clock of the causes.
    pub from: u32,
    /// The clock of the effects.
    pub to: u32,
    /// Messages, and ends of collectives for which a begin of the other came last.
    pub dependencies: u64,
    /// Dependencies whose effect was stamped before its cause.
    pub reversed: u64,
    /// The middle latency as recorded, in ticks.
    pub recorded: i64,
    /// The middle latency as corrected; absent if nothing was.
    pub corrected: Option<i64>,
    /// The smallest latency as recorded.
    pub smallest: i64,
    /// When that effect was recorded.
    pub at: i64,
    /// The view that shows it, if one does.
    pub view: Option<usize>,
}

impl Serialize for PairCell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tallies = (self.from, self.to, self.dependencies, self.reversed);
        let latencies = (self.recorded, self.corrected, self.smallest);
        (tallies, latencies, self.at, self.view).serialize(serializer)
    }
}

/// Latencies between a pair of clocks, while they are counted.
pub(crate) struct Tally {
    pub(crate) from: u32,
    pub(crate) to: u32,
    dependencies: u64,
    pub(crate) reversed: u64,
    recorded: Latency,
    corrected: Latency,
    /// The latency, cause and effect of the dependency with the smallest latency.
    pub(crate) worst: (i64, EventNode, EventNode),
}

/// The latencies of a pair: first counted, then their middle is found.
#[derive(Default)]
struct Latency {
    bins: LogBins,
    middle: Option<Middle>,
}

impl Latency {
    fn counted(&mut self) {
        self.middle = std::mem::take(&mut self.bins).middle();
    }

    fn offer(&mut self, latency: i64) {
        if let Some(middle) = &mut self.middle {
            middle.offer(latency);
        }
    }

    fn value(&self) -> Option<i64> {
        self.middle.clone()?.value()
    }
}

/// All pairs of clocks that depend on each other, by clocks.
pub(crate) struct Tallies {
    pub(crate) all: Vec<Tally>,
}

impl Tallies {
    pub(crate) fn of(subject: &Subject<'_>) -> Self {
        let mut places: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        let mut all: Vec<Tally> = Vec::new();
        let nodes = subject.nodes();
        let clock = |node| subject.clocks.of(nodes.location(node)).0;
        let visit = |cause, effect, _: Kind| {
            let (from, to) = (clock(cause), clock(effect));
            if from == to {
                return;
            }
            let latency = subject.recorded(effect) - subject.recorded(cause);
            let place = *places.entry((from, to)).or_insert_with(|| {
                all.push(Tally {
                    from,
                    to,
                    dependencies: 0,
                    reversed: 0,
                    recorded: Latency::default(),
                    corrected: Latency::default(),
                    worst: (i64::MAX, cause, effect),
                });
                all.len() - 1
            });
            let tally = &mut all[place];
            tally.dependencies += 1;
            tally.reversed += u64::from(latency < 0);
            tally.recorded.bins.add(latency);
            if subject.corrected.is_some() {
                let latency = subject.time(effect) - subject.time(cause);
                tally.corrected.bins.add(latency);
            }
            if latency < tally.worst.0 {
                tally.worst = (latency, cause, effect);
            }
        };
        subject.each_dependency(|node| subject.recorded(node), visit);
        for tally in &mut all {
            tally.recorded.counted();
            tally.corrected.counted();
        }
        let again = |cause, effect, _: Kind| {
            let Some(&place) = places.get(&(clock(cause), clock(effect))) else {
                return;
            };
            let tally = &mut all[place];
            let latency = subject.recorded(effect) - subject.recorded(cause);
            tally.recorded.offer(latency);
            let latency = subject.time(effect) - subject.time(cause);
            tally.corrected.offer(latency);
        };
        subject.each_dependency(|node| subject.recorded(node), again);
        all.sort_by_key(|it| (it.from, it.to));
        Self { all }
    }

    /// The cells for the pairs of clocks that lanes read; `view` says which view shows the worst of
    /// a pair.
    pub(crate) fn shown(
        &self,
        subject: &Subject<'_>,
        lanes: &Lanes,
        view: impl Fn((u32, u32)) -> Option<usize>,
    ) -> Pairs {
        let mut clocks: Vec<u32> = lanes.shown.iter().map(|it| it.clock).collect();
        clocks.sort_unstable();
        clocks.dedup();
        let is_shown = |it: &&Tally| {
            clocks.binary_search(&it.from).is_ok() && clocks.binary_search(&it.to).is_ok()
        };
        let cells = self.all.iter().filter(is_shown).map(|it| PairCell {
            from: it.from,
            to: it.to,
            dependencies: it.dependencies,
            reversed: it.reversed,
            recorded: it.recorded.value().unwrap_or_default(),
            corrected: it.corrected.value(),
            smallest: it.worst.0,
            at: subject.recorded(it.worst.2),
            view: view((it.from, it.to)),
        });
        Pairs {
            cells: cells.collect(),
            clocks,
        }
    }
}
