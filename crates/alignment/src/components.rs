//! Which clocks bound each other from both sides.
//!
//! A dependency bounds the difference of two clocks on one side. A way there and
//! a way back, over whatever other clocks, bound it on both: clocks between
//! which both exist form a *component*, the strongly connected ones of the graph
//! of dependencies. Inside one, differences can be told; between components they
//! are bounded on one side only, or not at all.
//!
//! Source: Tarjan 1972, with a stack of its own instead of recursion.

/// The number of the component of each clock: the smallest clock in it.
/// `links` say which clock depends on which, in order.
pub(super) fn components(clocks: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut search = DepthFirstSearch::new(clocks, links);
    for clock in 0..clocks {
        if search.index[clock] == UNSEEN {
            search.from(clock);
        }
    }
    search.component
}

const UNSEEN: usize = usize::MAX;

struct DepthFirstSearch {
    /// Where each clock goes to: `targets[first[clock]..first[clock + 1]]`.
    first: Vec<usize>,
    targets: Vec<usize>,
    index: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    open: Vec<usize>,
    seen: usize,
}

impl DepthFirstSearch {
    fn new(clocks: usize, links: &[(usize, usize)]) -> Self {
        let mut first = vec![0; clocks + 1];
        for (from, _) in links {
            first[from + 1] += 1;
        }
        for clock in 0..clocks {
            first[clock + 1] += first[clock];
        }
        Self {
            first,
            targets: links.iter().map(|&(_, to)| to).collect(),
            index: vec![UNSEEN; clocks],
            low: vec![UNSEEN; clocks],
            component: vec![UNSEEN; clocks],
            open: Vec::new(),
            seen: 0,
        }
    }

    fn enter(&mut self, clock: usize) {
        self.index[clock] = self.seen;
        self.low[clock] = self.seen;
        self.seen += 1;
        self.open.push(clock);
    }

    fn from(&mut self, root: usize) {
        let mut path = vec![(root, self.first[root])];
        self.enter(root);
        while let Some(&mut (clock, ref mut next)) = path.last_mut() {
            if *next < self.first[clock + 1] {
                let target = self.targets[*next];
                *next += 1;
                if self.index[target] == UNSEEN {
                    self.enter(target);
                    path.push((target, self.first[target]));
                } else if self.component[target] == UNSEEN {
                    self.low[clock] = self.low[clock].min(self.index[target]);
                }
                continue;
            }
            path.pop();
            if let Some(&(before, _)) = path.last() {
                self.low[before] = self.low[before].min(self.low[clock]);
            }
            if self.low[clock] == self.index[clock] {
                self.close(clock);
            }
        }
    }

    /// Everything opened since `clock` forms a component.
    fn close(&mut self, clock: usize) {
        let start = self.open.iter().rposition(|&it| it == clock).unwrap_or(0);
        let members = self.open.split_off(start);
        let name = members.iter().copied().min().unwrap_or(clock);
        for member in members {
            self.component[member] = name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_there_and_back_make_a_component() {
        // 0 -> 1 -> 2 -> 0, hanging at it 3 <-> 4, and 5 alone.
        let pairs = [(0, 1), (1, 2), (2, 0), (2, 4), (3, 4), (4, 3)];
        assert_eq!(components(6, &pairs), [0, 0, 0, 3, 3, 5]);
        let forward = [(0, 1), (1, 2), (2, 4), (3, 4)];
        assert_eq!(components(6, &forward), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn long_chains_need_no_deep_stack() {
        let count = 100_000;
        let ring: Vec<_> = (0..count).map(|from| (from, (from + 1) % count)).collect();
        assert!(components(count, &ring).iter().all(|&it| it == 0));
    }
}
