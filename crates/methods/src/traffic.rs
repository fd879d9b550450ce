//! The dependencies from clock to clock over the whole run, counted.
//!
//! Counts say into how many sub-intervals a run may be divided; the fastest
//! dependency each way says roughly how clocks differ, enough to know which
//! parts of two clocks' stamps belong together.

use rustc_hash::FxHashMap;

use retime::Pace;
use retime::edges::Edges;
use retime::{Cancelled, ClockId, Monitor};

/// From one clock to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) from: ClockId,
    pub(crate) to: ClockId,
    /// How many dependencies.
    pub(crate) count: u64,
    /// The least of their latencies.
    pub(crate) fastest: i64,
}

/// All ways that have dependencies, by `from`, then `to`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic {
    ways: Vec<Way>,
    /// First and last stamp with a dependency, by clock.
    extents: Vec<Option<(i64, i64)>>,
}

impl Traffic {
    pub(crate) fn of(edges: &Edges, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let mut found: FxHashMap<(ClockId, ClockId), Way> = FxHashMap::default();
        let mut extents = vec![None; edges.clocks()];
        let mut pace = Pace::of(monitor);
        for edge in edges.all() {
            pace.event()?;
            let (from, to) = (edge.from, edge.to);
            if from == to || from.max(to).as_usize() >= extents.len() {
                continue;
            }
            include(&mut extents[from.as_usize()], edge.sent);
            include(&mut extents[to.as_usize()], edge.received);
            let way = found.entry((from, to)).or_insert(Way {
                from,
                to,
                count: 0,
                fastest: i64::MAX,
            });
            way.count += 1;
            way.fastest = way.fastest.min(edge.latency());
        }
        let mut ways: Vec<Way> = found.into_values().collect();
        ways.sort_unstable_by_key(|way| (way.from, way.to));
        Ok(Self { ways, extents })
    }

    /// First and last stamp of a clock with a dependency.
    pub(crate) fn extents(&self) -> &[Option<(i64, i64)>] {
        &self.extents
    }

    /// All ways, in order.
    pub(crate) fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// The position of a way in that order.
    pub(crate) fn position(&self, from: ClockId, to: ClockId) -> Option<usize> {
        let key = |way: &Way| (way.from, way.to);
        self.ways.binary_search_by_key(&(from, to), key).ok()
    }

    fn way(&self, from: ClockId, to: ClockId) -> Option<&Way> {
        self.ways.get(self.position(from, to)?)
    }

    /// All dependencies.
    pub(crate) fn total(&self) -> u64 {
        self.ways.iter().map(|way| way.count).sum()
    }

    /// Dependencies from a clock to another.
    pub(crate) fn count(&self, from: ClockId, to: ClockId) -> u64 {
        self.way(from, to).map_or(0, |way| way.count)
    }

    /// Dependencies between two clocks, the rarer way.
    pub(crate) fn each_way(&self, one: ClockId, other: ClockId) -> u64 {
        self.count(one, other).min(self.count(other, one))
    }

    /// The median of that over all pairs with dependencies both ways; 0 without
    /// such pairs.
    pub(crate) fn typical(&self) -> u64 {
        let pairs = self.ways.iter().filter(|way| way.from < way.to);
        let both = pairs.map(|way| self.each_way(way.from, way.to));
        let mut counts: Vec<u64> = both.filter(|&count| count > 0).collect();
        if counts.is_empty() {
            return 0;
        }
        let middle = counts.len() / 2;
        *counts.select_nth_unstable(middle).1
    }

    /// The ticks to add to each clock such that they agree roughly: to a few message delays plus
    /// what they drift apart in the run. Clocks that are not related get any value.
    pub(crate) fn rough_shifts(&self) -> Vec<i64> {
        let neighbours = self.neighbours();
        let mut shifts: Vec<Option<i64>> = vec![None; self.extents.len()];
        for start in 0..self.extents.len() {
            if shifts[start].is_some() {
                continue;
            }
            shifts[start] = Some(0);
            let mut queue = vec![start];
            let mut next = 0;
            while let Some(&clock) = queue.get(next) {
                next += 1;
                let own = shifts[clock].unwrap_or(0);
                for &(peer, ahead) in &neighbours[clock] {
                    if shifts[peer].is_none() {
                        shifts[peer] = Some(own.saturating_sub(ahead));
                        queue.push(peer);
                    }
                }
            }
        }
        shifts.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// For each clock its peers, and roughly how far those are ahead of it.
    fn neighbours(&self) -> Vec<Vec<(usize, i64)>> {
        let mut neighbours = vec![Vec::new(); self.extents.len()];
        for way in &self.ways {
            let back = self.way(way.to, way.from).map(|back| back.fastest);
            let ahead = match back {
                Some(_) if way.from > way.to => continue,
                Some(back) => i64::midpoint(way.fastest, back.saturating_neg()),
                None => way.fastest,
            };
            let (from, to) = (way.from.as_usize(), way.to.as_usize());
            neighbours[from].push((to, ahead));
            neighbours[to].push((from, ahead.saturating_neg()));
        }
        neighbours
    }
}

fn include(extent: &mut Option<(i64, i64)>, stamp: i64) {
    let (first, last) = extent.unwrap_or((stamp, stamp));
    *extent = Some((first.min(stamp), last.max(stamp)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime::edges::Edge;

    #[test]
    fn shifts_follow_chains_of_clocks() {
        let [a, b, c] = [0, 1, 2].map(ClockId);
        // b is 1000 ahead of a, c some 500 behind b, and a fourth is alone.
        let edges = vec![
            Edge::message(a, 0, b, 1_010),
            Edge::message(b, 1_020, a, 30),
            Edge::message(b, 1_030, c, 530),
        ];
        let traffic = Traffic::of(&Edges::new(edges, vec![None; 4]), &()).unwrap();
        assert_eq!(traffic.rough_shifts(), [0, -1_000, -500, 0]);
        assert_eq!(traffic.typical(), 1);
        assert_eq!((traffic.count(a, b), traffic.count(a, c)), (1, 0));
        assert_eq!(
            traffic.extents()[1..],
            [Some((1_010, 1_030)), Some((530, 530)), None]
        );
    }

    #[test]
    fn clocks_that_do_not_exist_are_passed_over() {
        let edges = vec![Edge::message(ClockId(0), 0, ClockId(9), 5)];
        let traffic = Traffic::of(&Edges::new(edges, vec![None]), &()).unwrap();
        assert!(traffic.ways().is_empty() && traffic.typical() == 0);
    }
}
