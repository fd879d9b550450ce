//! The filter against the correction of the whole trace, and online. One binary, so that
//! it is linked once.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::indexing_slicing,
    reason = "tests only"
)]

#[allow(
    dead_code,
    unused_imports,
    reason = "the tests of the library use the rest"
)]
#[path = "../../../retime/tests/it/common/mod.rs"]
mod common;
mod like_batch;
mod online;
mod ring;
mod segments;
