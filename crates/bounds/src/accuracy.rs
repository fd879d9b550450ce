//! How far corrected times are from the truth, where the truth is known.
//!
//! Recordings of real programs have no truth; simulations do, and so do runs on
//! one machine whose stamps were made wrong on purpose. For every event with an
//! edge let `e = T - t`, corrected minus true time:
//!
//! - **synchronisation error**: `e` without its mean over all events, for a
//!   constant that all clocks share says nothing wrong about the program;
//! - **error of relative times**: `e` without the straight line over true time that
//!   all events share, `e - (a + b t)` with the `a` and `b` of least squares. No
//!   trace tells the rate that all of its clocks have in common, so whichever
//!   clock a correction goes by, its own rate is no one's error;
//! - **message-delay error**: what the delays of messages between two locations
//!   are wrong by, `e(receive) - e(send)`;
//! - **F**, being ahead: the mean of `max(0, e)` over the events of a location,
//!   averaged over all locations; **S**, being behind, likewise with `max(0, -e)`.
//!   Both take the zero of the truth for granted;
//! - **A**, the absolute deviation: the sum of `|dT - dt|` over all intervals
//!   between successive events of a location as a share of the whole run time,
//!   averaged over all locations.
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions};
//! use retime_bounds::Accuracy;
//! use retime_model::Timestamp;
//! # let trace = retime_testing::trace("0: send 1 @100, receive 1 @200
//! #                                    1: receive 0 @95, send 0 @185")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! // A message there and one back; the second clock is 10 behind, and the
//! // correction has pushed its receive to the send and forgotten that later.
//! let truth = [100, 200, 105, 195].map(Timestamp);
//! let corrected = [100, 200, 100, 185].map(Timestamp);
//! let accuracy = Accuracy::measure(&causality, &corrected, &truth)?;
//! // Errors 0, 0, -5, -10, their mean -3.75.
//! assert_eq!(accuracy.synchronization.max, 6.25);
//! assert_eq!(accuracy.synchronization.mean_abs, 3.75);
//! // Delays of 0 and 15 instead of 5 and 5.
//! assert_eq!((accuracy.message_delay.mean_abs, accuracy.message_delay.max), (7.5, 10.0));
//! assert_eq!((accuracy.ahead, accuracy.behind), (0.0, 3.75)); // 0 and 7.5
//! // An interval of 85 instead of 90, of 100 ticks of run time; of two locations.
//! assert_eq!(accuracy.deviation, 0.025);
//!
//! // All clocks are a fifth too fast, and the second is 6 ahead besides: without
//! // what both have in common, each is off by half of that.
//! let fast = [100, 220, 112, 220].map(Timestamp);
//! let accuracy = Accuracy::measure(&causality, &fast, &truth)?;
//! let near = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
//! assert!(near(accuracy.synchronization.max, 13.0)); // of 0, 20, 7 and 25
//! assert!(near(accuracy.relative.mean_abs, 3.0) && near(accuracy.relative.max, 3.0));
//!
//! // Nor are digits lost where the truth counts from a moment that lies decades before.
//! let far = truth.map(|it| Timestamp(it.0 + 1_770_000_000_000_000_000));
//! let again = Accuracy::measure(&causality, &fast, &far)?;
//! assert_eq!((again.synchronization, again.relative), (accuracy.synchronization, accuracy.relative));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 1997, section 6.4, for F, S and A.

use serde::Serialize;

use retime_causality::Causality;
use retime_model::Timestamp;

/// Size of errors in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Deviation {
    /// How many errors.
    pub count: u64,
    /// Mean of their absolute values.
    pub mean_abs: f64,
    /// Root of their mean square.
    pub rms: f64,
    /// The largest absolute value.
    pub max: f64,
}

impl Deviation {
    fn of(errors: impl Iterator<Item = f64>) -> Self {
        let mut all = Self::default();
        for error in errors {
            all.count += 1;
            all.mean_abs += error.abs();
            all.rms += error * error;
            all.max = all.max.max(error.abs());
        }
        let count = all.count.max(1) as f64;
        Self {
            mean_abs: all.mean_abs / count,
            rms: (all.rms / count).sqrt(),
            ..all
        }
    }
}

/// F, S and A of one location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LocationAccuracy {
    /// Mean of `max(0, corrected - true)`, in ticks.
    pub ahead: f64,
    /// Mean of `max(0, true - corrected)`, in ticks.
    pub behind: f64,
    /// Sum of the absolute errors of all intervals as a share of the run time.
    pub deviation: f64,
}

/// Corrected against true times.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Accuracy {
    /// Corrected minus true times, without their mean.
    pub synchronization: Deviation,
    /// Corrected minus true times, without the straight line over true time that they
    /// have in common.
    pub relative: Deviation,
    /// Corrected minus true delays of messages between two locations.
    pub message_delay: Deviation,
    /// F: how far ahead of the truth, in ticks.
    pub ahead: f64,
    /// S: how far behind it, in ticks.
    pub behind: f64,
    /// A: mean share of the run time by which local intervals are wrong.
    pub deviation: f64,
    /// Accuracy by location; nothing for those without events with edges.
    pub locations: Vec<Option<LocationAccuracy>>,
}

/// True times that do not belong to the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{corrected} corrected and {truth} true times were given for {nodes} events with edges")]
pub struct TruthError {
    nodes: usize,
    corrected: usize,
    truth: usize,
}

impl TruthError {
    /// Fails unless there is a corrected and a true time for each node.
    pub(crate) fn check(nodes: usize, corrected: usize, truth: usize) -> Result<(), Self> {
        if corrected == nodes && truth == nodes {
            return Ok(());
        }
        Err(Self {
            nodes,
            corrected,
            truth,
        })
    }
}

impl Accuracy {
    /// Compares corrected with true times of all nodes.
    pub fn measure(
        causality: &Causality,
        corrected: &[Timestamp],
        truth: &[Timestamp],
    ) -> Result<Self, TruthError> {
        let nodes = causality.nodes();
        TruthError::check(nodes.len(), corrected.len(), truth.len())?;
        let pairs = corrected.iter().zip(truth);
        let errors: Vec<i64> = pairs.map(|(&is, &true_)| ticks(is, true_)).collect();
        // Times may count from moments that are decades apart: what errors have in common goes
        // before they lose digits.
        let common = errors.first().copied().unwrap_or_default();
        let errors = errors.iter().map(|it| it.wrapping_sub(common) as f64);
        let errors: Vec<f64> = errors.collect();
        let first = truth.iter().min().copied().unwrap_or_default();
        let last = truth.iter().max().copied().unwrap_or_default();
        let run = difference(last, first);
        let times: Vec<f64> = truth.iter().map(|&it| difference(it, first)).collect();
        let locations = (0..nodes.locations()).map(|location| {
            let of = nodes.of(location);
            LocationAccuracy::of(&errors[of.range()], common as f64, run)
        });
        let locations: Vec<_> = locations.collect();
        let mean = |of: fn(&LocationAccuracy) -> f64| mean(locations.iter().flatten().map(of));
        Ok(Self {
            synchronization: synchronization(&errors),
            relative: relative(&errors, &times),
            message_delay: Deviation::of(delay_errors(causality, &errors)),
            ahead: mean(|it| it.ahead),
            behind: mean(|it| it.behind),
            deviation: mean(|it| it.deviation),
            locations,
        })
    }
}

impl LocationAccuracy {
    /// From the errors of its nodes in order, without what all have in common; `None` without
    /// nodes.
    fn of(errors: &[f64], common: f64, run: f64) -> Option<Self> {
        let intervals = errors.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let wrong: f64 = intervals.sum();
        (!errors.is_empty()).then(|| Self {
            ahead: mean(errors.iter().map(|error| (common + error).max(0.0))),
            behind: mean(errors.iter().map(|error| (-common - error).max(0.0))),
            deviation: if run > 0.0 { wrong / run } else { 0.0 },
        })
    }
}

fn synchronization(errors: &[f64]) -> Deviation {
    let common = mean(errors.iter().copied());
    Deviation::of(errors.iter().map(|error| error - common))
}

/// Without the common line: about the middle of all times, where its slope and its
/// height do not depend on each other.
fn relative(errors: &[f64], times: &[f64]) -> Deviation {
    let height = mean(errors.iter().copied());
    let middle = mean(times.iter().copied());
    let (mut both, mut square) = (0.0, 0.0);
    for (error, time) in errors.iter().zip(times) {
        both += (time - middle) * (error - height);
        square += (time - middle) * (time - middle);
    }
    let slope = if square > 0.0 { both / square } else { 0.0 };
    let line = |time: f64| height + slope * (time - middle);
    let pairs = errors.iter().zip(times);
    Deviation::of(pairs.map(|(error, &time)| error - line(time)))
}

fn delay_errors<'a>(causality: &'a Causality, errors: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let nodes = causality.nodes();
    nodes.all().filter_map(move |receive| {
        let send = causality.message_source(receive)?;
        let across = nodes.location(send) != nodes.location(receive);
        across.then(|| errors[receive.index()] - errors[send.index()])
    })
}

fn ticks(later: Timestamp, earlier: Timestamp) -> i64 {
    later.0.wrapping_sub(earlier.0) as i64
}

fn difference(later: Timestamp, earlier: Timestamp) -> f64 {
    ticks(later, earlier) as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum) = (0_u64, 0.0);
    for value in values {
        count += 1;
        sum += value;
    }
    sum / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of two clocks by turns, over 1000 ticks.
    fn times() -> Vec<f64> {
        (0..100).map(|event| f64::from(event) * 10.0).collect()
    }

    #[test]
    fn a_common_line_is_no_error() {
        let times = times();
        let errors: Vec<f64> = times.iter().map(|time| 7e5 - 0.25 * time).collect();
        let left = relative(&errors, &times);
        assert_eq!(left.count, 100);
        assert!(left.max < 1e-6, "{left:?}");
        assert!(synchronization(&errors).max > 100.0);
    }

    #[test]
    fn clocks_that_drift_apart_are_wrong_by_half_of_it() {
        let times = times();
        let apart = |(event, time): (usize, &f64)| match event % 2 {
            0 => 0.1 * time,
            _ => 0.3 * time,
        };
        let errors: Vec<f64> = times.iter().enumerate().map(apart).collect();
        let left = relative(&errors, &times);
        // 0.1 of the time to either side of the common line, of 495 on average.
        assert!((left.mean_abs - 49.5).abs() < 1.0, "{left:?}");
        let line = errors.iter().zip(&times);
        let turned: Vec<f64> = line.map(|(error, time)| error + 3.0 - 2.0 * time).collect();
        let again = relative(&turned, &times);
        assert!((again.mean_abs - left.mean_abs).abs() < 1e-9, "{again:?}");
    }

    #[test]
    fn events_at_one_time_have_no_slope() {
        let left = relative(&[1.0, 3.0], &[5.0, 5.0]);
        assert_eq!((left.mean_abs, left.max), (1.0, 1.0));
        assert_eq!(relative(&[], &[]), Deviation::default());
    }
}
