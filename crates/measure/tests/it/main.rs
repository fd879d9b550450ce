//! Tests of the crate, in one binary.

#![allow(clippy::unwrap_used, reason = "failing is how a test reports")]

mod simulated;
