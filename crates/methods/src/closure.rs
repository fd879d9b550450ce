//! Bounds between clocks, closed under chains of clocks.
//!
//! If clock `i` is at most 3 ahead of `x`, and `x` at most 4 ahead of `k`, then
//! `i` is at most 7 ahead of `k`, whether or not they exchange messages. The
//! tightest bounds that follow from all chains are shortest paths:
//!
//! ```text
//! for x:  for i, k:  O-(i,k) = min(O-(i,k), O-(i,x) + O-(x,k))        O-(i,i) = 0
//! ```
//!
//! with the intermediate clock `x` in the outermost loop (Floyd and Warshall),
//! so one pass suffices where the thesis repeats its loops until nothing
//! changes. Any row of the closed matrix then holds differences that respect all
//! bounds. If a chain from a clock back to itself adds up to less than 0,
//! no differences do; that chain is named.
//!
//! The cost is clocks^3, and no more for clocks that nothing bounds than
//! clocks^2.
//!
//! Source: Rabenseifner 2000, section 7.5 (Hofmann & Hilgers' loop) and section
//! 7.6, which adds that no width may be negative.
//!
//! ```
//! use retime::ClockId;
//! use retime_methods::DifferenceBounds;
//! let [a, b, c] = [0, 1, 2].map(ClockId);
//! let mut bounds = DifferenceBounds::new(3);
//! bounds.at_most(a, b, 3); // C_a - C_b <= 3
//! bounds.at_most(b, c, 4);
//! bounds.at_most(c, a, -5);
//! bounds.close(&()).unwrap()?;
//! assert_eq!((bounds.lower(a, c), bounds.upper(a, c)), (Some(5), Some(7)));
//! assert_eq!(bounds.upper(b, a), Some(-1));
//!
//! bounds.at_most(c, a, -8);
//! let cycle = bounds.close(&()).unwrap().unwrap_err();
//! assert_eq!((cycle.clocks.len(), cycle.missing), (2, 1));
//! # Ok::<(), retime_methods::NegativeCycle>(())
//! ```

use crate::pair_bounds::UNBOUNDED;
use retime::Pace;
use retime::estimate::NoEstimate;
use retime::{Cancelled, ClockId, Monitor, Ticks};
use retime_numerics::paths::{Arc, Start, shortest_paths};

/// Upper bounds of the differences of all pairs of clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceBounds {
    clocks: usize,
    /// `O-(i,k)` at `i * clocks + k`.
    upper: Vec<i64>,
}

/// Bounds that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bounds around {} clocks contradict each other by {missing} ticks", clocks.len())]
pub struct NegativeCycle {
    /// Clocks in the order in which messages go around, from the smallest; the
    /// last sends to the first.
    pub clocks: Vec<ClockId>,
    /// The ticks by which they contradict each other, more than 0.
    pub missing: i64,
}

impl From<NegativeCycle> for NoEstimate {
    fn from(cycle: NegativeCycle) -> Self {
        Self::Infeasible(cycle.clocks, Ticks(cycle.missing))
    }
}

impl DifferenceBounds {
    /// Nothing is known of this many clocks, but that each agrees with itself.
    pub fn new(clocks: usize) -> Self {
        let mut upper = vec![UNBOUNDED; clocks * clocks];
        upper.iter_mut().step_by(clocks + 1).for_each(|it| *it = 0);
        Self { clocks, upper }
    }

    fn position(&self, i: ClockId, k: ClockId) -> Option<usize> {
        let (i, k) = (i.as_usize(), k.as_usize());
        (i < self.clocks && k < self.clocks).then_some(i * self.clocks + k)
    }

    /// `C_i - C_k` is at most this, in ticks. Of several the tightest counts;
    /// none counts for `i = k`.
    pub fn at_most(&mut self, i: ClockId, k: ClockId, ticks: i64) {
        let at = self.position(i, k).filter(|_| i != k);
        if let Some(bound) = at.and_then(|at| self.upper.get_mut(at)) {
            *bound = ticks.min(*bound);
        }
    }

    /// The largest value that `C_i - C_k` can have; `None` if nothing bounds it.
    pub fn upper(&self, i: ClockId, k: ClockId) -> Option<i64> {
        let bound = *self.upper.get(self.position(i, k)?)?;
        (bound != UNBOUNDED).then_some(bound)
    }

    /// The smallest value that `C_i - C_k` can have; `None` if nothing bounds it.
    pub fn lower(&self, i: ClockId, k: ClockId) -> Option<i64> {
        self.upper(k, i).map(i64::saturating_neg)
    }

    /// Both bounds of `C_i - C_k`, if there are both.
    pub fn range(&self, i: ClockId, k: ClockId) -> Option<(i64, i64)> {
        Some((self.lower(i, k)?, self.upper(i, k)?))
    }

    /// Adds all bounds that follow. On an error, of which the outer one is that `monitor`
    /// says to give up, the bounds are as they were.
    pub fn close(&mut self, monitor: &dyn Monitor) -> Result<Result<(), NegativeCycle>, Cancelled> {
        let mut closed = self.upper.clone();
        let mut pace = Pace::of(monitor);
        for via in 0..self.clocks {
            pace.events(closed.len())?;
            if let Err((clock, sum)) = relax(&mut closed, self.clocks, via) {
                // Found by other means, but found: a sum below 0 is a real one.
                return Ok(Err(self.negative_cycle().unwrap_or(NegativeCycle {
                    clocks: vec![ClockId(clock as u32), ClockId(via as u32)],
                    missing: sum.saturating_neg(),
                })));
            }
        }
        self.upper = closed;
        Ok(Ok(()))
    }

    /// A cycle of bounds that adds up to less than 0 (Bellman and Ford). The
    /// first rounds find a short one where there is one.
    fn negative_cycle(&self) -> Option<NegativeCycle> {
        let rows = self.upper.chunks_exact(self.clocks.max(1)).zip(0..);
        let arcs = rows.flat_map(|(row, from)| {
            let known = row
                .iter()
                .zip(0..)
                .filter(|(bound, _)| **bound != UNBOUNDED);
            known.map(move |(&bound, to)| Arc {
                from,
                to,
                length: i128::from(bound),
            })
        });
        let arcs: Vec<Arc<i128>> = arcs.collect();
        let cycle = shortest_paths(self.clocks, Start::Everywhere, &arcs, 0).err()?;
        let clocks: Vec<usize> = cycle.iter().map(|arc| arc.to as usize).collect();
        Some(self.describe(&clocks))
    }

    /// `cycle` lists each clock behind the one whose parent it is: against the
    /// bounds, so along the messages.
    fn describe(&self, cycle: &[usize]) -> NegativeCycle {
        let next = cycle.iter().cycle().skip(1);
        let bounds = cycle.iter().zip(next);
        let sum: i128 = bounds
            .filter_map(|(k, i)| self.upper.get(i * self.clocks + k))
            .map(|&bound| i128::from(bound))
            .sum();
        let smallest = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
        let order = cycle.iter().cycle().skip(smallest).take(cycle.len());
        NegativeCycle {
            clocks: order.map(|&clock| ClockId(clock as u32)).collect(),
            missing: i64::try_from(-sum).unwrap_or(i64::MAX),
        }
    }
}

/// Adds what follows by way of one clock; or the clock that would be ahead of
/// itself, and by what.
fn relax(upper: &mut [i64], clocks: usize, via: usize) -> Result<(), (usize, i64)> {
    let onward: Vec<i64> = upper[via * clocks..(via + 1) * clocks].to_vec();
    for (i, row) in upper.chunks_exact_mut(clocks).enumerate() {
        let first = row[via];
        if first == UNBOUNDED || i == via {
            continue;
        }
        for (bound, &rest) in row.iter_mut().zip(&onward) {
            if rest != UNBOUNDED {
                *bound = first.saturating_add(rest).min(*bound);
            }
        }
        if row[i] < 0 {
            return Err((i, row[i]));
        }
    }
    Ok(())
}
