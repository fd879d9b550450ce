//! One global time for traces of parallel and distributed programs.
//!
//! Processes stamp their events with clocks that disagree. This library finds
//! the contradictions in a trace, corrects its time stamps with the controlled
//! logical clock, and checks the result. It knows no file formats and does no
//! I/O; a format crate feeds it and applies what it returns:
//!
//! ```text
//!  TraceInfo, LocationLog     what a format crate reads        trace, causality
//!        |
//!  Causality::build           which event must follow which    causality
//!        |
//!  Clocks::group              who reads the same clock         clocks
//!        |
//!  check                      contradictions, before           causality::check
//!  learn_minimal_delay        how fast a message can be        estimate
//!  clock::controlled          times without contradictions     clock
//!  clock::amortize            ... and without jumps
//!        |
//!  Correction                 one ClockMap per clock           correction
//! ```
//!
//! The walk through an example is in [`clock::controlled`]. All results are
//! integers and the same for any number of threads.

mod accuracy;
pub mod align;
pub mod auto;
pub mod causality;
pub mod clock;
mod clocks;
mod correction;
mod cycles;
mod delay;
mod distortion;
mod edges;
pub mod estimate;
pub mod filter;
mod granularity;
mod hull;
mod limiting;
mod median;
pub mod optimal;
pub mod order;
pub mod repair;
pub mod source;
mod time;
mod trace;

pub use accuracy::{Accuracy, Deviation, LocationAccuracy, TruthError};
pub use causality::{Causality, CausalityOptions};
pub use clocks::{ClockId, Clocks, Grouping};
pub use correction::{
    ClockMap, Correction, Knot, MapBuilder, MapCursor, MapError, Point, SavedClock, SavedError,
    SavedKnot, Step,
};
pub use delay::{DelayTable, MinimalDelay};
pub use distortion::{Distortion, MeanAndMost, final_advance};
pub use edges::{Edge, Edges, PairEdges};
pub use limiting::{LimitingSend, limiting_send};
pub use time::{Delay, ParseDelayError, TickRate, Ticks, Timestamp, format_seconds};
pub use trace::{Communicator, Location, LocationIndex, Members, Process, TraceInfo};
