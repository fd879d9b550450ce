//! The common time where the reference itself was set.
//!
//! The first part of the reference shows the common time. After a step it is only
//! one clock among others, tied to its own past by what these say; but a clock that
//! is set runs on as fast as before. So the common time is put right such that the
//! reference, less its steps, shows it all along:
//!
//! ```text
//! y(C)                          what has to be added to the reference, parts joined
//! J(C) = jumps of y up to C     its steps undone
//! z(C + y(C)) = J(C) - y(C)     to be added to all times
//! ```

use crate::ClockStep;
use retime_clocks::estimate::{Estimate, Offset};

/// Puts the time of the reference, less its steps, in the place of the common time.
pub(crate) fn unset(mut estimate: Estimate, steps: &[ClockStep]) -> Estimate {
    let reference = estimate.reference;
    let own = estimate.offsets.get(reference.as_usize());
    let Some(Some(offset)) = own else {
        return estimate;
    };
    let jumps = jumps(offset, steps.iter().filter(|it| it.clock == reference));
    let change = |&(stamp, add): &(i64, f64)| {
        let common = stamp.saturating_add(add.round() as i64);
        (common, jumps.at(stamp) - add)
    };
    let change: Vec<(i64, f64)> = offset.knots().iter().map(change).collect();
    if change.iter().all(|it| it.1 == 0.0) {
        return estimate;
    }
    if let Some(changed) = estimate.onto(&Offset::through(change)) {
        estimate = changed;
    }
    if let Some(own) = estimate.offsets.get_mut(reference.as_usize()) {
        *own = Some(jumps);
    }
    estimate
}

/// Constant but for jumps, nothing before the first.
fn jumps<'a>(offset: &Offset, steps: impl Iterator<Item = &'a ClockStep>) -> Offset {
    let mut sum = 0.0;
    let mut knots = Vec::new();
    for step in steps {
        knots.push((step.after, sum));
        sum += offset.at(step.until) - offset.at(step.after);
        knots.push((step.until, sum));
    }
    if knots.is_empty() {
        return Offset::constant(0.0);
    }
    Offset::through(knots).with_steps(offset.steps())
}
