//! Shortest paths, or the negative cycle that leaves none.
//!
//! Each node is reached by the shortest way known so far, and arcs make ways
//! shorter until none does. The arcs by which nodes were reached last form a tree,
//! unless ways get ever shorter around a cycle of negative length: then they close
//! around it. Looking for that after each pass finds a cycle early, and in the first
//! passes one of few arcs.
//!
//! Lengths are whole or floating; with the latter a way has to be shorter by some
//! tolerance, or rounding would make cycles negative that are not.
//!
//! Source: R. Bellman (1958), L. R. Ford (1956); cycles by the tree of parents, R. E.
//! Tarjan (1981), in B. V. Cherkassky and A. V. Goldberg, *Negative-cycle detection
//! algorithms* (1999).
//!
//! The bounds of `optimal/graph` are longest paths too, but over a node for each event that matters,
//! millions, which hang together along clocks: there a sweep forwards and
//! backwards along a clock does in one pass what arcs between neighbours would
//! take as many passes for as a clock has nodes. It keeps a search of its own.

use std::ops::Add;

/// From one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc<L> {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) length: L,
}

/// Where ways begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At one node: what is not reached from it has no distance.
    At(usize),
    /// Everywhere at once, at a distance of nothing.
    Everywhere,
}

/// By node the length of the shortest way; or the arcs of a negative cycle, each
/// behind the one that follows on it. `tolerance` is by how much a way has to be
/// shorter than another to be taken instead.
pub(crate) fn shortest_paths<L>(
    nodes: usize,
    start: Start,
    arcs: &[Arc<L>],
    tolerance: L,
) -> Result<Vec<Option<L>>, Vec<Arc<L>>>
where
    L: Copy + Default + PartialOrd + Add<Output = L>,
{
    let mut distance = match start {
        Start::At(_) => vec![None; nodes],
        Start::Everywhere => vec![Some(L::default()); nodes],
    };
    if let Start::At(root) = start {
        distance[root] = Some(L::default());
    }
    let mut arrival: Vec<Option<usize>> = vec![None; nodes];
    // Without a negative cycle no shortest way visits a node twice.
    for _ in 0..=nodes {
        let mut settled = true;
        for (at, arc) in arcs.iter().enumerate() {
            let (from, to) = (arc.from as usize, arc.to as usize);
            let Some(length) = distance[from].map(|so_far| so_far + arc.length) else {
                continue;
            };
            if distance[to].is_none_or(|known| length + tolerance < known) {
                distance[to] = Some(length);
                arrival[to] = Some(at);
                settled = false;
            }
        }
        if settled {
            break;
        }
        let closed = closed(arcs, &arrival);
        if !closed.is_empty() {
            return Err(closed);
        }
    }
    Ok(distance)
}

/// A cycle of the arcs by which nodes were reached; none if they form a tree.
fn closed<L: Copy>(arcs: &[Arc<L>], arrival: &[Option<usize>]) -> Vec<Arc<L>> {
    // From where each node was visited first.
    let mut visited = vec![usize::MAX; arrival.len()];
    let arrived = |node: usize| arrival[node].map(|at| arcs[at]);
    for start in 0..arrival.len() {
        let mut at = start;
        while visited[at] == usize::MAX {
            visited[at] = start;
            match arrived(at) {
                Some(arc) => at = arc.from as usize,
                None => break,
            }
        }
        // Back at what this search has seen before: on a cycle.
        if visited[at] == start
            && let Some(last) = arrived(at)
        {
            let before =
                |arc: &Arc<L>| arrived(arc.from as usize).filter(|_| arc.from as usize != at);
            return std::iter::successors(Some(last), before).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc((from, to, length): (u32, u32, i64)) -> Arc<i64> {
        Arc { from, to, length }
    }

    #[test]
    fn the_shortest_way_may_have_more_arcs() {
        let arcs = [(0, 1, 9), (0, 2, 3), (2, 1, 4), (1, 2, -4)].map(arc);
        let found = shortest_paths(4, Start::At(0), &arcs, 0);
        assert_eq!(found, Ok(vec![Some(0), Some(7), Some(3), None]));
        let found = shortest_paths(4, Start::Everywhere, &arcs, 0);
        assert_eq!(found, Ok(vec![Some(0), Some(0), Some(-4), Some(0)]));
    }

    #[test]
    fn a_negative_cycle_is_named_from_its_end() {
        let arcs = [(0, 1, 1), (1, 2, -5), (2, 3, 2), (3, 1, 2)].map(arc);
        let cycle = shortest_paths(4, Start::At(0), &arcs, 0).unwrap_err();
        assert_eq!(cycle.iter().map(|arc| arc.length).sum::<i64>(), -1);
        let meet = |pair: &[Arc<i64>]| pair[0].from == pair[1].to;
        assert!(cycle.windows(2).all(meet) && cycle[2].from == cycle[0].to);
        // Nobody can get to it.
        let apart = [(1, 2, -5), (2, 1, 2)].map(arc);
        assert!(shortest_paths(3, Start::At(0), &apart, 0).is_ok());
        assert!(shortest_paths(3, Start::Everywhere, &apart, 0).is_err());
        assert!(shortest_paths(3, Start::Everywhere, &apart, 2).is_err());
        // No way gets shorter by more than that.
        assert!(shortest_paths(3, Start::Everywhere, &apart, 3).is_ok());
    }
}
