//! Clocks that may have been set instead, and when.
//!
//! What one clock does looks to others like what they do. So another explanation can say as much by steps of
//! other clocks or at other times:
//!
//! ```text
//!  clock 1  ------|            set by 50                  1 -----------
//!  clock 2  -----------                     as well       2 ------|        set by -50
//!  time           *                                             *
//! ```
//!
//! The clocks of such steps are named beside those that are followed. And where steps that were found lie
//! together, by clock or by time, some may do what others do.

use super::explained::Explained;
use crate::options::OPTIONS;
use crate::{Alignment, ClockStep};
use retime_causality::edges::Edges;
use retime_model::ClockId;

impl Explained {
    /// The steps that may have been those of another explanation of no more steps, of other
    /// clocks or at other times, which leaves nothing more to explain; nothing where there is no doubt. Those that
    /// leave as much slack nobody can tell from these; the others are less likely, and possible.
    ///
    /// Two clocks that exchange messages with each other alone are an exception, as there only what
    /// one is ahead of the other means something.
    pub(super) fn doubts(&self, other: &Self, edges: &Edges) -> Vec<Doubt> {
        let is_possible = other.alignment.steps.len() <= self.alignment.steps.len()
            && other.needed <= self.needed
            && other.implausible <= self.implausible
            && other.leaves_no_more_than(self);
        if !is_possible {
            return Vec::new();
        }
        let is_as_good = OPTIONS.firmer * other.firmness >= self.firmness;
        let is_one = |a: &SetAt, b: &SetAt| {
            a.overlaps(b) && (a.clock == b.clock || are_alone(a.clock, b.clock, edges))
        };
        let (own, others) = (self.set_at(), other.set_at());
        let instead = other.alignment.steps.iter().zip(&others);
        let instead = instead.filter(|(_, it)| !own.iter().any(|own| is_one(it, own)));
        let instead: Vec<&ClockStep> = instead.map(|it| it.0).collect();
        let steps = self.alignment.steps.iter().zip(&own);
        let doubted = steps.filter(|(_, own)| !others.iter().any(|it| is_one(own, it)));
        let doubts = doubted.flat_map(|(step, _)| {
            instead.iter().map(|&instead| Doubt {
                step: step.clone(),
                instead: instead.clone(),
                is_as_good,
            })
        });
        doubts.collect()
    }

    /// The alignment, with the steps that may have been instead of its own, and the clocks of those that are as
    /// good.
    pub(super) fn doubted(mut self, doubts: &[Doubt]) -> Alignment {
        for step in &mut self.alignment.steps {
            let of_step = |it: &&Doubt| {
                let overlap = it.step.after <= step.until && step.after <= it.step.until;
                it.step.clock == step.clock && overlap
            };
            let own = || doubts.iter().filter(of_step);
            let as_good = own().filter(|it| it.is_as_good).map(|it| it.instead.clock);
            let mut alternatives: Vec<ClockId> = as_good.filter(|it| *it != step.clock).collect();
            alternatives.sort_unstable();
            alternatives.dedup();
            step.alternatives = alternatives;
            self.alignment
                .instead
                .extend(own().map(|it| it.instead.clone()));
        }
        let place = |it: &ClockStep| (it.clock, it.after, it.until);
        self.alignment.instead.sort_by_key(place);
        self.alignment.instead.dedup_by_key(|it| place(it));
        self.alignment
    }

    /// Per step: the clock, and between which common times it was set.
    fn set_at(&self) -> Vec<SetAt> {
        let time = |clock, stamp| self.alignment.estimate.common_time(clock, stamp);
        let steps = self.alignment.steps.iter();
        let set_at = steps.map(|it| SetAt {
            clock: it.clock,
            after: time(it.clock, it.after),
            until: time(it.clock, it.until),
        });
        set_at.collect()
    }

    /// The steps whose work others may do, those that were set together as one: those of clocks that
    /// were set more than once, and those at the time of others.
    pub(super) fn entangled(&self) -> Vec<Vec<ClockStep>> {
        let set_at = self.set_at();
        let is_entangled = |occasion: &&Vec<usize>| {
            let others = (0..set_at.len()).filter(|it| !occasion.contains(it));
            let own = occasion.iter().map(|it| &set_at[*it]);
            let mut pairs = others.flat_map(|other| own.clone().map(move |own| (own, other)));
            pairs.any(|(own, other)| {
                let other = &set_at[other];
                other.clock == own.clock || other.overlaps(own)
            })
        };
        let entangled = self.occasions.iter().filter(is_entangled);
        let steps = |occasion: &Vec<usize>| {
            let steps = occasion.iter().map(|it| self.alignment.steps[*it].clone());
            steps.collect()
        };
        entangled.map(steps).collect()
    }
}

/// A clock was set between two common times.
struct SetAt {
    clock: ClockId,
    after: i64,
    until: i64,
}

impl SetAt {
    fn overlaps(&self, other: &Self) -> bool {
        self.after <= other.until && other.after <= self.until
    }
}

/// A step that may have been another one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Doubt {
    step: ClockStep,
    /// The step that may have been instead.
    instead: ClockStep,
    /// It leaves as much slack, so that nobody can tell one from the other.
    is_as_good: bool,
}

/// True if two clocks depend on each other alone.
pub(super) fn are_alone(a: ClockId, b: ClockId, edges: &Edges) -> bool {
    let is_own = |it: ClockId| it == a || it == b;
    a != b
        && edges
            .all()
            .iter()
            .all(|it| is_own(it.from) == is_own(it.to))
}

#[cfg(test)]
mod tests {
    use super::super::explained::tests::explained;
    use super::*;
    use retime_causality::edges::Edge;

    #[test]
    fn whoever_explains_as_much_may_have_been_set_instead() {
        let edge = |from, to| Edge::message(ClockId(from), 10, ClockId(to), 20);
        let all = vec![edge(0, 1), edge(1, 2), edge(2, 3)];
        let edges = Edges::new(all, vec![Some((0, 1_000)); 4]);
        let found = explained(1e-8, 4.0, &[1]);
        let instead = |found: &Explained, needed, firmness, set: &[u32], edges| {
            let doubts = found.doubts(&explained(needed, firmness, set), edges);
            let as_good = doubts.iter().filter(|it| it.is_as_good);
            as_good.map(|it| it.instead.clock.0).collect::<Vec<_>>()
        };
        assert_eq!(instead(&found, 1e-8, 4.0, &[2], &edges), [2]);
        // Nearly as much slack is as good.
        assert_eq!(instead(&found, 1e-8, 3.7, &[2], &edges), [2]);
        assert!(instead(&found, 1e-8, 3.6, &[2], &edges).is_empty());
        assert!(instead(&found, 1e-7, 4.0, &[2], &edges).is_empty());
        assert!(instead(&found, 1e-8, 4.0, &[2, 3], &edges).is_empty());
        assert!(instead(&found, 1e-8, 4.0, &[1], &edges).is_empty());
        // Of two clocks that hear of nobody else only the difference is known.
        let alone = Edges::new(vec![edge(1, 2), edge(2, 1)], vec![Some((0, 1_000)); 4]);
        assert!(instead(&found, 1e-8, 4.0, &[2], &alone).is_empty());
        // Of two steps one may have been of another clock.
        let two = explained(1e-8, 4.0, &[1, 2]);
        let doubts = two.doubts(&explained(1e-8, 4.0, &[3, 1]), &edges);
        let alignment = two.doubted(&doubts);
        let steps = alignment.steps.iter();
        let steps: Vec<_> = steps.map(|it| (it.clock.0, &it.alternatives[..])).collect();
        assert_eq!(steps, [(1, &[][..]), (2, &[ClockId(3)][..])]);
        let instead: Vec<u32> = alignment.instead.iter().map(|it| it.clock.0).collect();
        assert_eq!(instead, [3]);
    }

    #[test]
    fn whoever_leaves_less_slack_is_possible_and_not_named() {
        let edge = |from, to| Edge::message(ClockId(from), 10, ClockId(to), 20);
        let all = vec![edge(0, 1), edge(1, 2), edge(2, 3)];
        let edges = Edges::new(all, vec![Some((0, 1_000)); 4]);
        let found = explained(1e-8, 4.0, &[1]);
        let doubts = found.doubts(&explained(1e-8, 0.5, &[2]), &edges);
        let alignment = found.doubted(&doubts);
        assert!(alignment.steps[0].alternatives.is_empty());
        let instead: Vec<u32> = alignment.instead.iter().map(|it| it.clock.0).collect();
        assert_eq!(instead, [2]);
    }

    /// Clocks 1 and 2 are set at one time, clock 3 later.
    #[test]
    fn a_step_that_stands_alone_is_not_doubted() {
        let mut found = explained(1e-8, 4.0, &[1, 2, 3]);
        let later = &mut found.alignment.steps[2];
        (later.after, later.until) = (300, 400);
        let clocks = |of: &Explained| {
            let steps = of.entangled().into_iter().flatten();
            steps.map(|it| it.clock.0).collect::<Vec<_>>()
        };
        assert_eq!(clocks(&found), [1, 2]);
        // Between two steps of one clock little may be known of it.
        found.alignment.steps[2].clock = ClockId(1);
        assert_eq!(clocks(&found), [1, 2, 1]);
        assert!(clocks(&explained(1e-8, 4.0, &[2])).is_empty());
    }
}
