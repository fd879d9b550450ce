//! Facts about clocks that are known before anything is computed.

use super::envelope::Envelope;
use super::graph::{Graph, Part, UNBOUNDED};
use super::line::{OffsetLine, lines};
use super::link::{LeastDelay, Slope};
use super::offset_bounds::{BoundOptions, ClockBounds, OffsetBounds};
use super::relaxation::Relaxation;
use super::still::{Stretch, moving};
use retime_causality::edges::{Edge, InOrder, Source};
use retime_clocks::estimate::Estimate;
use retime_model::{Cancelled, ClockId, Monitor};

/// One side of the bounds, by clock; `None` where nothing is known.
pub(super) type Side = Vec<Option<Envelope>>;

/// Bounds of links are kept in this many parts of a tick.
const UNIT: f64 = 1024.0;
/// Sums along paths, in this many parts of that.
const RUN: i128 = 1 << 32;
/// No bound is larger, in parts of a tick.
const LARGEST: f64 = (1_u64 << 61) as f64;

/// The bound of a link, in ticks.
pub(super) fn ticks(bound: i64) -> f64 {
    bound as f64 / UNIT
}

/// The next whole number below; unlike `f64::floor`, without a call on processors of twenty years
/// ago.
#[inline]
fn rounded_down(number: f64) -> i64 {
    let whole = number as i64;
    whole - i64::from(whole as f64 > number)
}

/// The facts that are known before anything is computed.
pub(super) struct Facts<'a> {
    /// First and last stamp of each clock.
    extents: Vec<Option<(i64, i64)>>,
    least: LeastDelay<'a>,
    base: &'a Estimate,
    lines: Vec<Option<OffsetLine>>,
    granularities: Vec<i64>,
    pub(super) slope: Slope,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        source: &dyn Source,
        least: LeastDelay<'a>,
        base: &'a Estimate,
        options: &BoundOptions,
        delta: f64,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let drift = options.slope(delta);
        let clocks = (0..source.clocks() as u32).map(ClockId);
        let extents: Vec<Option<(i64, i64)>> = clocks.map(|clock| source.extent(clock)).collect();
        Ok(Self {
            lines: lines(base, &extents),
            granularities: if options.tick_slack {
                source.granularities(monitor)?
            } else {
                vec![0; extents.len()]
            },
            slope: Slope {
                rise: (drift * UNIT * RUN as f64).ceil() as i128,
                run: RUN,
            },
            extents,
            least,
            base,
        })
    }

    pub(super) fn line(&self, clock: ClockId) -> Option<&OffsetLine> {
        self.lines.get(clock.as_usize())?.as_ref()
    }

    /// How many clocks there are.
    pub(super) fn clocks(&self) -> usize {
        self.extents.len()
    }

    /// First and last stamp of a clock.
    pub(super) fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        self.extents.get(clock.as_usize()).copied().flatten()
    }

    /// True if the estimate says that a clock was set.
    pub(super) fn base_steps(&self) -> bool {
        let mut offsets = self.base.offsets.iter().flatten();
        offsets.any(|it| !it.steps().is_empty())
    }

    /// How far a clock can be beyond its stamp.
    pub(super) fn granularity(&self, clock: ClockId) -> i64 {
        self.granularities
            .get(clock.as_usize())
            .copied()
            .unwrap_or(1)
    }

    /// Least ticks from cause to effect by what their clocks show.
    fn shown_delay(&self, edge: &Edge) -> f64 {
        let slack = self.granularity(edge.from).max(self.granularity(edge.to));
        (self.least)(edge).saturating_sub(slack) as f64 - edge.latency() as f64
    }

    /// The bound of a dependency between clocks with lines, as that of a link, rounded down.
    pub(super) fn bound(&self, edge: &Edge, from: &OffsetLine, to: &OffsetLine) -> i64 {
        let ticks = self.shown_delay(edge) + from.at(edge.sent) - to.at(edge.received);
        rounded_down((ticks * UNIT).clamp(-LARGEST, LARGEST))
    }

    /// All of the reference is one place, since nothing is added to it; after a
    /// step of it, always the same.
    pub(super) fn place(&self, clock: ClockId, stamp: i64) -> i64 {
        if clock == self.base.reference {
            0
        } else {
            stamp
        }
    }

    /// The ticks by which the estimate itself misses a part of a contradiction.
    pub(super) fn missed(&self, part: &Part, all: &InOrder) -> f64 {
        let offset = |clock: ClockId, stamp: i64| {
            if clock == self.base.reference {
                0.0
            } else {
                self.base.at(clock, stamp)
            }
        };
        match *part {
            Part::Dependency { edge, .. } => all.list.edges.get(edge).map_or(0.0, |edge| {
                let sent = self.shown_delay(edge) + offset(edge.from, edge.sent);
                sent - offset(edge.to, edge.received)
            }),
            Part::Stretch { clock, from, to } => {
                let line = |stamp: i64| self.line(clock).map_or(0.0, |line| line.at(stamp));
                let beyond = |stamp: i64| offset(clock, stamp) - line(stamp);
                (beyond(to) - beyond(from)).abs() - self.drift() * from.abs_diff(to) as f64
            }
        }
    }

    /// Lets clocks step where they are known to.
    pub(super) fn let_step(&self, all: &InOrder, relaxation: &mut Relaxation) {
        let offsets = (0..).map(ClockId).zip(&self.base.offsets);
        let steps = offsets.flat_map(|(clock, offset)| {
            let steps = offset
                .iter()
                .flat_map(|it| it.steps().iter().zip(std::iter::repeat(it)));
            steps.map(move |(&(after, until), offset)| Stretch {
                clock,
                after,
                until,
                by: offset.at(until) - offset.at(after),
            })
        });
        let steps: Vec<Stretch> = steps.collect();
        // What is added to a clock grows where it is set back.
        let back: Vec<Stretch> = steps.iter().filter(|it| it.by > 0.0).copied().collect();
        let mut moving = moving(all, &back).into_iter();
        for it in steps {
            let back = if it.by > 0.0 { moving.next() } else { None };
            let (after, until) = back.unwrap_or((it.after, it.until));
            relaxation.cut(it.clock, after, until, it.by.abs());
        }
    }

    /// The clock whose time is the common one.
    pub(super) fn reference(&self) -> ClockId {
        self.base.reference
    }

    pub(super) fn drift(&self) -> f64 {
        self.slope.rise as f64 / self.slope.run as f64 / UNIT
    }

    /// One side of the bounds of each clock: the lower, -1, from the solution of the graph, or
    /// the upper, 1, from that of the reversed one.
    pub(super) fn side(
        &self,
        side: f64,
        graph: &Graph,
        values: &[i128],
        relaxation: &Relaxation,
    ) -> Side {
        let clock = |clock: ClockId| {
            self.line(clock)?;
            let (first, last) = self.extent(clock)?;
            let moments = graph.nodes(clock).map(|node| {
                let ((_, piece, at), value) = (graph.moment(node), values[node]);
                let ticks = if value == UNBOUNDED {
                    f64::INFINITY
                } else {
                    -(value as f64 / RUN as f64 / UNIT)
                };
                (piece, at, ticks * side)
            });
            let moments: Vec<_> = moments.collect();
            let pieces: Vec<(i64, i64)> = relaxation.pieces(clock, first, last).collect();
            if clock != self.base.reference {
                return Some(Envelope::new(&moments, &pieces, side, self.drift()));
            }
            let value = |piece: usize| {
                let of = moments.iter().find(|it| it.0 as usize == piece);
                of.map_or(f64::INFINITY * side, |it| it.2)
            };
            Some(Envelope::constants(&pieces, value, side))
        };
        (0..self.extents.len() as u32)
            .map(|it| clock(ClockId(it)))
            .collect()
    }

    /// Both sides together.
    pub(super) fn bounds(
        &self,
        low: Side,
        high: Side,
        relaxation: &Relaxation,
        complete: bool,
    ) -> OffsetBounds {
        let clock = |(clock, (low, high)): (ClockId, (Option<Envelope>, Option<Envelope>))| {
            let of = ClockBounds {
                line: *self.line(clock)?,
                low: low?,
                high: high?,
                tick: self.granularity(clock) as f64,
                extent: self.extent(clock)?,
                straight: None,
            };
            (of.sides() != (false, false)).then_some(of)
        };
        let both = (0..).map(ClockId).zip(low.into_iter().zip(high));
        OffsetBounds {
            clocks: both.map(clock).collect(),
            reference: self.base.reference,
            relaxed: relaxation.list(),
            complete,
            used_up: !complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_down_as_by_floor() {
        let all = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            3.0,
            -3.0,
            1e9 + 0.25,
            -1e9 - 0.25,
            LARGEST,
            -LARGEST,
        ];
        for number in all {
            assert_eq!(rounded_down(number), number.floor() as i64);
        }
    }
}
