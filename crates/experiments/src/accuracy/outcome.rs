//! How near to the truth a method comes.

use std::time::Instant;

use retime::causality::check;
use retime::{Accuracy, MinimalDelay, Ticks};

use super::bound::Bound;
use super::case::Trace;
use super::method::{Method, Solved};
use crate::simulated::Failure;

/// The accuracy of a method on a trace, and its price. Errors are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Mean absolute error of the times of events, without the straight line over true
    /// time that they have in common.
    pub error: f64,
    /// The largest.
    pub largest: f64,
    /// Mean absolute error without their common mean only.
    pub plain: f64,
    /// Mean absolute error of the delays of messages.
    pub delay_error: f64,
    /// Dependencies whose effect is still stamped before its cause.
    pub violated: u64,
    /// The time that the method took, in seconds.
    pub seconds: f64,
    /// The stated bound of the errors, of the default pipeline.
    pub bound: Option<Bound>,
}

/// Runs a method over a trace; the inner error says why it has no solution.
pub fn measure(trace: &Trace, method: &Method) -> Result<Result<Outcome, String>, Failure> {
    let start = Instant::now();
    let solved = method.run(trace);
    let seconds = start.elapsed().as_secs_f64();
    let Solved { times, solution } = match solved {
        Ok(solved) => solved,
        Err(reason) => return Ok(Err(reason)),
    };
    let stamps = times.nodes().timestamps();
    let none = MinimalDelay::Uniform(Ticks(0));
    let (causality, clocks) = (trace.analysis.causality(), trace.analysis.clocks());
    let left = check(causality, clocks, &none, stamps, &())?;
    let accuracy = Accuracy::measure(causality, stamps, &trace.truth)?;
    Ok(Ok(Outcome {
        error: accuracy.relative.mean_abs,
        largest: accuracy.relative.max,
        plain: accuracy.synchronization.mean_abs,
        delay_error: accuracy.message_delay.mean_abs,
        violated: left.violated(),
        seconds,
        bound: solution
            .and_then(|solution| Bound::measure(trace, &solution).transpose())
            .transpose()?,
    }))
}
