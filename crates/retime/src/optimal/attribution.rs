//! Which clock it was that stepped.
//!
//! A step shows between its clock and all others, so the clock that takes part in
//! most of the steps of a moment is the one that stepped. Nothing is ever added
//! to the reference: where that stepped, all others are let step instead.

use std::collections::BTreeMap;

use super::relaxation::Relaxation;
use super::screen::Screened;
use crate::clocks::ClockId;

/// A step between two clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairStep {
    pub(super) clocks: [ClockId; 2],
    /// Between these times of the reference,
    pub(super) at: (i64, i64),
    /// and these stamps of the clocks.
    pub(super) after: [i64; 2],
    pub(super) until: [i64; 2],
    pub(super) by: f64,
}

/// Finds which clocks stepped, moment by moment.
pub(super) fn attribute(
    mut steps: Vec<PairStep>,
    trace: &impl Screened,
    relaxation: &mut Relaxation,
) {
    steps.sort_by_key(|step| (step.at, step.clocks));
    let mut rest = &steps[..];
    while let Some(first) = rest.first() {
        let mut end = first.at.1;
        let overlap = |step: &&PairStep| {
            let overlaps = step.at.0 <= end;
            end = end.max(step.at.1);
            overlaps
        };
        let moment = rest.iter().take_while(overlap).count().max(1);
        let (of_moment, others) = rest.split_at(moment);
        explain(of_moment.to_vec(), trace, relaxation);
        rest = others;
    }
}

/// The fewest clocks, most involved first, that explain the steps of a moment.
fn explain(mut steps: Vec<PairStep>, trace: &impl Screened, relaxation: &mut Relaxation) {
    let reference = trace.reference();
    while !steps.is_empty() {
        let mut votes: BTreeMap<ClockId, usize> = BTreeMap::new();
        for clock in steps.iter().flat_map(|step| step.clocks) {
            *votes.entry(clock).or_default() += 1;
        }
        // What is added to the reference is 0, so in doubt another one stepped.
        let key = |&(&clock, &votes): &(&ClockId, &usize)| (votes, clock != reference);
        let Some((&clock, &most)) = votes.iter().max_by_key(key) else {
            return;
        };
        let (own, others): (Vec<_>, Vec<_>) =
            steps.iter().partition(|step| step.clocks.contains(&clock));
        steps = others;
        if clock == reference {
            all_others(&own, trace, relaxation);
        } else {
            step_of(clock, &own, relaxation);
        }
        // Nothing says which of two clocks it was.
        let other = own[0].clocks.into_iter().find(|&it| it != clock);
        if let Some(other) = other.filter(|&it| most == 1 && it != reference) {
            step_of(other, &own, relaxation);
        }
    }
}

/// A step of the reference is one of all others at once.
fn all_others(steps: &[PairStep], trace: &impl Screened, relaxation: &mut Relaxation) {
    let Some((after, until)) = common(steps.iter().map(|step| step.at)) else {
        return;
    };
    let starts = trace.others(after).into_iter();
    for ((clock, after), (_, until)) in starts.zip(trace.others(until)) {
        let own = steps.iter().find(|step| step.clocks.contains(&clock));
        match own {
            Some(step) => step_of(clock, &[*step], relaxation),
            None => relaxation.cut(clock, after, until, steps[0].by),
        }
    }
}

/// Lets a clock step where all of its pairs say that it did.
fn step_of(clock: ClockId, steps: &[PairStep], relaxation: &mut Relaxation) {
    let of = |step: &PairStep| {
        let place = usize::from(step.clocks[1] == clock);
        (step.after[place], step.until[place])
    };
    let by = steps.iter().map(|step| step.by).fold(0.0, f64::max);
    if let Some((after, until)) = common(steps.iter().map(of)) {
        relaxation.cut(clock, after, until, by);
    }
}

/// What intervals have in common, or else all that they cover.
fn common(intervals: impl Iterator<Item = (i64, i64)> + Clone) -> Option<(i64, i64)> {
    let intervals = intervals.map(|(a, b)| (a.min(b), a.max(b)));
    let common = intervals
        .clone()
        .reduce(|all, one| (all.0.max(one.0), all.1.min(one.1)));
    let hull = intervals.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    common.filter(|it| it.0 < it.1).or(hull)
}
