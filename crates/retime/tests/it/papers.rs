//! Every clock, controller and least distance against a plain program written from the
//! papers, with the documented rounding; and how far that rounding is from exact fractions.

use crate::common::case::Case;
use crate::common::papers::Printed;
use crate::common::{Sharing, Spec, cases, specs};
use proptest::prelude::*;
use retime::clock::{
    CombinedConstants, Control, DegressiveConstants, Gamma, Regulation, Steps, regulated, simple,
};
use retime::{TickRate, Ticks};

/// Controllers in all combinations, and some constants. Gammas are such that random
/// programs of some thousand ticks meet them.
fn controls() -> impl Strategy<Value = Control> {
    let gamma = prop_oneof![Just(0.99998), Just(0.99), Just(0.9), Just(0.5)];
    prop_oneof![
        gamma.clone().prop_map(Control::Constant),
        (1e-9..1e-3, 0.3..0.99).prop_map(|(q, gamma_max)| {
            Control::Degressive(DegressiveConstants {
                q_init: q,
                q_min: q,
                gamma_max,
                ..DegressiveConstants::default()
            })
        }),
        (gamma, any::<[bool; 3]>()).prop_map(|(gamma_max, [b, c, d])| {
            Control::Combined(CombinedConstants {
                gamma_max,
                b,
                c,
                d: d.then_some(0.4),
            })
        }),
    ]
}

fn distances() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0_i64), Just(1), Just(30), Just(2_000)]
}

/// With a clock for each location, as in the papers.
fn case(spec: &Spec) -> Case {
    Case::new(&Spec {
        sharing: Sharing::Location,
        ..spec.clone()
    })
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn the_clock_under_control_is_as_printed(
        spec in specs(200), control in controls(), distance in distances(), rate in 1_u64..10_000_000_000
    ) {
        let case = case(&spec);
        let rate = TickRate::per_second(rate).unwrap();
        let regulation = Regulation {
            delay: case.delay.clone(),
            distance: Ticks(distance).into(),
            control,
            steps: Steps::default(),
        };
        let times = regulated(&case.causality, &case.clocks, rate, &regulation, &()).unwrap();
        let values: Vec<i64> = case.causality.nodes().all().map(|node| times.get(node).0).collect();
        let printed = Printed::of(&case.plain, &case.delay, distance);
        prop_assert_eq!(values, printed.controlled(control, rate.get() as f64).values);
    }

    #[test]
    fn the_simple_clock_is_as_printed(spec in specs(300), distance in distances()) {
        let case = case(&spec);
        let times = simple(&case.causality, &case.clocks, &case.delay, &Ticks(distance).into(), &()).unwrap();
        let values: Vec<i64> = case.causality.nodes().all().map(|node| times.get(node).0).collect();
        let printed = Printed::of(&case.plain, &case.delay, distance);
        prop_assert_eq!(values, printed.simple());
    }

    /// With gamma as a decimal fraction, exactly.
    #[test]
    fn a_constant_gamma_is_as_printed_but_for_rounding_at_each_forced_message(
        spec in specs(300), loss in prop_oneof![Just(20_i128), Just(2_000), Just(10_000), Just(333_333)], distance in distances()
    ) {
        let per_tick = 1_000_000;
        let case = case(&spec);
        let gamma = format!("0.{:06}", per_tick - loss);
        let regulation = Regulation {
            delay: case.delay.clone(),
            distance: Ticks(distance).into(),
            control: Control::Constant(gamma.parse().unwrap()),
            steps: Steps::default(),
        };
        let times = regulated(&case.causality, &case.clocks, case.trace.info.rate, &regulation, &()).unwrap();
        let values: Vec<i64> = case.causality.nodes().all().map(|node| times.get(node).0).collect();
        let printed = Printed::of(&case.plain, &case.delay, distance);
        let exact = printed.constant(loss, per_tick);
        let whole = printed.controlled(regulation.control, 1.0);
        prop_assert_eq!(&values, &whole.values);
        for (node, &value) in values.iter().enumerate() {
            let above = i128::from(value) * per_tick - exact.values[node];
            let ticks = |forced: u32| (i128::from(forced) + 1) * (per_tick + per_tick / 2);
            prop_assert!(-ticks(exact.forced[node]) <= above && above <= ticks(whole.forced[node]));
        }
        if distance == 0 {
            let gamma: Gamma = gamma.parse().unwrap();
            let closed = printed.when_due(gamma.factor());
            prop_assert_eq!(&case.values(gamma), &closed.values);
            for (node, &value) in closed.values.iter().enumerate() {
                let above = i128::from(value) * per_tick - exact.values[node];
                let ticks = |forced: u32| (i128::from(forced) + 1) * per_tick;
                prop_assert!(-ticks(exact.forced[node]) <= above && above <= ticks(closed.forced[node]));
            }
        }
    }
}
