//! What Rabenseifner 2000 proves of the simple and the controlled logical clock, on random
//! programs whose true times are known.

use crate::common::program::LEAST_DELAY;
use crate::common::{Call, Sharing, Spec, Trace, cases, hand, specs};
use proptest::prelude::*;
use retime::causality::{EventNode, Ids};
use retime::clock::{
    CombinedConstants, Control, DegressiveConstants, Gamma, LogicalTimes, Regulation, Steps,
    amortize, controlled, regulated, simple,
};
use retime::{Causality, Clocks, Correction, MinimalDelay, Ticks};

/// Stamps and truth by node, in quarters of a unit from a common zero.
struct Known {
    trace: Trace,
    causality: retime::Causality,
    clocks: Clocks,
    truth: Vec<i64>,
}

impl Known {
    /// Each location has a clock of its own without coarse ticks, so that every
    /// stamp is what its clock showed.
    fn new(spec: &Spec) -> Self {
        let spec = Spec {
            tick: 1,
            sharing: Sharing::Location,
            ..spec.clone()
        };
        let trace = spec.trace();
        let causality = trace.causality();
        let clocks = Clocks::each_location(trace.events.len());
        let truth = trace.truth().iter().map(|&time| 4 * time as i64).collect();
        Self {
            trace,
            causality,
            clocks,
            truth,
        }
    }

    /// Recorded minus true time, but for a constant.
    fn error(&self, node: EventNode) -> i64 {
        self.causality.nodes().time(node).0 - self.truth[node.index()]
    }

    fn nodes(&self) -> Ids<EventNode> {
        self.causality.nodes().all()
    }

    /// The simple clock's times minus the true ones, with the same constant.
    fn simple(&self, mu: i64) -> Vec<i64> {
        let delay = MinimalDelay::Uniform(Ticks(mu));
        let times = simple(&self.causality, &self.clocks, &delay, &Ticks(0).into(), &()).unwrap();
        let error = |node: EventNode| times.get(node).0 - self.truth[node.index()];
        self.nodes().map(error).collect()
    }
}

/// The least delay of the programs in quarters.
const MU: i64 = 4 * LEAST_DELAY as i64;

proptest! {
    #![proptest_config(cases(600))]

    /// Theorem 5.
    #[test]
    fn the_simple_clock_is_never_further_ahead_than_the_fastest(spec in specs(400), mu in 0..=MU) {
        let known = Known::new(&spec);
        let fastest = known.nodes().map(|node| known.error(node)).max();
        prop_assert_eq!(known.simple(mu).into_iter().max(), fastest);
    }

    /// Theorem 5 says no more, but its proof does: what moves an event are errors
    /// of events that happened before it.
    #[test]
    fn nor_further_than_the_fastest_that_it_can_have_heard_of(spec in specs(300), mu in 0..=MU) {
        let known = Known::new(&spec);
        let mut order: Vec<EventNode> = known.nodes().collect();
        let nodes = known.causality.nodes();
        let causes = known.trace.edges();
        let mut heard: Vec<i64> = known.nodes().map(|node| known.error(node)).collect();
        // In true order every cause is done before its effects.
        order.sort_by_key(|&node| (known.truth[node.index()], node));
        for node in order {
            let own = nodes.of(nodes.location(node).as_usize());
            let before = own.take_while(|&it| it < node).last().into_iter();
            let of_edges = causes.iter().filter(|edge| edge.1 == node).map(|edge| edge.0);
            let most = before.chain(of_edges).map(|cause| heard[cause.index()]).max();
            heard[node.index()] = most.map_or(heard[node.index()], |most| most.max(heard[node.index()]));
        }
        for (error, heard) in known.simple(mu).into_iter().zip(heard) {
            prop_assert!(error <= heard);
        }
    }

    /// Theorem 6; it holds for every controlled clock, too.
    #[test]
    fn no_clock_is_ever_further_behind_than_its_own(spec in specs(400), mu in 0..=MU, gamma in 0.0..1.0) {
        let known = Known::new(&spec);
        for (node, error) in known.nodes().zip(known.simple(mu)) {
            prop_assert!(error >= known.error(node));
        }
        for control in [Control::Constant(gamma), Control::Combined(CombinedConstants::default())] {
            let regulation = Regulation {
                delay: MinimalDelay::Uniform(Ticks(mu)),
                distance: Ticks(0).into(),
                control,
                steps: Steps::default(),
            };
            let rate = known.trace.info.rate;
            let times = regulated(&known.causality, &known.clocks, rate, &regulation, &()).unwrap();
            for node in known.nodes() {
                prop_assert!(times.get(node).0 >= known.causality.nodes().time(node).0);
            }
        }
    }

    /// Under more than the least delay theorem 5 fails: it is the condition that
    /// makes it hold.
    #[test]
    fn the_least_delay_is_what_theorem_5_needs(seed: u64) {
        let spec = Spec { locations: 4, steps: 300, seed, threads: false, tick: 1, offset: 0, drift_ppm: 0, sharing: Sharing::Location };
        let known = Known::new(&spec);
        prop_assert_eq!(known.simple(MU).into_iter().max(), known.nodes().map(|node| known.error(node)).max());
        prop_assert!(known.simple(1_000 * MU).into_iter().max() > known.nodes().map(|node| known.error(node)).max());
    }
}

/// The corrected time of each node, with the same zero as recorded ones.
fn mapped(known: &Known, correction: &Correction) -> Vec<i64> {
    let nodes = known.causality.nodes();
    let of = |node: EventNode| {
        let location = nodes.location(node);
        let mut map = correction.map_of(location).cursor(location);
        let after = map.map(nodes.event(node), nodes.timestamp(node)).unwrap();
        nodes.relative(after).0
    };
    known.nodes().map(of).collect()
}

proptest! {
    #![proptest_config(cases(300))]

    /// Theorem 9, under each control and for any minimal delay; amortisation only moves
    /// events to later.
    #[test]
    fn the_amortised_clock_keeps_the_clock_condition(
        spec in specs(300), mu in 0..=3 * MU, gamma in 0.0..1.0, which in 0..3_usize, rate in 1..=100_u32,
    ) {
        let known = Known::new(&spec);
        let delay = MinimalDelay::Uniform(Ticks(mu));
        let control = [
            Control::Constant(gamma),
            Control::Degressive(DegressiveConstants::default()),
            Control::Combined(CombinedConstants { gamma_max: gamma, d: None, ..CombinedConstants::default() }),
        ][which];
        let regulation = Regulation { delay: delay.clone(), distance: Ticks(0).into(), control, steps: Steps::default() };
        let (causality, clocks) = (&known.causality, &known.clocks);
        let times = regulated(causality, clocks, known.trace.info.rate, &regulation, &()).unwrap();
        let rate = format!("{rate}%").parse().unwrap();
        let correction = amortize(causality, clocks, &delay, rate, &times, &()).unwrap();
        let after = mapped(&known, &correction);
        for (cause, effect) in known.trace.edges() {
            let across = causality.nodes().location(cause) != causality.nodes().location(effect);
            let least = if across { mu } else { 0 };
            prop_assert!(after[effect.index()] >= after[cause.index()] + least, "{cause:?} {effect:?}");
        }
        for node in known.nodes() {
            prop_assert!(after[node.index()] >= times.get(node).0, "{node:?}");
        }
    }
}

/// Messages between random clocks, each a few microseconds after the other, in ticks of a
/// nanosecond; rates are wrong by at most 9 ppm.
#[derive(Debug)]
struct Crowd {
    /// How far each clock is ahead at time 0, and by how many ppm it is fast.
    clocks: Vec<(i64, i64)>,
    /// From, to, the time since the last message, and how long it travels beyond the least.
    messages: Vec<(usize, usize, i64, i64)>,
}

/// The least delay of messages of a [`Crowd`].
const CROWD_MU: i64 = 1_000;

fn crowds() -> impl Strategy<Value = Crowd> {
    let clock = (0..50_000_i64, -9..=9_i64);
    let message = (0..5_usize, 1..5_usize, 1..5_000_i64, 2..200_i64);
    let messages = proptest::collection::vec(message, 1_500);
    (proptest::collection::vec(clock, 2..=5), messages).prop_map(|(clocks, messages)| {
        let count = clocks.len();
        let between = |(from, by, gap, travel)| {
            let from = from % count;
            let to = (from + 1 + by % (count - 1)) % count;
            (from, to, gap, travel)
        };
        Crowd {
            messages: messages.into_iter().map(between).collect(),
            clocks,
        }
    })
}

impl Crowd {
    fn shown(&self, clock: usize, time: i64) -> i64 {
        let (offset, ppm) = self.clocks[clock];
        1_000_000 + offset + time + (time * ppm).div_euclid(1_000_000)
    }

    /// The events of each clock, with their true times.
    fn recorded(&self) -> Vec<Vec<(i64, u64, Call)>> {
        let mut events = vec![Vec::new(); self.clocks.len()];
        let mut now = 0;
        for &(from, to, gap, travel) in &self.messages {
            for (clock, later, call) in [
                (from, gap, hand::send(to as u32)),
                (to, CROWD_MU + travel, hand::receive(from as u32)),
            ] {
                now += later;
                events[clock].push((now, self.shown(clock, now) as u64, call));
            }
        }
        events
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// Theorem 7, and theorem 8 turned round: the fastest clock does not lead, so not all
    /// do. The theorem knows of no ticks: a message on which the fastest clock loses two of
    /// them does not gain by rounding, and what clocks lead by is rounded once.
    #[test]
    fn under_gamma_max_no_clock_is_ahead_of_the_fastest(crowd in crowds(), distance in 0..=1_i64) {
        let Recorded { events: recorded, causality } = Recorded::of(&crowd);
        let clocks = Clocks::each_location(recorded.len());
        let delay = MinimalDelay::Uniform(Ticks(CROWD_MU));
        let run = |control, distance| {
            let regulation = Regulation { delay: delay.clone(), distance: Ticks(distance).into(), control, steps: Steps::default() };
            let rate = retime::TickRate::per_second(1_000_000_000).unwrap();
            regulated(&causality, &clocks, rate, &regulation, &()).unwrap()
        };
        let default = Gamma::default();
        let runs = [
            controlled(&causality, &clocks, &delay, default, &()).unwrap(),
            run(Control::Constant(default.factor()), distance),
            run(Control::Combined(CombinedConstants::default()), 0),
        ];
        let nodes = causality.nodes();
        for times in runs {
            for node in nodes.all() {
                let location = nodes.location(node).as_usize();
                let place = nodes.event(node) as usize;
                let time = recorded[location][place].0;
                let fastest = (0..recorded.len()).map(|clock| crowd.shown(clock, time)).max().unwrap();
                prop_assert!(nodes.base().0 as i64 + times.get(node).0 <= fastest + 1);
            }
        }
    }
}

/// A crowd, and what clocks made of it.
struct Recorded {
    events: Vec<Vec<(i64, u64, Call)>>,
    causality: Causality,
}

impl Recorded {
    fn of(crowd: &Crowd) -> Self {
        let events = crowd.recorded();
        let stamped =
            |events: &Vec<(i64, u64, Call)>| events.iter().map(|it| (it.1, it.2)).collect();
        let stamps: Vec<Vec<(u64, Call)>> = events.iter().map(stamped).collect();
        let places: Vec<usize> = (0..events.len()).collect();
        let causality = hand::causality(&hand::ranks(&places), &stamps);
        Self { events, causality }
    }

    fn run(&self, control: Control) -> LogicalTimes {
        let clocks = Clocks::each_location(self.events.len());
        let delay = MinimalDelay::Uniform(Ticks(CROWD_MU));
        let regulation = Regulation {
            delay,
            distance: Ticks(0).into(),
            control,
            steps: Steps::default(),
        };
        let rate = retime::TickRate::per_second(1_000_000_000).unwrap();
        regulated(&self.causality, &clocks, rate, &regulation, &()).unwrap()
    }

    /// True if times differ while all clocks have events.
    fn differ(&self, one: &LogicalTimes, other: &LogicalTimes) -> bool {
        let ends = self.events.iter().map(|it| it.last().map_or(0, |it| it.0));
        let end = ends.min().unwrap_or(0);
        let nodes = self.causality.nodes();
        nodes.all().any(|node| {
            let (location, place) = (nodes.location(node).as_usize(), nodes.event(node) as usize);
            self.events[location][place].0 <= end && one.get(node) != other.get(node)
        })
    }

    /// True if some event is ahead of what all clocks show at that moment.
    fn is_ahead_of_the_fastest(&self, crowd: &Crowd, times: &LogicalTimes) -> bool {
        let nodes = self.causality.nodes();
        nodes.all().any(|node| {
            let (location, place) = (nodes.location(node).as_usize(), nodes.event(node) as usize);
            let time = self.events[location][place].0;
            let fastest = (0..self.events.len())
                .map(|clock| crowd.shown(clock, time))
                .max();
            Some(nodes.base().0 as i64 + times.get(node).0) > fastest
        })
    }
}

/// Under gamma that takes nearly nothing of a lead; with controller B alone, and without it.
fn with_and_without_b(recorded: &Recorded) -> [LogicalTimes; 2] {
    let gamma_max = 1.0 - 1e-6;
    let b = CombinedConstants {
        gamma_max,
        b: true,
        c: false,
        d: None,
    };
    [Control::Combined(b), Control::Constant(gamma_max)].map(|control| recorded.run(control))
}

proptest! {
    #![proptest_config(cases(60))]

    /// Theorem 8, as controller B uses it: it acts only where a clock is ahead of the fastest.
    /// The theorem is of all clocks, so as long as all have events, and of one moment: the order
    /// of clocks does not change between the last events of two.
    #[test]
    fn controller_b_acts_only_where_it_is_needed(crowd in crowds()) {
        let mut ahead: Vec<i64> = crowd.clocks.iter().map(|it| it.0).collect();
        ahead.sort_unstable();
        prop_assume!(ahead.windows(2).all(|it| it[1] - it[0] > 2));
        let recorded = Recorded::of(&crowd);
        let [b, without] = with_and_without_b(&recorded);
        let acts = recorded.differ(&b, &without);
        prop_assert!(!acts || recorded.is_ahead_of_the_fastest(&crowd, &b));
    }
}

/// It does act, and where nothing is ahead it does not.
#[test]
fn controller_b_acts_where_the_slower_clock_leads() {
    let messages: Vec<_> = (0..3_000)
        .map(|turn| (turn % 2, 1 - turn % 2, 5_000, 2))
        .collect();
    for (faster, acts) in [(9, true), (0, false)] {
        let crowd = Crowd {
            clocks: vec![(500, 0), (0, faster)],
            messages: messages.clone(),
        };
        let recorded = Recorded::of(&crowd);
        let [b, without] = with_and_without_b(&recorded);
        assert_eq!(recorded.differ(&b, &without), acts);
        assert_eq!(recorded.is_ahead_of_the_fastest(&crowd, &b), acts);
    }
}
