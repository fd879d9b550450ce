//! Ramps by the events of a clock, one after another.

use retime::Ticks;
use std::collections::VecDeque;

/// An event of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Its recorded time.
    pub(super) at: Ticks,
    /// True of sends and begins, which limit how far they can be moved.
    pub(super) is_cause: bool,
    /// The lead to which it can be forced, at most; 0 if it cannot.
    pub(super) forced: Ticks,
    /// The lead to which it is forced at least, whatever gamma is.
    pub(super) certain: Ticks,
    /// The largest and the least lead that it can have.
    pub(super) most: Ticks,
    pub(super) least: Ticks,
}

impl Step {
    /// A jump that the clock makes whatever gamma is.
    pub(super) fn certain_jump(steps: &[Self]) -> Option<Ticks> {
        let pairs = steps.iter().zip(steps.iter().skip(1));
        let jumps = pairs.map(|(before, it)| Ticks(it.certain.0 - before.most.0));
        let first = steps.first().map(|it| it.certain);
        jumps.chain(first).max().filter(|it| it.0 > 0)
    }
}

/// Events that can be forced.
fn can_be_forced(steps: &[Step]) -> impl Iterator<Item = &Step> {
    steps.iter().filter(|it| it.forced > Ticks(0))
}

/// Least distance from a cause to a later effect.
pub(super) fn send_to_receive(steps: &[Step]) -> Option<Ticks> {
    let mut sent = None;
    let distances = steps.iter().filter_map(|it| {
        if it.is_cause {
            sent = Some(it.at);
            return None;
        }
        Some(Ticks(it.at.0 - sent?.0))
    });
    distances.min()
}

/// Least distance between moments with events that can be forced.
pub(super) fn apart(steps: &[Step]) -> Option<Ticks> {
    let pairs = can_be_forced(steps).zip(can_be_forced(steps).skip(1));
    let distances = pairs.map(|(one, next)| Ticks(next.at.0 - one.at.0));
    distances.filter(|it| *it > Ticks(0)).min()
}

/// Most events of one moment that can be forced.
pub(super) fn at_once(steps: &[Step]) -> u32 {
    let (mut most, mut now, mut moment) = (0, 0, None);
    for it in can_be_forced(steps) {
        now = if moment.replace(it.at) == Some(it.at) {
            now + 1
        } else {
            1
        };
        most = most.max(now);
    }
    most
}

/// The steepest ramp from a cause to an event after it that can be forced. A stretch with
/// other causes in it is no steeper than the steepest of its parts.
pub(super) fn after_sends(steps: &[Step], loss: f64) -> f64 {
    let mut sent: Option<&Step> = None;
    let mut steepest: f64 = 0.0;
    for it in steps {
        if it.is_cause {
            sent = Some(it);
        } else if let Some(sent) = sent.filter(|_| it.forced > Ticks(0)) {
            let distance = (it.at.0 - sent.at.0) as f64;
            let rise = (it.forced.0 - sent.least.0) as f64 + loss * distance;
            if rise > 0.0 {
                steepest = steepest.max(rise / distance);
            }
        }
    }
    steepest
}

/// The least lead of a clock from an event on until the next, and how long that is.
struct Until {
    end: f64,
    least: f64,
}

/// The steepest part of a ramp that is at least `ramp` ticks long.
pub(super) fn elsewhere(steps: &[Step], ramp: f64, loss: f64) -> f64 {
    // Leads rise from front to back: one with a smaller behind it is the least of no stretch.
    let mut window: VecDeque<Until> = VecDeque::new();
    let mut steepest: f64 = 0.0;
    let mut entered = steps.iter().zip(steps.iter().skip(1)).peekable();
    for it in can_be_forced(steps) {
        let at = it.at.0 as f64;
        // The beginning of the stretch lies between these.
        let (from, to) = (at - 2.0 * ramp / (1.0 - loss), at - ramp);
        while let Some((step, next)) = entered.next_if(|(step, _)| step.at.0 as f64 <= to) {
            let lasts = (next.at.0 - step.at.0) as f64;
            let least = (step.least.0 as f64 - loss * lasts).max(0.0);
            while window.back().is_some_and(|it| it.least >= least) {
                window.pop_back();
            }
            window.push_back(Until {
                end: next.at.0 as f64,
                least,
            });
        }
        while window.front().is_some_and(|it| it.end < from) {
            window.pop_front();
        }
        if let Some(first) = window.front() {
            let rise = it.forced.0 as f64 - first.least + loss * (at - from);
            if rise > 0.0 {
                steepest = steepest.max(rise / ramp);
            }
        }
    }
    steepest
}
