//! Segments of a run as its hosts send them, put on the clock of each host.
//!
//! Liu's section 4 says how a trace gets from where it is recorded to where it is looked at: each host
//! sends the others, periodically, what it has recorded since the last time, and each puts what has
//! come in order by its own clock, without violating that effects follow their causes. Here a run goes
//! through [`Segments`] as it would happen, and shifts grow by [`GrowingShifts`]:
//!
//! ```
//! use retime::{ClockId, Edge, Edges};
//! use retime_experiments::segments::by_segments;
//! // Clock 1 is 500 ahead of clock 0. Messages take 20 or 30 there, and 20 back.
//! let edges = Edges::new(
//!     vec![
//!         Edge::message(ClockId(0), 100, ClockId(1), 630),
//!         Edge::message(ClockId(1), 700, ClockId(0), 220),
//!         Edge::message(ClockId(0), 2_000, ClockId(1), 2_520),
//!     ],
//!     vec![None; 2],
//! );
//! let figures = by_segments(&edges, &[0, 500], ClockId(0), true, 1_000)?;
//! // By the first segments the shift is 530, by all of them 520.
//! assert_eq!(figures.shifts, [0, 520]);
//! assert_eq!((figures.events, figures.left_reversed), (6, 0));
//! # Ok::<(), retime_experiments::Failure>(())
//! ```
//!
//! Source: Liu, A Method of Fast Synchronizing Asynchronous Clocks in Distributed Applications,
//! section 4.

use retime::{ClockId, Edges, LocationIndex, TickRate, Ticks, Timestamp};
use retime_methods::GrowingShifts;
use retime_stream::{Event, EventKind, MessageId, SegmentOptions, Segments};

use crate::simulated::Failure;

/// A run that was put on one clock segment by segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFigures {
    /// Sends and receives.
    pub events: u64,
    /// So often clocks were shifted anew.
    pub rounds: u64,
    /// True if all events left in the order of their new times.
    pub in_order: bool,
    /// Messages that new times leave reversed.
    pub left_reversed: u64,
    /// Most events that were held at a time.
    pub most_held: u64,
    /// The true time, since the first event, when the first event left.
    pub first_left: i64,
    /// The shift of each clock in the end.
    pub shifts: Vec<i128>,
}

/// An end of a message: true time, host, stamp, and the message.
type End = (i64, u32, i64, EventKind);

/// Sends the messages of a run through, in the order in which their ends happened. `ahead` says how far
/// each clock is ahead of the truth; times are in ticks of one rate.
pub fn by_segments(
    edges: &Edges,
    ahead: &[i64],
    base: ClockId,
    closure: bool,
    length: i64,
) -> Result<SegmentFigures, Failure> {
    let options = SegmentOptions {
        length: Ticks(length),
        // A message is known until the run is over.
        message_timeout: Ticks(i64::MAX),
        ..SegmentOptions::new(TickRate::NANOSECONDS)
    };
    let clock_of: Vec<u32> = (0..ahead.len() as u32).collect();
    let mut segments = Segments::new(&clock_of, options);
    let mut sync = GrowingShifts::new(ahead.len(), base, closure);
    let ends = ends(edges, ahead);
    let begin = ends.first().map_or(0, |end| end.0);
    let mut first_left = None;
    let (mut last, mut in_order) = (Timestamp(0), true);
    let mut leave = |segments: &mut Segments<()>, now: i64| {
        while let Some(event) = segments.pop() {
            in_order &= last <= event.time;
            last = event.time;
            first_left.get_or_insert(now);
        }
    };
    for &(now, host, stamp, kind) in &ends {
        segments.push(Event {
            location: LocationIndex(host),
            time: Timestamp(stamp.unsigned_abs()),
            kind,
            payload: (),
        })?;
        if segments.is_due() {
            take_up(&mut segments, &mut sync);
            segments.shift(sync.shifts()?)?;
            leave(&mut segments, now - begin);
        }
    }
    segments.finish();
    take_up(&mut segments, &mut sync);
    let shifts = sync.last_shifts()?;
    let all: Vec<Option<i128>> = shifts.iter().copied().map(Some).collect();
    segments.shift(&all)?;
    leave(&mut segments, ends.last().map_or(0, |end| end.0) - begin);
    let report = segments.report();
    Ok(SegmentFigures {
        events: report.events,
        rounds: report.rounds,
        in_order: in_order && report.released == report.events,
        left_reversed: report.left_reversed,
        most_held: report.most_held,
        first_left: first_left.unwrap_or(0),
        shifts,
    })
}

/// Hands over what has become complete.
fn take_up(segments: &mut Segments<()>, sync: &mut GrowingShifts) {
    for passage in segments.passages() {
        sync.message(passage.from, passage.to, passage.took);
    }
}

/// Both ends of all messages in the order of true time, and at each host in that of its stamps.
fn ends(edges: &Edges, ahead: &[i64]) -> Vec<End> {
    let truly = |clock: ClockId, stamp: i64| stamp - ahead[clock.as_usize()];
    let mut ends: Vec<End> = Vec::with_capacity(2 * edges.all().len());
    for (edge, number) in edges.all().iter().zip(0..) {
        let id = MessageId::number(number);
        let (from, to) = (edge.from, edge.to);
        ends.push((
            truly(from, edge.sent),
            from.0,
            edge.sent,
            EventKind::Send(id),
        ));
        ends.push((
            truly(to, edge.received),
            to.0,
            edge.received,
            EventKind::Receive(id),
        ));
    }
    ends.sort_by_key(|&(time, host, ..)| (time, host));
    ends
}
