//! The times of a trace, and how far they are from the truth.

use std::path::Path;

use retime_otf2::Trace;

/// The global times of all events in ticks, with the ids of their locations.
pub(crate) fn times(trace: &Path) -> Vec<(u64, Vec<u64>)> {
    let trace = Trace::open(trace).unwrap();
    let of = |location| {
        let mut events = trace.events(location).unwrap();
        let mut times = Vec::new();
        while let Some(event) = events.next().unwrap() {
            times.push(event.time);
        }
        (events.location(), times)
    };
    trace.locations().map(of).collect()
}

/// Mean distance from the mean: of errors, what is left of them when a shift of
/// all events, which means nothing, is taken away.
pub(crate) fn mean_deviation(errors: &[f64]) -> f64 {
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    errors.iter().map(|error| (error - mean).abs()).sum::<f64>() / count
}
