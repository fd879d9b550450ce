//! Bounds that several processes find together are those of one.

use std::sync::Arc;

use proptest::prelude::*;
use retime::causality::{EventNode, PackedOption, Place};
use retime::edges::Source;
use retime::estimate::{Estimate, Offset};
use retime::optimal::{BoundOptions, OffsetBounds, offset_bounds};
use retime::{Cancelled, ClockId, Edge, Edges, LocationIndex, Monitor, Peers, Share};

use crate::common::cases;
use crate::common::processes::{Thread, together};

/// The dependencies that one of several processes has: those that end at its clocks.
struct Own {
    edges: Edges,
    share: Share,
    holders: Vec<usize>,
}

impl Source for Own {
    fn clocks(&self) -> usize {
        self.edges.clocks()
    }

    fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        self.edges.extent(clock)
    }

    fn granularities(&self, _: &dyn Monitor) -> Result<Vec<i64>, Cancelled> {
        Ok(vec![1; self.edges.clocks()])
    }

    fn parts(&self) -> usize {
        self.edges.parts()
    }

    fn share(&self) -> &Share {
        &self.share
    }

    fn holder(&self, clock: ClockId) -> usize {
        self.holders[clock.as_usize()]
    }

    fn places(&self, edge: &Edge) -> Option<(Place, Place)> {
        let place = |clock: ClockId, node: PackedOption<EventNode>| {
            let location = LocationIndex(clock.0);
            let event = node.get()?.0.into();
            Some(Place { location, event })
        };
        Some((place(edge.from, edge.cause)?, place(edge.to, edge.effect)?))
    }

    fn walk(&self, part: usize, visit: impl FnMut(Edge)) {
        self.edges.walk(part, visit);
    }
}

/// With `links` for each process that searches.
fn options(links: u64) -> BoundOptions {
    BoundOptions {
        drift: 1e-3,
        links,
        ..BoundOptions::default()
    }
}

fn base(clocks: usize) -> Estimate {
    Estimate {
        offsets: vec![Some(Offset::constant(0.0)); clocks],
        reference: ClockId(0),
    }
}

/// What each process knows, clock `c` being held by process `holders[c]`.
fn in_processes(
    edges: &Edges,
    holders: &[usize],
    (size, links): (usize, u64),
) -> Vec<OffsetBounds> {
    together(size, |peer: Thread| {
        let rank = peer.rank();
        let own = edges.all().iter().copied();
        let own = own.filter(|it| holders[it.to.as_usize()] == rank);
        let clocks = (0..edges.clocks() as u32).map(ClockId);
        let source = Own {
            edges: Edges::new(own.collect(), clocks.map(|it| edges.extent(it)).collect()),
            share: Share::new(
                Arc::new(peer),
                holders.iter().map(|&it| it as u32).collect(),
            ),
            holders: holders.to_vec(),
        };
        let base = base(edges.clocks());
        offset_bounds(&source, |_| 0, &base, &options(links), &()).unwrap()
    })
}

fn check(
    edges: &Edges,
    holders: &[usize],
    (size, links): (usize, u64),
) -> Result<OffsetBounds, TestCaseError> {
    // One process, which has them in the same way.
    let whole = in_processes(edges, &vec![0; holders.len()], (1, 1)).remove(0);
    let parts = in_processes(edges, holders, (size, links));
    for (rank, part) in parts.iter().enumerate() {
        for (clock, bounds) in part.clocks.iter().enumerate() {
            if holders[clock] == rank || clock == 0 {
                prop_assert_eq!(bounds, &whole.clocks[clock]);
            } else {
                prop_assert!(bounds.is_none());
            }
        }
        prop_assert_eq!(part.complete, whole.complete);
    }
    prop_assert_eq!(parts[0].relaxed.len(), whole.relaxed.len());
    Ok(whole)
}

/// Messages from `from` on to another of so many clocks, sent at a time, so many ticks beyond
/// the least time that they can take by the clocks.
type Messages = Vec<(usize, usize, i64, i64)>;

fn messages(clocks: usize, beyond: std::ops::Range<i64>) -> impl Strategy<Value = Messages> {
    let message = (0..clocks, 1..clocks, 0..100_000_i64, beyond);
    proptest::collection::vec(message, 1..120)
}

/// Clocks that wander by some ticks, so that ways between them gain here and lose there.
fn edges(messages: &Messages, clocks: usize) -> Edges {
    let shown = |clock: usize, time: i64| {
        let wave = ((time as f64 / 2e4 + clock as f64).sin() * 8.0) as i64;
        time + wave + clock as i64 % 3
    };
    let edge = |(node, &(from, by, sent, beyond)): (u32, &(usize, usize, i64, i64))| {
        let to = (from + by) % clocks;
        let received = shown(to, sent + beyond);
        let message = Edge::message(
            ClockId(from as u32),
            shown(from, sent),
            ClockId(to as u32),
            received,
        );
        Edge {
            cause: EventNode(2 * node).into(),
            effect: EventNode(2 * node + 1).into(),
            ..message
        }
    };
    let all = (0..).zip(messages).map(edge).collect();
    Edges::new(all, vec![Some((-1_000, 102_000)); clocks])
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn bounds_are_those_of_one_process(
        messages in messages(7, 0..60),
        holders in proptest::collection::vec(0..4_usize, 7),
        links in 1..50_u64,
    ) {
        let whole = check(&edges(&messages, 7), &holders, (4, links))?;
        prop_assert!(whole.complete && whole.relaxed.is_empty());
    }

    /// Some messages arrive before they were sent, by what no clock can have changed.
    #[test]
    fn the_same_is_left_out_as_in_one_process(
        messages in messages(5, -20..60),
        holders in proptest::collection::vec(0..3_usize, 5),
        links in 1..50_u64,
    ) {
        check(&edges(&messages, 5), &holders, (3, links))?;
    }
}

/// The reference sends to others that contradict each other and never answer: no upper bound
/// shows that, and the circle runs through three processes, or through two of them.
#[test]
fn a_circle_that_leads_nowhere_is_seen() {
    let message = |from: u32, to: u32, sent: i64, received: i64, node: u32| Edge {
        cause: EventNode(node).into(),
        effect: EventNode(node + 1).into(),
        ..Edge::message(ClockId(from), sent, ClockId(to), received)
    };
    let all = vec![
        message(0, 1, 1_000, 1_020, 0),
        message(1, 2, 2_000, 1_990, 2),
        message(2, 3, 2_000, 1_990, 4),
        message(3, 1, 2_000, 1_990, 6),
    ];
    let edges = Edges::new(all, vec![Some((0, 4_000)); 4]);
    for holders in [[0, 0, 1, 2], [0, 1, 2, 2], [2, 1, 0, 2]] {
        let found = check(&edges, &holders, (3, 1)).unwrap();
        assert_eq!(found.relaxed.len(), 1);
    }
}
