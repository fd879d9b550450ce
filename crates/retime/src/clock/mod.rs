//! Logical clocks that repair a trace, and what smooths their jumps.

mod amortization;
mod backward;
mod collective_state;
mod controlled;
mod controller;
mod cycle;
mod gamma;
mod lamport;
mod law;
mod lead;
mod multi_pass;
mod piggyback;
mod regulated;
mod run;
mod simple;
mod taut_string;
mod times;

pub use amortization::{AmortizationRate, RateError, amortize, amortize_with_ramp, unamortized};
pub use backward::mirror_back;
pub use controlled::controlled;
pub use controller::{Combined, CombinedConstants, Degressive, DegressiveConstants};
pub use cycle::Cycle;
pub use gamma::{Gamma, GammaError};
pub use lamport::{lamport, lamport_order};
pub(crate) use lead::Lead;
pub use multi_pass::{MultiPass, Passes, multi_pass};
pub use piggyback::{PiggybackClock, PiggybackStamp};
pub(crate) use regulated::Controllers;
pub use regulated::{Control, Regulation, regulated};
pub use simple::simple;
pub(crate) use taut_string::{Bend, Funnel, interpolate};
pub use taut_string::{Gate, taut_string};
pub use times::LogicalTimes;
