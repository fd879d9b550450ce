//! What is written, read again by readers that know nothing of the writers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]

mod arrows;
mod clipped;
mod picture;
mod program;
mod random;
mod read_back;
