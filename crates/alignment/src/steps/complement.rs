//! Fewer clocks that were set instead of more.
//!
//! Dependencies tell what clocks gained against each other. That some were set forward, and that all others
//! were set back by as much at that time, are one relation, and what the one explains the other does, too:
//!
//! ```text
//!  clock 0  -------\--------    back by 5 ms       or    -----------------
//!  clock 1  -----------------                            -------/---------
//!  clock 2  -----------------                            -------/---------    forward by 5 ms, each
//! ```
//!
//! Where a clock is set at some moment with a probability `p`, so that `k` of `n` are set at once with
//! `p^k`, the fewer are more probable. So where more than half of the clocks that are tied to each other
//! were set on one [occasion](super::together), the others are tried, and are it if they leave no more
//! reversed and need no more wander. Of two halves either is as probable.

use super::parts::Cuts;
use super::steep::stamp;
use super::together::{Occasion, gap, occasions};
use crate::Alignment;
use retime_causality::edges::Edges;
use retime_model::ClockId;

/// Per occasion on which more than half of the clocks were set: where all would be cut if the others were
/// set instead, as wide as pairs of clocks show it, and as the steps are.
pub(super) fn complements(alignment: &Alignment, edges: &Edges, seen: &Cuts) -> Vec<Cuts> {
    let occasions = occasions(alignment).into_iter();
    let nothing: Cuts = vec![Vec::new(); edges.clocks()];
    let complements = occasions.flat_map(|it| {
        let others = others(&it, alignment, edges).filter(|others| others.len() < it.clocks.len());
        let cuts =
            |others: &[ClockId]| [seen, &nothing].map(|seen| cuts(&it, others, alignment, seen));
        others.map_or(Vec::new(), |others| cuts(&others).to_vec())
    });
    let mut complements: Vec<Cuts> = complements.collect();
    complements.dedup();
    complements
}

/// The clocks that are tied to those of an occasion, and show something before and after it; `None` where
/// there are none, and where one of them was set around that time, too.
fn others(occasion: &Occasion, alignment: &Alignment, edges: &Edges) -> Option<Vec<ClockId>> {
    let part = |clock: ClockId| alignment.part.get(clock.as_usize());
    let own = part(*occasion.clocks.first()?)?;
    let gap_of = &occasion.gap;
    let is_there = |clock: ClockId| {
        let time = |stamp| alignment.estimate.common_time(clock, stamp);
        let extent = edges.extent(clock);
        extent.is_some_and(|(first, last)| time(first) < gap_of.after && gap_of.until < time(last))
    };
    let all = (0..edges.clocks() as u32).map(ClockId);
    let is_other = |it: &ClockId| part(*it) == Some(own) && !occasion.clocks.contains(it);
    let others: Vec<ClockId> = all.filter(|it| is_other(it) && is_there(*it)).collect();
    let steps = alignment.steps.iter().enumerate();
    let mut rest = steps.filter(|(number, _)| !occasion.steps.contains(number));
    let is_mixed = rest.any(|(_, step)| {
        let other = gap(step, &alignment.estimate);
        other.after < gap_of.until && gap_of.after < other.until
    });
    (!others.is_empty() && !is_mixed).then_some(others)
}

/// The steps of all other occasions, and of these clocks at the time of this one: the search narrows a cut
/// that is too wide, and leaves one that misses the moment where it is. So it is as wide as the places that are
/// `seen` at any of these steps; but where these are far too wide, too little is left of a clock.
fn cuts(occasion: &Occasion, set: &[ClockId], alignment: &Alignment, seen: &Cuts) -> Cuts {
    let mut cuts: Cuts = vec![Vec::new(); seen.len()];
    let mut widest = (occasion.gap.after, occasion.gap.until);
    for (number, step) in alignment.steps.iter().enumerate() {
        let clock = step.clock.as_usize();
        if !occasion.steps.contains(&number) {
            cuts[clock].push((step.after, step.until));
            continue;
        }
        let at = |stamp| alignment.estimate.common_time(step.clock, stamp);
        let shown = seen[clock]
            .iter()
            .filter(|it| it.0 <= step.until && step.after <= it.1);
        for (after, until) in shown.copied().chain([(step.after, step.until)]) {
            widest = (widest.0.min(at(after)), widest.1.max(at(until)));
        }
    }
    for clock in set.iter().map(|it| it.as_usize()) {
        let Some(Some(offset)) = alignment.estimate.offsets.get(clock) else {
            continue;
        };
        let (mut after, mut until) = (stamp(offset, widest.0), stamp(offset, widest.1));
        for shown in &seen[clock] {
            if shown.0 <= until && after <= shown.1 {
                (after, until) = (after.min(shown.0), until.max(shown.1));
            }
        }
        cuts[clock].push((after, until));
        cuts[clock].sort_unstable();
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClockStep;
    use retime_clocks::estimate::Offset;

    /// Four clocks of 1 ms that are tied to each other, and when some of them were set, by how much.
    fn set(steps: &[(u32, i64, i64, f64)]) -> Alignment {
        let step = |&(clock, after, until, by)| ClockStep {
            clock: ClockId(clock),
            after,
            until,
            by,
            alternatives: Vec::new(),
        };
        Alignment {
            part: vec![ClockId(0); 4],
            steps: steps.iter().map(step).collect(),
            ..Alignment::of_offsets(vec![Some(Offset::constant(0.0)); 4])
        }
    }

    fn of(steps: &[(u32, i64, i64, f64)], seen: &Cuts) -> Vec<Cuts> {
        let edges = Edges::new(Vec::new(), vec![Some((0, 1_000_000)); 4]);
        complements(&set(steps), &edges, seen)
    }

    #[test]
    fn of_three_clocks_that_were_set_and_a_fourth_the_fourth_is_tried() {
        let nothing_seen = vec![Vec::new(); 4];
        let three = [
            (1, 500_000, 510_000, -7e4),
            (2, 504_000, 520_000, -7e4),
            (3, 490_000, 506_000, -7e4),
        ];
        let fourth = |cut| vec![vec![cut], vec![], vec![], vec![]];
        assert_eq!(of(&three, &nothing_seen), [fourth((490_000, 520_000))]);
        // As wide as pairs of clocks show it.
        let seen = vec![
            vec![(300_000, 495_000)],
            vec![],
            vec![(515_000, 530_000)],
            vec![],
        ];
        let both = [(300_000, 530_000), (490_000, 520_000)].map(fourth);
        assert_eq!(of(&three, &seen), both);
        // What was set at another time stays.
        let before = (1, 100_000, 110_000, 5e4);
        let with_another = [before, three[0], three[1], three[2]];
        let mut cuts = fourth((490_000, 520_000));
        cuts[1].push((100_000, 110_000));
        assert_eq!(of(&with_another, &nothing_seen), [cuts]);
        // Two halves are as probable; and where the fourth was set then, too, it is no other.
        assert_eq!(of(&three[..2], &nothing_seen), Vec::<Cuts>::new());
        let mixed = [three[0], three[1], three[2], (0, 505_000, 506_000, 3e5)];
        assert_eq!(of(&mixed, &nothing_seen), Vec::<Cuts>::new());
    }
}
