//! Bounds of the controlled clock from before it runs, beside what it does.

use crate::common::{cases, specs};
use proptest::prelude::*;
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, Gamma, Regulation, Steps, amortize, controlled,
    regulated,
};
use retime::{Causality, Correction, Grouping, LocationIndex, MinimalDelay, Ticks};
use retime_methods::a_priori::gradient::{AfterStart, steepest};
use retime_methods::a_priori::oscillation::{BOTH_WAYS, Exchange};
use retime_methods::a_priori::{Constants, Foreseen, Reach, jumps};

/// The most that any interval exceeds its bound by, in ticks; below 0 if none does.
fn beyond(causality: &Causality, correction: &Correction, foreseen: &Foreseen) -> f64 {
    let nodes = causality.nodes();
    let mut most = f64::MIN;
    for location in (0..nodes.locations() as u32).map(LocationIndex) {
        let mut map = correction.map_of(location).cursor(location);
        let mut last: Option<(u64, u64)> = None;
        for node in nodes.of(location.as_usize()) {
            let before = nodes.timestamp(node);
            let after = map.map(nodes.event(node), before).unwrap();
            if let Some(last) = last.replace((before.0, after.0)) {
                let recorded = before.0 - last.0;
                let change = (after.0 - last.1).abs_diff(recorded) as f64;
                let allowed = foreseen.change(Ticks(recorded as i64));
                most = most.max(change - allowed);
            }
        }
    }
    most
}

fn rates() -> impl Strategy<Value = AmortizationRate> {
    prop::sample::select(vec!["0.01%", "0.5%", "5%", "100%"]).prop_map(|it| it.parse().unwrap())
}

proptest! {
    #![proptest_config(cases(600))]

    /// No premise: of any trace, whatever its clocks do, and any minimal delay.
    #[test]
    fn no_interval_changes_by_more_than_was_foreseen(
        spec in specs(300), mu in 0..3_000_i64, loss in prop::sample::select(vec![2e-5, 1e-3, 0.05, 0.5]), rate in rates(), by_control in 0..3_u8,
    ) {
        let trace = spec.trace();
        let causality = trace.causality();
        let clocks = Grouping::Process.clocks(&trace.info, &causality);
        let delay = MinimalDelay::Uniform(Ticks(mu));
        let gamma_max = 1.0 - loss;
        let combined = |c, d| CombinedConstants { gamma_max, b: true, c, d };
        let (control, gamma_d) = match by_control {
            0 => (None, None),
            1 => (Some(Control::Combined(combined(false, Some(0.4 * gamma_max)))), Some(0.4 * gamma_max)),
            _ => (Some(Control::Combined(combined(true, Some(0.9 * gamma_max)))), Some(0.9 * gamma_max)),
        };
        let constants = Constants { gamma_max, gamma_d, a_def: rate.factor(), rho: 0.0 };
        let reach = Reach::of_clocks(&causality, &clocks, &delay, &constants, &());
        // Coarse stamps can make happened-before a circle.
        let Ok(reach) = reach else { return Ok(()) };
        let foreseen = Foreseen::of(&reach, &constants);
        let times = match control {
            None => controlled(&causality, &clocks, &delay, Gamma::from_factor(gamma_max), &()),
            Some(control) => {
                let regulation = Regulation { delay: delay.clone(), distance: Ticks(0).into(), control, steps: Steps::default() };
                regulated(&causality, &clocks, trace.info.rate, &regulation, &())
            }
        };
        let times = times.unwrap();
        let correction = amortize(&causality, &clocks, &delay, rate, &times, &()).unwrap();
        let most = beyond(&causality, &correction, &foreseen);
        prop_assert!(most <= 0.0, "{most} {foreseen:?}");
    }
}

/// Scenario 1: clock 0 is true, clock 1 is behind and gets messages from it. By event the true
/// time, and what its message took if it is a receive.
#[derive(Clone, Debug)]
struct Scenario1 {
    events: Vec<(f64, Option<f64>)>,
    constants: Constants,
    rho: f64,
}

/// The least that a message takes, and what is taken for it.
const LEAST: f64 = 500.0;
const MU: f64 = 400.0;
/// Messages take at most half of this beyond the least.
const TOLERANCE: f64 = 0.3;

fn scenario_1() -> impl Strategy<Value = Scenario1> {
    let event = (1..2_000_i64, any::<bool>(), 0.0..=1.0_f64);
    let events = prop::collection::vec(event, 3..200);
    (events, 1e-6..1e-2_f64, 0.0..1e-2_f64, -1.0..=1.0_f64).prop_filter_map(
        "gamma takes what clock 1 is faster by",
        |(steps, loss, most, share)| {
            let (gamma_max, rho) = (1.0 - loss, most * share);
            let mut now = 0.0;
            let events = steps.into_iter().map(|(gap, receives, later)| {
                now += gap as f64;
                (
                    now,
                    receives.then_some(LEAST * (1.0 + TOLERANCE / 2.0 * later)),
                )
            });
            let constants = Constants {
                gamma_max,
                gamma_d: None,
                a_def: 0.005,
                rho: most,
            };
            (gamma_max * (1.0 + rho) < 1.0).then(|| Scenario1 {
                events: events.collect(),
                constants,
                rho,
            })
        },
    )
}

impl Scenario1 {
    /// The controlled clock before and at each event, from the first receive on.
    fn run(&self) -> Vec<(f64, f64)> {
        let behind = 1e6;
        let recorded = |time: f64| time * (1.0 + self.rho) - behind;
        let mut clock = None;
        let mut out = Vec::new();
        let mut last = 0.0;
        for &(time, message) in &self.events {
            let own = clock.map_or(recorded(time), |clock: f64| {
                let on = clock + self.constants.gamma_max * (time - last) * (1.0 + self.rho);
                on.max(recorded(time))
            });
            let forced = message.map_or(own, |took| own.max(time - took + MU));
            if clock.is_some() || message.is_some() {
                out.push((own, forced));
                clock = Some(forced);
            }
            last = time;
        }
        out
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// (5.7), and the jumps on which (5.12) rests.
    #[test]
    fn jumps_are_as_high_as_messages_vary_and_clocks_diverge(scenario in scenario_1()) {
        let run = scenario.run();
        let events = &scenario.events[scenario.events.len() - run.len()..];
        let receives: Vec<(usize, f64)> = (0..).zip(events).filter_map(|(at, it)| Some((at, it.1?))).collect();
        prop_assume!(receives.len() > 1);
        let between = |of: &dyn Fn(usize, usize) -> f64| {
            receives.windows(2).map(|it| of(it[0].0, it[1].0)).fold(0.0, f64::max)
        };
        let took = |at: usize| events[at].1.unwrap();
        let longest = between(&|from, to| events[to].0 - events[from].0);
        let variation = between(&|from, to| (took(to) - took(from)).abs());
        let gaps = events.windows(2).map(|it| it[1].0 - it[0].0);
        let shortest = gaps.fold(f64::MAX, f64::min);
        // In parts of a tick, so that whole ones lose nothing.
        let ticks = |it: f64| Ticks((it * 1e6).ceil() as i64);
        let shortest_ticks = Ticks((shortest * 1e6) as i64);
        let constants = &scenario.constants;
        let bound = jumps::error(constants, ticks(variation), ticks(longest), shortest_ticks);
        for (clock, time) in run.windows(2).zip(events.windows(2)) {
            let error = ((clock[1].1 - clock[0].1) / (time[1].0 - time[0].0) - 1.0).abs();
            prop_assert!(error <= bound + 1e-6, "{error} {bound}");
        }
        // As if a send were just one unit before each receive.
        let after_start = AfterStart {
            tolerance: TOLERANCE,
            least_delay: ticks(LEAST),
            send_to_receive: ticks(1.0),
            longest: ticks(longest),
        };
        let height = after_start.gradient(constants);
        for &(at, _) in receives.iter().skip(1) {
            let jump = run[at].1 - run[at].0;
            prop_assert!(steepest(ticks(jump), ticks(1.0)) <= height + 1e-5, "{jump} {height}");
        }
    }
}

/// The leads of clock 1 over clock 0 at the exchanges of scenario 2, or with `one_way` of
/// scenarios 3 and 4, by the law (5.18), (5.19), and the times; `D` is 1.
fn leads(exchange: &Exchange, intervals: &[f64], one_way: bool) -> Vec<(f64, f64)> {
    let (mut lead, mut now) = (0.0_f64, 0.0);
    let mut out = vec![(now, lead)];
    for &interval in intervals {
        let gamma = exchange.gamma_max * (1.0 - lead.max(0.0).powi(2));
        now += interval;
        let on = lead + interval * (gamma * (1.0 + exchange.rho) - 1.0);
        let recorded = exchange.rho * now - 1.0;
        lead = if one_way {
            on.max(recorded)
        } else {
            on.max(0.0)
        };
        out.push((now, lead));
    }
    out
}

/// The largest error of an interval of so many exchanges.
fn worst(leads: &[(f64, f64)], exchanges: usize) -> f64 {
    let pairs = leads.iter().zip(leads.iter().skip(exchanges));
    pairs
        .map(|(from, to)| ((to.1 - from.1) / (to.0 - from.0)).abs())
        .fold(0.0, f64::max)
}

fn exchanges() -> impl Strategy<Value = Exchange> {
    (1e-6..1e-3_f64, 0.0..0.9_f64, 0.01..30.0_f64).prop_map(|(rho, taken, f)| {
        let exchange = Exchange {
            gamma_max: 1.0 - rho * taken,
            rho,
            relative_interval: 1.0,
        };
        Exchange {
            relative_interval: f / exchange.f(),
            ..exchange
        }
    })
}

/// The printed constants are rounded to five places, and take 1 + rho for 1.
const PRINTED: f64 = 1.0 + 2e-3;

proptest! {
    #![proptest_config(cases(1_000))]

    /// Theorems 13 and 14.
    #[test]
    fn controller_b_errs_no_more_than_it_is_said_to(exchange in exchanges(), n in 1..40_u32) {
        let leads = leads(&exchange, &vec![exchange.relative_interval; 400], false);
        let error = worst(&leads, n as usize);
        prop_assert!(error <= exchange.both_ways(n) * PRINTED, "{error} {exchange:?}");
        prop_assert!(error <= BOTH_WAYS * exchange.excess() * PRINTED);
    }

    /// Scenarios 3 and 4 with theorem 15, until clock 1 has caught up with clock 0.
    #[test]
    fn nor_where_messages_go_one_way(exchange in exchanges(), factor in 1.0..40.0_f64, shares in prop::collection::vec(0.0..=1.0_f64, 200)) {
        let shortest = exchange.relative_interval / factor;
        let intervals = shares.iter().map(|share| shortest + share * (exchange.relative_interval - shortest));
        let intervals: Vec<f64> = intervals.collect();
        let mut leads = leads(&exchange, &intervals, true);
        leads.retain(|it| it.0 * exchange.rho < 1.0);
        for n in 1..leads.len().min(10) {
            let error = worst(&leads, n);
            prop_assert!(error <= exchange.one_way(factor) * PRINTED, "{n} {error} {exchange:?}");
        }
    }
}

/// The constants of theorem 13 are reached: none is larger than it has to be by much.
#[test]
fn what_is_printed_for_controller_b_is_needed() {
    for (f, n, share) in [
        (0.3, 1, 0.999),
        (1.0 + 1e-9, 1, 0.6),
        (1.2246, 1, 0.7),
        (1.3, 1, 0.7),
        (3.0, 1, 0.999),
    ] {
        let exchange = Exchange {
            gamma_max: 1.0 - 2e-5,
            rho: 1e-4,
            relative_interval: 1.0,
        };
        let exchange = Exchange {
            relative_interval: f / exchange.f(),
            ..exchange
        };
        let leads = leads(&exchange, &vec![exchange.relative_interval; 400], false);
        let reached = worst(&leads, n as usize) / exchange.both_ways(n);
        assert!(reached >= share, "f = {f}: {reached}");
    }
}
