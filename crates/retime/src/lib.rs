//! One global time for traces of parallel and distributed programs.
pub mod causality;
pub mod clock;
mod clocks;
mod correction;
mod delay;
mod time;
mod trace;

pub use clocks::{ClockId, Clocks, Grouping};
pub use correction::{ClockMap, Correction, Knot, MapCursor, MapError, Point, Step};
pub use delay::{DelayTable, MinimalDelay};
pub use time::{Delay, ParseDelayError, TickRate, Ticks, Timestamp, format_seconds};
pub use trace::{Communicator, Location, LocationIndex, Members, Process, TraceInfo};
