//! Long work asks its monitor, and stops as soon as that says so.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::case::Case;
use crate::common::{Sharing, Spec};
use retime::pipeline::{Analysis, AnalysisOptions, DRIFT_BOUND, Method, MethodName, Unsolved};
use retime::{Cancelled, Monitor};

/// Gives up when it is asked once more than so often.
struct After {
    allowed: u64,
    asked: AtomicU64,
}

impl After {
    fn new(allowed: u64) -> Self {
        let asked = AtomicU64::new(0);
        Self { allowed, asked }
    }
}

impl Monitor for After {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.allowed
    }
}

fn analysis() -> Analysis {
    let case = Case::new(&Spec {
        locations: 4,
        steps: 2_000,
        seed: 7,
        threads: false,
        tick: 1,
        offset: 40_000,
        drift_ppm: 50,
        sharing: Sharing::Location,
    });
    Analysis::of(
        case.trace.info,
        case.causality,
        AnalysisOptions::default(),
        &(),
    )
    .unwrap()
}

/// Work that asks `n` times if it is let go on has to stop whenever it is asked, with
/// whatever thread; and it has to ask at least `least` times.
fn stops<T>(least: u64, work: impl Fn(&After) -> Result<T, Cancelled>) {
    let watching = After::new(u64::MAX);
    assert!(work(&watching).is_ok());
    let asked = watching.asked.into_inner();
    assert!(asked >= least, "asked {asked} times");
    for allowed in (0..asked).step_by((asked as usize / 50).max(1)) {
        assert!(work(&After::new(allowed)).is_err(), "{allowed} of {asked}");
    }
    assert!(work(&After::new(asked - 1)).is_err());
    assert!(work(&After::new(asked)).is_ok());
}

#[test]
fn solving_stops_wherever_it_is_asked_to() {
    let analysis = analysis();
    // Some walks, steps of Newton's method and rounds of a search each.
    for (name, least) in [
        (MethodName::Auto, 20),
        (MethodName::Gentlest, 5),
        (MethodName::Optimal, 20),
    ] {
        let method = Method::new(name);
        stops(least, |monitor| match analysis.solve(&method, monitor) {
            Ok(_) => Ok(()),
            Err(unsolved) => {
                assert_eq!(unsolved.reason, Unsolved::Cancelled(Cancelled));
                Err(Cancelled)
            }
        });
    }
}

#[test]
fn bounds_and_the_gentlest_correction_stop_wherever_they_are_asked_to() {
    let analysis = analysis();
    stops(20, |monitor| analysis.bounds(DRIFT_BOUND, None, monitor));
    stops(20, |monitor| analysis.bounded_offsets(DRIFT_BOUND, monitor));
    stops(20, |monitor| analysis.gentlest(None, monitor));
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    stops(2, |monitor| {
        analysis.bounds(DRIFT_BOUND, Some(&solution), monitor)
    });
}
