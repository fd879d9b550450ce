//! Runs of several ranks, simulated with known truth and recorded.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]

mod arrows;
mod beside;
mod compiled;
mod devices;
mod lasting;
mod lengths;
mod nested;
mod numbers;
mod oracle;
mod other_runs;
mod overlaps;
mod parallelisms;
mod set_clocks;
mod simulated;
mod spelling;
mod truth;
