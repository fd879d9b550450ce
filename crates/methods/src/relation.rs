//! Which clocks dependencies relate to the reference, and how.

use crate::line::clocks;
use crate::traffic::Traffic;
use retime::ClockId;
use retime::edges::Edges;
use retime::estimate::NoEstimate;

/// For each clock.
pub(crate) struct Relation {
    /// Related in some direction, at least through others; so is the reference.
    pub(crate) some: Vec<bool>,
    /// Related in both directions, at least through others.
    pub(crate) both: Vec<bool>,
}

impl Relation {
    /// How clocks are related to the reference; an error if one that has events is
    /// not.
    pub(crate) fn to(
        reference: ClockId,
        edges: &Edges,
        traffic: &Traffic,
    ) -> Result<Self, NoEstimate> {
        let forth = reached(reference, edges.clocks(), traffic, &[true]);
        let back = reached(reference, edges.clocks(), traffic, &[false]);
        let some = reached(reference, edges.clocks(), traffic, &[true, false]);
        let apart = clocks(edges).zip(&some).filter(|(_, some)| !**some);
        let apart = apart.map(|(clock, _)| clock);
        let unrelated = apart.filter(|&clock| edges.extent(clock).is_some());
        let unrelated: Vec<ClockId> = unrelated.collect();
        if !unrelated.is_empty() {
            return Err(NoEstimate::Unrelated(unrelated));
        }
        let both = forth.iter().zip(&back).map(|(forth, back)| *forth && *back);
        Ok(Self {
            both: both.collect(),
            some,
        })
    }

    /// The first pair of clocks that keeps some clock from being related in both
    /// directions.
    pub(crate) fn one_direction(&self, traffic: &Traffic) -> Option<NoEstimate> {
        let both = |clock: ClockId| self.both.get(clock.as_usize()) == Some(&true);
        let mut ways = traffic.ways().iter();
        let border = ways.find(|way| both(way.from) != both(way.to))?;
        Some(NoEstimate::OneDirection(border.from, border.to))
    }
}

/// The clocks for which it holds.
pub(crate) fn members(of: &[bool]) -> Vec<ClockId> {
    let all = (0..of.len() as u32).map(ClockId);
    all.zip(of).filter(|(_, is)| **is).map(|it| it.0).collect()
}

/// The clocks that ways lead to, along them (true) or against them.
fn reached(start: ClockId, clocks: usize, traffic: &Traffic, along: &[bool]) -> Vec<bool> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); clocks];
    for way in traffic.ways() {
        for &along in along {
            let (from, to) = if along {
                (way.from, way.to)
            } else {
                (way.to, way.from)
            };
            next[from.as_usize()].push(to.as_usize());
        }
    }
    let mut seen = vec![false; clocks];
    let mut queue = Vec::new();
    if let Some(start_seen) = seen.get_mut(start.as_usize()) {
        *start_seen = true;
        queue.push(start.as_usize());
    }
    while let Some(clock) = queue.pop() {
        for &peer in &next[clock] {
            if !std::mem::replace(&mut seen[peer], true) {
                queue.push(peer);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime::edges::Edge;

    fn relation(ways: &[(u32, u32)], clocks: usize) -> Result<(Relation, Traffic), NoEstimate> {
        let edge = |&(from, to): &(u32, u32)| Edge::message(ClockId(from), 0, ClockId(to), 1);
        let edges = ways.iter().map(edge).collect();
        let edges = Edges::new(edges, vec![Some((0, 1)); clocks]);
        let traffic = Traffic::of(&edges, &()).unwrap();
        Ok((Relation::to(ClockId(0), &edges, &traffic)?, traffic))
    }

    #[test]
    fn a_ring_relates_all_of_its_clocks() {
        let (ring, traffic) = relation(&[(0, 1), (1, 2), (2, 0)], 3).unwrap();
        assert_eq!(
            (ring.both.as_slice(), ring.some.as_slice()),
            (&[true; 3][..], &[true; 3][..])
        );
        assert_eq!(ring.one_direction(&traffic), None);
    }

    #[test]
    fn a_producer_is_named() {
        let (chain, traffic) = relation(&[(0, 1), (1, 0), (2, 1)], 3).unwrap();
        assert_eq!(chain.both, [true, true, false]);
        assert_eq!(chain.some, [true, true, true]);
        let pair = NoEstimate::OneDirection(ClockId(2), ClockId(1));
        assert_eq!(chain.one_direction(&traffic), Some(pair));
    }

    #[test]
    fn clocks_that_nothing_relates_are_named() {
        let error = relation(&[(1, 2)], 3).map(|_| ()).unwrap_err();
        let others = vec![ClockId(1), ClockId(2)];
        assert_eq!(error, NoEstimate::Unrelated(others));
        assert!(relation(&[], 1).is_ok());
        let edges = Edges::new(Vec::new(), vec![Some((0, 1)), None]);
        assert!(Relation::to(ClockId(0), &edges, &Traffic::of(&edges, &()).unwrap()).is_ok());
        let beyond = Relation::to(ClockId(7), &edges, &Traffic::of(&edges, &()).unwrap());
        assert_eq!(beyond.err(), Some(NoEstimate::Unrelated(vec![ClockId(0)])));
    }
}
