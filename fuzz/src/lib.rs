//! Random and damaged input for every reader of retime.
//!
//! A [target](targets) takes bytes, hands them to a part of retime, and panics if that
//! breaks a promise: not only by crashing, but also by accepting what it then cannot
//! write and restore. It returns what became of the input in a few words. Inputs come
//! from [seeds](targets::Target::seeds), which are small sound ones, by
//! [mutation](mutate); one after which something is said that nobody said before is
//! mutated further.
//!
//! ```text
//! seeds --> mutate --> target --> "refused: chunk without an end mark"
//!   ^                                | said for the first time?
//!   +--------------------------------+
//! ```
//!
//! That stands in for the coverage that libFuzzer goes by, which takes a compiler with
//! instrumentation; so this runs wherever the rest does. The same seed gives the same
//! inputs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "to panic is how a target says that a promise is broken"
)]

pub mod mutate;
pub mod random;
pub mod run;
pub mod targets;
