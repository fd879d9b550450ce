//! Every formula of the logical clocks, worked out by hand on two clocks.
//!
//! The numbers in the comments are the arithmetic; nothing here is computed by
//! the code under test and then written down.

use crate::common::{Call, hand};
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, DegressiveConstants, LogicalTimes, Regulation,
    Steps, amortize, controlled, lamport, regulated, simple,
};
use retime::{
    Causality, Clocks, Grouping, LocationIndex, MinimalDelay, TickRate, Ticks, Timestamp, TraceInfo,
};

/// A trace of two clocks by hand.
struct Two {
    info: TraceInfo,
    causality: Causality,
    clocks: Clocks,
}

impl Two {
    fn new(first: &[(u64, Call)], second: &[(u64, Call)]) -> Self {
        let info = hand::ranks(&[0, 1]);
        let causality = hand::causality(&info, &[first.to_vec(), second.to_vec()]);
        let clocks = Grouping::Location.clocks(&info, &causality);
        Self {
            info,
            causality,
            clocks,
        }
    }

    /// Times of all nodes, those of the first clock first.
    fn values(&self, times: &LogicalTimes) -> Vec<i64> {
        let base = self.causality.nodes().base().0 as i64;
        let nodes = self.causality.nodes().all();
        nodes.map(|node| base + times.get(node).0).collect()
    }

    fn regulated(&self, rate: TickRate, control: Control) -> Vec<i64> {
        let regulation = Regulation {
            delay: MinimalDelay::Uniform(Ticks(0)),
            distance: Ticks(0).into(),
            control,
            steps: Steps::default(),
        };
        let times = regulated(&self.causality, &self.clocks, rate, &regulation, &()).unwrap();
        self.values(&times)
    }
}

/// There, back and there again, with an internal event before the answer.
fn there_and_back() -> Two {
    Two::new(
        &[
            (100, hand::send(1)),
            (140, hand::receive(1)),
            (150, hand::send(1)),
        ],
        &[
            (95, hand::receive(0)),
            (96, Call::Internal),
            (120, hand::send(0)),
            (130, hand::receive(0)),
        ],
    )
}

#[test]
fn lamports_clock_counts() {
    // 0, its receive max(0 + 1, 1 + 1), the internal event 2, the answer 3; back
    // at max(0 + 1, 3 + 1); the next send 5, received at max(3 + 1, 5 + 1).
    let times = lamport(&there_and_back().causality, &()).unwrap();
    assert_eq!(times, [0, 4, 5, 1, 3, 6]);
}

#[test]
fn the_simple_clock_stands_until_physical_time_has_caught_up() {
    // mu = 30, delta = 4: received at 100 + 30 instead of 95, so the answer at
    // 120 comes at max(130 + 4, 120) = 134, is received at max(134 + 30, 140),
    // the next send comes at max(164 + 4, 150) and arrives at 168 + 30.
    let two = there_and_back();
    let delay = MinimalDelay::Uniform(Ticks(30));
    let times = simple(&two.causality, &two.clocks, &delay, &Ticks(4).into(), &()).unwrap();
    assert_eq!(two.values(&times), [100, 164, 168, 130, 134, 198]);
}

#[test]
fn the_controlled_clock_keeps_gamma_of_an_interval() {
    // mu = 30, gamma = 0.75. Received at 130, ahead by 35; 25 later 6 (of 6.25) of
    // that are lost: 120 + 29 = 149. Received at max(179, 140), ahead by 39; 10
    // later 2 (of 2.5) are lost: 150 + 37 = 187, which arrives at 217.
    let two = there_and_back();
    let delay = MinimalDelay::Uniform(Ticks(30));
    let gamma = "0.75".parse().unwrap();
    let times = controlled(&two.causality, &two.clocks, &delay, gamma, &()).unwrap();
    assert_eq!(two.values(&times), [100, 179, 187, 130, 149, 217]);
    // Jumps: 130 - 95, 179 - 140, and 217 over 130 + 27: of the 35 of the jump at
    // 95 another 35 later 8 (of 8.75) are lost.
    assert_eq!((times.jumps(), times.largest_jump()), (3, Ticks(60)));
}

#[test]
fn gamma_zero_is_the_simple_clock_and_delta_holds_under_control() {
    let two = there_and_back();
    let regulation = |gamma| Regulation {
        delay: MinimalDelay::Uniform(Ticks(30)),
        distance: Ticks(4).into(),
        control: Control::Constant(gamma),
        steps: Steps::default(),
    };
    let run = |gamma| {
        let times = regulated(
            &two.causality,
            &two.clocks,
            two.info.rate,
            &regulation(gamma),
            &(),
        );
        two.values(&times.unwrap())
    };
    assert_eq!(run(0.0), [100, 164, 168, 130, 134, 198]);
    // gamma = 0.2: 25 later 20 of the lead 35 are lost, more than delta asks for;
    // then 10 later 8 are lost of 165 - 140 = 25, but delta asks for 4.
    assert_eq!(run(0.2), [100, 165, 169, 130, 135, 199]);
}

/// The second clock is pushed to 1000 and then left alone, until a message of 100
/// ahead comes at 5200.
fn pushed_once() -> Two {
    let first = [(1_000, hand::send(1)), (5_300, hand::send(1))];
    Two::new(&first, &pushed_once_events())
}

fn pushed_once_events() -> Vec<(u64, Call)> {
    let stamps = [500, 1_000, 1_500, 2_000, 4_000, 5_000, 5_100];
    let mut second = vec![(0, hand::receive(0))];
    second.extend(stamps.map(|stamp| (stamp, hand::send(0))));
    second.push((5_200, hand::receive(0)));
    second.push((5_300, hand::send(0)));
    second
}

#[test]
fn the_controller_of_1997_lowers_and_raises_gamma() {
    let constants = DegressiveConstants {
        q_init: 1e-4,
        q_min: 1e-4,
        q_factor: 0.5,
        ..DegressiveConstants::default()
    };
    let rate = TickRate::per_second(1_000_000).unwrap(); // q_min = 100 ticks
    let two = pushed_once();
    let times = two.regulated(rate, Control::Degressive(constants));
    // Lost to the nearest tick; what that leaves counts with the next.
    // stamp  lost                     lead |  D      D'      gamma after it
    //     0                           1000 | 1000    1000    0.95
    //   500   25 = 0.05 * 500          975 |  550     975    0.95    975 < 1.8 * 550
    //  1000   25                       950 |  325     950    0.855   950 > 2 * 325
    //  1500   73 of 72.5               877 |  212.5   877    0.7695
    //  2000  115 of 115.25 - 0.5       762 |  156.25  762    0.69255
    //  4000  615 of 614.9 - 0.25       147 |  128.1   431    0.6233
    //  5000  377 of 376.7                0 |  114.1   265.5  0.5610  265.5 > 2 * 114.1
    //  5100                              0 |  107.0   182.8  0.6233  182.8 < 1.8 * 107.0
    //  5200                            100 |  103.5   141.4  0.6926
    //  5300   31 of 30.7                69
    let expected = [
        1_000, 1_475, 1_950, 2_377, 2_762, 4_147, 5_000, 5_100, 5_300, 5_369,
    ];
    assert_eq!(times[2..], expected);
}

/// Each interval of a clock loses by the gamma of its own end, whichever of the locations
/// that read it has the event there.
#[test]
fn gamma_holds_for_one_interval_of_a_clock_that_locations_share() {
    let rate = TickRate::per_second(1_000_000).unwrap();
    let constants = DegressiveConstants {
        q_init: 1e-4,
        q_min: 1e-4,
        q_factor: 0.5,
        ..DegressiveConstants::default()
    };
    let regulation = Regulation {
        delay: MinimalDelay::Uniform(Ticks(0)),
        distance: Ticks(0).into(),
        control: Control::Degressive(constants),
        steps: Steps::default(),
    };
    let first = vec![(1_000, hand::send(1)), (5_300, hand::send(1))];
    let mut second = pushed_once_events();
    // Gamma rises between these, while the clock leads.
    second.extend([5_320, 5_340, 5_380].map(|stamp| (stamp, hand::send(0))));
    let receives = |it: &(u64, Call)| [0, 5_200].contains(&it.0);
    let (odd, even): (Vec<_>, Vec<_>) = (0..)
        .zip(second.iter().copied())
        .partition(|(number, it)| receives(it) || number % 2 == 0);
    let of = |all: Vec<(usize, (u64, Call))>| all.into_iter().map(|it| it.1).collect();
    let run = |places: &[(usize, usize)], events: &[Vec<(u64, Call)>]| {
        let info = hand::ranks_on(places);
        let causality = hand::causality(&info, events);
        let clocks = Grouping::Node.clocks(&info, &causality);
        let times = regulated(&causality, &clocks, rate, &regulation, &()).unwrap();
        let nodes = causality.nodes();
        let mut all: Vec<_> = nodes
            .all()
            .map(|it| (nodes.time(it), times.get(it)))
            .collect();
        all.sort_unstable();
        all
    };
    let alone = run(&[(0, 0), (1, 1)], &[first.clone(), second.clone()]);
    let shared = run(&[(0, 0), (1, 1), (2, 1)], &[first, of(odd), of(even)]);
    assert_eq!(shared, alone);
}

/// 1000 -> 0 there, 2000 -> 2400 back, 4000 -> 2600 there again: both clocks end
/// up ahead, one by more than the simple clock ever is.
fn ratchet() -> Two {
    let [first, second] = ratchet_events();
    Two::new(&first, &second)
}

fn ratchet_events() -> [Vec<(u64, Call)>; 2] {
    [
        vec![
            (1_000, hand::send(1)),
            (2_400, hand::receive(1)),
            (4_000, hand::send(1)),
            (9_000, hand::send(1)),
        ],
        vec![
            (0, hand::receive(0)),
            (2_000, hand::send(0)),
            (2_600, hand::receive(0)),
            (3_600, hand::send(0)),
        ],
    ]
}

fn combined(b: bool, c: bool, d: Option<f64>) -> Vec<i64> {
    let constants = CombinedConstants {
        gamma_max: 1.0 - 1e-9,
        b,
        c,
        d,
    };
    let two = ratchet();
    two.regulated(two.info.rate, Control::Combined(constants))
}

#[test]
fn controller_a_alone_keeps_all_leads() {
    // Leads: 1000 at 0 and 2000; 3000 - 2400 = 600 from 2400 on; 4600 - 2600.
    let expected = [1_000, 3_000, 4_600, 9_600, 1_000, 3_000, 4_600, 5_600];
    assert_eq!(combined(false, false, None), expected);
}

#[test]
fn controller_b_lowers_gamma_once_all_clocks_lead() {
    // At 4000 the leads are 600 and 1000: x = 0.6, of 1600 are lost 0.36 * 1600 =
    // 576, of the lead of 600 are left 24. At 2600 x = 0.024 and the clock is
    // pushed to 4024, a lead of 1424. At 3600 x = 24 / 1424: nothing is lost. That
    // was the last event of its clock; the other one, alone, leads by all there
    // is, x = 1, and at 9000 the lead is gone.
    let expected = [1_000, 3_000, 4_024, 9_000, 1_000, 3_000, 4_024, 5_024];
    assert_eq!(combined(true, false, None), expected);
}

/// A clock without events with edges has no lead that controller B could compare.
#[test]
fn a_silent_clock_does_not_keep_controller_b_from_its_work() {
    let [first, second] = ratchet_events();
    let silent = vec![(0, Call::Internal)];
    let info = hand::ranks(&[0, 1, 2]);
    let causality = hand::causality(&info, &[first, second, silent]);
    let regulation = Regulation {
        delay: MinimalDelay::Uniform(Ticks(0)),
        distance: Ticks(0).into(),
        control: Control::Combined(CombinedConstants {
            gamma_max: 1.0 - 1e-9,
            b: true,
            c: false,
            d: None,
        }),
        steps: Steps::default(),
    };
    let clocks = Clocks::each_location(3);
    let times = regulated(&causality, &clocks, info.rate, &regulation, &()).unwrap();
    let nodes = causality.nodes();
    let value = |node| nodes.base().0 as i64 + times.get(node).0;
    let values: Vec<i64> = nodes.all().map(value).collect();
    assert_eq!(values, combined(true, false, None));
}

#[test]
fn controller_c_lowers_gamma_of_a_clock_far_beyond_the_simple_one() {
    // Simple leads: 1000 at 0, then 4000 - 2600 = 1400, which is MAX at 3600.
    // q = 2000 / 1400, u = 0.12698, 1 - 3u^2 + 2u^3 = 0.95572: of 1000 are lost 44.
    let expected = [1_000, 3_000, 4_600, 9_600, 1_000, 3_000, 4_600, 5_556];
    assert_eq!(combined(false, true, None), expected);
}

#[test]
fn controller_d_bounds_the_others() {
    // gamma 0.98 at 4000 (lost 32 of 600), 2600 (irrelevant), 3600 (20 of 4568 -
    // 2600 = 1968) and 9000 (100 of 568).
    let expected = [1_000, 3_000, 4_568, 9_468, 1_000, 3_000, 4_568, 5_548];
    assert_eq!(combined(true, true, Some(0.98)), expected);
}

/// The corrected stamps of the second clock of a jump of 10 at 1000, where the
/// message sent at 900 leaves room for 6.
fn amortized(rate: &str) -> Vec<u64> {
    let second = [
        (0, hand::send(0)),
        (900, hand::send(0)),
        (1_000, hand::receive(0)),
    ];
    let first = [
        (500, hand::receive(1)),
        (906, hand::receive(1)),
        (1_010, hand::send(1)),
    ];
    let two = Two::new(&first, &second);
    let delay = MinimalDelay::Uniform(Ticks(0));
    let gamma = "0.99998".parse().unwrap();
    let times = controlled(&two.causality, &two.clocks, &delay, gamma, &()).unwrap();
    let rate: AmortizationRate = rate.parse().unwrap();
    let correction = amortize(&two.causality, &two.clocks, &delay, rate, &times, &()).unwrap();
    let mut cursor = correction.map_of(LocationIndex(1)).cursor(LocationIndex(1));
    let stamps = [0, 900, 1_000].into_iter().enumerate();
    stamps
        .map(|(event, stamp)| cursor.map(event as u64, Timestamp(stamp)).unwrap().0)
        .collect()
}

#[test]
fn amortisation_ramps_a_jump_up_within_the_limits_of_sends() {
    // 5 %: the ramp may begin 10 / 0.05 = 200 before the jump, which leaves the
    // event at 0 alone. The straight line would move the send at 900 by 9.
    assert_eq!(amortized("5%"), [0, 906, 1_010]);
    // 1 %: the event at 0 is exactly 10 / 0.01 = 1000 before and counts as before.
    assert_eq!(amortized("1%"), [0, 906, 1_010]);
    // 0.8 %: no event lies before the ramp of 1250, so its start is free: as high
    // as what follows allows.
    assert_eq!(amortized("0.8%"), [6, 906, 1_010]);
    // 100 %: the ramp of 10 begins after the send.
    assert_eq!(amortized("100%"), [0, 900, 1_010]);
}
