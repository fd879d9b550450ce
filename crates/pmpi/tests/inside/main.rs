//! Programs in C and Fortran under the built library; run by `make test-pmpi`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "failing is how a test reports"
)]

mod applications;
mod calls;
mod events;
mod offsets;
mod riding;
mod running;
