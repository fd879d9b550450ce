//! What Rabenseifner 2000 proves of the simple and the controlled logical clock, on random
//! programs whose true times are known.

use crate::common::program::LEAST_DELAY;
use crate::common::{Call, Sharing, Spec, Trace, cases, hand, specs};
use proptest::prelude::*;
use retime::causality::{EventNode, Ids};
use retime::clock::{CombinedConstants, Control, Gamma, Regulation, controlled, regulated, simple};
use retime::{Clocks, MinimalDelay, Ticks};

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
        let times = simple(&self.causality, &self.clocks, &delay, Ticks(0), &()).unwrap();
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
                distance: Ticks(0),
                control,
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
        let recorded = crowd.recorded();
        let stamped = |events: &Vec<(i64, u64, Call)>| events.iter().map(|it| (it.1, it.2)).collect();
        let events: Vec<Vec<(u64, Call)>> = recorded.iter().map(stamped).collect();
        let places: Vec<usize> = (0..recorded.len()).collect();
        let causality = hand::causality(&hand::ranks(&places), &events);
        let clocks = Clocks::each_location(recorded.len());
        let delay = MinimalDelay::Uniform(Ticks(CROWD_MU));
        let run = |control, distance| {
            let regulation = Regulation { delay: delay.clone(), distance: Ticks(distance), control };
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
