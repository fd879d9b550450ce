//! libretime from outside: its header, its symbols, and programs in C, C++ and Fortran.
//!
//! `make test-capi` builds the libraries first, which lie two directories above the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests only"
)]

mod examples;
mod header;
mod machine;
mod programs;
mod symbols;
