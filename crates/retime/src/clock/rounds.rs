//! A logical clock over a part of a trace.
//!
//! The values of [ghosts](crate::causality::Whole) are computed in other parts, and those of
//! own events may follow from them. So the clock runs with what is known of ghosts, hears
//! what the others have come to, and runs again until nothing changes:
//!
//! ```text
//!  x_0 = own times of ghosts,   x_(k+1) = what their parts compute with x_k
//! ```
//!
//! What follows from what has no cycles, so all values are then those of the whole trace. How
//! parts tell each other is up to [`Rest::iterate`](crate::causality::Rest).
//!
//! Sources: Linford 2007, section 4 (parallel replay); the rounds are Jacobi's iteration
//! for an acyclic system (Bertsekas, Tsitsiklis: *Parallel and Distributed Computation*,
//! section 6.1).

use super::error::ClockError;
use super::operations::bounds_of_ends;
use super::times::LogicalTimes;
use crate::causality::{Causality, Ghosts, Iteration};
use crate::delay::MinimalDelay;
use retime_model::{Cancelled, Monitor};

/// A clock that runs as often as something new is known of ghosts.
struct Rounds<'a, F> {
    causality: &'a Causality,
    delay: &'a MinimalDelay,
    monitor: &'a dyn Monitor,
    run: F,
    times: Option<LogicalTimes>,
}

/// Runs a clock, given what is known of ghosts, until that does not change any more.
pub(super) fn in_rounds(
    causality: &Causality,
    delay: &MinimalDelay,
    monitor: &dyn Monitor,
    run: impl Fn(&Ghosts) -> Result<LogicalTimes, ClockError>,
) -> Result<LogicalTimes, ClockError> {
    let Some(rest) = causality.whole().rest() else {
        return run(&Ghosts::default());
    };
    let mut rounds = Rounds {
        causality,
        delay,
        monitor,
        run,
        times: None,
    };
    rest.iterate(&mut rounds)?;
    let mut times = rounds.times.ok_or(Cancelled)?;
    times.jumped = causality.whole().all_reduce(times.jumped);
    rest.check()?;
    Ok(times)
}

impl<F: Fn(&Ghosts) -> Result<LogicalTimes, ClockError>> Iteration for Rounds<'_, F> {
    fn recorded(&self) -> Vec<i64> {
        let nodes = self.causality.nodes();
        nodes.all().map(|node| nodes.time(node).0).collect()
    }

    fn compute(&mut self, ghosts: &Ghosts) -> Result<bool, Cancelled> {
        match (self.run)(ghosts) {
            Err(ClockError::Cancelled(cancelled)) => Err(cancelled),
            found => {
                self.times = found.ok();
                Ok(self.times.is_some())
            }
        }
    }

    fn values(&mut self) -> &mut [i64] {
        let times = self.times.as_mut();
        times.map_or(&mut [], |it| &mut it.values)
    }

    fn bounds(&self) -> Result<Vec<i64>, Cancelled> {
        let bounds =
            |values: &[i64]| bounds_of_ends(self.causality, self.delay, values, self.monitor);
        match &self.times {
            Some(times) => bounds(&times.values),
            None => bounds(&self.recorded()),
        }
    }
}
