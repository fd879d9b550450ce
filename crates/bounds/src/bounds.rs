//! Between which values the offset of each clock lies, at any time.
//!
//! Let `z` be what has to be added to a clock beyond a straight line that an
//! estimate gives it (see [`offset_bounds`]), and let no clock stray from its own mean
//! rate by more than `rho`, and that from the rate of its line by more than `delta`. Then
//! everything that a trace tells about its clocks are difference constraints:
//!
//! ```text
//! z(to, received) - z(from, sent) >= line(from, sent) - line(to, received) - latency + mu - tick
//! |z(p, t) - z(p, t')|            <= (rho + delta) |t - t'|
//! z(reference, t)                  = 0     until it is set, if ever; a constant afterwards
//! ```
//!
//! **How wrong the lines can be** the messages tell. With some `delta` the bounds say
//! how far the mean rate of each clock between its first dependency and its last can be
//! from that of its line. Let that come out smaller than `delta` for all of them, and let
//! the estimate satisfy all constraints. What satisfies them, for any `delta`, is a convex
//! set that contains the estimate; so from a solution with larger differences a straight
//! way leads to it, and some point of the way has differences of `delta`. But there is none:
//! no clock's can be larger. So `delta` is raised until it is enough, from a quarter of
//! `rho` to what rates may differ by at all; what is [refuted](super::mean_rates) beforehand is
//! passed over. Where the rates are then proven to differ by far less than `delta`, the same proof
//! lets this take its place, again and again: bounds become narrower, and where dependencies
//! contradict each other now, it is the drift bound that they contradict. Where they do so
//! already with less than enough, rates are given all freedom, and narrowed from there: so it does not
//! matter for what is contradicted which values of `delta` are tried on the way.
//!
//! Where the estimate does not satisfy all constraints, or a clock was set or is bounded on
//! one side only, which says nothing of its rate, the same is done, but it is no proof.
//!
//! Their least and their greatest solution are longest and shortest paths from
//! the reference (Bellman 1958, Ford 1956; Cormen et al., Introduction to
//! Algorithms, section "Difference constraints and shortest paths"). The true
//! offset is a solution, so it lies between them, and both ends are solutions
//! too: whatever a correction adds to a clock, the truth may be half of the
//! interval away from it. No method is better than that in the worst case.
//!
//! A stamp stands for any moment until the clock shows the next one, so each
//! dependency is given one tick of slack, and the result is one tick wider.
//! Messages that go one way only bound a clock on one side; the other is
//! infinite.
//!
//! ```
//! use retime_causality::{Edge, Edges};
//! use retime_model::ClockId;
//! use retime_clocks::estimate::{Estimate, Offset};
//! use retime_bounds::{BoundOptions, offset_bounds};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // Clock b is behind: two messages there, one back.
//! let edges = vec![
//!     Edge::message(a, 1_000, b, 995),
//!     Edge::message(b, 2_000, a, 2_050),
//!     Edge::message(a, 3_000, b, 2_960),
//! ];
//! let edges = Edges::new(edges, vec![Some((0, 4_000)), Some((0, 4_000))]);
//! let base = Estimate {
//!     offsets: vec![Some(Offset::constant(0.0)), Some(Offset::constant(0.0))],
//!     reference: a,
//! };
//! let options = BoundOptions {
//!     drift: 1e-3,
//!     most_difference: 0.0,
//!     tick_slack: false,
//!     ..BoundOptions::default()
//! };
//! let bounds = offset_bounds(&edges, |_| 0, &base, &options, &())?;
//! let of_b = bounds.clocks[1].as_ref().unwrap();
//! // Received at 2960 what was sent at 3000: at least 40 is missing there. The
//! // message back: at 2000 at most 50 is. One per thousand ticks more elsewhere.
//! let near = |(low, high): (f64, f64), expected: (f64, f64)| {
//!     (low - expected.0).abs() < 0.01 && (high - expected.1).abs() < 0.01
//! };
//! assert!(near(of_b.at(2_960), (40.0, 50.96)));
//! assert!(near(of_b.at(2_000), (39.04, 50.0)));
//! # Ok::<(), retime_model::Cancelled>(())
//! ```

use super::facts::Facts;
use super::feasible::kept;
use super::link::LeastDelay;
use super::mean_rates::{ROUNDING, differ_by, differ_by_slack, refute};
use super::offset_bounds::{BoundOptions, OffsetBounds};
use super::resolved::{with_all, without_contradiction};
use retime_causality::edges::{Edge, InOrder, Source};
use retime_clocks::estimate::Estimate;
use retime_model::{Cancelled, Monitor};

/// Mean rates are first taken to differ from those of their lines by this share of the
/// drift bound,
const FIRST: f64 = 0.25;
/// but by as much at least, as a fraction,
const LEAST: f64 = 1e-9;
/// and then by so many times more.
const FASTER: f64 = 4.0;
/// Once they are proven to differ by less, they are taken to differ by no more than that if clocks
/// can change by this share of what they could, or less: then it is worth a second search.
const NARROWER: f64 = 0.75;
/// The bounds that the dependencies and a drift bound put on each clock.
///
/// `least` is the minimal delay of a dependency in ticks; 0 is always right.
/// Of `base` only the reference and the overall line of each clock count, and where an
/// alignment found that a clock was set. The rate of each clock is taken to stay within
/// `options.drift` of its mean rate, and that may be any that the dependencies allow and that is
/// within `options.most_difference` of the line. Fails only if `monitor` says to give up.
pub fn offset_bounds(
    source: &dyn Source,
    least: impl Fn(&Edge) -> i64 + Sync,
    base: &Estimate,
    options: &BoundOptions,
    monitor: &dyn Monitor,
) -> Result<OffsetBounds, Cancelled> {
    let mut search = Search {
        source,
        least: &least,
        base,
        options,
        monitor,
        listed: None,
        contradicted: f64::NEG_INFINITY,
    };
    let enough = search.raised()?;
    search.narrowed(enough)
}

/// The search for how far mean rates can differ from those of the lines.
struct Search<'a> {
    source: &'a dyn Source,
    least: LeastDelay<'a>,
    base: &'a Estimate,
    options: &'a BoundOptions,
    monitor: &'a dyn Monitor,
    listed: Option<InOrder>,
    /// Facts contradict each other if mean rates differ by so much; with less freedom as well.
    contradicted: f64,
}

/// The result of taking mean rates to differ from those of the lines by no more than `delta`.
enum DeltaTrial {
    Found(FoundBounds),
    /// Some mean rate can differ by this much at least, which is more.
    Refuted(f64),
}

/// Bounds where mean rates differ from those of the lines by no more than `delta`.
struct FoundBounds {
    bounds: OffsetBounds,
    delta: f64,
    /// How far mean rates can differ by these bounds, as a fraction,
    rates: f64,
    /// and at least with more freedom.
    at_least: f64,
}

impl FoundBounds {
    /// True if bounds that hold if mean rates differ by `delta` say that they do.
    fn is_proven(&self) -> bool {
        self.rates < self.delta
    }

    fn contradictions(&self) -> usize {
        self.bounds.relaxed.len()
    }
}

impl Search<'_> {
    fn most(&self) -> f64 {
        self.options.most_difference.max(0.0)
    }

    /// Raises `delta` until it is enough. Where dependencies contradict each other, rates are given
    /// all freedom: these contradictions have another cause, and the others are for a rate or
    /// for the drift bound, which [narrowing](Self::narrowed) tells apart.
    fn raised(&mut self) -> Result<FoundBounds, Cancelled> {
        let most = self.most();
        let mut delta = (self.options.drift * FIRST).max(LEAST).min(most);
        loop {
            let refuted = match self.tried(delta)? {
                DeltaTrial::Found(found) if delta >= most => return Ok(found),
                DeltaTrial::Found(found) if found.contradictions() > 0 => {
                    return self.given_freedom(found);
                }
                DeltaTrial::Found(found) if found.is_proven() => return Ok(found),
                DeltaTrial::Found(found) if found.bounds.complete => found.at_least,
                DeltaTrial::Found(_) => 0.0,
                DeltaTrial::Refuted(at_least) => at_least,
            };
            delta = (delta * FASTER).min(most);
            while delta < most && refute(refuted, delta) {
                delta = (delta * FASTER).min(most);
            }
        }
    }

    /// Bounds with all freedom of rates, unless these contradict as much; then what was found.
    fn given_freedom(&mut self, found: FoundBounds) -> Result<FoundBounds, Cancelled> {
        let DeltaTrial::Found(widest) = self.tried(self.most())? else {
            return Ok(found);
        };
        let as_much = found.contradictions() <= widest.contradictions();
        let keeps = as_much && found.is_proven() || !widest.bounds.complete;
        Ok(if keeps { found } else { widest })
    }

    /// Takes how far rates are proven to differ for `delta`, as long as that narrows bounds. Where
    /// dependencies contradict each other that did not before, it is the drift bound that they
    /// contradict.
    fn narrowed(&mut self, mut found: FoundBounds) -> Result<OffsetBounds, Cancelled> {
        loop {
            let proven = found.rates * (1.0 + ROUNDING) + LEAST;
            // By as much each time, so that this comes to an end.
            let slope = |delta| self.options.slope(delta);
            let narrows = slope(proven) < NARROWER * slope(found.delta);
            if !(found.is_proven() && found.bounds.complete && narrows) {
                return Ok(found.bounds);
            }
            let DeltaTrial::Found(narrower) = self.tried(proven)? else {
                return Ok(found.bounds);
            };
            if narrower.contradictions() > found.contradictions() {
                return Ok(narrower.bounds);
            }
            found = narrower;
        }
    }

    /// Looks for the bounds under a `delta`.
    fn tried(&mut self, delta: f64) -> Result<DeltaTrial, Cancelled> {
        let (source, monitor, options) = (self.source, self.monitor, self.options);
        let facts = Facts::new(source, self.least, self.base, options, delta, monitor)?;
        let found = |bounds: OffsetBounds| {
            let (rates, at_least) = differ_by(&bounds, options.slope(0.0), facts.drift());
            DeltaTrial::Found(FoundBounds {
                bounds,
                delta,
                rates,
                at_least,
            })
        };
        // A clock that was set is a contradiction.
        if delta > self.contradicted && !facts.base_steps() {
            let kept = kept(source, &facts, monitor)?;
            if delta < self.most() {
                let at_least = differ_by_slack(&kept, &facts);
                if refute(at_least, delta) {
                    return Ok(DeltaTrial::Refuted(at_least));
                }
            }
            if let Some(bounds) = without_contradiction(&facts, &kept, options, monitor)? {
                return Ok(found(bounds));
            }
            self.contradicted = delta;
        }
        let all = match &mut self.listed {
            Some(all) => all,
            none => none.insert(InOrder::new(source, monitor)?),
        };
        let bounds = with_all(all, &facts, options, monitor)?;
        monitor.check()?;
        Ok(found(bounds))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::relaxation::Relaxed;
    use crate::resolved::with_contradictions;
    use retime_causality::edges::Edges;
    use retime_clocks::estimate::Offset;
    use retime_model::ClockId;

    const SPAN: i64 = 1_000_000;

    /// What a clock shows at a true time: off by a constant, a drift and a wave that
    /// changes its rate by less than 100 ppm.
    fn shown(clock: usize, time: i64) -> i64 {
        let k = clock as f64;
        let time = time as f64;
        (time * (1.0 + 1e-3 * k) + 700.0 * k + 2.0 * k * (time / 5e4 + k).sin()) as i64
    }

    /// Messages between three clocks that take `delay` and more, and lines through
    /// what the clocks show at both ends.
    fn trace(messages: &[(usize, usize, i64, i64)], delay: i64) -> (Edges, Estimate) {
        let edge = |&(from, by, sent, more): &(usize, usize, i64, i64)| {
            let to = (from + by) % 3;
            let received = shown(to, sent + delay + more);
            Edge::message(
                ClockId(from as u32),
                shown(from, sent),
                ClockId(to as u32),
                received,
            )
        };
        let extent = |clock| Some((shown(clock, 0), shown(clock, SPAN + 2_000)));
        let edges = Edges::new(
            messages.iter().map(edge).collect(),
            (0..3).map(extent).collect(),
        );
        let offset = |clock: usize| {
            let add = |time: i64| {
                let straight = time as f64 * (1.0 + 1e-3 * clock as f64) + 700.0 * clock as f64;
                (straight as i64, time as f64 - straight)
            };
            Some(Offset::line(add(-1_000), add(SPAN + 3_000)))
        };
        let base = Estimate {
            offsets: (0..3).map(offset).collect(),
            reference: ClockId(0),
        };
        (edges, base)
    }

    fn messages() -> impl Strategy<Value = Vec<(usize, usize, i64, i64)>> {
        proptest::collection::vec((0..3_usize, 1..3_usize, 0..SPAN, 0..900_i64), 1..200)
    }

    /// Messages of 50 to 60 ticks hold rates to a few ppm, so that none explains how a clock comes to
    /// gain 150 ticks between two of them.
    #[test]
    fn rates_that_are_known_explain_no_step() {
        const LAST: i64 = 100_000_000;
        let shown = |clock: usize, time: i64| {
            time + if clock == 2 && time > LAST / 2 {
                150
            } else {
                0
            }
        };
        let ways = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];
        let message = |round: i64, from: usize, to: usize| {
            let sent = 100_000 * round + 1_000 * (from + 3 * to) as i64;
            let received = sent + 50 + (7 * round) % 11;
            Edge::message(
                ClockId(from as u32),
                shown(from, sent),
                ClockId(to as u32),
                shown(to, received),
            )
        };
        let edges = (0..LAST / 100_000).flat_map(|round| ways.map(|it| message(round, it.0, it.1)));
        let extent = |clock| Some((shown(clock, 0), shown(clock, LAST)));
        let edges = Edges::new(edges.collect(), (0..3).map(extent).collect());
        let base = Estimate {
            offsets: vec![Some(Offset::constant(0.0)); 3],
            reference: ClockId(0),
        };
        let options = BoundOptions {
            drift: 1e-6,
            ..BoundOptions::default()
        };
        let bounds = offset_bounds(&edges, |_| 0, &base, &options, &()).unwrap();
        assert!(bounds.complete);
        let steps = |it: &Relaxed| {
            matches!(
                it,
                Relaxed::Step {
                    clock: ClockId(2),
                    ..
                }
            )
        };
        assert!(bounds.relaxed.iter().any(steps), "{:?}", bounds.relaxed);
        for (clock, own) in bounds.clocks.iter().enumerate() {
            for time in (0..LAST).step_by(1_234_567) {
                let stamp = shown(clock, time);
                let (low, high) = own.as_ref().unwrap().at(stamp);
                let add = (time - stamp) as f64;
                assert!(
                    low <= add && add <= high,
                    "{clock} {time}: {low} {add} {high}"
                );
            }
        }
    }

    /// Two clocks over 100,000 ticks that exchange messages with a slack of 60 ticks at both ends, so
    /// that their mean rates are known to 1.2e-3, and in the middle `gained` ticks within 2,000.
    fn loose_with(gained: i64, drift: f64) -> OffsetBounds {
        let (a, b) = (ClockId(0), ClockId(1));
        let both = |time: i64, low: i64, high: i64| {
            [
                Edge::message(a, time, b, time - low),
                Edge::message(b, time, a, time + high),
            ]
        };
        let edges = [
            both(0, -60, 60),
            both(50_000, -60, -gained / 2),
            both(52_000, gained / 2, 60),
            both(100_000, -60, 60),
        ];
        let edges = Edges::new(edges.concat(), vec![Some((0, 100_000)); 2]);
        let base = Estimate {
            offsets: vec![Some(Offset::constant(0.0)); 2],
            reference: a,
        };
        let options = BoundOptions {
            drift,
            most_difference: 1e-2,
            tick_slack: false,
            ..BoundOptions::default()
        };
        offset_bounds(&edges, |_| 0, &base, &options, &()).unwrap()
    }

    /// Which of the rates that are tried is the first to allow everything must not matter.
    #[test]
    fn what_contradicts_a_drift_bound_contradicts_lower_ones() {
        for drift in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(loose_with(8, drift).complete, "{drift}");
        }
        for drift in [2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3] {
            // 8 ticks within 2,000 need 4e-3; what is proven of mean rates leaves 1.2e-3.
            let found = loose_with(8, drift);
            assert!(
                found.complete && !found.relaxed.is_empty(),
                "{drift}: {found:?}"
            );
        }
    }

    #[test]
    fn rates_proven_beyond_a_power_of_four_are_used_as_proven() {
        // A quarter of the drift bound, the bound itself and four times that are tried: 4e-3 is
        // the first that exceeds 1.2e-3, and with it a clock could gain 2,000 * (1e-3 + 4e-3) = 10.
        let sound = loose_with(-120, 1e-3);
        assert!(sound.complete && sound.relaxed.is_empty());
        // From where it is known to 60 ticks it strays by 2.2e-3 of the 25,000 to its neighbours.
        let (low, high) = sound.clocks[1].as_ref().unwrap().at(25_000);
        let near = |it: f64| (it - (60.0 + 2.2e-3 * 25_000.0)).abs() < 0.2;
        assert!(near(-low) && near(high), "{low} {high}");
        // With what is proven it gains 2,000 * 2.2e-3 = 4.4 at most: 8 contradict the drift bound.
        let set = loose_with(8, 1e-3);
        assert!(!set.relaxed.is_empty());
    }

    proptest! {
        /// Whether contradictions are looked for or not, where there are none.
        #[test]
        fn both_ways_agree(
            messages in messages(),
            parts in 1..4_usize,
            off in -2_000..2_000_i64,
        ) {
            let (edges, mut base) = trace(&messages, 50);
            // The lines need not be right.
            let shifted = |it: &Offset| {
                let knot = |knot: &(i64, f64)| (knot.0, knot.1 + off as f64);
                Offset::through(it.knots().iter().map(knot).collect())
            };
            base.offsets[1] = base.offsets[1].as_ref().map(shifted);
            let options = BoundOptions::default();
            let least = |_: &Edge| parts as i64;
            let facts = Facts::new(&edges, &least, &base, &options, 0.0, &()).unwrap();
            let all = kept(&edges, &facts, &()).unwrap();
            let direct = without_contradiction(&facts, &all, &options, &()).unwrap();
            let all = InOrder::new(&edges, &()).unwrap();
            let screened = with_contradictions(&all, &facts, &options, &()).unwrap();
            prop_assert!(screened.complete && screened.relaxed.is_empty());
            let direct = direct.unwrap();
            prop_assert!(direct.complete && direct.relaxed.is_empty());
            for (ours, theirs) in direct.clocks.iter().zip(&screened.clocks) {
                prop_assert_eq!(ours.is_some(), theirs.is_some());
                let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
                for at in (0..SPAN).step_by(9_973) {
                    let (ours, theirs) = (ours.at(at), theirs.at(at));
                    // Where cones meet is rounded to ticks, and a few more may meet.
                    let near = |a: f64, b: f64| a.total_cmp(&b).is_eq() || (a - b).abs() < 1e-3;
                    prop_assert!(near(ours.0, theirs.0) && near(ours.1, theirs.1), "{ours:?} {theirs:?}");
                }
            }
        }

        /// Of what is refuted beforehand no bounds prove anything, and the result is that of trying
        /// everything.
        #[test]
        fn what_is_refuted_is_not_proven(
            messages in messages(),
            longer in 1..2_000_i64,
            drift in 1e-6..1e-4_f64,
        ) {
            let messages: Vec<_> = { messages.iter() }.map(|it| (it.0, it.1, it.2, it.3 + longer)).collect();
            let (edges, base) = trace(&messages, 50);
            let options = BoundOptions { drift, most_difference: 10.0 * drift, ..BoundOptions::default() };
            let mut before = (0.0_f64, 0.0_f64);
            let mut proven = None;
            for times in [0.25, 1.0, 4.0, 10.0] {
                let delta = times * drift;
                let facts = Facts::new(&edges, &|_| 0, &base, &options, delta, &()).unwrap();
                let all = kept(&edges, &facts, &()).unwrap();
                let by_slack = differ_by_slack(&all, &facts);
                let found = without_contradiction(&facts, &all, &options, &()).unwrap();
                let Some(found) = found else { continue };
                let (rates, at_least) = differ_by(&found, drift, facts.drift());
                let near = 1e-9 * (1.0 + rates);
                prop_assert!(by_slack <= rates + near, "{by_slack} {rates}");
                prop_assert!(before.1 <= rates + near, "{before:?} {rates}");
                prop_assert!(at_least <= rates);
                before = (rates, at_least);
                if proven.is_none() && (rates < delta || times > 9.0) {
                    // As long as far less is proven, that takes the place of what was tried.
                    let (mut found, mut delta, mut rates) = (found, delta, rates);
                    loop {
                        let known = rates * (1.0 + ROUNDING) + LEAST;
                        let narrows = drift + known < NARROWER * (drift + delta);
                        if !(rates < delta && found.complete && narrows) {
                            break;
                        }
                        let facts = Facts::new(&edges, &|_| 0, &base, &options, known, &()).unwrap();
                        let all = kept(&edges, &facts, &()).unwrap();
                        let Some(next) = without_contradiction(&facts, &all, &options, &()).unwrap() else {
                            break;
                        };
                        (rates, _) = differ_by(&next, drift, facts.drift());
                        (found, delta) = (next, known);
                    }
                    proven = Some(found);
                }
            }
            let found = offset_bounds(&edges, |_| 0, &base, &options, &()).unwrap();
            if found.relaxed.is_empty() {
                prop_assert_eq!(Some(found), proven);
            }
        }

        /// A message that arrives before the answer to it was sent is seen.
        #[test]
        fn contradictions_are_seen(messages in messages(), early in 200..2_000_i64) {
            let (edges, base) = trace(&messages, 50);
            let at = SPAN / 2;
            let message = |from: usize, to: usize, took: i64| {
                let (sent, received) = (shown(from, at), shown(to, at + took));
                Edge::message(ClockId(from as u32), sent, ClockId(to as u32), received)
            };
            let mut all = edges.all().to_vec();
            all.extend([message(0, 1, -early), message(1, 0, 50)]);
            let edges = Edges::new(all, (0..3).map(|it| edges.extent(ClockId(it))).collect());
            let options = BoundOptions::default();
            let facts = Facts::new(&edges, &|_| 0, &base, &options, 0.0, &()).unwrap();
            let all = kept(&edges, &facts, &()).unwrap();
            let found = without_contradiction(&facts, &all, &options, &()).unwrap();
            prop_assert!(found.is_none());
        }
    }
}
