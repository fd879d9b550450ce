//! Documents put together, read by readers of their own.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]

mod archived;
mod carried;
mod document;
mod json;
mod perfetto;
mod read_back;
