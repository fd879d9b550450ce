//! How each clock differs from the common time, for programs that merge traces themselves.
//!
//! A file of offsets has for each trace, and there for each clock, who reads it, from when to
//! when it was heard, what has to be added to its stamps, how far that can be wrong, and what
//! it rests on. What has to be added is given piece by piece:
//!
//! ```text
//! corrected(stamp) = stamp + add[0] + floor((stamp - from) * (add[1] - add[0]) / (to - from))
//! ```
//!
//! for a stamp in ticks from `from_ticks` to `to_ticks`. The first piece has no beginning and
//! the last no end; there `add[0]` holds everywhere. At the stamp where one piece ends and
//! the next begins the former holds, unless `steps` says from which event of a location on
//! another value does.
//!
//! These are the knots of the saved correction ([`crate::saved`]), told as offsets, so
//! [`TraceOffsets::saved`] gives the same correction back, to the tick. A saved correction is
//! for one trace and its undo; offsets are for many traces, name hosts and ranks, carry bounds
//! and evidence, and need no knowledge of this program. Whoever has only one number for each
//! clock takes `offset_ns`, which is right to half of what the pieces differ.

mod measured;
mod model;

pub(crate) use measured::Measured;
pub(crate) use model::{ClockOffsets, Evidence, Offsets, TraceOffsets};
