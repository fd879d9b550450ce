//! Jumps as they are: events without a dependency are moved by their own clock only
//! (Rabenseifner 2000, equation 4.11), also where a correction is composed of two or comes
//! from a clock that ran backwards.

use crate::common::case::Case;
use crate::common::oracle::left;
use crate::common::rng::Rng;
use crate::common::{Event, Sharing, Spec, cases, gammas, specs};
use crate::composition::estimate;
use proptest::prelude::*;
use retime::causality::EventNode;
use retime::clock::{
    CombinedConstants, Control, Gamma, LogicalTimes, Regulation, Steps, controlled, mirror_back,
    regulated, simple, unamortized,
};
use retime::{Correction, LocationIndex, Ticks, Timestamp, compose};

/// With a clock for each location.
fn case(spec: &Spec) -> Case {
    Case::new(&Spec {
        sharing: Sharing::Location,
        ..spec.clone()
    })
}

/// An event of a location, with its number there and its node if it has one.
struct Row<'a> {
    location: usize,
    number: u64,
    event: &'a Event,
    node: Option<EventNode>,
}

/// All events, location by location.
fn rows(case: &Case) -> Vec<Row<'_>> {
    let mut nodes = case.causality.nodes().all();
    let mut rows = Vec::new();
    for (location, events) in case.trace.events.iter().enumerate() {
        for (number, event) in (0..).zip(events) {
            let node = event.call.role().and_then(|_| nodes.next());
            rows.push(Row {
                location,
                number,
                event,
                node,
            });
        }
    }
    rows
}

fn corrected(correction: &Correction, row: &Row<'_>, raw: Timestamp) -> Timestamp {
    let location = LocationIndex(row.location as u32);
    let mut cursor = correction.map_of(location).cursor(location);
    cursor.map(row.number, raw).unwrap()
}

/// Fails unless each event without a node is, but for the rounding of a map with few knots,
/// where `own` says that its clock alone brings it: given what its clock keeps, and its time.
/// Of a node `own` is told the value as well.
fn assert_alone<S: Default>(
    case: &Case,
    times: &LogicalTimes,
    own: impl Fn(&mut S, i64, Option<i64>) -> i64,
) {
    let correction = unamortized(&case.causality, &case.clocks, times, &()).unwrap();
    let mut state = (usize::MAX, S::default());
    for row in rows(case) {
        if state.0 != row.location {
            state = (row.location, S::default());
        }
        let raw = (row.event.raw - case.plain.base) as i64;
        let value = row.node.map(|node| times.get(node).0);
        let alone = own(&mut state.1, raw, value);
        let stamp = corrected(&correction, &row, Timestamp(row.event.raw));
        let time = stamp.0.wrapping_sub(case.plain.base) as i64;
        match value {
            Some(value) => assert_eq!(time, value),
            None => assert!(
                (time - alone).abs() <= 2,
                "event {} of {}: {time} for {alone}",
                row.number,
                row.location
            ),
        }
    }
}

/// The state of a clock of constant gamma: its lead.
fn by_gamma(gamma: Gamma) -> impl Fn(&mut (i64, i64, u64), i64, Option<i64>) -> i64 {
    move |lead, raw, value| {
        let (ahead, lost) = left(*lead, raw, gamma);
        if let Some(value) = value.filter(|value| *value > raw + ahead) {
            *lead = (raw, value - raw, lost);
        }
        raw + ahead
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_controlled_clock_moves_other_events_by_their_clock_alone(spec in specs(300), gamma in gammas()) {
        let case = case(&spec);
        assert_alone(&case, &case.run(gamma), by_gamma(gamma));
    }

    /// A clock under control has a factor for each interval, here one that never changes; after
    /// its last node no event says which.
    #[test]
    fn so_does_a_clock_under_control_up_to_its_last_node(spec in specs(300), gamma in gammas()) {
        let case = case(&spec);
        let regulation = Regulation {
            delay: case.delay.clone(),
            distance: Ticks(0).into(),
            control: Control::Combined(CombinedConstants { gamma_max: gamma.factor(), b: false, c: false, d: None }),
        steps: Steps::default(),
};
        let rate = case.trace.info.rate;
        let times = regulated(&case.causality, &case.clocks, rate, &regulation, &()).unwrap();
        let correction = unamortized(&case.causality, &case.clocks, &times, &()).unwrap();
        let nodes = case.causality.nodes();
        let mut last: Option<(usize, i64, i64)> = None;
        for row in rows(&case) {
            let raw = (row.event.raw - case.plain.base) as i64;
            let stamp = corrected(&correction, &row, Timestamp(row.event.raw));
            let time = stamp.0.wrapping_sub(case.plain.base) as i64;
            if let Some(node) = row.node {
                last = Some((row.location, raw, times.get(node).0));
                prop_assert_eq!(time, times.get(node).0);
            } else if nodes.of(row.location).next_back().is_some_and(|node| nodes.time(node).0 > raw) {
                let of_clock = last.filter(|last| last.0 == row.location);
                let own = of_clock.map_or(raw, |(_, since, value)| {
                    raw.max(value + (gamma.factor() * (raw - since) as f64) as i64)
                });
                // Rounded to ticks, at the node, in between and where the lead runs out.
                prop_assert!((time - own).abs() <= 3, "event {} of {}: {time} for {own}", row.number, row.location);
            }
        }
    }

    #[test]
    fn the_simple_clock_stands_for_other_events(spec in specs(300)) {
        let case = case(&spec);
        let times = simple(&case.causality, &case.clocks, &case.delay, &Ticks(0).into(), &()).unwrap();
        assert_alone(&case, &times, |stands: &mut i64, raw, value| {
            let own = raw.max(*stands);
            *stands = value.unwrap_or(own);
            own
        });
    }

    /// After an estimate both maps follow each other for all events.
    #[test]
    fn composed_with_an_estimate_it_stays_so(spec in specs(200), gamma in gammas()) {
        let case = case(&spec);
        let first = estimate(&case.causality, &case.clocks, &mut Rng::new(spec.seed));
        let aligned = case.causality.retimed(&first, &()).unwrap();
        let times = controlled(&aligned, &case.clocks, &case.delay, gamma, &()).unwrap();
        let second = unamortized(&aligned, &case.clocks, &times, &()).unwrap();
        let both = compose(&first, &second, &case.causality, &()).unwrap();
        for row in rows(&case) {
            let once = corrected(&first, &row, Timestamp(row.event.raw));
            let twice = corrected(&second, &row, once);
            let stamp = corrected(&both, &row, Timestamp(row.event.raw));
            // Each of three roundings loses less than a tick, stretched by a tenth.
            prop_assert!(stamp.0.abs_diff(twice.0) <= 4, "event {} of {}", row.number, row.location);
        }
    }

    /// Backwards the clock alone brings events to where they are after each send that is
    /// forced to an earlier time; those that share its stamp stay with it.
    #[test]
    fn run_backwards_it_stays_so(spec in specs(200), gamma in gammas()) {
        let case = case(&spec);
        let nodes = case.causality.nodes();
        let (mirror, delay) = (case.causality.mirrored(), case.delay.mirrored());
        let times = controlled(&mirror, &case.clocks, &delay, gamma, &()).unwrap();
        let mirrored = unamortized(&mirror, &case.clocks, &times, &()).unwrap();
        let back = mirror_back(&case.causality, &case.clocks, &mirrored, &()).unwrap();
        let lasts = (0..nodes.locations()).filter_map(|it| nodes.extent(it)).map(|it| it.last.0);
        let mirror_sum = nodes.base().0 + lasts.max().unwrap_or(0);
        // A time and its mirror image make up a sum that is common to all events.
        let sum = |row: &Row<'_>| {
            let stamp = corrected(&back, row, Timestamp(row.event.raw));
            let number = case.trace.events[row.location].len() as u64 - 1 - row.number;
            let image = Row { number, ..*row };
            stamp.0 + corrected(&mirrored, &image, Timestamp(mirror_sum - row.event.raw)).0
        };
        let rows = rows(&case);
        let Some(common) = rows.iter().find(|row| row.node.is_some()).map(sum) else { return Ok(()) };
        let mut before = None;
        for row in &rows {
            if row.node.is_some() {
                before = Some((row.location, row.event.raw));
                prop_assert_eq!(sum(row), common);
            } else if before != Some((row.location, row.event.raw)) {
                prop_assert!(sum(row).abs_diff(common) <= 3, "event {} of {}", row.number, row.location);
            }
        }
    }
}
