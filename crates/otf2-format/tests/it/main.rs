//! OTF2 archives through the trait of formats.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "failing is how a test reports"
)]

mod accelerators;
#[path = "../../../otf2/tests/it/common/mod.rs"]
mod common;
mod contract;
mod describe;
mod hybrid_programs;
mod operations;
mod postings;
mod ranks;
mod recognise;
mod scan;
mod synchronous;
mod thread_programs;
mod threads;
mod two_ranks;
mod unused;
mod windows;
