//! Programs to simulate.
//!
//! A [`Scenario`] says who runs where and what happens when, in true time; an
//! [`Experiment`](crate::Experiment) adds clocks and turns it into a trace.

pub(crate) mod finite_elements;
mod machine;
pub(crate) mod opposing;
pub(crate) mod producer_consumer;
pub(crate) mod random_traffic;
pub(crate) mod ring;

use crate::{
    event::Sink,
    failure::{Error, Result},
    layout::Layout,
};

/// A simulated parallel program.
pub trait Scenario {
    /// Where its processes run.
    fn layout(&self) -> Layout;

    /// The number that its randomness derives from.
    fn seed(&self) -> u64;

    /// Runs it. The same configuration gives the same events.
    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics>;
}

/// How long a program runs: until it has reached all of these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Length {
    /// Iterations of whatever the program repeats.
    pub iterations: u64,
    /// Events of all locations together.
    pub events: u64,
    /// Nanoseconds of true time.
    pub time: u64,
}

impl Length {
    /// So many iterations.
    pub const fn iterations(iterations: u64) -> Self {
        Self {
            iterations,
            events: 0,
            time: 0,
        }
    }

    /// At least so many events.
    pub const fn events(events: u64) -> Self {
        Self {
            iterations: 0,
            events,
            time: 0,
        }
    }

    /// At least so many nanoseconds.
    pub const fn time(nanoseconds: u64) -> Self {
        Self {
            iterations: 0,
            events: 0,
            time: nanoseconds,
        }
    }

    /// True if a program that got so far must go on.
    pub(crate) fn goes_on(&self, iterations: u64, events: u64, time: u64) -> bool {
        iterations < self.iterations || events < self.events || time < self.time
    }
}

/// The size of a simulation that was run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Events of all locations.
    pub events: u64,
    /// Messages sent and received.
    pub messages: u64,
    /// Collective operations.
    pub collectives: u64,
    /// True time of the last event, in nanoseconds.
    pub end: u64,
    /// The shortest true time from a cause to its effect, in nanoseconds: from
    /// sending a message to having received it, from the last begin of a
    /// collective operation to an end.
    pub least_delay: Option<u64>,
}

impl Statistics {
    /// An effect came so much after its cause.
    pub(crate) fn delayed(&mut self, after: u64) {
        self.least_delay = Some(self.least_delay.map_or(after, |least| least.min(after)));
    }
}

/// Fails if one of the sizes is zero.
pub(crate) fn none_is_zero<const N: usize>(sizes: [(&'static str, u64); N]) -> Result<()> {
    match sizes.into_iter().find(|it| it.1 == 0) {
        Some((what, _)) => Err(Error::Zero(what)),
        None => Ok(()),
    }
}
