//! Whatever the number of processes, a trace is read and written as by one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]

mod failures;
mod hybrid;
mod nodes;
mod profiles;
mod same;
mod team;
