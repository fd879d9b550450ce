//! The library on simulated programs with known truth, against slow plain
//! definitions and by hand. One binary, so that it is linked once.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::indexing_slicing,
    reason = "tests only"
)]

mod align;
mod amortization;
mod auto;
mod backward;
mod bounds_by_hand;
mod cancel;
mod clock;
mod common;
mod composition;
mod defects;
mod extended;
mod extremes;
mod filter;
mod filter_online;
mod formulas;
mod gentlest_rounding;
mod grouping;
mod interpolation;
mod limiting;
mod maps;
mod matching;
mod min_max;
mod multi_pass;
mod optimal;
mod optimal_lp;
mod order;
mod pair_lines;
mod pairing;
mod pipeline;
mod pseudo_sync;
mod reference;
mod repair;
mod shared;
mod silent;
mod spanning_tree;
mod stragglers;
mod theorems;
mod usage;
mod worlds;
