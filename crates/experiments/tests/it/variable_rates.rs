//! Rabenseifner 2000, section 7.6: figures 7.3 and 7.4.

use retime::estimate::NoEstimate;
use retime::{ClockId, Edges, Ticks};
use retime_experiments::variable_rates::{
    ahead, contradiction, corrections, extended_ring, extended_thirds, min_max_thirds, ring, thirds,
};
use retime_experiments::violated;
use retime_methods::min_max;

#[test]
fn each_pair_of_figure_7_3_is_two_milliseconds_apart() {
    for (one, other, ms) in [(0, 1, -2.0), (1, 2, -2.0), (2, 3, -2.0), (0, 3, 2.0)] {
        let ahead = ahead(one, other).unwrap();
        assert!((ahead - ms).abs() < 0.002, "{one} {other}: {ahead}");
    }
    // Clocks that do not meet are not compared.
    assert_eq!(ahead(0, 2), None);
}

#[test]
fn figure_7_3_has_no_constant_corrections() {
    let (clocks, ms) = contradiction().unwrap();
    let forth = [0, 1, 2, 3].map(ClockId);
    let back = [0, 3, 2, 1].map(ClockId);
    assert!(clocks == forth || clocks == back, "{clocks:?}");
    // 6 ms along three pairs against 2 ms along one, with little delay.
    assert!((ms - 7.92).abs() < 0.002, "{ms}");
}

#[test]
fn the_extended_method_reverses_nothing_in_figure_7_3() {
    assert_eq!(violated(&ring(), &extended_ring().unwrap()).count(), 0);
    // As recorded half of the messages are violated.
    let raw = ring().all().iter().filter(|it| it.latency() < 0).count();
    assert_eq!(raw, ring().all().len() / 2);
}

#[test]
fn figure_7_4_over_the_whole_run_needs_a_delay_of_1_5() {
    let estimate = min_max_thirds(1_500, 1).unwrap();
    for correction in corrections(&estimate).unwrap() {
        assert!((correction + 0.5).abs() < 1e-9, "{correction}");
    }
    assert_eq!(violated(&thirds(1_500), &estimate).count(), 0);
    let infeasible = NoEstimate::Infeasible(vec![ClockId(0), ClockId(1)], Ticks(2));
    assert_eq!(min_max_thirds(1_499, 1), Err(infeasible));
}

#[test]
fn each_third_of_figure_7_4_by_itself_is_corrected_exactly() {
    let all = thirds(1_500);
    for (third, ms) in [1.0, -2.0, 1.0].into_iter().enumerate() {
        let stamps = third as i64 * 1_000_000..(third as i64 + 1) * 1_000_000;
        let own = |it: &&retime::Edge| {
            it.from == ClockId(0) && stamps.contains(&it.sent)
                || it.to == ClockId(0) && stamps.contains(&it.received)
        };
        let edges: Vec<_> = all.all().iter().filter(own).copied().collect();
        assert_eq!(edges.len(), 160);
        let edges = Edges::new(edges, vec![Some((0, 3_000_000)); 2]);
        let estimate = min_max(&edges, |_| 0, Some(1), ClockId(0), &()).unwrap();
        let offset = estimate.offsets[1].as_ref().unwrap().at(0) / 1_000.0;
        assert!((offset - ms).abs() < 1e-9, "{third}: {offset}");
    }
}

#[test]
fn the_line_through_thirds_of_figure_7_4_reverses_messages() {
    for delay in [1_500, 1_750, 1_999] {
        let estimate = min_max_thirds(delay, 3).unwrap();
        for correction in corrections(&estimate).unwrap() {
            assert!(correction.abs() < 0.01, "{correction}");
        }
        // All from the second clock to the first in the second third.
        assert_eq!(violated(&thirds(delay), &estimate).count(), 80);
    }
    let enough = min_max_thirds(2_000 + 5, 3).unwrap();
    assert_eq!(violated(&thirds(2_000 + 5), &enough).count(), 0);
}

#[test]
fn the_extended_method_reverses_nothing_in_figure_7_4() {
    for delay in [1_500, 1_750, 2_000] {
        let estimate = extended_thirds(delay).unwrap();
        assert_eq!(violated(&thirds(delay), &estimate).count(), 0, "{delay}");
    }
    let below = extended_thirds(1_499);
    assert!(
        matches!(below, Err(NoEstimate::Infeasible(..))),
        "{below:?}"
    );
}
