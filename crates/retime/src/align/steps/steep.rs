//! Where clocks that wander do so all at once.
//!
//! Pairs of clocks show a step only where messages go both ways between them. Around a ring, or
//! where three clocks know together what no two of them know, it shows in what follows it: an offset
//! whose rate may wander enough is steep at the step and nowhere else.
//!
//! ```text
//!  offset             ____         rise of each stretch, less what is usual for
//!                 ___/             its clock and, of three clocks or more, in the median
//!            ____/                 of all clocks:       0  0  1  0  0
//! ```
//!
//! What the reference gained shows as what all others lost, so with it in the median,
//! the step is that of the reference.

use crate::align::Alignment;
use crate::estimate::{Estimate, Offset};
use retime_causality::edges::Edges;
use retime_model::ClockId;
use retime_numerics::median::median;

/// Stretches next to the steepest that rise by such a share belong to it.
const SHOULDER: f64 = 0.25;

/// The clock that is steepest beyond its known steps, and between which stamps.
pub(super) fn steepest(known: &Alignment, edges: &Edges) -> Option<(ClockId, (i64, i64))> {
    let stretches = known.pieces.max(1);
    let times = times(&known.estimate, edges, stretches)?;
    let mut clocks = Vec::new();
    for (clock, offset) in (0..).map(ClockId).zip(&known.estimate.offsets) {
        let Some(offset) = offset else { continue };
        let stamps: Vec<i64> = times.iter().map(|&it| stamp(offset, it)).collect();
        let rises = rises(known, clock, offset, &stamps);
        clocks.push((clock, stamps, rises));
    }
    if clocks.len() > 2 {
        for stretch in 0..stretches {
            let mut all: Vec<f64> = clocks.iter().map(|it| it.2[stretch]).collect();
            let common = median(&mut all).unwrap_or(0.0);
            for (_, _, rises) in &mut clocks {
                rises[stretch] -= common;
            }
        }
    }
    let mut best: Option<(f64, ClockId, (i64, i64))> = None;
    for (clock, stamps, rises) in &clocks {
        for (at, rise) in rises.iter().enumerate() {
            let belongs = |&&it: &&f64| it * rise.signum() >= SHOULDER * rise.abs();
            let before = rises[..at].iter().rev().take_while(belongs).count();
            let after = rises[at + 1..].iter().take_while(belongs).count();
            let more = best.is_none_or(|it| rise.abs() > it.0);
            // At its ends, before any message and after all, a clock can be anywhere.
            let (first, last) = ((at - before).checked_sub(1), at + after + 2);
            if let Some(first) = first
                && last <= stretches
                && more
                && *rise != 0.0
            {
                best = Some((rise.abs(), *clock, (stamps[first], stamps[last])));
            }
        }
    }
    best.map(|it| (it.1, it.2))
}

/// Equidistant common times over the run.
fn times(estimate: &Estimate, edges: &Edges, stretches: usize) -> Option<Vec<i64>> {
    let ends = (0..edges.clocks() as u32).map(ClockId).filter_map(|clock| {
        let (first, last) = edges.extent(clock)?;
        let add = |stamp: i64| stamp.saturating_add(estimate.at(clock, stamp).round() as i64);
        estimate.offsets.get(clock.as_usize())?.as_ref()?;
        Some((add(first), add(last)))
    });
    let (first, last) = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))?;
    let along = i128::from(last) - i128::from(first);
    let time = |part: usize| (i128::from(first) + along * part as i128 / stretches as i128) as i64;
    Some((0..=stretches).map(time).collect())
}

/// The stamp that a clock shows at a common time, but for what its offset changes by within itself.
pub(super) fn stamp(offset: &Offset, time: i64) -> i64 {
    let back = |stamp: i64| time.saturating_sub(offset.at(stamp).round() as i64);
    back(back(back(time)))
}

/// Measures how much more than usual each stretch of a clock rises; nothing where it is known to
/// have been set.
fn rises(known: &Alignment, clock: ClockId, offset: &Offset, stamps: &[i64]) -> Vec<f64> {
    let rise = |ends: &[i64]| offset.at(ends[1]) - offset.at(ends[0]);
    let all: Vec<f64> = stamps.windows(2).map(rise).collect();
    let usual = median(&mut all.clone()).unwrap_or(0.0);
    let steps = known.steps.iter().filter(|it| it.clock == clock);
    let steps: Vec<(i64, i64)> = steps.map(|it| (it.after, it.until)).collect();
    let is_known = |ends: &[i64]| steps.iter().any(|it| it.0 <= ends[1] && it.1 >= ends[0]);
    let rises = stamps.windows(2).zip(all);
    rises
        .map(|(ends, rise)| if is_known(ends) { 0.0 } else { rise - usual })
        .collect()
}
