//! Bounds on the difference of two clocks by the messages of a sub-interval.
//!
//! A message cannot arrive before it was sent. So each message from `i` to `k`
//! bounds the difference of their clocks from below, and each from `k` to `i`
//! from above:
//!
//! ```text
//! O+(i,k) = max over messages i -> k of  C_i(send) - C_k(recv) + mu   <=  C_i - C_k
//! O-(i,k) = min over messages k -> i of  C_i(recv) - C_k(send) - mu   >=  C_i - C_k
//! ```
//!
//! As `O+(i,k) = -O-(k,i)`, one number per ordered pair says it all. A message
//! counts in the sub-interval of its send and in that of its receive, for both
//! corrections have to respect it. Only pairs with messages are stored.
//!
//! Source: Rabenseifner 2000, sections 7.5 (7.2 to 7.5) and 7.7 (7.6 to 7.9),
//! which print the formulas with mu = 0.
//!
//! ```
//! use retime_methods::{PairBounds, SubIntervals};
//! use retime::{ClockId, Edge, Edges};
//! let (a, b) = (ClockId(0), ClockId(1));
//! let edges = vec![
//!     Edge::message(a, 0, b, 1_010),
//!     Edge::message(a, 20, b, 1_060),
//!     Edge::message(b, 1_090, a, 100),
//! ];
//! let edges = Edges::new(edges, vec![Some((0, 100)), Some((1_010, 1_090))]);
//! let pieces = SubIntervals::divide(&edges, 1, &()).unwrap();
//! let bounds = PairBounds::collect(&edges, &|_| 2, &pieces, &()).unwrap();
//! // a is between 992 and 1008 behind b.
//! assert_eq!((bounds.lower(0, a, b), bounds.upper(0, a, b)), (Some(-1_008), Some(-992)));
//! ```

use crate::SubIntervals;
use crate::traffic::Traffic;
use retime::Pace;
use retime::edges::{Edge, Edges};
use retime::{Cancelled, ClockId, Monitor};

/// Stands for no bound.
pub(crate) const UNBOUNDED: i64 = i64::MAX;

/// Bounds of the differences of pairs of clocks, in each sub-interval.
#[derive(Clone, Debug)]
pub struct PairBounds {
    /// Ordered pairs `(from, to)` with messages, sorted.
    pairs: Vec<(ClockId, ClockId)>,
    /// For each sub-interval and each of those `O-(to, from)`.
    limits: Vec<i64>,
}

impl PairBounds {
    /// Collects the bounds of all dependencies; `least` is the minimal delay of each, in ticks.
    /// Fails only if `monitor` says to give up.
    pub fn collect(
        edges: &Edges,
        least: &impl Fn(&Edge) -> i64,
        pieces: &SubIntervals,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        Self::along(&Traffic::of(edges, monitor)?, edges, least, pieces, monitor)
    }

    pub(crate) fn along(
        traffic: &Traffic,
        edges: &Edges,
        least: &impl Fn(&Edge) -> i64,
        pieces: &SubIntervals,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let pairs: Vec<_> = traffic
            .ways()
            .iter()
            .map(|way| (way.from, way.to))
            .collect();
        let mut limits = vec![UNBOUNDED; pairs.len() * pieces.len()];
        let mut position = None;
        let mut pace = Pace::of(monitor);
        for edge in edges.all() {
            pace.event()?;
            let pair = (edge.from, edge.to);
            // Messages of one pair often follow one another.
            if position.is_none_or(|at: usize| pairs.get(at) != Some(&pair)) {
                position = traffic.position(edge.from, edge.to);
            }
            let Some(at) = position else {
                continue;
            };
            let slack = edge.latency().saturating_sub(least(edge));
            let sent = pieces.of(edge.from, edge.sent);
            let received = pieces.of(edge.to, edge.received);
            for piece in [sent, received] {
                if let Some(limit) = limits.get_mut(piece * pairs.len() + at) {
                    *limit = slack.min(*limit);
                }
            }
        }
        Ok(Self { pairs, limits })
    }

    /// `O-(i,k)`: `C_i - C_k` is at most this in a sub-interval; `None` without
    /// messages from `k` to `i`.
    pub fn upper(&self, piece: usize, i: ClockId, k: ClockId) -> Option<i64> {
        let at = self.pairs.binary_search(&(k, i)).ok()?;
        let limit = self.limits.get(piece * self.pairs.len() + at)?;
        (*limit != UNBOUNDED).then_some(*limit)
    }

    /// `O+(i,k)`: `C_i - C_k` is at least this; `None` without messages from `i`
    /// to `k`.
    pub fn lower(&self, piece: usize, i: ClockId, k: ClockId) -> Option<i64> {
        self.upper(piece, k, i).map(i64::saturating_neg)
    }

    /// `(i, k, O-(i,k))` of a sub-interval, for all bounded pairs.
    pub fn uppers(&self, piece: usize) -> impl Iterator<Item = (ClockId, ClockId, i64)> {
        let first = piece * self.pairs.len();
        let limits = self.limits.get(first..first + self.pairs.len());
        let all = self.pairs.iter().zip(limits.unwrap_or_default());
        let bounded = all.filter(|&(_, &limit)| limit != UNBOUNDED);
        bounded.map(|(&(from, to), &limit)| (to, from, limit))
    }
}
