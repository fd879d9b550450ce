//! Files of JSON lines: what they say, how they are rewritten and restored, what is
//! wrong with bad ones. One binary, so that it is linked once.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests only"
)]

mod bad;
mod common;
mod damage;
mod files;
mod locations;
mod meaning;
mod programs;
mod recognise;
mod rows;
mod simulated;
