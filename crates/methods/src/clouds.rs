//! The messages between two clocks, as two clouds of points.
//!
//! Let `y(s)` be what has to be added to a clock that shows `s` to give the time
//! of another one. A message that the clock receives at `r`, sent when the other
//! showed `s`, says that `y(r) >= s - r + least`; one that it sends at `s` and
//! the other receives at `r` says that `y(s) <= r - s - least`:
//!
//! ```text
//!  y |   v     v
//!    |      v     v   v        above: sent by the clock
//!    |  ------------------     the difference
//!    |     ^   ^    ^          below: received by the clock
//!    |  ^         ^     ^
//!    +-----------------------> stamp of the clock
//! ```

use retime::Pace;
use retime::edges::{Edge, EdgeIndex, Edges, PairEdges};
use retime::{Cancelled, ClockId, Monitor};

use retime::estimate::NoEstimate;

/// Beyond what any trace spans, products of differences could overflow.
const LONGEST: i64 = 1 << 61;

/// A bound of the difference of two clocks by one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sample {
    /// Stamp of the clock, within 2^61 of the base.
    pub(crate) at: i64,
    /// The ticks that have to be added to it at least, or at most; within 2^62.
    pub(crate) ticks: i64,
}

/// The clouds of one pair; neither is empty.
#[derive(Clone, Debug)]
pub(crate) struct Clouds {
    /// First and last stamp of the clock.
    pub(crate) extent: (i64, i64),
    /// Bounds from below, of messages that the clock receives.
    pub(crate) below: Vec<Sample>,
    /// Bounds from above, of messages that the clock sends.
    pub(crate) above: Vec<Sample>,
}

/// One end of a pair, seen from the other.
#[derive(Clone, Copy)]
pub(crate) struct Neighbour<'a> {
    /// The clock that is to be corrected.
    pub(crate) clock: ClockId,
    /// The clock whose time it is to show.
    pub(crate) towards: ClockId,
    pub(crate) pair: &'a PairEdges,
}

impl<'a> Neighbour<'a> {
    /// The other end of a pair; `None` if `towards` is neither.
    pub(crate) fn of(pair: &'a PairEdges, towards: ClockId) -> Option<Self> {
        let clock = match towards {
            end if end == pair.low => pair.high,
            end if end == pair.high => pair.low,
            _ => return None,
        };
        Some(Self {
            clock,
            towards,
            pair,
        })
    }
}

impl Clouds {
    pub(crate) fn new(
        edges: &Edges,
        of: Neighbour<'_>,
        least: impl Fn(&Edge) -> i64,
        monitor: &dyn Monitor,
    ) -> Result<Self, NoEstimate> {
        let (received, sent) = if of.clock == of.pair.high {
            (&of.pair.forth, &of.pair.back)
        } else {
            (&of.pair.back, &of.pair.forth)
        };
        if sent.is_empty() {
            return Err(NoEstimate::OneDirection(of.towards, of.clock));
        }
        if received.is_empty() {
            return Err(NoEstimate::OneDirection(of.clock, of.towards));
        }
        let below = |edge: &Edge| sample(edge.received, edge.sent, least(edge));
        let above = |edge: &Edge| sample(edge.sent, edge.received, least(edge).saturating_neg());
        let own = edges.get(received[0]).map_or(0, |it| it.received);
        Ok(Self {
            extent: edges.extent(of.clock).unwrap_or((own, own)),
            below: samples(edges, received, below, monitor)?,
            above: samples(edges, sent, above, monitor)?,
        })
    }
}

fn samples(
    edges: &Edges,
    of: &[EdgeIndex],
    sample: impl Fn(&Edge) -> Sample,
    monitor: &dyn Monitor,
) -> Result<Vec<Sample>, Cancelled> {
    let mut pace = Pace::of(monitor);
    let mut samples = Vec::with_capacity(of.len());
    for &at in of {
        pace.event()?;
        samples.extend(edges.get(at).map(&sample));
    }
    Ok(samples)
}

/// From a stamp of the clock and one of the other.
fn sample(own: i64, other: i64, least: i64) -> Sample {
    let between = |value: i128, most: i128| value.clamp(-most, most) as i64;
    let longest = i128::from(LONGEST);
    Sample {
        at: between(own.into(), longest),
        ticks: between(
            i128::from(other) - i128::from(own) + i128::from(least),
            2 * longest,
        ),
    }
}
