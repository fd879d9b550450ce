//! Clocks that are set during the run.
//!
//! No smooth function follows a step, but one that wanders enough comes near it. Where
//! dependencies contradict the stiffest clocks, steps are looked for ([as for
//! bounds](retime_bounds), and where clocks wander [all at once](steep)); a clock that
//! stepped is then taken for several, one after the other ([`parts`]), all is
//! aligned again, and the offsets are joined. What [says more with less](explained) is kept,
//! and shows the others better. Steps of the reference are taken out of the common time
//! ([`unset`]).
//!
//! Where dependencies are many, steps are looked for by [the tightest few](thinned), and all
//! are aligned with those that are found, if there are any.
//!
//! Clocks whose rate [changes](rate_changes) at a few moments were not set there; that is asked first.
//!
//! Where many clocks exchange few messages, a pair of them has too few to be followed [in pieces](Filled),
//! and wander that cannot be followed looks like steps of many clocks. So if something is contradicted
//! after all, clocks may wander in as many pieces as what each exchanges with all others allows, and steps
//! are what says more than that.
//!
//! Steps are looked for along the lines of the alignment, and at first also as if
//! all clocks ran at one rate: lines through several large steps in a short run
//! are so steep that no step can be seen any more.

mod at_once;
mod breaks;
mod complement;
mod doubts;
mod effort;
mod explained;
mod firmness;
mod latencies;
mod narrow;
mod parts;
mod places;
mod proof;
mod rate_changes;
mod rates;
mod reversed;
mod rounds;
mod score;
mod search;
mod silences;
mod standing;
mod steep;
mod thinned;
mod together;
mod unset;

use breaks::{cuts, places};
use rate_changes::any_rate::with_any_rate;
use rate_changes::{straight::bent_alignment, straightened};
use rates::Rates;
use rounds::Rounds;
pub(super) use unset::unset;

use super::Alignment;
use super::selection::Stiffness;
use super::stages::{SmoothAlignment, align_plainly};
use crate::division::Filled;
use crate::options::OPTIONS;
use retime_causality::edges::{InOrder, Source};
use retime_clocks::estimate::Estimate;
use retime_model::TickRate;
use retime_model::{Cancelled, Monitor};

/// Looks for steps where dependencies contradict the stiffest clocks, or [rates](rates) that no clock
/// has explain them, and keeps what explains them best. `list` lists dependencies anew for clocks that are
/// known better.
pub(super) fn explain(
    source: &dyn Source,
    found: SmoothAlignment,
    rate: TickRate,
    list: impl Fn(&Estimate) -> Option<Result<InOrder, Cancelled>>,
    monitor: &dyn Monitor,
) -> Result<Alignment, Cancelled> {
    let found = explained(source, found, rate, &list, monitor)?;
    if !rates::are_implausible(&found, source) {
        return Ok(found);
    }
    let held = at_usual_rates(source, &found, rate, &list, monitor)?;
    Ok(held.unwrap_or(found))
}

/// An explanation by clocks that were set, at rates that clocks have; `None` where that contradicts
/// anything.
fn at_usual_rates(
    source: &dyn Source,
    found: &Alignment,
    rate: TickRate,
    list: &dyn Fn(&Estimate) -> Option<Result<InOrder, Cancelled>>,
    monitor: &dyn Monitor,
) -> Result<Option<Alignment>, Cancelled> {
    let all = InOrder::new(source, monitor)?;
    let reference = found.estimate.reference;
    let places = places(&all.list.edges, reference, monitor)?;
    let seen = places.map_or_else(|| vec![Vec::new(); all.list.clocks()], |it| cuts(&it));
    let rates = Rates::held(rate);
    let rounds = Rounds {
        list,
        seen: &seen,
        filled: Filled::PerPair,
        rates,
        monitor,
    };
    let task = rates.task(reference, Stiffness::default());
    let held = align_plainly(&all.list, task, monitor)?;
    let held = rounds.best(&all, held)?;
    let explains = held.best.is_explained();
    Ok(explains.then(|| held.best.doubted(&held.doubts)))
}

/// The best explanation by clocks of any rates.
fn explained(
    source: &dyn Source,
    found: SmoothAlignment,
    rate: TickRate,
    list: &dyn Fn(&Estimate) -> Option<Result<InOrder, Cancelled>>,
    monitor: &dyn Monitor,
) -> Result<Alignment, Cancelled> {
    if !found.contradicted && found.wander <= OPTIONS.usual_wander() {
        return Ok(found.alignment);
    }
    monitor.check()?;
    let all = InOrder::new(source, monitor)?;
    let places = places(&all.list.edges, found.alignment.estimate.reference, monitor)?;
    let places = places.unwrap_or_else(|| vec![Vec::new(); all.list.clocks()]);
    let seen = cuts(&places);
    let rounds = Rounds {
        list,
        seen: &seen,
        filled: Filled::PerPair,
        rates: Rates::any(rate),
        monitor,
    };
    let found = with_any_rate(&all.list, found, rate, monitor)?;
    let Some(changes) = straightened(places, &all.list, &found, rate, monitor)? else {
        return rounds.explained(&all, found);
    };
    let straight = &changes.straight;
    let list = |estimate: &Estimate| {
        let anew = list(&straight.bent(estimate))?;
        Some(anew.map(|it| straight.in_order(&it)))
    };
    let rounds = Rounds {
        list: &list,
        seen: &changes.set,
        ..rounds
    };
    let alignment = rounds.explained(&straight.in_order(&all), changes.aligned)?;
    Ok(bent_alignment(straight, alignment, &all.list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::AlignmentTask;
    use crate::{ClockStep, Relation, align_edges};
    use parts::Parts;
    use retime_bounds as optimal;
    use retime_causality::edges::{Edge, Edges};
    use retime_model::ClockId;
    use thinned::thinned;

    const STEP: i64 = 50_000;

    /// Three clocks that exchange messages of 300 to 309 ticks; the last one is
    /// 7000 behind and is set at 1 000 000.
    pub(super) fn shown(clock: usize, time: i64) -> i64 {
        match clock {
            2 if time < 1_000_000 => time - 7_000,
            2 => time - 7_000 + STEP,
            _ => time,
        }
    }

    pub(super) fn exchange(rounds: i64) -> Edges {
        let message = |round: i64, from: usize, to: usize| {
            let sent = 1_000 * round + 100 * from as i64;
            let received = sent + 300 + (round * 7 + to as i64) % 10;
            Edge::message(
                ClockId(from as u32),
                shown(from, sent),
                ClockId(to as u32),
                shown(to, received),
            )
        };
        let ways = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];
        let all = (0..rounds).flat_map(|round| ways.map(|(from, to)| message(round, from, to)));
        let extent = |clock| Some((shown(clock, 0), shown(clock, 1_000 * rounds)));
        Edges::new(all.collect(), (0..3).map(extent).collect())
    }

    /// Eight clocks that wander by 60 us in sixteen seconds. For half a minute each tells others now and then
    /// what it shows, some 30 messages from each to each, most of them late; and the third is `set` by as
    /// many ticks in the middle.
    struct Wandering {
        set: i64,
    }

    impl Wandering {
        const LASTS: i64 = 32_000_000_000;

        fn shown(&self, clock: u32, time: i64) -> i64 {
            let phase = time as f64 / Self::LASTS as f64 * 2.0 + f64::from(clock * clock) / 8.0;
            let ahead = 30e3 * (phase * std::f64::consts::TAU).sin();
            let set = if clock == 2 && time > Self::LASTS / 2 {
                self.set
            } else {
                0
            };
            time + ahead as i64 + set
        }

        fn edges(&self) -> Edges {
            let mut state = 7_u64;
            let mut random = move |most: u64| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                ((state >> 33) % most) as i64
            };
            let count = 1_700;
            let mut message = |number: i64| {
                let sent = Self::LASTS / count * number + random(10_000_000);
                let received = sent + 5_000 + random(300) * random(300);
                let from = random(8) as u32;
                let to = (from + 1 + random(7) as u32) % 8;
                let (sent, received) = (self.shown(from, sent), self.shown(to, received));
                Edge::message(ClockId(from), sent, ClockId(to), received)
            };
            let all = (0..count).map(&mut message).collect();
            let extent = |clock| {
                Some((
                    self.shown(clock, 0),
                    self.shown(clock, Self::LASTS + 1_000_000),
                ))
            };
            Edges::new(all, (0..8).map(extent).collect())
        }

        /// The steps that are found, and how far clocks are off the first one in the mean, in ticks.
        fn aligned(&self) -> (Vec<ClockStep>, f64) {
            let rate = TickRate::per_second(1_000_000_000).unwrap();
            let alignment = align_edges(&self.edges(), rate, ClockId(0), &()).unwrap();
            let times: Vec<i64> = (1..64).map(|it| Self::LASTS / 64 * it + 1_000).collect();
            let off = |clock: u32, time: i64| {
                let stamp = self.shown(clock, time);
                alignment.estimate.at(ClockId(clock), stamp) + (stamp - time) as f64
            };
            let clocks = times
                .iter()
                .flat_map(|&time| (1..8).map(move |clock| (off(clock, time) - off(0, time)).abs()));
            let clocks: Vec<f64> = clocks.collect();
            let mean = clocks.iter().sum::<f64>() / clocks.len() as f64;
            (alignment.steps, mean)
        }
    }

    #[test]
    fn clocks_of_which_no_pair_tells_how_they_wander_are_followed() {
        let (steps, off) = Wandering { set: 0 }.aligned();
        assert_eq!(steps, []);
        assert!(off < 8_000.0, "{off}");
    }

    #[test]
    fn a_clock_that_was_set_is_found_among_clocks_that_wander() {
        let (steps, off) = Wandering { set: 300_000 }.aligned();
        let steps: Vec<(u32, f64)> = steps.iter().map(|it| (it.clock.0, it.by)).collect();
        let [(2, by)] = steps[..] else {
            panic!("{steps:?}")
        };
        assert!((by - 300e3).abs() < 30e3 && off < 8_000.0, "{by} {off}");
    }

    #[test]
    fn a_clock_that_was_set_is_followed_on_both_sides() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&exchange(2_000), rate, ClockId(0), &()).unwrap();
        let [step] = &alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(2));
        assert!((step.by - STEP as f64).abs() < 5.0, "{step:?}");
        let offset = alignment.estimate.offsets[2].as_ref().unwrap();
        for time in [0, 500_000, 990_000, 1_010_000, 1_900_000] {
            let stamp = shown(2, time);
            let error = stamp as f64 + offset.at(stamp) - time as f64;
            assert!(error.abs() < 5.0, "{time}: {error}");
        }
        assert_eq!(alignment.relations, [Relation::BothWays; 3]);
    }

    /// As one clock the last one needs more wander than clocks show; as two it needs none.
    #[test]
    fn what_needs_more_wander_than_is_of_interest_is_given_up() {
        let list = InOrder::new(&exchange(2_000), &()).unwrap().list;
        let task = AlignmentTask {
            stiffness: Stiffness {
                measured_to: Some(OPTIONS.usual_wander()),
                ..Stiffness::default()
            },
            ..AlignmentTask::of(TickRate::per_second(1_000_000_000).unwrap(), ClockId(0))
        };
        let whole = align_plainly(&list, task, &()).unwrap();
        assert!(whole.needed.is_infinite(), "{}", whole.needed);
        let set = (shown(2, 999_000), shown(2, 1_000_000));
        let parts = Parts::new(vec![vec![], vec![], vec![set]]).unwrap();
        let divided = align_plainly(&parts.split(&list), task, &()).unwrap();
        assert!(
            divided.needed <= OPTIONS.usual_wander(),
            "{}",
            divided.needed
        );
    }

    /// The last of the three clocks advances by 5000 ticks at once, messages take 300 to 309.
    #[test]
    fn a_clock_that_is_coarser_than_others_was_not_set() {
        let grain = 5_000;
        let shown = |clock: ClockId, time: i64| match clock.0 {
            2 => (time - 7_000).div_euclid(grain) * grain,
            _ => time,
        };
        let message = |round: i64, from: usize, to: usize| {
            let sent = 1_000 * round + 100 * from as i64 + 37 * (round * round % 101);
            let received = sent + 300 + (round * 7 + to as i64) % 10;
            let (from, to) = (ClockId(from as u32), ClockId(to as u32));
            Edge::message(from, shown(from, sent), to, shown(to, received))
        };
        let ways = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];
        let all = (0..2_000).flat_map(|round| ways.map(|(from, to)| message(round, from, to)));
        let extent = |clock| Some((shown(ClockId(clock), 0), shown(ClockId(clock), 2_000_000)));
        let edges = Edges::new(all.collect(), (0..3).map(extent).collect());
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&edges, rate, ClockId(0), &()).unwrap();
        assert_eq!(
            (&alignment.steps[..], &alignment.outliers[..]),
            (&[][..], &[][..])
        );
        let offset = alignment.estimate.offsets[2].as_ref().unwrap();
        for time in [10_000, 500_000, 1_000_000, 1_900_000] {
            let error = offset.at(shown(ClockId(2), time)) - (7_000 + grain / 2) as f64;
            assert!(error.abs() < 300.0, "{time}: {error}");
        }
    }

    /// Dependencies are so many that few are looked at first; the step is found in the instant all the
    /// same, between the last stamp before it and the first after it.
    #[test]
    fn a_step_that_few_dependencies_show_is_as_sharp_as_by_all() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let edges = exchange(30_000);
        let all = InOrder::new(&edges, &()).unwrap();
        let few = thinned(&all, &()).unwrap().unwrap();
        let kept = few.edges.list.edges.all().len();
        assert!(kept < all.list.edges.all().len() / 2, "{kept}");
        let alignment = align_edges(&edges, rate, ClockId(0), &()).unwrap();
        let [step] = &alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(2));
        assert!((step.by - STEP as f64).abs() < 5.0, "{step:?}");
        assert!(step.until - step.after < STEP + 1_000, "{step:?}");
        assert!(step.after < shown(2, 1_000_000) && step.until > shown(2, 999_999));
    }

    #[test]
    fn a_step_near_the_end_is_no_misreading() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&exchange(1_040), rate, ClockId(0), &()).unwrap();
        assert_eq!(alignment.steps.len(), 1);
        let (_, last) = exchange(1_040).extent(ClockId(2)).unwrap();
        let offset = alignment.estimate.offsets[2].as_ref().unwrap();
        assert!((offset.at(last) - (7_000 - STEP) as f64).abs() < 5.0);
    }

    /// By the last clock, which is set, the time is what it showed before.
    #[test]
    fn a_reference_that_was_set_goes_on_as_before() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let edges = exchange(2_000);
        let alignment = align_edges(&edges, rate, ClockId(2), &()).unwrap();
        let [step] = &alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(2));
        assert!((step.by - STEP as f64).abs() < 5.0, "{step:?}");
        let base = alignment.base();
        let options = optimal::BoundOptions::default();
        let bounds = optimal::offset_bounds(&edges, |_| 0, &base, &options, &()).unwrap();
        assert!(bounds.complete);
        for clock in 0..3 {
            let offset = alignment.estimate.offsets[clock].as_ref().unwrap();
            for time in [0, 500_000, 990_000, 1_010_000, 1_900_000] {
                let stamp = shown(clock, time);
                let add = (time - 7_000 - stamp) as f64;
                assert!((offset.at(stamp) - add).abs() < 5.0, "{clock} {time}");
                let (low, high) = bounds.clocks[clock].as_ref().unwrap().at(stamp);
                assert!(low <= add && add <= high, "{clock} {time}: {low} {high}");
                assert!(high - low < 2_000.0, "{clock} {time}: {low} {high}");
            }
        }
    }

    #[test]
    fn of_two_clocks_it_was_not_the_reference() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let all = exchange(2_000);
        let two = all.all().iter().filter(|it| it.from.0 > 0 && it.to.0 > 0);
        let extents = (0..3).map(|clock| all.extent(ClockId(clock)));
        let edges = Edges::new(two.copied().collect(), extents.collect());
        for (reference, other, sign) in [(1, 2, 1.0), (2, 1, -1.0)] {
            let alignment = align_edges(&edges, rate, ClockId(reference), &()).unwrap();
            let [step] = &alignment.steps[..] else {
                panic!("{:?}", alignment.steps)
            };
            assert_eq!(step.clock, ClockId(other));
            assert!((sign * step.by - STEP as f64).abs() < 5.0, "{step:?}");
        }
    }
}
