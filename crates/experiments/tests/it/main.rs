//! The figures of the papers, with tolerances. One binary, so that it is
//! linked once.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "failing is how a test reports, and some show their figures"
)]

mod accuracy;
mod assumed_delay;
mod features;
mod finite_elements;
mod minute;
mod recurrence;
mod ring;
mod runaway;
mod variable_rates;
