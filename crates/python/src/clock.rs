//! The logical clocks inside an application, for Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retime::TickRate;
use retime::causality::Class;
use retime::clock::{PiggybackStamp, TakingPart};

/// The clock of one process, by the stamps that messages and collective operations carry. Times
/// are ticks of its physical clock.
#[pyclass(module = "retime")]
pub(crate) struct PiggybackClock(retime::clock::PiggybackClock);

/// A tick rate that Python gave.
pub(crate) fn rate(ticks_per_second: u64) -> PyResult<TickRate> {
    let rate = TickRate::per_second(ticks_per_second);
    rate.ok_or_else(|| {
        PyValueError::new_err("give ticks_per_second above 0, such as 1_000_000_000")
    })
}

/// The classes of operations by the names that `retime stream` has for them.
fn class(name: &str) -> PyResult<Class> {
    match name {
        "all-to-all" => Ok(Class::AllToAll),
        "from-root" => Ok(Class::OneToAll),
        "to-root" => Ok(Class::AllToOne),
        "scan" => Ok(Class::Prefix),
        "none" => Ok(Class::None),
        _ => Err(PyValueError::new_err(format!(
            "there is no class \"{name}\" of operations: give all-to-all, from-root, to-root, scan or none"
        ))),
    }
}

#[pymethods]
impl PiggybackClock {
    /// A clock in a network whose messages take at least `min_delay` ticks: while it is ahead of
    /// its physical clock, a controlled one goes on more slowly, and a simple one stands still.
    #[new]
    #[pyo3(signature = (ticks_per_second=1_000_000_000, min_delay=0, kind="controlled"))]
    fn new(ticks_per_second: u64, min_delay: i64, kind: &str) -> PyResult<Self> {
        if min_delay < 0 {
            return Err(PyValueError::new_err("no message takes less than 0 ticks"));
        }
        let rate = rate(ticks_per_second)?;
        match kind {
            "controlled" => Ok(Self(retime::clock::PiggybackClock::new(rate, min_delay))),
            "simple" => Ok(Self(retime::clock::PiggybackClock::simple(min_delay))),
            _ => Err(PyValueError::new_err(format!(
                "there is no kind \"{kind}\" of clocks: give controlled or simple"
            ))),
        }
    }

    /// The logical time of a local event at a physical time.
    fn local(&mut self, physical: i64) -> i64 {
        self.0.local(physical)
    }

    /// The logical time at a physical time that is no event: the clock goes on as if nobody had
    /// asked.
    fn now(&self, physical: i64) -> i64 {
        self.0.now(physical)
    }

    /// The stamp that a message sent at a physical time has to carry: the values of the
    /// simple clock and of the one that was asked for.
    fn send(&mut self, physical: i64) -> (i64, i64) {
        let stamp = self.0.send(physical);
        (stamp.simple, stamp.controlled)
    }

    /// The logical time of receiving a message with a stamp at a physical time.
    fn receive(&mut self, physical: i64, stamp: (i64, i64)) -> i64 {
        let (simple, controlled) = stamp;
        self.0
            .receive(physical, PiggybackStamp { simple, controlled })
    }

    /// The stamp that the process gives when it enters a collective operation at a physical
    /// time; None if nobody waits for it. `operation` is its class: all-to-all (as a barrier),
    /// from-root (as a broadcast), to-root (as a reduction), scan or none.
    #[pyo3(signature = (physical, operation, *, root=false))]
    fn enter(
        &mut self,
        physical: i64,
        operation: &str,
        root: bool,
    ) -> PyResult<Option<(i64, i64)>> {
        let part = TakingPart::of(class(operation)?, root);
        let stamp = self.0.enter(physical, part);
        Ok((stamp != PiggybackStamp::NOTHING).then_some((stamp.simple, stamp.controlled)))
    }

    /// The logical time of leaving a collective operation at a physical time. `others` are the
    /// stamps of those for which the process waits, without its own: all others, the root, or
    /// the lower ranks; None among them is nobody.
    #[pyo3(signature = (physical, operation, others=Vec::new(), *, root=false))]
    fn leave(
        &mut self,
        physical: i64,
        operation: &str,
        others: Vec<Option<(i64, i64)>>,
        root: bool,
    ) -> PyResult<i64> {
        let part = TakingPart::of(class(operation)?, root);
        let stamps = others.into_iter().flatten();
        let stamps = stamps.map(|(simple, controlled)| PiggybackStamp { simple, controlled });
        let heard = stamps.fold(PiggybackStamp::NOTHING, PiggybackStamp::merged);
        Ok(self.0.leave(physical, part, heard))
    }
}
