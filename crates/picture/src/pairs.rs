//! Who hears how late from whom.
//!
//! Of each pair of clocks: how many dependencies there are, how many are reversed, the
//! middle latency as recorded and as corrected, and the worst of them. The middle is
//! taken of [`LogBins`], so it is right to some 4 %, whatever the number of messages.

use retime::causality::EventNode;
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use crate::latencies::LogBins;
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

/// What one clock hears from another; as JSON a list in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCell {
    /// The clock of the causes.
    pub from: u32,
    /// That of the effects.
    pub to: u32,
    /// Messages, and ends of collectives for which a begin of the other came last.
    pub dependencies: u64,
    /// Those whose effect was stamped before its cause.
    pub reversed: u64,
    /// The middle latency as recorded, in ticks.
    pub recorded: i64,
    /// As corrected; absent if nothing was.
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

/// What is known of a pair of clocks.
pub(crate) struct Tally {
    pub(crate) from: u32,
    pub(crate) to: u32,
    dependencies: u64,
    pub(crate) reversed: u64,
    recorded: LogBins,
    corrected: LogBins,
    /// The latency, cause and effect of the dependency with the smallest latency.
    pub(crate) worst: (i64, EventNode, EventNode),
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
                    recorded: LogBins::default(),
                    corrected: LogBins::default(),
                    worst: (i64::MAX, cause, effect),
                });
                all.len() - 1
            });
            let tally = &mut all[place];
            tally.dependencies += 1;
            tally.reversed += u64::from(latency < 0);
            tally.recorded.add(latency);
            if subject.corrected.is_some() {
                let latency = subject.time(effect) - subject.time(cause);
                tally.corrected.add(latency);
            }
            if latency < tally.worst.0 {
                tally.worst = (latency, cause, effect);
            }
        };
        subject.each_dependency(|node| subject.recorded(node), visit);
        all.sort_by_key(|it| (it.from, it.to));
        Self { all }
    }

    /// What is shown of them: the pairs of clocks that lanes read,
    /// of which `view` says which view shows the worst.
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
            recorded: it.recorded.median().unwrap_or_default(),
            corrected: it.corrected.median(),
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
