//! Every scenario in memory and as archive, and the experiments of the papers
//! by plain formulas. One binary, so that it is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::print_stderr,
    reason = "failing is how a test reports"
)]

mod bounds;
mod halo;
#[path = "../../../otf2/tests/it/judge/mod.rs"]
mod judge;
mod lasting;
mod papers;
mod program;
mod scenarios;
