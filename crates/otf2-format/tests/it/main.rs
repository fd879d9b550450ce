//! OTF2 archives through the trait of formats.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "failing is how a test reports"
)]

#[path = "../../../otf2/tests/it/common/mod.rs"]
mod common;
mod contract;
mod describe;
mod postings;
mod ranks;
mod recognise;
mod scan;
mod synchronous;
mod unused;
mod windows;
