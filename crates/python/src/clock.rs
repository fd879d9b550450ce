//! The controlled logical clock inside an application, for Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retime::TickRate;
use retime::clock::PiggybackStamp;

/// The clock of one process, by the stamps that messages carry. Times are ticks of its
/// physical clock.
#[pyclass(module = "retime")]
pub(crate) struct PiggybackClock(retime::clock::PiggybackClock);

/// A tick rate that Python gave.
pub(crate) fn rate(ticks_per_second: u64) -> PyResult<TickRate> {
    let rate = TickRate::per_second(ticks_per_second);
    rate.ok_or_else(|| {
        PyValueError::new_err("give ticks_per_second above 0, such as 1_000_000_000")
    })
}

#[pymethods]
impl PiggybackClock {
    /// A clock in a network whose messages take at least `min_delay` ticks.
    #[new]
    #[pyo3(signature = (ticks_per_second=1_000_000_000, min_delay=0))]
    fn new(ticks_per_second: u64, min_delay: i64) -> PyResult<Self> {
        if min_delay < 0 {
            return Err(PyValueError::new_err("no message takes less than 0 ticks"));
        }
        let clock = retime::clock::PiggybackClock::new(rate(ticks_per_second)?, min_delay);
        Ok(Self(clock))
    }

    /// The controlled time of a local event at a physical time.
    fn local(&mut self, physical: i64) -> i64 {
        self.0.local(physical)
    }

    /// The stamp that a message sent at a physical time has to carry: the values of the
    /// simple and of the controlled clock.
    fn send(&mut self, physical: i64) -> (i64, i64) {
        let stamp = self.0.send(physical);
        (stamp.simple, stamp.controlled)
    }

    /// The controlled time of receiving a message with a stamp at a physical time.
    fn receive(&mut self, physical: i64, stamp: (i64, i64)) -> i64 {
        let (simple, controlled) = stamp;
        self.0
            .receive(physical, PiggybackStamp { simple, controlled })
    }
}
