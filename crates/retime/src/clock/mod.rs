//! Logical clocks that repair a trace, and what smooths their jumps.

mod amortization;
mod collective_state;
mod controlled;
mod controller;
mod cycle;
mod gamma;
mod lead;
mod taut_string;

pub use amortization::{AmortizationRate, RateError, amortize};
pub use controlled::{LogicalTimes, controlled};
pub use controller::{Combined, CombinedConstants, Degressive, DegressiveConstants};
pub use cycle::Cycle;
pub use gamma::{Gamma, GammaError};
pub use taut_string::{Gate, taut_string};
