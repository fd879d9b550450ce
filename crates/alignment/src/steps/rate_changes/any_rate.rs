//! Clocks whose rate changes within the run by more than the rates of two clocks differ.
//!
//! Rates are held within some hundreds of ppm, as thousands of loose messages would bend clocks
//! else. A processor whose counter runs with its frequency, a virtual machine that moves to another
//! host, or a time service that catches up go beyond that for good. Curves that are held contradict
//! such a clock from there on, no matter how much they wander, and it looks as if it were set again
//! and again.
//!
//! So it is asked first what happens if rates may be any. If clocks that wander by no more than it
//! takes to follow a few messages are contradicted by nothing then, that is what they do:
//!
//! ```text
//!                          held            free
//!  rate changes by 0.1 %   contradicted    10 ppm in a second, nothing contradicts
//!  set by 3 ms             contradicted    contradicted: in an instant no rate is enough
//! ```
//!
//! Steps may explain the same with less, and are looked for all the same.

use crate::options::OPTIONS;
use crate::selection::Stiffness;
use crate::stages::{AlignmentTask, SmoothAlignment, align_plainly};
use retime_causality::edges::Source;
use retime_model::{Cancelled, Monitor, TickRate};

/// Clocks of any rates if these explain what others cannot; else those that were found.
pub(crate) fn with_any_rate(
    source: &dyn Source,
    found: SmoothAlignment,
    rate: TickRate,
    monitor: &dyn Monitor,
) -> Result<SmoothAlignment, Cancelled> {
    if found.needed.is_finite() {
        return Ok(found);
    }
    let task = AlignmentTask {
        stiffness: Stiffness {
            any_rate: true,
            may_wander: true,
            measured_to: Some(OPTIONS.follow),
            ..Stiffness::default()
        },
        ..AlignmentTask::of(rate, found.alignment.estimate.reference)
    };
    let free = align_plainly(source, task, monitor)?;
    Ok(if free.needed <= OPTIONS.follow {
        free
    } else {
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::rate_changes::tests::{LAST, exchange};
    use retime_model::ClockId;

    /// The last of three clocks gains a thousandth from the middle of the run on.
    fn shown(clock: usize, time: i64) -> i64 {
        match clock {
            2 => time - 7_000 + (time - LAST / 2).max(0) / 1_000,
            _ => time,
        }
    }

    #[test]
    fn a_rate_that_changes_is_followed() {
        let edges = exchange(shown);
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let held = align_plainly(&edges, AlignmentTask::of(rate, ClockId(0)), &()).unwrap();
        assert!(held.needed.is_infinite());
        let free = with_any_rate(&edges, held, rate, &()).unwrap();
        assert!(free.needed <= OPTIONS.follow);
        let offset = free.alignment.estimate.offsets[2].as_ref().unwrap();
        for part in 1..20 {
            let time = LAST / 20 * part;
            let stamp = shown(2, time);
            let error = stamp as f64 + offset.at(stamp) - time as f64;
            // What a message takes.
            assert!(error.abs() < 600.0, "{part}: {error}");
        }
    }
}
