//! The gentlest correction where its fraction is too long to be exact.

use retime::optimal::gentlest;
use retime::{ClockId, Edge, Edges};

/// Two dependencies contradict each other by an odd number of ticks, over a width
/// beyond what the search computes with: it ends all the same.
#[test]
fn a_fraction_of_sixty_bits_is_found() {
    let (a, b) = (ClockId(0), ClockId(1));
    for (length, early) in [
        (1_i64 << 60, 1),
        (1 << 60, (1 << 59) + 1),
        ((1 << 60) + 7, 3),
    ] {
        let edges = vec![
            Edge::message(a, 0, b, 0),
            Edge::message(b, length, a, length - early),
        ];
        let edges = Edges::new(edges, vec![None; 2]);
        let found = gentlest(&edges, |_| 0, 6_000_000_000, &()).unwrap();
        let width = 2 * i128::from(length) - i128::from(early);
        let cycle = found.forced_by.as_ref().unwrap();
        assert_eq!((cycle.needed, cycle.width), (early.into(), width));
        assert!(found.complete, "{length} {early}");
        let share = early as f64 / width as f64;
        assert!((found.distortion - share).abs() <= 1e-12 * share);
        let given = found.estimate(a).unwrap();
        let before = given.at(b, 0) - given.at(a, 0);
        let after = given.at(a, length - early) - given.at(b, length);
        // Sums of 2^60 are known to 2^8 in floating point.
        assert!(
            before >= -256.0 && after >= early as f64 - 256.0,
            "{before} {after}"
        );
    }
}
