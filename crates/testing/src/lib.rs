//! Test equipment: small traces in a line each, and training jobs as Kineto files.
//!
//! For the tests of retime and of its parts. This crate knows nothing of corrections, and
//! nothing that corrects depends on it, but for tests. [`trace()`] makes what a format reads
//! of a few events from a text notation:
//!
//! ```
//! use retime_testing::trace;
//! let trace = trace(
//!     "0: send 1 @100, barrier @150..151, receive 1 @250
//!      1: receive 0 @130, send 0 @180, barrier @200..201",
//! )?;
//! assert_eq!((trace.info.locations.len(), trace.logs.len()), (2, 2));
//! # Ok::<(), retime_testing::NotationError>(())
//! ```
#![cfg_attr(
    feature = "kineto",
    doc = "\n[`kineto`] simulates training jobs of PyTorch and writes them as its profiler does; [`perfetto`] makes packets of such files."
)]

pub mod effort;
#[cfg(feature = "kineto")]
pub mod kineto;
pub mod notation;
#[cfg(feature = "kineto")]
pub mod perfetto;

pub use effort::Effort;
pub use notation::{NotationError, SmallTrace, trace};
