//! What is compared.

use retime::Correction;
use retime::clock::{AmortizationRate, Gamma, amortize, controlled};

use super::case::Trace;

/// A way of correcting a trace, with the defaults of the command.
#[derive(Clone, Copy)]
pub struct Method {
    /// One word, as on the command line where it has one.
    pub name: &'static str,
    /// Runs it; `None` leaves the recorded times, and an error says why there is
    /// no correction.
    pub run: fn(&Trace) -> Result<Option<Correction>, String>,
}

/// All of them; the first two are what the others are compared with.
pub const METHODS: &[Method] = &[
    Method {
        name: "raw",
        run: |_| Ok(None),
    },
    Method {
        name: "clc",
        run: clc,
    },
];

/// The controlled logical clock, amortised, from the recorded times.
fn clc(trace: &Trace) -> Result<Option<Correction>, String> {
    let Trace {
        info,
        causality,
        clocks,
        delay,
        ..
    } = trace;
    let times = controlled(causality, clocks, delay, Gamma::default())
        .map_err(|cycle| cycle.describe(info))?;
    let rate = AmortizationRate::default();
    Ok(Some(amortize(causality, clocks, delay, rate, &times)))
}
