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

use crate::Alignment;
use retime_causality::edges::Edges;
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::ClockId;
use retime_numerics::median::median;

/// Stretches next to the steepest that rise by such a share belong to it.
const SHOULDER: f64 = 0.25;

/// A clock, and between which of its stamps it is steep.
pub(super) struct Steep {
    pub(super) clock: ClockId,
    pub(super) cut: (i64, i64),
    /// The amount by which it rises more than usual in its steepest stretch, in ticks, of either sign.
    rise: f64,
}

/// Where clocks are steepest beyond their known steps, the steepest first; no stretch belongs to two.
pub(super) fn steepest(known: &Alignment, edges: &Edges) -> Vec<Steep> {
    let stretches = known.pieces.max(1);
    let Some(times) = times(&known.estimate, edges, stretches) else {
        return Vec::new();
    };
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
    let each = clocks.iter();
    let mut all: Vec<Steep> = each
        .flat_map(|(clock, stamps, rises)| steep(*clock, stamps, rises))
        .collect();
    all.sort_by(|a, b| b.rise.abs().total_cmp(&a.rise.abs()));
    let mut steepest: Vec<Steep> = Vec::new();
    for it in all {
        let overlaps = |other: &Steep| other.cut.0 < it.cut.1 && it.cut.0 < other.cut.1;
        if !steepest
            .iter()
            .any(|other| other.clock == it.clock && overlaps(other))
        {
            steepest.push(it);
        }
    }
    steepest
}

/// Each stretch in which a clock rises, with those next to it that belong to it.
fn steep<'a>(
    clock: ClockId,
    stamps: &'a [i64],
    rises: &'a [f64],
) -> impl Iterator<Item = Steep> + 'a {
    rises.iter().enumerate().filter_map(move |(at, &rise)| {
        let belongs = |&&it: &&f64| it * rise.signum() >= SHOULDER * rise.abs();
        let before = rises[..at].iter().rev().take_while(belongs).count();
        let after = rises[at + 1..].iter().take_while(belongs).count();
        // At its ends, before any message and after all, a clock can be anywhere.
        let first = (at - before).checked_sub(1)?;
        let last = at + after + 2;
        (last < stamps.len() && rise != 0.0).then(|| Steep {
            clock,
            cut: (stamps[first], stamps[last]),
            rise,
        })
    })
}

/// Equidistant common times over the run.
fn times(estimate: &Estimate, edges: &Edges, stretches: usize) -> Option<Vec<i64>> {
    let ends = (0..edges.clocks() as u32).map(ClockId).filter_map(|clock| {
        let (first, last) = edges.extent(clock)?;
        let time = |stamp| estimate.common_time(clock, stamp);
        estimate.offsets.get(clock.as_usize())?.as_ref()?;
        Some((time(first), time(last)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align_edges;
    use retime_causality::edges::Edge;
    use retime_model::TickRate;

    /// Four clocks for twenty seconds, and messages of 20 us and mostly much more between all of them.
    /// The last clock is 700 us ahead from the one time to the other.
    fn ahead(from: i64, to: i64) -> Edges {
        let shown = |clock: u32, time: i64| {
            let is_ahead = clock == 2 && (from..to).contains(&time);
            time + if is_ahead { 700_000 } else { 0 }
        };
        let mut state = 7_u64;
        let mut random = move |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) % most) as i64
        };
        let mut edges = Vec::new();
        for round in 0..LAST / 40_000_000 {
            for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
                let sent = 40_000_000 * round + random(30_000_000);
                let received = sent + 20_000 + random(900) * random(900);
                let (sent, received) = (shown(from, sent), shown(to, received));
                edges.push(Edge::message(ClockId(from), sent, ClockId(to), received));
            }
        }
        let extent = |clock| Some((shown(clock, 0), shown(clock, LAST + 2_000_000)));
        Edges::new(edges, (0..4).map(extent).collect())
    }

    const LAST: i64 = 20_000_000_000;

    /// Ten pieces of a second; the last clock falls by 700 us in the fourth and rises again in the eighth.
    #[test]
    fn both_stretches_are_steep() {
        let knot = |second: i64| {
            let add = if (4..8).contains(&second) {
                -700e3
            } else {
                0.0
            };
            (2_000_000_000 * second, add)
        };
        let constant = Offset::constant(0.0);
        let set = Offset::through((0..=10).map(knot).collect());
        let alignment = Alignment {
            pieces: 10,
            ..Alignment::of_offsets(vec![Some(constant.clone()), Some(constant), Some(set)])
        };
        let edges = Edges::new(Vec::new(), vec![Some((0, LAST)); 3]);
        let found = steepest(&alignment, &edges);
        let [fall, rise] = &found[..2] else {
            panic!("{} stretches", found.len())
        };
        assert_eq!((fall.clock, rise.clock), (ClockId(2), ClockId(2)));
        let (fall, rise) = (fall.cut.min(rise.cut), fall.cut.max(rise.cut));
        let around = |cut: (i64, i64), second: i64| {
            cut.0 <= 2_000_000_000 * second && 2_000_000_000 * second <= cut.1
        };
        assert!(
            around(fall, 3) && around(fall, 4) && around(rise, 7) && around(rise, 8),
            "{fall:?} {rise:?}"
        );
        assert!(fall.1 <= rise.0);
    }

    #[test]
    fn a_clock_that_was_set_forward_and_back_was_set_twice() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let edges = ahead(8_000_000_000, 14_600_000_000);
        let alignment = align_edges(&edges, rate, ClockId(0), &()).unwrap();
        let steps = alignment.steps.iter();
        let steps: Vec<(u32, f64)> = steps.map(|it| (it.clock.0, it.by)).collect();
        let [(2, forward), (2, back)] = steps[..] else {
            panic!("{steps:?}")
        };
        assert!(
            (forward - 700e3).abs() < 100e3 && (back + 700e3).abs() < 100e3,
            "{steps:?}"
        );
    }
}
