//! Archives as the library reads, corrects and writes them, with the OTF2
//! tools as judge. One binary, so that it is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "failing is how a test reports"
)]

mod common;
mod decode;
mod golden;
mod judge;
mod otf2_print;
mod real;
mod relayout;
mod rewrite;
mod rewrite_damage;
mod rewrite_extent;
mod rewrite_growth;
mod rewriting;
mod robust;
mod trace;
mod typed;
mod wire;
mod writer;
mod writer_framing;
