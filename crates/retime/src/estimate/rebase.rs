//! Another clock's time as the common one.
//!
//! With offsets that lead from every clock to one common time, that of a chosen
//! clock leads back from there, and applied after the others makes the chosen
//! clock's time the common one:
//!
//! ```text
//! t = x + y_k(x)                 a stamp of clock k in common time
//! y'_k(x) = y_k(x) + g(t)        with t + g(t) the stamp of the chosen clock at t
//! ```
//!
//! All stamps pass through the same rising function, so the order of events
//! across clocks stays as it is.

use crate::estimate::Offset;

/// The offsets to the time of the clock that has the offset `chosen`.
pub(crate) fn rebased(offsets: &[Option<Offset>], chosen: &Offset) -> Vec<Option<Offset>> {
    let back = inverse(chosen);
    let rebased = |offset: &Offset| {
        let own = offset.knots().iter().map(|&(stamp, _)| stamp);
        let from_common = inverse(offset);
        let bends = back
            .knots()
            .iter()
            .map(|&(t, _)| moved(t, from_common.at(t)));
        let knot = |stamp: i64| {
            let ticks = offset.at(stamp);
            (stamp, ticks + back.at(moved(stamp, ticks)))
        };
        Offset::through(own.chain(bends).map(knot).collect())
    };
    let rebased = |offset: &Option<Offset>| offset.as_ref().map(rebased);
    offsets.iter().map(rebased).collect()
}

/// From common time to a clock.
fn inverse(offset: &Offset) -> Offset {
    let knots = offset.knots().iter();
    Offset::through(
        knots
            .map(|&(at, ticks)| (moved(at, ticks), -ticks))
            .collect(),
    )
}

fn moved(stamp: i64, ticks: f64) -> i64 {
    stamp.saturating_add(ticks.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_clock_keeps_its_time() {
        let chosen = Offset::through(vec![(0, 10.0), (1_000, 30.0), (2_000, 20.0)]);
        let other = Offset::through(vec![(500, -5.0), (1_500, 7.0)]);
        let all = rebased(&[Some(chosen.clone()), None, Some(other.clone())], &chosen);
        let kept = all[0].as_ref().unwrap();
        for stamp in [-50, 0, 333, 1_000, 1_777, 2_500] {
            assert!(kept.at(stamp).abs() < 0.05, "{stamp}: {}", kept.at(stamp));
        }
        assert_eq!(all[1], None);
        // Stamps of the two clocks that showed the same common time agree now.
        let moved = all[2].as_ref().unwrap();
        for stamp in [0, 400, 700, 1_100, 1_900] {
            let common = stamp as f64 + chosen.at(stamp);
            let mut shown = common;
            for _ in 0..50 {
                shown = common - other.at(shown.round() as i64);
            }
            let shown = shown.round() as i64;
            let now = shown as f64 + moved.at(shown);
            assert!((now - stamp as f64).abs() < 0.6, "{stamp}: {now}");
        }
    }
}
