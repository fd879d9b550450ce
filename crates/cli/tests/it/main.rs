//! The built command, run as its users run it. One binary, so that it is
//! linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "failing is how a test reports"
)]

mod accelerators;
mod access;
mod apart;
#[path = "../../../otf2/tests/it/common/mod.rs"]
mod archives;
mod bad_data;
mod bounds;
mod common;
mod compare;
mod documents;
mod examined;
mod experiments;
mod explain;
mod export;
mod faults;
mod flips;
mod fuzz_like;
mod given_delay;
mod golden;
mod hidden_waits;
mod hosts;
mod html;
mod json_lines;
mod kineto;
mod layout;
mod left_devices;
mod licences;
mod likely_stragglers;
mod links;
mod live;
mod make;
mod manners;
mod memory;
mod merge;
mod merge_unrelated;
mod merged;
mod merged_again;
mod message_waits;
mod methods;
mod minimal_delays;
mod modified;
mod names;
mod open_files;
mod order;
mod origin;
mod own_format;
mod own_method;
mod pages;
mod perfetto;
mod races;
mod real_profiles;
mod real_traces;
mod recordings;
mod rooted_waits;
mod set_clocks;
mod shared;
mod silent;
mod simulate;
mod simulated_jobs;
mod slow_together;
mod special;
mod staging;
mod stragglers;
mod strangers;
mod stream;
mod stream_ends;
mod stream_segments;
mod thread_waits;
mod time_of_day;
mod truth;
mod unconnected;
mod unrelated;
mod verdicts;
mod view;
mod waits;
