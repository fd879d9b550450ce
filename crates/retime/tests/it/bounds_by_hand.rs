//! Error bounds of two clocks that differ by a constant, by hand.

use crate::common;
use retime::causality::{Causality, CausalityOptions, LogBuilder};
use retime::estimate::{Estimate, Offset};
use retime::optimal::{BoundOptions, ErrorBounds, offset_bounds};
use retime::{
    ClockId, ClockMap, Correction, Edge, Edges, Grouping, Knot, LocationIndex, Timestamp,
};

/// A message of 10 ticks there, and one of 10 back; the others are slow, and
/// leave no doubt that clocks show every tick.
fn edges() -> Edges {
    let (a, b) = (ClockId(0), ClockId(1));
    let messages = vec![
        Edge::message(a, 0, b, 10),
        Edge::message(b, 21, a, 31),
        Edge::message(a, 40, b, 500),
        Edge::message(b, 501, a, 1_000),
    ];
    Edges::new(messages, vec![Some((0, 1_000)), Some((10, 501))])
}

/// A stamp stands for any moment until the next one. The fastest message there
/// was received before 11 at the latest, the one back was received before 32: to
/// show the time of the first clock the second one is moved by -11 to 11. And an
/// event may have been up to a tick after its stamp.
#[test]
fn a_stamp_stands_for_a_whole_tick() {
    let edges = edges();
    let base = Estimate {
        offsets: vec![Some(Offset::constant(0.0)); 2],
        reference: ClockId(0),
    };
    let options = BoundOptions {
        drift: 1e-9,
        most_difference: 0.0,
        ..BoundOptions::default()
    };
    let bounds = offset_bounds(&edges, |_| 0, &base, &options, &()).unwrap();
    assert!(bounds.complete && bounds.relaxed.is_empty());
    let close = |found: (f64, f64), wanted: (f64, f64)| {
        (found.0 - wanted.0).abs() < 0.01 && (found.1 - wanted.1).abs() < 0.01
    };
    let second = bounds.clocks[1].as_ref().unwrap();
    assert!(close(second.at(100), (-11.0, 12.0)), "{:?}", second.at(100));

    // Moved by 3, from which the truth is 14 ticks before at most and 9 after, and
    // one more, for corrected stamps are rounded down.
    let info = common::hand::ranks(&[0, 1]);
    let stamps = [[0, 31, 40, 1_000], [10, 21, 500, 501]];
    let logs = stamps.iter().zip(0..).map(|(stamps, location)| {
        let log = LogBuilder::new(LocationIndex(location));
        log.finish(4, Timestamp(stamps[0]), Timestamp(stamps[3]))
            .unwrap()
    });
    let causality = Causality::build(&info, logs.collect(), CausalityOptions::default()).unwrap();
    let clocks = Grouping::Location.clocks(&info, &causality);
    let moved = ClockMap::new(vec![Knot::at(Timestamp(0), Timestamp(3))], vec![]).unwrap();
    let correction = Correction::new(clocks, vec![ClockMap::default(), moved]);
    let errors =
        ErrorBounds::new(&bounds, &correction, None, &edges, causality.nodes(), &()).unwrap();
    let found = errors.clocks[1].as_ref().unwrap().at(Timestamp(100));
    // Widened by a tenth of the half width at most, for fewer knots.
    assert!((14.0..=15.25).contains(&found.0), "{found:?}");
    assert!((10.0..=11.25).contains(&found.1), "{found:?}");

    // On a time that is ahead of the first clock by up to 200, they lie about what that shows.
    let ahead = Offset::through(vec![(0, 0.0), (500, 200.0), (1_000, 0.0)]);
    let map = |knots: [(u64, u64); 3]| {
        let knot = |(at, to): (u64, u64)| Knot::at(Timestamp(at), Timestamp(to));
        ClockMap::new(knots.map(knot).to_vec(), vec![]).unwrap()
    };
    let first = map([(0, 0), (500, 700), (1_000, 1_000)]);
    let second = map([(0, 3), (497, 700), (997, 1_000)]);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let correction = Correction::new(clocks, vec![first, second]);
    let nodes = causality.nodes();
    let errors = ErrorBounds::new(&bounds, &correction, Some(&ahead), &edges, nodes, &()).unwrap();
    // The first clock showed 89 to 112, which is 124.6 to 156.8; the second is moved to 143.
    let found = errors.clocks[1].as_ref().unwrap().at(Timestamp(100));
    assert!((18.4..=20.2).contains(&found.0), "{found:?}");
    assert!((14.8..=16.6).contains(&found.1), "{found:?}");
}
