//! Steps or wander: which of two explanations says more with less.
//!
//! A clock that gains 50 us within a millisecond can be taken for one that was set, which takes
//! two numbers, where and by how much, or for one whose rate wanders enough to run at 50000 ppm for
//! a millisecond, and then all others may do so all the time. So explanations are
//! ordered by how much rates have to wander until nothing contradicts them:
//!
//! ```text
//!             wander needed, in a second   sets clocks
//!  plain             100 ppm                  never       the step is followed at once
//!  stepped          0.01 ppm                  once        taken
//! ```
//!
//! Each step has to pay for itself: with it clocks need ten times less wander, or, where that is
//! the same, half as much is left reversed, or wander and steps together are twenty times more
//! [probable](super::proof). A real step leaves clocks consistent on both sides for long. Of clocks
//! that do wander any stretch between two cuts is straighter than the whole, too; so steps count
//! only if wander [cannot have made them](super::proof), or, of several that explain together what
//! none explains alone, if one of them is proven, something speaks for each, and all are clearly more
//! probable than the wander they save.
//!
//! Of two explanations by as many steps the one that leaves messages more slack is the better, if
//! its clocks do not wander more than those of the other.

use std::cmp::Ordering;

use super::firmness::firmness;
use super::latencies::LongestLatencies;
use super::parts::Cuts;
use super::proof::{CLEARLY, Evidence, Proof};
use super::rates::{Rates, implausible};
use super::reversed::{PARTS, Reversed, reversed};
use crate::options::OPTIONS;
use crate::stages::SmoothAlignment;
use crate::{Alignment, ClockStep};
use retime_causality::edges::ListedEdges;

/// Above 1 by more than powers of ten are rounded by.
const NEARLY: f64 = 1.001;

/// Stiff clocks that leave less than this share of the slack that wandering ones do are hardly
/// possible.
const TIGHT: f64 = 0.25;

/// Aligned clocks as an explanation of what was recorded.
pub(super) struct Explained {
    pub(super) alignment: Alignment,
    /// The amount by which rates wander in a second, as a fraction.
    wander: f64,
    /// The wander that rates need so that nothing contradicts the alignment, if that is known.
    pub(super) needed: f64,
    /// How far below zero latencies are nevertheless.
    pub(super) left: Reversed,
    /// The number of clocks that run at [rates that no clock has](implausible), where that counts.
    pub(super) implausible: usize,
    /// The slack it leaves, in ticks.
    pub(super) firmness: f64,
    /// The negative logarithm of how probable the wander is that is left beside steps.
    improbable: f64,
    /// The negative logarithm of how probable its steps are.
    steps_cost: f64,
    /// Per step: how much speaks for it, and for those [together](super::together) with it.
    evidence: Vec<Evidence>,
    /// The steps, by number, of each time at which clocks were set.
    pub(super) occasions: Vec<Vec<usize>>,
}

impl Explained {
    /// `all` are the dependencies to judge by.
    pub(super) fn of(found: SmoothAlignment, all: &ListedEdges, rates: Rates) -> Self {
        let latencies = LongestLatencies::new(&found.alignment.estimate, &found.alignment.steps);
        let proof = Proof::beside(all, &found.alignment, found.likely_wander(), rates.ticks);
        let occasions = proof.occasions();
        let mut evidence = vec![Evidence::None; found.alignment.steps.len()];
        for occasion in &occasions {
            let speaks = proof.evidence(occasion);
            for &step in &occasion.steps {
                evidence[step] = speaks;
            }
        }
        Self {
            left: reversed(all, &latencies),
            implausible: if rates.are_held {
                implausible(&found.alignment, all)
            } else {
                0
            },
            firmness: firmness(&latencies, &all.edges),
            evidence,
            improbable: proof.improbable_elsewhere(),
            steps_cost: occasions.iter().map(|it| proof.cost(it)).sum(),
            occasions: occasions.into_iter().map(|it| it.steps).collect(),
            wander: found.wander,
            needed: found.needed,
            alignment: found.alignment,
        }
    }

    /// True if it sets clocks, wander cannot have made any of that, and clocks that do what clocks do leave
    /// nothing unexplained then.
    pub(super) fn is_explained(&self) -> bool {
        !self.alignment.steps.is_empty()
            && self.is_proven()
            && self.is_plausible()
            && self.needed <= OPTIONS.usual_wander()
            && self.leaves_nothing()
    }

    /// True if clocks that do what clocks do leave nothing for another step to explain.
    pub(super) fn leaves_none(&self) -> bool {
        !self.wanders() && self.left == 0 && self.is_plausible()
    }

    /// True if all clocks run at rates that clocks have, as far as that counts.
    pub(super) fn is_plausible(&self) -> bool {
        self.implausible == 0
    }

    /// True if rates wander more than those of clocks that do what clocks do.
    pub(super) fn wanders(&self) -> bool {
        self.wander > OPTIONS.usual_wander()
    }

    /// The most wander that a better explanation can need. Of two that set clocks the one that
    /// needs more is never better; and where wander alone explains all, steps have to save the
    /// wander of a family, since nothing is left that they could explain besides.
    pub(super) fn most_needed(&self) -> f64 {
        match (self.alignment.steps.is_empty(), self.left) {
            (true, _) if self.implausible > 0 => f64::INFINITY,
            (true, 0) => self.needed * NEARLY / OPTIONS.stiffer,
            (true, _) => f64::INFINITY,
            (false, _) => self.needed,
        }
    }

    /// True if it says more than what is known so far.
    pub(super) fn is_better_than(&self, known: &Self) -> bool {
        if !self.is_proven() && !self.is_proven_together(known) {
            return false;
        }
        let occasions = |of: &Self| of.occasions.len();
        let more = occasions(self).saturating_sub(occasions(known)).max(1) as i32;
        let left = (known.left as f64 * OPTIONS.gain.powi(more)) as Reversed;
        match self.needed.total_cmp(&known.needed) {
            Ordering::Less => {
                // With one family more these clocks would be as firm.
                let is_tight = self.firmness < TIGHT * known.firmness;
                let families = more + i32::from(is_tight);
                let pays = self.needed * OPTIONS.stiffer.powi(families) <= known.needed * NEARLY;
                (pays && self.leaves_no_more_than(known))
                    || (self.is_shorter_than(known) && self.leaves_hardly_more_than(known))
            }
            // Rates are weighed where nothing else is left to explain.
            Ordering::Equal if self.is_of_other_rates(known) => {
                self.implausible < known.implausible
            }
            Ordering::Equal => {
                let fewer = occasions(self) < occasions(known) && self.left <= known.left;
                let calm = self.improbable <= known.improbable + CLEARLY;
                let nearer = self.left < known.left && self.is_shorter_than(known);
                let looser = self.firmness * TIGHT.powi(more) > known.firmness;
                let is_loose = looser && self.leaves_no_more_than(known);
                fewer
                    || self.left < left
                    || nearer
                    || is_loose
                    || (calm && self.is_firmer_than(known))
            }
            Ordering::Greater => known.alignment.steps.is_empty() && self.left < left,
        }
    }

    /// True if more clocks run at rates that no clock has than by another that leaves as much, or fewer.
    fn is_of_other_rates(&self, other: &Self) -> bool {
        let leave_as_much = self.leaves_no_more_than(other) && other.leaves_no_more_than(self);
        self.implausible != other.implausible && leave_as_much
    }

    /// True if wander cannot have made any of its steps.
    pub(super) fn is_proven(&self) -> bool {
        self.evidence.iter().all(|it| *it == Evidence::Proof)
    }

    /// True if its steps are clearly more probable than the wander of another explanation, one of
    /// them is proven, and something speaks for each other one. Clocks that were set while nobody
    /// heard of them explain what follows together alone.
    fn is_proven_together(&self, known: &Self) -> bool {
        self.is_likely() && self.is_shorter_than(known)
    }

    /// True if one of its steps is proven, and something speaks for each other one.
    fn is_likely(&self) -> bool {
        let all = self.evidence.iter().all(|it| *it > Evidence::None);
        all && self.evidence.contains(&Evidence::Proof)
    }

    /// The negative logarithm of how probable its wander and its steps are together.
    pub(super) fn length(&self) -> f64 {
        self.improbable + self.steps_cost
    }

    /// True if its wander and its steps together are clearly more probable.
    fn is_shorter_than(&self, other: &Self) -> bool {
        self.length() + CLEARLY < other.length()
    }

    /// True if clocks that were set as often, and no more of them, leave much more slack. More that were set at
    /// once, each by another amount, leave more in any case: where one was set back, all others can have
    /// been set forward.
    pub(super) fn is_firmer_than(&self, other: &Self) -> bool {
        self.occasions.len() == other.occasions.len()
            && self.alignment.steps.len() <= other.alignment.steps.len()
            && self.leaves_no_more_than(other)
            && self.firmness > OPTIONS.firmer * other.firmness
    }

    /// True if it leaves no more reversed than another, or nearly nothing.
    pub(super) fn leaves_no_more_than(&self, other: &Self) -> bool {
        self.left <= other.left || self.leaves_nothing()
    }

    /// True if it leaves less than half as much reversed as another.
    pub(super) fn leaves_less_than(&self, other: &Self) -> bool {
        self.left < (other.left as f64 * OPTIONS.gain) as Reversed
    }

    /// True if it leaves no more reversed than another but for one message at each of its steps: an
    /// instant that is off by one message leaves that reversed by up to the step.
    fn leaves_hardly_more_than(&self, other: &Self) -> bool {
        let steps = self.alignment.steps.iter().map(|it| it.by.abs());
        let at_steps = (steps.sum::<f64>() * PARTS) as Reversed;
        self.left <= other.left.saturating_add(at_steps)
    }

    /// True if what it leaves reversed is in sum no more than a single message takes.
    pub(super) fn leaves_nothing(&self) -> bool {
        let shortest = self.alignment.shortest.unwrap_or(0.0);
        self.left <= (shortest * PARTS).max(0.0) as Reversed
    }

    /// True if it says as much as another that has more steps.
    pub(super) fn says_as_much_as(&self, other: &Self) -> bool {
        self.needed <= other.needed
            && self.left <= other.left
            && (self.is_proven() || (!other.is_proven() && self.is_likely()))
    }

    /// Where clocks were set, without the steps of these numbers.
    pub(super) fn cuts(&self, clocks: usize, keep: impl Fn(usize, &ClockStep) -> bool) -> Cuts {
        let mut cuts = vec![Vec::new(); clocks];
        let steps = self.alignment.steps.iter().enumerate();
        for (_, step) in steps.filter(|(number, step)| keep(*number, step)) {
            cuts[step.clock.as_usize()].push((step.after, step.until));
        }
        cuts
    }

    /// Without the steps that nothing speaks for or, where there are none, without those that wander
    /// may have made; `None` if that leaves all or none.
    pub(super) fn only_likely(&self, clocks: usize) -> Option<Cuts> {
        let least = self.evidence.iter().min()?;
        let count = self.evidence.iter().filter(|it| *it > least).count();
        let is_likely = |number: usize, _: &ClockStep| self.evidence[number] > *least;
        (count > 0).then(|| self.cuts(clocks, is_likely))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::align_edges;
    use retime_causality::edges::{Edge, Edges};
    use retime_clocks::estimate::Offset;
    use retime_model::{ClockId, TickRate};

    /// An explanation by steps of these clocks between 100 and 200 ticks, which nothing contradicts,
    /// if rates wander by so much.
    pub(in crate::steps) fn explained(needed: f64, firmness: f64, set: &[u32]) -> Explained {
        let step = |clock: &u32| ClockStep {
            clock: ClockId(*clock),
            after: 100,
            until: 200,
            by: 50.0,
            alternatives: Vec::new(),
        };
        Explained {
            alignment: Alignment {
                steps: set.iter().map(step).collect(),
                ..Alignment::of_offsets(vec![Some(Offset::constant(0.0)); 4])
            },
            wander: needed,
            needed,
            left: 0,
            implausible: 0,
            firmness,
            improbable: 0.0,
            steps_cost: 0.0,
            evidence: vec![Evidence::Proof; set.len()],
            occasions: (0..set.len()).map(|it| vec![it]).collect(),
        }
    }

    #[test]
    fn a_step_pays_by_less_wander() {
        let wandering = explained(1e-6, 4.0, &[]);
        assert!(explained(1e-7, 4.0, &[1]).is_better_than(&wandering));
        assert!(!explained(1e-7, 4.0, &[1, 2]).is_better_than(&wandering));
        assert!(explained(1e-8, 4.0, &[1, 2]).is_better_than(&wandering));
        let mut unproven = explained(1e-7, 4.0, &[1]);
        unproven.evidence = vec![Evidence::Some];
        assert!(!unproven.is_better_than(&wandering));
    }

    /// No single step of clocks that were set in one silence leaves less unexplained.
    #[test]
    fn steps_that_are_likely_are_taken_with_one_that_is_proven() {
        let of = |evidence: [Evidence; 2], steps_cost| Explained {
            evidence: evidence.to_vec(),
            steps_cost,
            ..explained(1e-8, 4.0, &[1, 2])
        };
        let wandering = Explained {
            improbable: 42.0,
            ..explained(1e-4, 4.0, &[])
        };
        let beside = |evidence| of([Evidence::Proof, evidence], 25.0);
        assert!(beside(Evidence::Some).is_better_than(&wandering));
        assert!(!beside(Evidence::None).is_better_than(&wandering));
        assert!(!of([Evidence::Some; 2], 25.0).is_better_than(&wandering));
        assert!(!of([Evidence::Proof, Evidence::Some], 40.0).is_better_than(&wandering));
        let without = beside(Evidence::None).only_likely(4).unwrap();
        assert_eq!(without, [vec![], vec![(100, 200)], vec![], vec![]]);
        assert_eq!(of([Evidence::Some; 2], 25.0).only_likely(4), None);
    }

    /// Where wander explains nothing either, each step may leave less reversed by a little.
    #[test]
    fn a_probable_step_may_leave_more_to_the_next() {
        let left = |left, improbable, set: &[u32]| Explained {
            left,
            improbable,
            steps_cost: 15.0 * set.len() as f64,
            ..explained(f64::INFINITY, 2.0, set)
        };
        let known = left(2_376, 5_144.0, &[]);
        assert!(left(1_500, 110.0, &[1]).is_better_than(&known));
        assert!(!left(1_500, 5_140.0, &[1]).is_better_than(&known));
        assert!(!left(2_376, 110.0, &[1]).is_better_than(&known));
    }

    #[test]
    fn a_step_pays_by_messages_that_are_less_tight() {
        let tight = explained(1e-8, 1.0, &[1]);
        assert!(explained(1e-8, 4.1, &[1, 2]).is_better_than(&tight));
        assert!(!explained(1e-8, 3.9, &[1, 2]).is_better_than(&tight));
        assert!(!explained(1e-8, 15.0, &[1, 2, 3]).is_better_than(&tight));
    }

    /// Both clocks are set by 50 ticks.
    #[test]
    fn a_probable_step_may_reverse_the_message_next_to_it() {
        let left = |ticks: u128, needed, improbable, set: &[u32]| Explained {
            left: ticks * PARTS as u128,
            improbable,
            steps_cost: 15.0 * set.len() as f64,
            ..explained(needed, 4.0, set)
        };
        let wandering = left(20, 1e-4, 240.0, &[]);
        assert!(left(119, 1e-5, 70.0, &[1, 2]).is_better_than(&wandering));
        assert!(!left(121, 1e-5, 70.0, &[1, 2]).is_better_than(&wandering));
        assert!(!left(119, 1e-5, 210.0, &[1, 2]).is_better_than(&wandering));
    }

    /// Half as much wander is no family less; but a step may be cheaper than all that wander.
    #[test]
    fn a_step_pays_by_wander_that_is_improbable() {
        let of = |needed, improbable, steps_cost, set: &[u32]| Explained {
            improbable,
            steps_cost,
            ..explained(needed, 4.0, set)
        };
        let wandering = of(1e-6, 40.0, 0.0, &[]);
        assert!(of(0.5e-6, 15.0, 20.0, &[1]).is_better_than(&wandering));
        assert!(!of(0.5e-6, 18.0, 20.0, &[1]).is_better_than(&wandering));
    }

    /// The search may give up whatever needs more wander than that.
    #[test]
    fn nothing_better_needs_more_than_most_needed() {
        let families = [1e-8, 1e-7, 1e-6, 1e-5];
        let footing = |needed, set: &[u32], left| {
            let mut found = explained(needed, 4.0, set);
            found.left = left;
            found
        };
        let mut wasted = 0;
        for (known_needs, known_left) in families.into_iter().flat_map(|it| [(it, 0), (it, 9)]) {
            for steps in [&[][..], &[1]] {
                let known = footing(known_needs, steps, known_left);
                for (needs, left) in families.into_iter().flat_map(|it| [(it, 0), (it, 9)]) {
                    let more = footing(needs, &[1, 2], left);
                    let is_given_up = needs > known.most_needed();
                    assert!(!is_given_up || !more.is_better_than(&known));
                    wasted += usize::from(is_given_up);
                }
            }
        }
        // Beside wander that explains all 8, 6, 4 and 2 are given up; beside clocks that were set
        // 6, 4, 2 and none, whether something is left or not.
        assert_eq!(wasted, 20 + 2 * 12);
    }

    /// Stiff clocks squeezed between messages pay ten times more.
    #[test]
    fn tight_clocks_pay_for_a_family_more() {
        let wandering = explained(1e-6, 4.0, &[]);
        assert!(explained(1e-7, 1.1, &[1]).is_better_than(&wandering));
        assert!(!explained(1e-7, 0.9, &[1]).is_better_than(&wandering));
        assert!(explained(1e-8, 0.9, &[1]).is_better_than(&wandering));
    }

    #[test]
    fn of_two_on_one_footing_the_firmer_is_better() {
        let known = explained(1e-8, 4.0, &[1]);
        assert!(explained(1e-8, 4.5, &[2]).is_better_than(&known));
        assert!(!explained(1e-8, 4.3, &[2]).is_better_than(&known));
        let mut wanders = explained(1e-8, 9.0, &[2]);
        wanders.improbable = known.improbable + 3.5;
        assert!(!wanders.is_better_than(&known), "messages follow wander");
        // More slack is no reason for another step, nor for leaving something reversed.
        assert!(!explained(1e-8, 9.0, &[1, 2]).is_better_than(&known));
        let mut reversed = explained(1e-8, 4.5, &[2]);
        reversed.left = 1;
        assert!(!reversed.is_better_than(&known));
        // Nor for more clocks that were set at once.
        let mut at_once = explained(1e-8, 9.0, &[2, 3]);
        at_once.occasions = vec![vec![0, 1]];
        assert!(!at_once.is_better_than(&known));
    }

    /// Two clocks meet five times for some milliseconds: too seldom for contradictions to prove
    /// that clocks wander, and too often for them to be outliers.
    #[test]
    fn few_contradictions_are_followed() {
        let (a, b) = (ClockId(0), ClockId(1));
        let ahead = |time: i64| (15e3 * (time as f64 * 2e-9).sin()) as i64;
        let meetings = (0..5).map(|number| 800_000_000 * number);
        let mut edges = Vec::new();
        for meeting in meetings.clone() {
            for round in 0..200 {
                let sent = meeting + 20_000 * round;
                let (there, back) = (sent + 2_000 + round % 7 * 30, sent + 10_000);
                edges.push(Edge::message(a, sent, b, there + ahead(there)));
                let returned = back + 2_000 + round % 5 * 40;
                edges.push(Edge::message(b, back + ahead(back), a, returned));
            }
        }
        let edges = Edges::new(edges, vec![Some((0, 4_000_000_000)); 2]);
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&edges, rate, a, &()).unwrap();
        assert!(alignment.steps.is_empty() && alignment.outliers.is_empty());
        for time in meetings {
            let shown = time + ahead(time);
            let error = alignment.estimate.at(b, shown) + ahead(time) as f64;
            assert!(error.abs() < 100.0, "{error} ns at {time}");
        }
    }
}
