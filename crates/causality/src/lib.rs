//! Happened-before: which events must follow which, whatever the clocks say.
//!
//! It answers which event follows which, and why one was not used. Nothing here knows how clocks are
//! corrected; of files, formats and the processes that share a trace it knows as little: those
//! that have other parts of it are behind one trait, [`Rest`].
//!
//! ```text
//!  per location (parallel)          whole trace
//!  LocationLog --+--> Nodes         columns of all events with a role
//!  LocationLog --+--> partners      send <-> receive        (point_to_point, named;
//!                |                  channels, doubtful, posting_order, lengths, gaps)
//!  LocationLog --+--> Collectives   begins and ends by call (joining, teams, named)
//!                +--> Defects       what did not match
//!                +--> Usage         how much of what was recorded counts
//! ```
//!
//! [`Causality::build`] joins the logs of all locations, or those of a [part](Whole) of them. The
//! result is small: 17 bytes per event with a role; dependencies of collectives stay implicit.
//! [`check`] says which dependencies given times contradict, [`edges`] lists those between
//! different clocks for estimators of how these differ, and [`order`] takes all events one after
//! the other, causes first. The least time that an effect needs is a [`MinimalDelay`].
//!
//! ```
//! use retime_causality::{Causality, MinimalDelay, check};
//! use retime_model::{Clocks, Ticks};
//! use retime_testing::trace;
//!
//! // Received at 95 what was sent at 100.
//! let trace = trace("0: send 1 @100\n1: receive 0 @95")?;
//! let causality = Causality::build(&trace.info, trace.logs, Default::default())?;
//! let (clocks, delay) = (Clocks::each_location(2), MinimalDelay::Uniform(Ticks(0)));
//! let recorded = causality.nodes().timestamps();
//! let found = check(&causality, &clocks, &delay, recorded, &())?;
//! assert_eq!(found.violated(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod all_columns;
mod all_events;
mod awaited;
mod building;
mod calls;
mod channels;
mod check;
mod collectives;
pub mod delay;
mod doubtful;
pub mod edges;
mod endpoints;
mod error;
mod fate;
mod gaps;
mod happened_before;
mod holders;
mod ids;
mod joining;
mod lengths;
pub mod merge;
mod message_lengths;
mod message_waits;
mod mirror;
mod named;
mod nodes;
mod noted;
mod options;
pub mod order;
mod overlaps;
mod pairing_doubt;
mod partner;
mod point_to_point;
mod posting_order;
mod queue;
mod synchronous;
mod teams;
mod usage;
mod whole;
mod window;
mod within_families;

pub use all_events::{AllEvents, OtherEvents};
pub use awaited::{AwaitedMessage, Hold};
pub use building::{Incomplete, PartLogs, lacking_begins};
pub use check::{Check, DependencyKind, PairTally, Tally, Violation, check};
pub use collectives::{Collectives, JoinedOperation, Participant};
pub use delay::{DelayByLength, DelayTable, MinimalDelay, PairClass};
pub use edges::{Edge, Edges, PairEdges};
pub use endpoints::{by_endpoint, endpoint};
pub use error::{CausalityError, RetimingError};
pub use fate::{Fate, Fates, Recorded, Records, Unused};
pub use happened_before::Causality;
pub use ids::{EventNode, Id, Ids, Instance, PackedOption, Slot};
pub use joining::{Outcome, Turns};
pub use nodes::{Extent, Nodes};
pub use options::CausalityOptions;
pub use overlaps::OverlappedSpan;
pub use pairing_doubt::PairingDoubt;
pub use retime_model::{
    Call, Class, Collective, Defect, DefectCount, Defects, Implementation, Length, LocationLog,
    LogBuilder, LogColumns, LogError, LogNode, Message, MessageId, Operation, OperationId,
    OperationPart, Place, Role, Root,
};
pub use usage::{Usage, Used};
pub use whole::{
    ComputedEvent, Ghosts, MergedValue, NeedsWhole, Partial, Progress, Reached, Replay, Rest,
    Stage, Whole,
};
pub use within_families::used_within;
