//! Times of events that a clock stamped while it was set back.
//!
//! A clock that is set back shows stamps that it has shown before, and a trace whose stamps
//! may not fall has them [stand still](Standstill) until the clock has caught up. An alignment has one time
//! for one stamp, in the middle of the step, half of which such events are off at its ends, and stamps
//! that rise by ticks tell no more. They say only that events lie between their neighbours; dependencies
//! say more:
//!
//! ```text
//! earliest(e) = max( before + (C(e) - after),   earliest(previous), earliest(causes) + delay )
//! latest(e)   = min( behind - (until - C(e)),   latest(next),       latest(effects) - delay )
//! time(e)     = the middle of both
//! ```
//!
//! The clock showed `after` before the step, at the aligned time `before`, and `until`
//! behind it, at `behind`. A clock that was set back by 400 ticks shows 1000 for an `a`, `b` and
//! `c`; with `after` 999 at 999 and `until` 1001 at 1401 each of them lies between 1000 and 1400. By
//! a delay of 5, what `a` sends and another clock receives at 1100 has `a` no later than 1095, and
//! what `b` receives and another clock sent at 1200 has `b`, and `c` after it, no earlier than 1205:
//!
//! ```text
//!        a     b     c
//! from   1000  1205  1205
//! to     1095  1400  1400
//! time   1047  1302  1302
//! ```
//!
//! Both bounds are [controlled clocks](retime_logical_clocks::controlled) that
//! lose any lead at once (`gamma = 0`), run forwards with all of the step behind its events, and
//! backwards with all of it before them. Other clocks stay as they are aligned, and so do all where
//! events together would move less if the [repair](crate::repair) did everything.

use crate::repair::{moved, repair};
use crate::unbroken::AlignedTrace;
use retime_causality::merge::Any;
use retime_causality::{Causality, EventNode, RetimingError};
use retime_clocks::Standstill;
use retime_clocks::estimate::Offset;
use retime_logical_clocks::{
    ClockError, CorrectionError, Gamma, LogicalTimes, MapBuilder, Point, compose,
    controlled_by_guess,
};
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, ClockMap, Correction, LocationIndex};
use retime_model::{Ticks, Timestamp};

/// The correction that aligns a trace, with the events that clocks stamped while they were set
/// back where dependencies allow them; `None` if there are none. `aligned` is the trace as
/// `correction` leaves it.
pub(crate) fn spread(
    trace: &AlignedTrace<'_>,
    aligned: &Causality,
    correction: &Correction,
) -> Result<Option<Correction>, ClockError> {
    let set_back = SetBack {
        trace,
        aligned,
        stretches: stretches(trace, aligned, correction)?,
    };
    if !set_back.stretches.iter().any(|it| !it.is_empty()) {
        return Ok(None);
    }
    let mut found = set_back.stretches.iter().flatten();
    let any = found.any(|it| !it.events.is_empty());
    if !aligned.whole().all_reduce(Any(any)).0 {
        return Ok(None);
    }
    let Some(spread) = set_back.between_bounds()? else {
        return Ok(None);
    };
    if !set_back.is_gentler(&spread)? {
        return Ok(None);
    }
    let both = compose(correction, &spread, trace.causality, trace.monitor)?;
    Ok(Some(both))
}

/// A clock that was set back, and what it stamped meanwhile.
struct Stretch {
    /// The aligned times around the step.
    before: Timestamp,
    behind: Timestamp,
    /// Rising by location, and there in their order.
    events: Vec<AmbiguousEvent>,
}

/// An event that a clock stamped while it was set back.
#[derive(Clone, Copy)]
struct AmbiguousEvent {
    node: EventNode,
    location: LocationIndex,
    /// The times that its stamp has on the lines before and behind the step, if the clock stood still at
    /// it; else both are its aligned time.
    earliest: Timestamp,
    latest: Timestamp,
}

/// The stretches of each clock, in order; all parts of a trace know of all of them, and of own
/// events.
fn stretches(
    trace: &AlignedTrace<'_>,
    aligned: &Causality,
    correction: &Correction,
) -> Result<Vec<Vec<Stretch>>, Cancelled> {
    let offsets = trace.clocks.iter().zip(&trace.estimate.offsets);
    let of_clock = |(clock, offset): (ClockId, &Option<Offset>)| {
        let steps = offset.as_ref().map_or(&[][..], |it| it.steps()).iter();
        let map = correction.map(clock);
        let found = steps.filter_map(|step| StepBack::of(trace.causality, map, *step));
        let stretch = |step: StepBack| {
            Ok(Stretch {
                before: step.before,
                behind: step.behind,
                events: step.events(trace, aligned, clock)?,
            })
        };
        found.map(stretch).collect()
    };
    offsets.map(of_clock).collect()
}

/// A clock set back between two of its stamps, in ticks since the base.
#[derive(Clone, Copy)]
struct StepBack {
    after: i64,
    until: i64,
    before: Timestamp,
    behind: Timestamp,
}

impl StepBack {
    /// `None` where the clock was set forward: there what it shows tells its time.
    fn of(causality: &Causality, map: &ClockMap, (after, until): (i64, i64)) -> Option<Self> {
        let mut cursor = map.cursor(LocationIndex(0));
        let mut at = |stamp| cursor.map_time(causality.nodes().absolute(Ticks(stamp))?);
        let (before, behind) = (at(after)?, at(until)?);
        let shown = until.checked_sub(after)?;
        let passed = behind.0.checked_sub(before.0)?;
        (shown > 0 && passed > shown.unsigned_abs()).then_some(Self {
            after,
            until,
            before,
            behind,
        })
    }

    /// Events that the locations of the clock stamped meanwhile; none where the clock did not stand still.
    /// Those that have a stamp for themselves are best left as they are aligned where the clock shows more
    /// than one that stands still all the time.
    fn events(
        self,
        trace: &AlignedTrace<'_>,
        aligned: &Causality,
        clock: ClockId,
    ) -> Result<Vec<AmbiguousEvent>, Cancelled> {
        let nodes = trace.causality.nodes();
        let mut pace = Pace::of(trace.monitor);
        let (mut events, mut stands_still) = (Vec::new(), false);
        let shown = self.until.abs_diff(self.after);
        let lost = (self.behind.0 - self.before.0).saturating_sub(shown);
        let creeps = Standstill::of_core(lost as f64, &[]).can_show(shown);
        for &location in trace.clocks.locations(clock) {
            let mut own: Vec<ShownStamp> = Vec::new();
            for node in nodes.of(location.as_usize()) {
                pace.event()?;
                let stamp = nodes.time(node).0;
                if stamp > self.after && stamp < self.until {
                    own.push(ShownStamp { node, stamp });
                }
            }
            for together in own.chunk_by(|a, b| a.stamp == b.stamp) {
                if let ([alone], false) = (together, creeps) {
                    let at = aligned.nodes().timestamp(alone.node);
                    events.push(AmbiguousEvent {
                        node: alone.node,
                        location,
                        earliest: at,
                        latest: at,
                    });
                    continue;
                }
                stands_still = true;
                events.extend(together.iter().map(|it| AmbiguousEvent {
                    node: it.node,
                    location,
                    earliest: Timestamp(self.before.0 + it.stamp.abs_diff(self.after)),
                    latest: Timestamp(self.behind.0 - it.stamp.abs_diff(self.until)),
                }));
            }
        }
        if !stands_still {
            events.clear();
        }
        Ok(events)
    }
}

/// An event and the time that its clock showed, in ticks since the base.
struct ShownStamp {
    node: EventNode,
    stamp: i64,
}

/// An aligned trace of which clocks were set back.
struct SetBack<'a> {
    trace: &'a AlignedTrace<'a>,
    aligned: &'a Causality,
    stretches: Vec<Vec<Stretch>>,
}

impl SetBack<'_> {
    /// For the aligned trace: each event in the middle between its bounds; `None` if dependencies
    /// contradict each other.
    fn between_bounds(&self) -> Result<Option<Correction>, ClockError> {
        let earliest = self.moved(|it| it.earliest)?;
        let Some(earliest) = self.run(&earliest, Way::Forwards)? else {
            return Ok(None);
        };
        let latest = self.moved(|it| it.latest)?;
        let Some(latest) = self.run(&latest, Way::Backwards)? else {
            return Ok(None);
        };
        let middle = |it: &AmbiguousEvent| {
            let low = earliest.time(it).unwrap_or(it.earliest);
            let high = latest.time(it).unwrap_or(it.latest);
            Timestamp(u64::midpoint(low.0, high.0))
        };
        Ok(Some(self.moved(middle)?))
    }

    /// True if events move less, all together, where some are spread and the rest is repaired
    /// than where the repair has to do all: of a short step it moves few events, and by little.
    fn is_gentler(&self, spread: &Correction) -> Result<bool, ClockError> {
        let AlignedTrace {
            clocks, monitor, ..
        } = *self.trace;
        let delay = &self.trace.delay;
        let causality = match self.aligned.retimed(spread, monitor) {
            Ok(causality) => causality,
            Err(RetimingError::TooFar) => return Ok(false),
            Err(RetimingError::Cancelled(cancelled)) => return Err(cancelled.into()),
        };
        let alone = repair(self.aligned, clocks, delay, monitor)?.summary.total;
        let rest = repair(&causality, clocks, delay, monitor)?.summary.total;
        let spread = moved(self.aligned, spread, monitor)?;
        Ok(spread.saturating_add(rest) < alone)
    }

    /// Runs a clock that loses any lead at once over the aligned trace with its events moved.
    fn run(&self, moved: &Correction, way: Way) -> Result<Option<TimeBounds>, ClockError> {
        let AlignedTrace {
            clocks, monitor, ..
        } = *self.trace;
        let causality = match self.aligned.retimed(moved, monitor) {
            Ok(causality) => causality,
            Err(RetimingError::TooFar) => return Ok(None),
            Err(RetimingError::Cancelled(cancelled)) => return Err(cancelled.into()),
        };
        let (causality, delay) = match way {
            Way::Forwards => (causality, self.trace.delay.clone()),
            Way::Backwards => (causality.mirrored(), self.trace.delay.mirrored()),
        };
        let gamma = Gamma::from_factor(0.0);
        match controlled_by_guess(&causality, clocks, &delay, gamma, monitor) {
            Ok(times) => Ok(Some(TimeBounds {
                causality,
                times,
                way,
            })),
            Err(ClockError::Cycle(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The correction of the aligned trace that puts events within their steps where `time` says.
    fn moved(
        &self,
        time: impl Fn(&AmbiguousEvent) -> Timestamp,
    ) -> Result<Correction, CorrectionError> {
        let map = |stretches: &Vec<Stretch>| {
            let mut builder = MapBuilder::default();
            for stretch in stretches {
                for point in self.points(stretch, &time) {
                    builder.add(point)?;
                }
            }
            builder.finish()
        };
        let maps = self.stretches.iter().map(map);
        let maps = maps.collect::<Result<Vec<ClockMap>, CorrectionError>>()?;
        Ok(Correction::new(self.trace.clocks.clone(), maps))
    }

    /// The points of a map within a step, and its ends, which stay.
    fn points(&self, stretch: &Stretch, time: impl Fn(&AmbiguousEvent) -> Timestamp) -> Vec<Point> {
        let nodes = self.aligned.nodes();
        let stays = |at: Timestamp| Point {
            raw: at,
            corrected: at,
            event: None,
        };
        let event = |it: &AmbiguousEvent| Point {
            raw: nodes.timestamp(it.node),
            corrected: time(it).clamp(stretch.before, stretch.behind),
            event: Some((it.location, nodes.event(it.node))),
        };
        let mut points: Vec<Point> = stretch.events.iter().map(event).collect();
        points.sort_by_key(|it| (it.raw, it.corrected, it.event));
        // Locations of one clock keep the order of their stamps.
        let mut latest = stretch.before;
        for point in &mut points {
            latest = latest.max(point.corrected);
            point.corrected = latest;
        }
        points.insert(0, stays(stretch.before));
        points.push(stays(stretch.behind));
        points
    }
}

/// Which way a clock runs over a trace.
#[derive(Clone, Copy)]
enum Way {
    Forwards,
    Backwards,
}

/// The earliest or the latest times of events that dependencies leave.
struct TimeBounds {
    /// The mirrored trace where the clock ran backwards.
    causality: Causality,
    times: LogicalTimes,
    way: Way,
}

impl TimeBounds {
    /// The bound of an event; `None` where it lies before time 0.
    fn time(&self, event: &AmbiguousEvent) -> Option<Timestamp> {
        let nodes = self.causality.nodes();
        let absolute = |node| nodes.absolute(self.times.get(node));
        match self.way {
            Way::Forwards => absolute(event.node),
            Way::Backwards => {
                let image = nodes.span(event.location.as_usize()).mirrored(event.node);
                nodes.mirror_time(absolute(image)?)
            }
        }
    }
}
