//! The figures of the papers, with tolerances. One binary, so that it is
//! linked once.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "failing is how a test reports, and some show their figures"
)]

mod accuracy;
mod assumed_delay;
mod asymmetry;
mod conditions;
mod curves;
mod features;
mod finite_elements;
mod global_receive;
mod minute;
mod pseudo_sync;
mod recurrence;
mod ring;
mod runaway;
mod set_clocks;
mod strict;
mod transfer_rates;
mod variable_rates;
