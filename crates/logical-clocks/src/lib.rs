//! Logical clocks that repair a trace, and what smooths their jumps.
//!
//! For readers of Lamport 1978, Rabenseifner 1997 and 2000, Becker 2010 and Linford 2007. Nothing
//! here knows how clocks are aligned, how far times can be from the truth, or of any file.
//!
//! A logical clock goes through the events of a trace in causal order and gives
//! each a time that no dependency contradicts. The clocks differ in how a clock
//! that was forced ahead of its physical clock goes on:
//!
//! | clock | goes on |
//! |---|---|
//! | [`lamport`] | counts events; no physical time at all |
//! | [`simple`] | stands still until physical time has caught up |
//! | [`controlled`] | advances by a constant share gamma of physical intervals |
//! | [`multi_pass`] | the same, with the largest of some gammas that keeps leads small |
//! | [`regulated`] | gamma is controlled, event by event: [`Control`] |
//! | [`PiggybackClock`] | simple or controlled, inside a running application |
//!
//! All of them jump where a dependency forces them ahead. [`amortize`] spreads the
//! jumps over the events before, as far as their messages allow, and makes one
//! [`ClockMap`](retime_model::ClockMap) per clock of it; [`unamortized`] leaves them as they are.
//! [`mirror_back`] turns the run over a mirrored trace into a run backwards.

mod amortization;
mod backward;
mod collective_state;
mod controlled;
mod controller;
mod correction;
mod cycle;
mod error;
mod exchange;
mod gamma;
mod in_time;
mod lamport;
mod law;
mod lead;
mod lost;
mod multi_pass;
mod operations;
mod part;
mod piggyback;
mod printed;
mod regulated;
mod run;
mod simple;
mod stamp;
mod stepper;
mod taking_part;
mod tied;
mod times;
mod unamortized;

pub use amortization::{
    AmortizationMethod, AmortizationRate, PrintedRamp, RateError, amortize, amortize_as_printed,
    amortize_with_ramp,
};
pub use backward::mirror_back;
pub use controlled::controlled;
pub use controlled::controlled_by_guess;
pub use controller::{Combined, CombinedConstants, Degressive, DegressiveConstants};
pub use correction::{
    CorrectionError, MapBuilder, Point, add_bends, add_known, arrives, compose, leaves,
};
pub use cycle::Cycle;
pub use error::ClockError;
pub use gamma::{Gamma, GammaError};
pub use lamport::{lamport, lamport_order};
pub use lead::Lead;
pub use lost::Lost;
pub use multi_pass::passes;
pub use multi_pass::{MultiPass, Passes, multi_pass};
pub use piggyback::PiggybackClock;
pub use printed::printed_ramps;
pub use regulated::{Control, Controllers, Regulation, Steps, regulated};
pub use simple::simple;
pub use stamp::{PiggybackStamp, PiggybackStamps};
pub use taking_part::TakingPart;
pub use times::LogicalTimes;
pub use unamortized::unamortized;
