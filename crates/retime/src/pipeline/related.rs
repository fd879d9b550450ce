//! Clocks that something recorded relates to each other.
//!
//! A dependency between two clocks bounds their difference, and chains of dependencies do so of others.
//! Where processes fall into sets between which there is none, as hosts whose profiles have no call in
//! common, times within each set can be checked, and corrected, but nothing tells how those of one stand
//! to those of another:
//!
//! ```text
//! node0 <-> node1      node2 <-> node3        two sets
//! ```
//!
//! Processes of one node are one set, whether they read one clock or not: whether they do is a guess, which
//! a corrected copy contradicts no more.
//!
//! A clock counts if its processes exchange something, among themselves or with others, or recorded
//! that they communicate though nothing of it could be used: helpers and threads that do not are no set
//! of their own.

use std::collections::BTreeMap;

use retime_causality::Check;
use retime_model::format::{Reach, Unused};
use retime_model::{ClockId, Clocks, LocationIndex, TraceInfo};

/// Sets of clocks between which no dependency leads, by the first of each, given all dependencies that
/// were checked and the records that none rests on; a single one where all that communicate are related.
pub fn related_clocks(
    info: &TraceInfo,
    clocks: &Clocks,
    check: &Check,
    unused: &[Unused],
) -> Vec<Vec<ClockId>> {
    let mut sets = Sets::new(clocks.len());
    let mut communicates = vec![false; clocks.len()];
    let mut of_nodes: BTreeMap<usize, usize> = BTreeMap::new();
    let family = |it: LocationIndex| {
        let process = info.locations.get(it.as_usize()).map(|it| it.process);
        process.map(|it| info.family(it))
    };
    for &(from, to) in check.pairs.keys() {
        let both = [from, to].map(|it| clocks.of(it).as_usize());
        sets.join(both);
        if family(from) != family(to) {
            for clock in both {
                communicates[clock] = true;
            }
        }
    }
    for (&clock, location) in clocks.by_location().iter().zip(&info.locations) {
        let process = info.processes.get(location.process);
        if let Some(node) = process.and_then(|it| it.node) {
            let first = *of_nodes.entry(node).or_insert(clock.as_usize());
            sets.join([first, clock.as_usize()]);
        }
    }
    let missed = unused.iter();
    let missed = missed.filter(|it| it.is_ordered && it.reach == Reach::Trace);
    for records in missed.map(|it| &it.records) {
        for (&clock, _) in clocks
            .by_location()
            .iter()
            .zip(records)
            .filter(|it| *it.1 > 0)
        {
            communicates[clock.as_usize()] = true;
        }
    }
    let mut found: BTreeMap<usize, Vec<ClockId>> = BTreeMap::new();
    for clock in clocks.iter().filter(|it| communicates[it.as_usize()]) {
        found
            .entry(sets.first(clock.as_usize()))
            .or_default()
            .push(clock);
    }
    found.into_values().collect()
}

/// Sets of numbers that are joined pair by pair, each known by its first.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The first number of a set.
    fn first(&mut self, of: usize) -> usize {
        let mut at = of;
        while self.0[at] != at {
            // Halves the way for whoever goes it again.
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, pair: [usize; 2]) {
        let [one, other] = pair.map(|it| self.first(it));
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use retime_testing::trace;

    use super::*;
    use crate::pipeline::{Analysis, AnalysisOptions};

    /// The related clocks of a trace in which locations send each other messages, and records of
    /// locations that were not used.
    fn found(text: &str, unused: &[u64], reach: Reach) -> Vec<Vec<u32>> {
        let trace = trace(text).unwrap();
        let analysis =
            Analysis::new(trace.info, trace.logs, AnalysisOptions::default(), &()).unwrap();
        let unused = Unused {
            kind: "call",
            reach,
            is_ordered: true,
            records: unused.to_vec(),
        };
        let sets = related_clocks(
            analysis.info(),
            analysis.clocks(),
            analysis.recorded(),
            &[unused],
        );
        let numbers = |set: Vec<ClockId>| set.into_iter().map(|it| it.0).collect();
        sets.into_iter().map(numbers).collect()
    }

    const TWO_PAIRS: &str = "0 on 0: send 1 @10\n1 on 1: receive 0 @20\n\
                             2 on 2: send 3 @10\n3 on 3: receive 2 @20\n4 on 4: ";

    #[test]
    fn clocks_are_related_by_chains_of_dependencies() {
        let pairs = found(TWO_PAIRS, &[], Reach::Trace);
        assert_eq!(pairs, [[0, 1], [2, 3]]);
        let joined = TWO_PAIRS.replace("receive 0 @20", "receive 0 @20, send 2 @30");
        let joined = joined.replace("2 on 2: ", "2 on 2: receive 1 @5, ");
        assert_eq!(found(&joined, &[], Reach::Trace), [[0, 1, 2, 3]]);
    }

    #[test]
    fn processes_of_one_node_are_one_set() {
        let one_node = TWO_PAIRS.replace("3 on 3", "3 on 0");
        assert_eq!(found(&one_node, &[], Reach::Trace).len(), 1);
    }

    #[test]
    fn who_recorded_communication_counts_though_none_was_used() {
        let unused = [0, 0, 0, 0, 7];
        let sets = found(TWO_PAIRS, &unused, Reach::Trace);
        assert_eq!(sets, [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(found(TWO_PAIRS, &unused, Reach::Process).len(), 2);
    }
}
