//! The send behind a stretched interval is found, and none where none is.

use crate::common::{Call, hand};
use retime::causality::Place;
use retime::clock::{amortize, controlled};
use retime::{
    Grouping, LimitingSend, LocationIndex, MinimalDelay, Ticks, Timestamp, limiting_send,
};

/// What limits the interval before `event` of location 1, amortised at `rate`.
fn behind(locations: &[Vec<(u64, Call)>], rate: &str, event: u64) -> Option<LimitingSend> {
    let info = hand::ranks(&(0..locations.len()).collect::<Vec<_>>());
    let causality = hand::causality(&info, locations);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let delay = MinimalDelay::Uniform(Ticks(0));
    let gamma = "0.99998".parse().unwrap();
    let times = controlled(&causality, &clocks, &delay, gamma, &()).unwrap();
    let rate = rate.parse().unwrap();
    let correction = amortize(&causality, &clocks, &delay, rate, &times, &()).unwrap();
    let nodes = causality.nodes();
    let mut after = Vec::new();
    for location in 0..nodes.locations() {
        let index = LocationIndex(location as u32);
        let mut cursor = correction.map_of(index).cursor(index);
        for node in nodes.of(location) {
            let stamp: Timestamp = nodes.timestamp(node);
            after.push(cursor.map(nodes.event(node), stamp).unwrap());
        }
    }
    let end = Place {
        location: LocationIndex(1),
        event,
    };
    limiting_send(&causality, &clocks, &delay, &times, &after, end)
}

fn events(limit: LimitingSend) -> ((u32, u64), (u32, u64), i64) {
    let place = |place: Place| (place.location.0, place.event);
    (place(limit.send), place(limit.effect), limit.room.0)
}

/// Location 1 jumps by 10 at 1000; what it sent at 900 is received at 906.
fn with_a_send() -> Vec<Vec<(u64, Call)>> {
    vec![
        vec![
            (500, hand::receive(1)),
            (906, hand::receive(1)),
            (1_010, hand::send(1)),
        ],
        vec![
            (0, hand::send(0)),
            (900, hand::send(0)),
            (1_000, hand::receive(0)),
        ],
    ]
}

#[test]
fn a_send_in_the_way_is_named_with_its_receive() {
    // Moved by 6, as far as it can.
    let limit = behind(&with_a_send(), "5%", 2).unwrap();
    assert_eq!(events(limit), ((1, 1), (0, 1), 0));
    // Not moved at all, but not all of the jump would fit either.
    let limit = behind(&with_a_send(), "100%", 2).unwrap();
    assert_eq!(events(limit), ((1, 1), (0, 1), 6));
}

#[test]
fn a_send_with_room_is_not_blamed() {
    let mut locations = with_a_send();
    locations[0][1].0 = 960;
    assert_eq!(behind(&locations, "5%", 2), None);
    // Nor is anything where nothing grows, or where nothing comes before.
    assert_eq!(behind(&with_a_send(), "100%", 1), None);
    assert_eq!(behind(&with_a_send(), "5%", 0), None);
}

#[test]
fn a_send_at_the_foot_of_a_ramp_is_named_for_all_of_it() {
    // A jump of 100 at 1000. The send at 900 may move by 60; it lies 90 before the
    // interval of 10, but all between them is one ramp, from 60 to 100.
    let mut locations = vec![
        vec![
            (500, hand::receive(1)),
            (960, hand::receive(1)),
            (1_100, hand::send(1)),
        ],
        vec![
            (0, hand::send(0)),
            (900, hand::send(0)),
            (990, hand::send(2)),
            (1_000, hand::receive(0)),
        ],
        vec![(2_000, hand::receive(1))],
    ];
    let limit = behind(&locations, "5%", 3).unwrap();
    assert_eq!(events(limit), ((1, 1), (0, 1), 0));
    // Where the ramp begins by itself, as late as its rate allows, nothing is blamed.
    locations[0][1].0 = 1_050;
    assert_eq!(behind(&locations, "100%", 3), None);
}

#[test]
fn a_begin_in_the_way_is_named_with_the_end_that_waits_for_it() {
    let locations = vec![
        vec![
            (100, Call::Begin),
            (903, hand::barrier()),
            (1_010, hand::send(1)),
        ],
        vec![
            (900, Call::Begin),
            (950, hand::barrier()),
            (1_000, hand::receive(0)),
        ],
    ];
    let limit = behind(&locations, "5%", 1).unwrap();
    assert_eq!(events(limit), ((1, 0), (0, 1), 0));
}
