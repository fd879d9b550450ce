//! Profiles of many ranks as one file, of which nothing is lost.
//!
//! ```text
//! Job: documents on one axis, arrows between them
//!    | survey / outline      who is in a document; slices that nest, arrows in it
//!    | placed                numbers that no other document has
//!    v
//!  chrome | perfetto         its events again, one document after the other
//!    | chunks                compressed in parallel
//!    v
//!  a file                    or an archive of documents with a manifest
//! ```
//!
//! A document is a file in Chrome's JSON format, as the profiler of PyTorch writes it. Its
//! events keep their names, categories, arguments, lengths and arrows; processes get numbers
//! of their own, and names that say whose they are. At any time two documents are under way, one
//! that is surveyed and one that is written, and of these some 30 bytes for each event are kept, so
//! memory does not grow with their number.

mod ahead;
mod archive;
mod carried;
mod chrome;
mod chunks;
mod error;
mod flows;
mod ids;
mod inhabitants;
mod job;
mod manifest;
mod member;
mod numbers;
mod outline;
mod packets;
mod perfetto;
mod placed;
mod points;
mod recognised;
mod renumber;
mod roles;
mod slices;
mod spoken;
mod survey;
mod titles;
mod written;

pub use archive::archive;
pub use carried::can_be_carried;
pub use error::MergeError;
pub use job::{Arrow, ArrowEnd, Job, Merged, MergedKind};
pub use manifest::{LONGEST_NAME, MANIFEST, manifest, member_names};
pub use member::Member;
pub use recognised::is_merged;
pub use roles::roles;
pub use written::merge;
