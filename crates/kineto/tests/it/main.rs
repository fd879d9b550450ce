//! Runs of several ranks, simulated with known truth and recorded.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]

mod oracle;
mod simulated;
mod truth;
