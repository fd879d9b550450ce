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
mod all_events;
mod all_events_shared;
mod amortization;
mod auto;
mod backward;
mod bounds_by_hand;
mod cancel;
mod clock;
mod common;
mod composition;
mod defects;
mod extremes;
mod far_apart;
mod formulas;
mod gaps;
mod gentlest_rounding;
mod grouping;
mod limiting;
mod loose;
mod maps;
mod matching;
mod multi_pass;
mod optimal;
mod optimal_lp;
mod order;
mod origins;
mod overlaps;
mod pairing;
mod papers;
mod piggyback;
mod pipeline;
mod processes;
mod reference;
mod repair;
mod set_back;
mod shared;
mod shared_operations;
mod silent;
mod steps;
mod stragglers;
mod theorems;
mod thread_waits;
mod unamortized;
mod usage;
mod worlds;
