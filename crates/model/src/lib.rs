//! The types that trace formats and algorithms share.
//!
//! A format reads a trace into these types, an algorithm computes with them, and
//! the result goes back to the format; neither knows the other. There are no
//! numerics here and no threads.
//!
//! ```text
//!  format crate                                             algorithms
//!     |   TraceInfo     locations, processes, communicators    |
//!     |-- LocationLog   what each location did ---------------->|
//!     |                                                         |
//!     |<- Correction    one ClockMap per clock -----------------|
//!     |   Monitor       progress, and how to stop               |
//! ```
//!
//! | module | concept |
//! |---|---|
//! | `time` | ticks, stamps, rates, spans with units |
//! | `trace` | what a trace is made of |
//! | `role` | the part an event plays in happened-before |
//! | `log`, `log_builder` | what one location did; collected while it is read |
//! | `defect` | what a recording lacks or contradicts |
//! | `clocks` | which locations read one clock |
//! | `map`, `correction`, `saved` | the map of one clock, of all, and as plain data |
//! | `part_correction` | those that a part of a trace needs, for other processes |
//! | `saved_name` | names of files as plain data |
//! | [`mod@format`] | what a trace format has to do |
//! | `monitor` | progress and cancelling |
//! | [`presence`], `access`, `version` | the kind of a path; owner and permissions of a copy; changes of a file since it was opened |
//! | [`packed`] | columns of numbers as bytes, for other processes |
//! | `near` | galloping search from the last answer |
//! | `open` | operations that have begun under a number and are not over |
//! | `words` | numbers with their nouns |

mod access;
mod attributes;
mod bandwidth;
mod clocks;
mod copy;
mod correction;
mod defect;
mod distance;
mod event_times;
mod foresight;
pub mod format;
mod hashing;
mod holes;
mod implementation;
mod lasting;
mod link;
mod log;
mod log_builder;
mod log_node;
mod map;
mod modified;
mod monitor;
mod near;
mod open;
mod originals;
pub mod pace;
pub mod packed;
mod part_correction;
pub mod presence;
mod printable;
mod regular;
mod role;
mod saved;
mod saved_name;
mod time;
mod trace;
mod version;
mod words;

pub use access::Access;
pub use attributes::UserAttributes;
pub use bandwidth::{Bandwidth, ParseBandwidthError};
pub use clocks::{ClockId, Clocks};
pub use copy::{copy_file, resemble, resemble_opened};
pub use correction::Correction;
pub use defect::{Defect, DefectCount, Defects, Place};
pub use distance::MinimalDistance;
pub use event_times::EventTimes;
pub use hashing::{FileMap, Keyed, KeyedHasher};
pub use holes::{Holes, Part};
pub use implementation::Implementation;
pub use lasting::{HeldLater, Lasted, Overlap};
pub use link::{LeadsOut, link_inside, make_link, stays_inside};
pub use log::{
    ANY_TIME, Accepted, Call, ChannelIndex, ChannelPlace, Length, LocationLog, LogColumns,
    LogError, NO_CALL, NamedLength, NamedMessage, NamedOperation, OperationPart,
};
pub use log_builder::LogBuilder;
pub use log_node::LogNode;
pub use map::{ClockMap, Knot, MapCursor, MapError, Step};
pub use modified::Modified;
pub use monitor::{Cancelled, Monitor, Watched};
pub use near::partition_point_near;
pub use originals::{Originals, StampLog};
pub use part_correction::PartCorrection;
pub use printable::{printable, printable_path};
pub use regular::{NotRegular, open_regular, open_unlinked};
pub use role::{Class, Collective, Message, MessageId, Operation, OperationId, Role, Root};
pub use saved::{SavedClock, SavedDistance, SavedError, SavedKnot};
pub use saved_name::SavedName;
pub use time::{Delay, ParseDelayError, TickRate, Ticks, Timestamp, format_seconds};
pub use trace::{
    ClockSetBack, Communicator, Location, LocationIndex, Members, Process, TraceInfo,
    without_exported_ids,
};
pub use version::Version;
pub use words::{group_digits, plural};
