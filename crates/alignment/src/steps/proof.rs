//! The proof that no wander of a clock can have done what is taken for a step of it.
//!
//! Where the rate of a clock is a random walk of `q` in a second, `effort / q^2` is the negative
//! logarithm of how probable its [path](super::effort) is. What wander does within the `w` that
//! messages leave open does not show; it does more, with an effort of `q^2`, within
//!
//! ```text
//! h = (6 w^2 / q^2)^(1/3)                    6 f^2 / T^3: the effort of gaining f within T, from rest to rest
//! ```
//!
//! So strong wander is improbable where little of it shows, and weak wander where much does. Nobody
//! knows `q`, but what quartzes do in a room, `u`, is known: ten times as much is taken to be ten times
//! as rare. At best, clocks that run for `R` in all and take an effort of `S` are improbable by
//!
//! ```text
//! I(S) = min over q of  S / q^2 + c R / h + max(0, ln(q / u)),     c = -ln 0.68
//! ```
//!
//! since a normal variable is less than its deviation with the probability 0.68. Up to `u` that is
//! `4 (c/3 R (S / (6 w^2))^(1/3))^(3/4)`. With the step clocks
//! take the effort `S` that is left of them elsewhere, without it `e` more. It is a step if
//! `I(S + e) - I(S)` is more than what the step costs: where it is, how large it is, and that there
//! is one at all.
//!
//! Clocks that wander elsewhere as much as they would have to at the step, and those of which
//! messages tell hardly anything, prove nothing.
//!
//! Minimum description lengths: J. Rissanen, *Modeling by shortest data description* (Automatica 14,
//! 1978).

use super::effort::{Gate, effort};
use super::latencies::LongestLatencies;
use super::together::{Occasion, occasions};
use crate::Alignment;
use crate::options::OPTIONS;
use retime_causality::edges::{Edge, ListedEdges, Source};
use retime_model::{ClockId, TickRate};
use retime_numerics::median::median;

/// So many messages of a pair of clocks tell what they leave open.
const STRETCH: usize = 50;
/// The negative logarithm of the probability that a normal variable is less than its deviation.
const HIDDEN: f64 = 0.38;
/// The negative logarithm of how probable a step of a certain size is: in one run of ten there is
/// one, and from a nanosecond to a second all orders of magnitude are alike.
const RARE: f64 = 5.3;
/// After so many halvings the logarithm of a wander is exact to less than a millionth.
const HALVINGS: u32 = 30;

/// One explanation is clearly more probable than another if it is twenty times as probable (the
/// usual 5 %), as a natural logarithm.
pub(super) const CLEARLY: f64 = 3.0;

/// How much speaks for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// Wander does as much.
    None,
    /// Wander that does as much is clearly less probable than none, though not less than that a
    /// clock was set.
    Some,
    /// Wander that does as much is less probable than that a clock was set.
    Proof,
}

/// All that was aligned, beside which a step is to be proven.
pub(super) struct Proof<'a> {
    /// All dependencies, by clocks and stamps.
    all: &'a ListedEdges,
    alignment: &'a Alignment,
    latencies: LongestLatencies<'a>,
    /// The amount by which rates wander, as a fraction in the square root of a tick,
    wander: f64,
    /// and by which those of quartzes do.
    usual: f64,
    /// The time that all clocks run that can wander against another, in ticks.
    runs: f64,
    /// The room that messages leave to a clock, in ticks.
    open: f64,
    /// The effort that clocks take but for their steps, in 1 / ticks.
    elsewhere: f64,
}

impl<'a> Proof<'a> {
    /// The proof beside an alignment of the dependencies `all`, which takes rates that wander by
    /// `wander` in a second.
    pub(super) fn beside(
        all: &'a ListedEdges,
        alignment: &'a Alignment,
        wander: f64,
        rate: TickRate,
    ) -> Self {
        let of_tick = (rate.get() as f64).sqrt().recip();
        let mut proof = Self {
            all,
            alignment,
            latencies: LongestLatencies::new(&alignment.estimate, &alignment.steps),
            wander: wander * of_tick,
            usual: OPTIONS.usual_wander() * of_tick,
            runs: 0.0,
            open: f64::INFINITY,
            elsewhere: 0.0,
        };
        proof.runs = proof.runs();
        proof.open = proof.usually_open();
        proof.elsewhere = proof.effort_elsewhere();
        proof
    }

    /// The occasions on which clocks were set.
    pub(super) fn occasions(&self) -> Vec<Occasion> {
        occasions(self.alignment)
    }

    /// How much speaks for clocks having been set rather than for wander that they have in common.
    pub(super) fn evidence(&self, occasion: &Occasion) -> Evidence {
        let gates = occasion.clocks.iter();
        let gates = gates.flat_map(|clock| self.gates(*clock, &occasion.clocks));
        let effort = effort(gates, occasion.gap);
        let cost = self.cost(occasion);
        let gain = self.improbable(self.elsewhere + effort) - self.improbable(self.elsewhere);
        let is_more_than_known = effort > cost * self.wander.powi(2);
        if is_more_than_known && gain > cost.max(CLEARLY) {
            Evidence::Proof
        } else if is_more_than_known && gain > CLEARLY {
            Evidence::Some
        } else {
            Evidence::None
        }
    }

    /// The negative logarithm of how probable such a step is there, of one clock or of several together.
    pub(super) fn cost(&self, occasion: &Occasion) -> f64 {
        let gap = &occasion.gap;
        let lasts = gap.until.saturating_sub(gap.after).max(1) as f64;
        let place = (self.runs / lasts).max(1.0).ln();
        let size = (gap.by.abs() / self.open).max(1.0).ln();
        place + size + RARE + self.others_of(occasion)
    }

    /// The negative logarithm of how probable it is that a clock changes its rate within so many ticks. It
    /// is as rare as a step, and as little is known of how much it is.
    pub(super) fn cost_of_bend(&self, lasts: i64) -> f64 {
        (self.runs / lasts.max(1) as f64).max(1.0).ln() + RARE
    }

    /// The logarithm of how many sets of clocks there are with this one, of as many clocks as were set.
    fn others_of(&self, occasion: &Occasion) -> f64 {
        let others = self.all.clocks().saturating_sub(1);
        let more = 1..occasion.clocks.len();
        more.map(|it| (others.saturating_sub(it - 1).max(1) as f64 / it as f64).ln())
            .sum()
    }

    /// The negative logarithm of how probable the wander of all clocks is but for their steps.
    pub(super) fn improbable_elsewhere(&self) -> f64 {
        self.improbable(self.elsewhere)
    }

    /// The negative logarithm of how probable wander is that takes such an effort.
    fn improbable(&self, effort: f64) -> f64 {
        let places = HIDDEN * self.runs / (6.0 * self.open.powi(2)).cbrt();
        if effort <= 0.0 || places <= 0.0 {
            return 0.0;
        }
        // All terms are convex in the logarithm of the wander, so the least is where the slope of
        // their sum changes its sign: at most where it would if all wander were as likely.
        let usual = self.usual.ln();
        let shown = |log: f64| effort * (-2.0 * log).exp();
        let hidden = |log: f64| places * (log / 1.5).exp();
        let slope = |log: f64| hidden(log) / 1.5 - 2.0 * shown(log) + f64::from(log > usual);
        let mut high = 0.375 * (3.0 * effort / places).ln();
        let mut low = usual.min(high);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if slope(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        shown(high) + hidden(high) + (high - usual).max(0.0)
    }

    /// The bounds that dependencies on clocks that were not set with it set to the offset of a clock.
    fn gates<'b>(
        &'b self,
        clock: ClockId,
        together: &'b [ClockId],
    ) -> impl Iterator<Item = Gate> + 'b {
        let edges = self.all.edges.all();
        let first = edges.partition_point(|it| it.from < clock);
        let last = edges.partition_point(|it| it.from <= clock);
        let others = (0..self.all.clocks() as u32).map(ClockId);
        let received = others.flat_map(move |other| route(edges, other, clock));
        let all = edges[first..last].iter().chain(received);
        let all = all.filter(move |edge| {
            let other = if edge.from == clock {
                edge.to
            } else {
                edge.from
            };
            !together.contains(&other)
        });
        all.map(move |edge| {
            let is_cause = edge.from == clock;
            let stamp = if is_cause { edge.sent } else { edge.received };
            Gate {
                time: self.alignment.estimate.common_time(clock, stamp),
                is_cause,
                room: self.latencies.of(edge).max(0.0),
            }
        })
    }

    /// The time that all clocks run, but for one that they are compared with.
    fn runs(&self) -> f64 {
        let clocks = (0..self.all.clocks() as u32).map(ClockId);
        let lasts = clocks.filter_map(|clock| {
            let (first, last) = self.all.extent(clock)?;
            Some(last.saturating_sub(first) as f64)
        });
        let (sum, longest) = lasts.fold((0.0, 0.0_f64), |all, it| (all.0 + it, all.1.max(it)));
        sum - longest
    }

    /// The fastest messages of a clock there and back, in the median of stretches of a pair and of
    /// clocks; infinite where messages go only one way.
    fn usually_open(&self) -> f64 {
        let mut there = vec![f64::INFINITY; self.all.clocks()];
        let mut back = there.clone();
        let edges = self.all.edges.all();
        for route in edges.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
            let fastest = |stretch: &[Edge]| {
                let latencies = stretch.iter().map(|edge| self.latencies.of(edge).max(0.0));
                latencies.fold(f64::INFINITY, f64::min)
            };
            let mut fastest: Vec<f64> = route.chunks(STRETCH).map(fastest).collect();
            let usual = median(&mut fastest).unwrap_or(f64::INFINITY);
            let ways = [(&mut there, route[0].from), (&mut back, route[0].to)];
            for (way, clock) in ways {
                // Clocks that have no extent are of no interest.
                if let Some(least) = way.get_mut(clock.as_usize()) {
                    *least = least.min(usual);
                }
            }
        }
        let both = there.iter().zip(&back).map(|(there, back)| there + back);
        let mut both: Vec<f64> = both.filter(|it| it.is_finite()).collect();
        median(&mut both).map_or(f64::INFINITY, |it| it.max(1.0))
    }

    /// The effort of the bends of all clocks between which none was set.
    fn effort_elsewhere(&self) -> f64 {
        let estimate = &self.alignment.estimate;
        let time = |clock, stamp: i64| estimate.common_time(clock, stamp);
        let steps = self.alignment.steps.iter();
        let set = steps.map(|it| (time(it.clock, it.after), time(it.clock, it.until)));
        let set: Vec<(i64, i64)> = set.collect();
        let extents = (0..self.all.clocks() as u32).map(ClockId).filter_map(|it| {
            let (first, last) = self.all.extent(it)?;
            Some((time(it, first), time(it, last)))
        });
        // Before a clock begins and after it has ended it goes straight on; as that of the reference
        // counts as time, all others bend there.
        let (begin, end) = extents.fold((i64::MIN, i64::MAX), |all, it| {
            (all.0.max(it.0), all.1.min(it.1))
        });
        let mut sum = 0.0;
        for (clock, offset) in (0..).map(ClockId).zip(&estimate.offsets) {
            let knots = offset.as_ref().map_or(&[][..], |it| it.knots());
            for bend in knots.windows(3) {
                let (from, to) = (time(clock, bend[0].0), time(clock, bend[2].0));
                let is_set = set.iter().any(|it| it.0 < to && it.1 > from);
                if from >= begin && to <= end && !is_set {
                    sum += effort_of_bend(bend);
                }
            }
        }
        sum
    }
}

/// The dependencies from one clock to another, of a list by clocks and stamps.
fn route(edges: &[Edge], from: ClockId, to: ClockId) -> &[Edge] {
    let first = edges.partition_point(|it| (it.from, it.to) < (from, to));
    let last = edges.partition_point(|it| (it.from, it.to) <= (from, to));
    &edges[first..last]
}

/// Half the integral of the square of a rate's change where it changes between two lines, steadily
/// from the middle of the one to the middle of the other.
fn effort_of_bend(knots: &[(i64, f64)]) -> f64 {
    let [a, b, c] = [knots[0], knots[1], knots[2]];
    let lasts = |a: i64, b: i64| b.saturating_sub(a).max(1) as f64;
    let rate = |a: (i64, f64), b: (i64, f64)| (b.1 - a.1) / lasts(a.0, b.0);
    (rate(b, c) - rate(a, b)).powi(2) / lasts(a.0, c.0)
}

#[cfg(test)]
mod tests {
    use super::super::together::gap;
    use super::*;
    use crate::ClockStep;
    use crate::steps::tests::exchange;
    use retime_causality::edges::{Edges, InOrder};
    use retime_clocks::estimate::Offset;

    /// Messages of 300 ticks both ways all the time, so that 600 are left open, and a clock that is
    /// set by 50000 at 1 000 000; the rate of another changes by `elsewhere` ppm at 1 500 000.
    fn set(elsewhere: f64) -> (ListedEdges, Alignment, ClockStep) {
        let list = InOrder::new(&exchange(2_000), &()).unwrap().list;
        let (before, after) = (7_000.0, -43_000.0);
        let bend = |stamp: i64| (stamp - 1_500_000).max(0) as f64 * elsewhere * 1e-6;
        let bent = [0, 1_499_000, 1_500_000, 1_501_000].map(|it| (it, bend(it)));
        let step = ClockStep {
            clock: ClockId(2),
            after: 992_000,
            until: 1_043_000,
            by: 50_000.0,
            alternatives: Vec::new(),
        };
        let set = vec![(0, before), (step.after, before), (step.until, after)];
        let alignment = Alignment {
            steps: vec![step.clone()],
            shortest: Some(300.0),
            ..Alignment::of_offsets(vec![
                Some(Offset::constant(0.0)),
                Some(Offset::through(bent.to_vec())),
                Some(Offset::through(set)),
            ])
        };
        (list, alignment, step)
    }

    /// How much speaks for one step alone.
    fn evidence(proof: &Proof<'_>, step: &ClockStep) -> Evidence {
        let gap = gap(step, &proof.alignment.estimate);
        proof.evidence(&Occasion::of(0, step.clock, gap))
    }

    fn rate() -> TickRate {
        TickRate::per_second(1_000_000_000).unwrap()
    }

    #[test]
    fn steps_are_proven_that_wander_cannot_make() {
        let (list, alignment, step) = set(0.0);
        // 10 ppm in a second, of a nanosecond per tick.
        let proof = |wander: f64| Proof::beside(&list, &alignment, wander, rate());
        assert!((proof(0.0).open - 600.0).abs() < 1e-6);
        assert!((proof(0.0).runs - 4e6).abs() < 1e-6);
        assert!(evidence(&proof(1e-5), &step) == Evidence::Proof);
        assert!(
            evidence(&proof(1e6), &step) < Evidence::Proof,
            "of clocks that can do it"
        );
        let less = |by: f64| ClockStep { by, ..step.clone() };
        assert!(
            evidence(&proof(1e-5), &less(250.0)) < Evidence::Proof,
            "less than messages tell"
        );
    }

    #[test]
    fn clocks_that_wander_elsewhere_prove_no_step() {
        let (list, alignment, step) = set(200.0);
        let proof = Proof::beside(&list, &alignment, 0.0, rate());
        let bend = 2e-4_f64.powi(2) / 2_000.0;
        assert!((proof.elsewhere / bend - 1.0).abs() < 1e-6);
        let step = ClockStep {
            by: 2_000.0,
            ..step
        };
        assert!(
            evidence(&proof, &step) == Evidence::Proof,
            "less than the step takes"
        );
        let (list, alignment, _) = set(3e8);
        assert!(evidence(&Proof::beside(&list, &alignment, 0.0, rate()), &step) < Evidence::Proof);
    }

    /// Two clocks that exchange messages of 10 ticks are set by 250 together, and exchange messages of 300
    /// with the reference: by these they can have drifted by as much.
    #[test]
    fn messages_between_clocks_that_were_set_together_prove_nothing() {
        let (a, b, c) = (ClockId(0), ClockId(1), ClockId(2));
        let by = |time: i64| if time > 1_000_000 { 250 } else { 0 };
        let each = (0..2_000).flat_map(|round| {
            let at = 1_000 * round;
            let both_ways = |clock| {
                let (sent, back) = (at + 400, at + 500);
                [
                    Edge::message(a, at, clock, at + 300 + by(at + 300)),
                    Edge::message(clock, sent + by(sent), a, sent + 300),
                    Edge::message(
                        clock,
                        back + by(back),
                        ClockId(3 - clock.0),
                        back + 10 + by(back + 10),
                    ),
                ]
            };
            [both_ways(b), both_ways(c)].into_iter().flatten()
        });
        let extents = vec![Some((0, 2_000_400)); 3];
        let edges = Edges::new(each.collect(), extents);
        let list = InOrder::new(&edges, &()).unwrap().list;
        let (_, mut alignment, step) = set(0.0);
        let step = |clock| ClockStep {
            clock,
            after: 999_510,
            until: 1_000_550,
            by: 250.0,
            ..step.clone()
        };
        let add = vec![(0, 0.0), (999_510, 0.0), (1_000_550, -250.0)];
        let offset = Some(Offset::through(add));
        alignment.estimate.offsets = vec![Some(Offset::constant(0.0)), offset.clone(), offset];
        alignment.steps = vec![step(b), step(c)];
        let proof = Proof::beside(&list, &alignment, 0.0, rate());
        assert!(
            evidence(&proof, &step(b)) == Evidence::Proof,
            "if the other one was"
        );
        let [together] = &proof.occasions()[..] else {
            panic!("they were set at one time");
        };
        assert_eq!(together.clocks, [b, c]);
        assert!(proof.evidence(together) < Evidence::Proof);
    }

    /// A clock that gained a tenth of a second within a microsecond has long run on by itself.
    #[test]
    fn a_step_lasts_as_long_as_others_run() {
        let (_, mut alignment, _) = set(0.0);
        let step = ClockStep {
            clock: ClockId(2),
            after: 992_000,
            until: 992_000 + 100_000_000 + 1_000,
            by: 100_000_000.0,
            alternatives: Vec::new(),
        };
        let ends = vec![(step.after, 7_000.0), (step.until, 7_000.0 - step.by)];
        alignment.estimate.offsets[2] = Some(Offset::through(ends));
        let gap = gap(&step, &alignment.estimate);
        assert_eq!((gap.after, gap.until), (999_000, 1_000_000));
    }

    /// `I` is the least of all wanders; where that is of a quartz, at 81 times the effort three
    /// times as much.
    #[test]
    fn improbable_is_the_least_over_all_wanders() {
        let (list, alignment, _) = set(0.0);
        let proof = Proof::beside(&list, &alignment, 0.0, rate());
        let by_trial = |effort: f64| {
            let at = |square: f64| {
                let within = (6.0 * proof.open.powi(2) / square).cbrt();
                let unusual = (square.sqrt() / proof.usual).ln().max(0.0);
                effort / square + HIDDEN * proof.runs / within + unusual
            };
            let squares = (0..10_000).map(|it| effort * 1.01_f64.powi(it - 5_000));
            squares.map(at).fold(f64::INFINITY, f64::min)
        };
        for effort in [1e-36, 1e-30, 1e-24, 1e-12] {
            let ratio = proof.improbable(effort) / by_trial(effort);
            assert!((ratio - 1.0).abs() < 1e-4, "{effort}: {ratio}");
        }
        let ratio = proof.improbable(81e-36) / proof.improbable(1e-36);
        assert!((ratio - 3.0).abs() < 1e-6);
        assert!(proof.improbable(0.0).abs() < 1e-12);
    }
}
