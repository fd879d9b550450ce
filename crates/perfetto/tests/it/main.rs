//! Perfetto's packets as a trace format.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "failing is how a test reports"
)]

mod damage;
mod files;
mod foreign;
mod inner;
mod same_job;
mod stages;
