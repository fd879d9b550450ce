//! Training jobs as files. One binary, so that it is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]

mod kineto;
