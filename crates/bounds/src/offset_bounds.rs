//! Bounds of what has to be added to each clock, and what they are asked for under.

use serde::{Deserialize, Serialize};

use super::envelope::Envelope;
use super::line::OffsetLine;
use super::relaxation::Relaxed;
use retime_clocks::{Straight, Straightening};
use retime_model::ClockId;

/// Assumptions about clocks, and how long the search may last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundOptions {
    /// The amount by which the rate of a clock strays from its mean rate against the reference, as
    /// a fraction: `1e-4` is 100 ppm.
    pub drift: f64,
    /// The amount by which rates differ from those of the lines at most, as a fraction, where the
    /// trace does not tell.
    pub most_difference: f64,
    /// True if a stamp stands for all moments until the next one that the clock
    /// can show; otherwise for exactly one.
    pub tick_slack: bool,
    /// How many nodes and arcs of a graph each search may look at; with more to do, bounds are
    /// wider than they could be. A core looks at some 10^8 per second.
    pub steps: u64,
}

impl BoundOptions {
    /// The amount by which a clock can change against its line per tick, if its mean rate differs
    /// from that of the line by `delta`. A drift bound that is no number bounds nothing: then as
    /// much as makes sense.
    pub(super) fn slope(&self, delta: f64) -> f64 {
        if self.drift >= 0.0 {
            (self.drift + delta).min(1.0)
        } else {
            1.0
        }
    }
}

impl Default for BoundOptions {
    fn default() -> Self {
        Self {
            drift: 1e-4,
            most_difference: 1e-3,
            tick_slack: true,
            steps: 6_000_000_000,
        }
    }
}

/// Bounds on what has to be added to each clock to show the time of
/// `reference`; where that was set, the time that it would show if it had not been.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OffsetBounds {
    /// Per clock: its bounds; `None` where nothing relates it to the reference.
    pub clocks: Vec<Option<ClockBounds>>,
    /// The clock whose time is the common one.
    pub reference: ClockId,
    /// The facts that contradict the rest under the drift bound, and was left out.
    pub relaxed: Vec<Relaxed>,
    /// True if the bounds are as narrow as they can be; otherwise the steps were used up,
    /// or too many facts contradict each other.
    pub complete: bool,
    /// True if that is for the steps alone.
    pub used_up: bool,
}

impl OffsetBounds {
    /// The bounds of clocks that these are of when they are [straightened](Straight).
    #[must_use]
    pub fn bent(self, straight: &Straight) -> Self {
        let clocks = (0..).map(ClockId).zip(self.clocks);
        let bent = clocks.map(|(clock, bounds)| match straight.of(clock) {
            Some(way) => bounds.map(|it| it.bent(way)),
            None => bounds,
        });
        let relaxed = self.relaxed.into_iter().map(|it| match it {
            Relaxed::Step {
                clock,
                after,
                until,
                by,
            } => Relaxed::Step {
                clock,
                after: straight.stamp(clock, after),
                until: straight.stamp(clock, until),
                by,
            },
            edge @ Relaxed::Edge { .. } => edge,
        });
        Self {
            clocks: bent.collect(),
            relaxed: relaxed.collect(),
            ..self
        }
    }
}

/// Bounds on what has to be added to one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockBounds {
    pub(super) line: OffsetLine,
    pub(super) low: Envelope,
    pub(super) high: Envelope,
    /// How far the clock can be beyond its stamp.
    pub(super) tick: f64,
    /// First and last stamp of the clock.
    pub(super) extent: (i64, i64),
    /// The way to the time that the others are by, and back; `None` where that is what the clock shows.
    pub(super) straight: Option<Straightening>,
}

impl ClockBounds {
    /// The bounds of a clock that these are of when it is straightened.
    fn bent(self, way: &Straightening) -> Self {
        let (first, last) = self.extent;
        let stamp = |time: i64| way.back.common_time(time);
        Self {
            extent: (stamp(first), stamp(last)),
            straight: Some(way.clone()),
            ..self
        }
    }

    /// The time that bounds are by at a stamp.
    pub(super) fn time(&self, stamp: i64) -> i64 {
        let way = self.straight.as_ref();
        way.map_or(stamp, |it| it.there.common_time(stamp))
    }

    /// The ticks that the line adds at a stamp, and what straightens the clock.
    fn along(&self, stamp: i64) -> f64 {
        match &self.straight {
            None => self.line.at(stamp),
            Some(way) => self.line.at(way.there.common_time(stamp)) + way.there.at(stamp),
        }
    }

    /// The least and the most ticks that have to be added at a stamp, given in
    /// ticks since the base; infinite where nothing bounds them.
    pub fn at(&self, stamp: i64) -> (f64, f64) {
        let time = self.time(stamp);
        self.around(stamp, self.low.at(time), self.high.at(time))
    }

    /// Its [values](Self::at) stamp by stamp: quick where these rise.
    pub(super) fn cursor(&self) -> BoundCursor<'_> {
        BoundCursor {
            of: self,
            low: 0,
            high: 0,
        }
    }

    fn around(&self, stamp: i64, low: f64, high: f64) -> (f64, f64) {
        let line = self.along(stamp);
        (line + low, line + high + self.tick)
    }

    /// The least and the most ticks that the clock gained by a step between two of its stamps, `t`
    /// ticks apart. Without a step, what has to be added changes between them by `(r - s) t` to
    /// `(r + s) t`, with the rate `r` of the line and the slope `s` of bounds; a step takes off what
    /// the clock gains by it. So with the bounds `l` and `h` it gains
    ///
    /// ```text
    /// from  l(after) - h(until) + (r - s) t    to  h(after) - l(until) + (r + s) t
    /// ```
    ///
    /// Infinite where nothing bounds the clock on one of the sides.
    pub fn gained(&self, after: i64, until: i64) -> (f64, f64) {
        let (before, behind) = (self.at(after), self.carried(until, after));
        (before.0 - behind.1, before.1 - behind.0)
    }

    /// The least and the most ticks that have to be added at the stamp `to` if the clock is not set between it
    /// and the stamp `from`, by the bounds there; infinite where nothing bounds them.
    pub(super) fn carried(&self, from: i64, to: i64) -> (f64, f64) {
        let lasts = self.time(to).abs_diff(self.time(from)) as f64;
        let along = self.drifts(from, to);
        let (low, high) = self.at(from);
        (
            low + along - self.low.strays(lasts),
            high + along + self.high.strays(lasts),
        )
    }

    /// The ticks that its line adds more at the stamp `to` than at the stamp `from`.
    pub(super) fn drifts(&self, from: i64, to: i64) -> f64 {
        self.along(to) - self.along(from)
    }

    /// True if there is a lower bound at all, and an upper one.
    pub fn sides(&self) -> (bool, bool) {
        let any = |side: &Envelope| side.knots.iter().any(|knot| knot.1.is_finite());
        (any(&self.low), any(&self.high))
    }

    /// The ticks that take the steps of the reference out, in the middle of its bounds.
    pub(super) fn undoes(&self, stamp: i64) -> i64 {
        let time = self.time(stamp);
        let middle = f64::midpoint(self.low.at(time), self.high.at(time));
        let straightens = self.straight.as_ref().map_or(0.0, |it| it.there.at(stamp));
        (middle + straightens).round() as i64
    }

    /// Where the clock stepped or changed its rate: between these moments of the time that bounds are by.
    pub(super) fn steps(&self) -> &[(i64, i64)] {
        &self.low.steps
    }

    /// The first stamp after which the clock stepped or changed its rate; `None` if it never did.
    pub(super) fn first_set(&self) -> Option<i64> {
        let (set, _) = self.steps().first()?;
        let way = self.straight.as_ref();
        Some(way.map_or(*set, |it| it.back.common_time(*set)))
    }

    /// The stamps between which both bounds are linear, from the first of the
    /// clock to its last.
    pub fn stamps(&self) -> Vec<i64> {
        let (first, last) = self.extent;
        let knots = self.low.knots.iter().chain(&self.high.knots);
        let way = self.straight.as_ref();
        let stamp = |time: i64| way.map_or(time, |it| it.back.common_time(time));
        let bends = way.map_or(&[][..], |it| it.there.knots());
        let inside = knots
            .map(|knot| stamp(knot.0))
            .chain(bends.iter().map(|knot| knot.0))
            .filter(|&at| at > first && at < last);
        let mut stamps: Vec<i64> = inside.chain([first, last]).collect();
        stamps.sort_unstable();
        stamps.dedup();
        stamps
    }
}

/// The bounds of a clock, and the places of the knots after the stamp that was asked for last.
pub(super) struct BoundCursor<'a> {
    of: &'a ClockBounds,
    low: usize,
    high: usize,
}

impl BoundCursor<'_> {
    /// The least and the most ticks that have to be added at a stamp, as [`ClockBounds::at`] says.
    pub(super) fn at(&mut self, stamp: i64) -> (f64, f64) {
        let ClockBounds { low, high, .. } = self.of;
        let time = self.of.time(stamp);
        self.low = low.after(time, self.low);
        self.high = high.after(time, self.high);
        let low = low.at_place(time, self.low);
        self.of.around(stamp, low, high.at_place(time, self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::offset_bounds;
    use retime_causality::edges::{Edge, Edges, ListedEdges};
    use retime_clocks::RateChange;
    use retime_clocks::estimate::{Estimate, Offset};

    /// A clock gains 300 by a step between 1000 and 3000. Before it 495 to 505 have to be added and
    /// behind it 190 to 220, and the rate, 0.001 to 0.003, makes 2 to 6 of the 2000 ticks between.
    #[test]
    fn a_step_gains_what_bounds_leave_and_the_rate_does_not() {
        let line = OffsetLine {
            middle: 0,
            ticks: 0.0,
            slope: 0.002,
        };
        let side = |before: f64, behind: f64, side: f64| {
            let added = |stamp: i64, ticks: f64| ticks - line.at(stamp);
            let before = (0, 900, added(1_000, before) - 0.1 * side);
            let behind = (1, 3_100, added(3_000, behind) - 0.1 * side);
            Envelope::new(
                &[before, behind],
                &[(0, 1_000), (3_000, 4_000)],
                side,
                0.001,
            )
        };
        let bounds = ClockBounds {
            line,
            low: side(495.0, 190.0, -1.0),
            high: side(505.0, 220.0, 1.0),
            tick: 0.0,
            extent: (0, 4_000),
            straight: None,
        };
        let mut cursor = bounds.cursor();
        for stamp in (0..5_000).step_by(250).chain([100, 3_000, 900]) {
            assert_eq!(cursor.at(stamp), bounds.at(stamp));
        }
        let (least, most) = bounds.gained(1_000, 3_000);
        assert!((least - (495.0 - 220.0 + 2.0)).abs() < 1e-9, "{least}");
        assert!((most - (505.0 - 190.0 + 6.0)).abs() < 1e-9, "{most}");
        // Where nothing bounds the clock behind the step, it may have gained anything.
        let pieces = [(0, 1_000), (3_000, 4_000)];
        let open = Envelope::new(&[(0, 1_000, 3.0)], &pieces, 1.0, 0.001);
        let bounds = ClockBounds {
            high: open,
            ..bounds
        };
        assert!(bounds.gained(1_000, 3_000).0 < f64::MIN);
    }

    /// Asserts that what has to be added at a stamp to show the time is within bounds, and returns these.
    fn assert_inside(bounds: &ClockBounds, time: i64, stamp: i64) -> (f64, f64) {
        let (low, high) = bounds.at(stamp);
        let added = (time - stamp) as f64;
        assert!(
            low <= added && added <= high,
            "{time}: {low} {added} {high}"
        );
        (low, high)
    }

    /// From the middle on the second of two clocks shows 5 ticks for each 4 that pass. Messages take 50 to 59
    /// ticks, so that in the straight parts it is known to some 60, and to what it drifts between messages.
    #[test]
    fn bounds_follow_a_clock_whose_rate_changes() {
        const LAST: i64 = 10_000_000;
        let (a, b) = (ClockId(0), ClockId(1));
        let shown = |time: i64| time + 700 + (time - LAST / 2).max(0) / 4;
        let both = |round: i64| {
            let (there, back) = (10_000 * round, 10_000 * round + 5_000);
            let takes = 50 + round % 10;
            [
                Edge::message(a, there, b, shown(there + takes)),
                Edge::message(b, shown(back), a, back + takes),
            ]
        };
        let edges = (0..LAST / 10_000).flat_map(both).collect();
        let extents = vec![Some((0, LAST)), Some((700, shown(LAST)))];
        let list = ListedEdges {
            edges: Edges::new(edges, extents.clone()),
            granularities: vec![1; 2],
        };
        let middle = shown(LAST / 2);
        let change = RateChange {
            clock: b,
            after: middle - 20_000,
            until: middle + 20_000,
            at: middle + 300,
            by: 0.25,
            rates_within: [1e-5; 2],
        };
        let straight = Straight::new(vec![change], &extents).unwrap();
        let plain = Estimate {
            offsets: vec![Some(Offset::constant(0.0)), Some(Offset::constant(-700.0))],
            reference: a,
        };
        let base = straight.unbent(&straight.bent(&plain));
        let listed = straight.straightened(&list);
        let options = BoundOptions::default();
        let found = offset_bounds(&listed, |_| 0, &base, &options, &()).unwrap();
        let bounds = found.bent(&straight);
        let own = bounds.clocks[1].as_ref().unwrap();
        let mut cursor = own.cursor();
        for time in (0..LAST).step_by(9_973) {
            let stamp = shown(time);
            let (low, high) = assert_inside(own, time, stamp);
            assert_eq!(cursor.at(stamp), (low, high));
            let is_apart = (time - LAST / 2).abs() > 30_000;
            assert!(!is_apart || high - low < 140.0, "{time}: {low} {high}");
        }
        assert_eq!(own.first_set(), Some(change.after));
        assert!(
            own.stamps()
                .iter()
                .all(|it| (700..=shown(LAST)).contains(it))
        );
    }

    /// The clock loses a million ticks, and meanwhile shows the next one at each event. An estimate that sets it
    /// amid these events says nothing of what the others are stamped.
    #[test]
    fn bounds_leave_open_what_a_clock_shows_that_stands_still() {
        const LAST: i64 = 10_000_000;
        const BACK: i64 = 1_000_000;
        const EVERY: i64 = 10_000;
        let (a, b) = (ClockId(0), ClockId(1));
        let shown = |time: i64| match time - LAST / 2 {
            passed if passed > 0 => LAST / 2 + (passed / (EVERY / 2)).max(passed - BACK),
            _ => time,
        };
        let both = |round: i64| {
            let (there, back) = (EVERY * round, EVERY * round + EVERY / 2);
            [
                Edge::message(a, there, b, shown(there + 50)),
                Edge::message(b, shown(back), a, back + 50),
            ]
        };
        let edges = (0..LAST / EVERY).flat_map(both).collect();
        let edges = Edges::new(edges, vec![Some((0, LAST)), Some((0, shown(LAST)))]);
        let set = LAST / 2 + BACK / EVERY;
        let added = [(0, 0), (set, 0), (set + 1, BACK), (LAST, BACK)];
        let added = added.map(|(stamp, ticks)| (stamp, ticks as f64));
        let own = Offset::through(added.to_vec()).with_steps(&[(set, set + 1)]);
        let base = Estimate {
            offsets: vec![Some(Offset::constant(0.0)), Some(own)],
            reference: a,
        };
        let found = offset_bounds(&edges, |_| 0, &base, &BoundOptions::default(), &()).unwrap();
        let steps = found.relaxed.iter();
        let steps = steps.filter(|it| matches!(it, Relaxed::Step { .. }));
        assert!(found.complete && steps.count() == 1, "{:?}", found.relaxed);
        let own = found.clocks[1].as_ref().unwrap();
        for time in (0..LAST).step_by(9_973) {
            assert_inside(own, time, shown(time));
        }
    }
}
