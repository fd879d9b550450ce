//! The correction as a filter: events in, corrected events out, in one pass and
//! bounded memory, while the program that makes them still runs.
//!
//! For programs that correct events while they come: a monitor, a tracing daemon, a pipe. This
//! crate knows nothing of whole traces and of files, nor of the estimates and alignments
//! that need all of a trace; of `retime` it takes the laws of the controlled logical clock,
//! so that filter and batch agree to the tick. [`Filter`] takes events of one's own,
//! [`lines`] the lines of `retime stream`, by the parser of `retime-jsonl`. [`Segments`] puts the
//! events of hosts whose clocks differ by constants in one order, segment by segment, by shifts that
//! its caller knows.
//!
//! ```text
//!  per location        all clocks               per clock              all clocks
//!  events waiting --> controlled clock  -->  taut string, as far  -->  merge by
//!  for their causes   (as soon as all        as it is certain          corrected time
//!                     causes are computed)
//! ```
//!
//! - A receive waits with all that follows on its clock until its send is
//!   computed; a send is remembered until its receive is.
//! - Jumps are spread backwards over the events still in the filter. A ramp is
//!   `L = clock difference / rate` long, so that is how long an event waits at
//!   least.
//! - The merge needs to know of every location that nothing earlier comes: a
//!   later event, a [heartbeat](Filter::heartbeat), an [end](Filter::end), or else
//!   the bounds on clock differences and transfer.
//! - No event stays longer than [equation 7.1](FilterOptions::delay_bound) allows.
//!   If its time is not certain by then, it leaves at the time it would have if
//!   the stream ended here, and counts as *forced*. What follows respects that.
//!
//! The order among events of one corrected time is that of clocks. Where no event
//! is forced, times are exactly those of [`retime_logical_clocks::controlled`] and
//! [`retime_logical_clocks::amortize_with_ramp`].
//!
//! ```
//! use retime_stream::{DelayBound, Event, EventKind, Filter, FilterOptions, MessageId};
//! use retime_model::{LocationIndex, TickRate, Ticks, Timestamp};
//! let options = FilterOptions {
//!     min_delay: Ticks(2),
//!     ..FilterOptions::new(TickRate::per_second(1_000_000).unwrap())
//! };
//! // Two locations, each with its own clock.
//! let mut filter = Filter::new(&[0, 1], options);
//! let event = |location, time, kind, payload| Event {
//!     location: LocationIndex(location), time: Timestamp(time), kind, payload,
//! };
//! let hello = MessageId::number(1);
//! filter.push(event(1, 40_000, EventKind::Internal, "work"))?;
//! filter.push(event(1, 90_000, EventKind::Receive(hello), "receive"))?;
//! filter.push(event(0, 90_998, EventKind::Send(hello), "send"))?;
//! filter.finish();
//! let corrected: Vec<_> = std::iter::from_fn(|| filter.pop())
//!     .map(|event| (event.payload, event.time.0))
//!     .collect();
//! assert_eq!(corrected, [("work", 41_000), ("send", 90_998), ("receive", 91_000)]);
//! # Ok::<(), retime_stream::FilterError>(())
//! ```
//!
//! Source: Rabenseifner 2000, sections 6.1, 6.2 and 7.3.

mod base;
mod clock;
mod collectives;
mod control;
mod error;
mod event;
mod filter;
mod flow;
mod heads;
mod kept;
pub mod lines;
mod marked;
mod matching;
mod merge;
mod options;
mod overdue;
mod passage;
mod patience;
mod release;
mod report;
mod room;
mod segments;
mod silent;
mod smoother;
mod spread;
mod way;

pub use control::FilterControl;
pub use error::FilterError;
pub use event::{Collective, Corrected, Event, EventKind, MessageId, Prefix};
pub use filter::Filter;
pub use options::{DelayBound, FilterOptions};
pub use passage::Passage;
pub use report::FilterReport;
pub use segments::{SegmentOptions, SegmentReport, Segments};
pub use spread::Spread;
