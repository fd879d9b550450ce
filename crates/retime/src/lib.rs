//! One global time for traces of parallel and distributed programs.
//!
//! Processes stamp their events with clocks that disagree. This library finds
//! the contradictions in a trace, corrects its time stamps, proves that the result
//! is free of them, and says how far it can be from the truth. It knows no file
//! formats and does no I/O; whoever reads a trace feeds it and applies what it
//! returns:
//!
//! ```text
//!  TraceInfo, LocationLog   what a format reads                      retime_model
//!        |
//!  Causality                which event must follow which            causality (retime_causality)
//!  Clocks                   who reads the same clock                 Grouping (retime_clocks)
//!  Check                    contradictions, as recorded              causality::check
//!        |  together: pipeline::Analysis
//!  Method                   a type with a trait, and its options      pipeline
//!        |
//!  Solution                 one ClockMap per clock, checked          pipeline
//!  Bounds                   how far from the truth times can be      optimal (retime_bounds)
//! ```
//!
//! Start with [`pipeline`]; the algorithms are in [`align`], [`estimate`], [`optimal`] and
//! [`repair`], those of logical clocks in [`clock`], which is `retime_logical_clocks`. All results
//! are the same for any number of threads.
//!
//! # A format of one's own
//!
//! A program writes one line per event: who, when, what, and with whom. Reading
//! that takes forty lines,
//!
//! ```
//! use retime::causality::{LogBuilder, Message};
//! use retime::pipeline::{Analysis, AnalysisOptions, Method};
//! use retime::{Communicator, Location, LocationIndex, Members, Process, TickRate, Timestamp, TraceInfo};
//!
//! /// `RANK TIME send|receive PEER`, times in nanoseconds.
//! struct Event { rank: u32, time: u64, sends: bool, peer: u32 }
//!
//! fn parse(text: &str) -> Option<Vec<Event>> {
//!     let event = |line: &str| {
//!         let words: Vec<&str> = line.split_whitespace().collect();
//!         let &[rank, time, what, peer] = &words[..] else { return None };
//!         Some(Event {
//!             rank: rank.parse().ok()?,
//!             time: time.parse().ok()?,
//!             sends: what == "send",
//!             peer: peer.parse().ok()?,
//!         })
//!     };
//!     text.lines().map(event).collect()
//! }
//!
//! fn describe(ranks: u32) -> Option<TraceInfo> {
//!     let name = |rank: u32| format!("rank {rank}");
//!     let location = |rank: u32| Location {
//!         id: rank.into(),
//!         name: name(rank),
//!         process: rank as usize,
//!         endpoint: LocationIndex(rank),
//!     };
//!     let world = (0..ranks).map(LocationIndex).collect();
//!     Some(TraceInfo {
//!         rate: TickRate::per_second(1_000_000_000)?,
//!         locations: (0..ranks).map(location).collect(),
//!         processes: (0..ranks)
//!             .map(|rank| Process { name: name(rank), node: None, creator: None })
//!             .collect(),
//!         nodes: Vec::new(),
//!         communicators: vec![Communicator { name: "world".into(), members: Members::Ranks(world) }],
//!         streams: vec![],
//!         set_back: vec![],
//!     })
//! }
//! # let text = (0..40).map(|i| {
//! #     let (ping, pong) = (10_000 * i, 10_000 * i + 4_000);
//! #     // The clock of rank 1 is 50 us behind; 60 us are its start.
//! #     format!("0 {} send 1\n1 {} receive 0\n1 {} send 0\n0 {} receive 1\n",
//! #         60_000 + ping, 60_000 + ping + 1_000 - 50_000, 60_000 + pong - 50_000, 60_000 + pong + 1_000)
//! # }).collect::<String>();
//!
//! let events = parse(&text).ok_or("no events")?;
//! let info = describe(2).ok_or("no clock")?;
//! let mut logs = vec![LogBuilder::new(LocationIndex(0)), LogBuilder::new(LocationIndex(1))];
//! let mut stamps: Vec<Vec<u64>> = vec![Vec::new(); 2];
//! for event in &events {
//!     let (log, stamps) = (&mut logs[event.rank as usize], &mut stamps[event.rank as usize]);
//!     let message = Message { communicator: 0, peer: LocationIndex(event.peer), tag: 0 };
//!     let number = stamps.len() as u64;
//!     match event.sends {
//!         true => log.send(number, Timestamp(event.time), message, None),
//!         false => log.receive(number, Timestamp(event.time), message),
//!     }
//!     stamps.push(event.time);
//! }
//! # let ends = |stamps: &[u64]| (Timestamp(stamps[0]), Timestamp(stamps[stamps.len() - 1]));
//! let logs = logs.into_iter().zip(&stamps).map(|(log, stamps)| {
//!     let (first, last) = ends(stamps);
//!     log.finish(stamps.len() as u64, first, last)
//! });
//!
//! // and correcting it ten:
//! let logs = logs.collect::<Result<Vec<_>, _>>()?;
//! let analysis = Analysis::new(info, logs, AnalysisOptions::default(), &())?;
//! assert_eq!(analysis.recorded().violated(), 40); // all messages to rank 1
//! let solution = analysis.solve(&Method::default(), &())?;
//! assert!(solution.is_sound());
//! let rank = LocationIndex(1);
//! let mut map = solution.correction.map_of(rank).cursor(rank);
//! let corrected = map.map(0, Timestamp(stamps[1][0])).ok_or("too far")?;
//! assert!(corrected.0.abs_diff(61_000) < 100, "{corrected}"); // sent at 60 us, 1 us under way
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For a format that the command is to read, write and undo, see
//! [`retime_model::format`].

mod distortion;
mod ends;
mod limiting;
pub mod pipeline;
pub mod repair;
mod set_back;
mod unbroken;

use retime_model::pace;

/// How clocks are brought to a common time: the crate `retime-alignment`.
pub mod align {
    pub use retime_alignment::{
        Alignment, ClockStep, Relation, Sharing, align, align_edges, align_on_steady, sharing,
        shortest_latency,
    };
}

/// How clocks differ, and what messages take at least: `estimate` of the crate `retime-clocks`.
pub mod estimate {
    pub use retime_clocks::estimate::{
        BadEstimate, DelayRule, EmptyCalls, Estimate, LearnedDelay, LengthLine, NoEstimate, Offset,
        Reference, RuledDelay, Shown, empty_calls, learn_by_length, learn_minimal_delay, twice,
    };
}

/// How far times can be from the truth: the crate `retime-bounds`.
pub mod optimal {
    pub use retime_bounds::{
        BoundOptions, BoundSummary, ClockBounds, ClockErrorBound, Coverage, ErrorBounds, ErrorKnot,
        Forcing, ForcingCycle, ForcingPart, Gentlest, LeastDistortion, OffsetBounds, Outside,
        Relaxed, SavedErrorBound, Witnessed, coverage, gentlest, midpoint, offset_bounds, outside,
        witnessed,
    };
}

pub use distortion::{Changes, Distortion, EndChanges, MeanAndMost, final_advance};
pub use ends::{ApartPlace, EndsApart, EndsEvidence, EndsStep};
pub use limiting::{LimitingSend, limiting_send};
pub use retime_bounds::{Accuracy, Deviation, LocationAccuracy, TruthError};
pub use retime_causality::{self as causality, edges, merge, order};
pub use retime_causality::{
    Causality, CausalityOptions, DelayByLength, DelayTable, Edge, Edges, MinimalDelay, PairClass,
    PairEdges,
};
pub use retime_clocks::{ClockAttribution, Grouping, SharedClock, split_clocks};
pub use retime_logical_clocks::{self as clock, CorrectionError, MapBuilder, Point, compose};
pub use retime_model::format;
pub use retime_model::pace::Pace;
pub use retime_model::{
    Access, Cancelled, Modified, Monitor, NotRegular, UserAttributes, copy_file, group_digits,
    open_regular, plural, presence, printable, printable_path, resemble, without_exported_ids,
};
pub use retime_model::{
    Bandwidth, ClockId, Clocks, Communicator, Delay, EventTimes, Location, LocationIndex, Members,
    MinimalDistance, ParseBandwidthError, ParseDelayError, Process, TickRate, Ticks, Timestamp,
    TraceInfo, format_seconds,
};
pub use retime_model::{
    ClockMap, Correction, Knot, MapCursor, MapError, SavedClock, SavedDistance, SavedError,
    SavedKnot, Step,
};
pub use retime_stragglers::{
    ComparedWork, GroupWaits, HiddenWaits, HostWork, LateBegin, LateBegins, Origin, OutsideCalls,
    ProcessWaits, Reach, SlowTogether, Stragglers, exposed,
};
