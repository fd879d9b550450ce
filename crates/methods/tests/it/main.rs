//! The methods of the papers against slow plain definitions and by hand. One binary, so
//! that it is linked once.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::indexing_slicing,
    reason = "tests only"
)]

mod a_priori;
mod adjusted;
mod cancel;
#[path = "../../../retime/tests/it/common/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the tests of retime need more of it"
)]
mod common;
mod drifting;
mod extended;
mod extremes;
mod growing_sync;
mod interpolation;
mod min_max;
mod pair_lines;
mod pseudo_sync;
mod round_trips;
mod spanning_tree;
