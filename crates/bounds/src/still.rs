//! Clocks that stand still.
//!
//! A clock that must not run backwards [stands still](Standstill) where it is set back, until
//! its old time has come again. All that it stamps meanwhile belongs neither to what was before
//! nor to what comes after: several events that have one stamp, or stamps that follow each other as
//! closely as those that are known to be from then.
//!
//! Events that no dependency is listed of may be among them, too: a collective operation has many, and
//! only the tightest are listed. So a stretch with a standstill within reaches to stamps that are listed,
//! or as far as a clock can show that stands still.
//!
//! A clock whose ticks are so coarse that several events have one stamp all the time is followed
//! until it has shown too much to have stood still.

use retime_causality::EventNode;
use retime_causality::edges::InOrder;
use retime_clocks::Standstill;
use retime_model::ClockId;
use rustc_hash::FxHashMap;

/// A stretch between two stamps of a clock in which it was set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) clock: ClockId,
    pub(super) after: i64,
    pub(super) until: i64,
    /// The ticks that it lost, at least; negative if it gained.
    pub(super) by: f64,
}

/// From stretches to the stamps before and after, where their clocks stand still at them.
pub(super) fn moving(all: &InOrder, stretches: &[Stretch]) -> Vec<(i64, i64)> {
    if stretches.is_empty() {
        return Vec::new();
    }
    let clocks = stretches.iter().map(|it| (it.clock, Vec::new()));
    let mut events: FxHashMap<ClockId, Vec<(i64, Option<EventNode>)>> = clocks.collect();
    for edge in all.list.edges.all() {
        for (clock, stamp, event) in [
            (edge.from, edge.sent, edge.cause.get()),
            (edge.to, edge.received, edge.effect.get()),
        ] {
            if let Some(events) = events.get_mut(&clock) {
                events.push((stamp, event));
            }
        }
    }
    let shown = events
        .into_iter()
        .map(|(clock, events)| (clock, shown(events)));
    let shown: FxHashMap<ClockId, Vec<Shown>> = shown.collect();
    let moved = |it: &Stretch| {
        shown
            .get(&it.clock)
            .map_or((it.after, it.until), |shown| moved(it, shown))
    };
    stretches.iter().map(moved).collect()
}

/// A stamp that a clock showed.
struct Shown {
    stamp: i64,
    /// The one before.
    before: Option<i64>,
    /// True if several events have it.
    is_of_several: bool,
}

impl Shown {
    /// True if the clock may have stood still since the stamp before.
    fn stood_since_before(&self, still: &Standstill) -> bool {
        self.before.is_some_and(|it| still.follows(it, self.stamp))
    }
}

/// The stamps of events, in order.
fn shown(mut events: Vec<(i64, Option<EventNode>)>) -> Vec<Shown> {
    events.sort_unstable();
    events.dedup();
    let mut before = None;
    let of_one = events.chunk_by(|a, b| a.0 == b.0);
    of_one
        .map(|events| {
            let stamp = events[0].0;
            let several = events.iter().filter(|it| it.1.is_some()).count() > 1;
            Shown {
                stamp,
                before: before.replace(stamp),
                is_of_several: several,
            }
        })
        .collect()
}

/// The nearest stamps at which the clock does not stand still, or the ends of the stretch where it does not.
/// Stamps within the stretch are from a standstill if it shows no more than one can. Then events that are not
/// listed may have stamps from then as far as those that are, or as far as a standstill can show.
fn moved(it: &Stretch, shown: &[Shown]) -> (i64, i64) {
    let before = shown.partition_point(|known| known.stamp <= it.after);
    let behind = shown.partition_point(|known| known.stamp < it.until);
    let lost = it.by.abs();
    let is_still = Standstill::of_core(lost, &[]).can_show(it.until.abs_diff(it.after));
    let core = shown.get(before..behind).filter(|_| is_still);
    let core: Vec<i64> = core.unwrap_or_default().iter().map(|it| it.stamp).collect();
    let still = Standstill::of_core(lost, &core);
    // The stamp that the next one follows closely may be the last before the clock was set, or one from
    // then on: events between it and the one before need not be listed.
    let stands = |place: usize| {
        let next = shown.get(place + 1);
        shown[place].is_of_several || next.is_some_and(|it| it.stood_since_before(&still))
    };
    let to_begin = (0..before).rev();
    let to_begin = to_begin.map(|place| (shown[place].stamp, stands(place)));
    let to_end = shown[behind..].iter();
    let to_end = to_end.map(|it| (it.stamp, it.is_of_several || it.stood_since_before(&still)));
    let after = running(it.after, &still, to_begin);
    let until = running(it.until, &still, to_end);
    if core.is_empty() {
        return (after, until);
    }
    let most = (lost / 2.0) as i64;
    let [earliest, latest] = [it.after.saturating_sub(most), it.until.saturating_add(most)];
    let listed = (shown[..before].last(), shown.get(behind));
    (
        after.min(listed.0.map_or(earliest, |known| known.stamp.max(earliest))),
        until.max(listed.1.map_or(latest, |known| known.stamp.min(latest))),
    )
}

/// The first of these stamps, which lead away from an end, at which a clock does not stand still; the end
/// itself if it does at none.
fn running(end: i64, still: &Standstill, away: impl Iterator<Item = (i64, bool)>) -> i64 {
    let mut stood = None;
    for (stamp, stands) in away {
        if !stands || !still.can_show(stamp.abs_diff(end)) {
            return stood.map_or(end, |_| stamp);
        }
        stood = Some(stamp);
    }
    stood.unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::edges::{Edge, Edges};

    const A: ClockId = ClockId(0);
    const B: ClockId = ClockId(1);

    /// Messages to a clock that has these stamps, each of an event of its own.
    fn received_at(stamps: &[i64]) -> InOrder {
        let edge = |(&received, event)| Edge {
            effect: EventNode(event).into(),
            ..Edge::message(A, 10 * i64::from(event), B, received)
        };
        let edges = stamps.iter().zip(0..).map(edge).collect();
        let extent = stamps.first().zip(stamps.last());
        let extents = vec![Some((0, 40)), extent.map(|(a, b)| (*a, *b))];
        InOrder::new(&Edges::new(edges, extents), &()).unwrap()
    }

    fn stretch((clock, after, until): (ClockId, i64, i64)) -> Stretch {
        Stretch {
            clock,
            after,
            until,
            by: 150.0,
        }
    }

    #[test]
    fn a_stamp_of_several_events_is_left_to_both_sides() {
        let edges = received_at(&[100, 200, 200, 200, 300]);
        let stretches = [(B, 200, 200), (B, 100, 200), (A, 10, 20), (B, 100, 300)];
        let moved = [(100, 300), (100, 300), (10, 20), (100, 300)];
        assert_eq!(moving(&edges, &stretches.map(stretch)), moved);
        assert_eq!(moving(&edges, &[stretch((B, 200, 300))]), [(100, 300)]);
    }

    /// A clock that has to show more each time goes on by ticks, and one that drifts by a few. It may have
    /// been set before it showed 200, too.
    #[test]
    fn so_are_stamps_that_follow_each_other_by_ticks() {
        let edges = received_at(&[100, 200, 201, 202, 203, 300]);
        for place in [(B, 201, 202), (B, 200, 201), (B, 202, 203), (B, 200, 203)] {
            assert_eq!(moving(&edges, &[stretch(place)]), [(100, 300)]);
        }
        let edges = received_at(&[100, 200, 200, 202, 202, 205, 205, 300]);
        assert_eq!(moving(&edges, &[stretch((B, 201, 203))]), [(100, 300)]);
    }

    /// Those within the stretch tell how closely; one that shows too much did not stand still.
    #[test]
    fn so_are_stamps_that_follow_each_other_as_those_within_do() {
        let edges = received_at(&[100, 200, 220, 240, 260, 280, 900]);
        assert_eq!(moving(&edges, &[stretch((B, 219, 241))]), [(100, 900)]);
        assert_eq!(moving(&edges, &[stretch((B, 150, 241))]), [(150, 241)]);
    }

    /// The clock stands still from 300 on, by ticks; of the events at 301 and 304 nothing is listed.
    #[test]
    fn so_are_stamps_next_to_a_standstill_that_are_not_listed() {
        let edges = received_at(&[100, 200, 302, 303, 400, 500]);
        assert_eq!(moving(&edges, &[stretch((B, 301, 304))]), [(226, 379)]);
        assert_eq!(moving(&edges, &[stretch((B, 302, 303))]), [(200, 400)]);
        let long = |it| Stretch {
            by: 900.0,
            ..stretch(it)
        };
        assert_eq!(moving(&edges, &[long((B, 301, 304))]), [(200, 400)]);
        // Nothing was shown meanwhile.
        assert_eq!(moving(&edges, &[long((B, 250, 290))]), [(250, 290)]);
    }

    /// Each stamp of coarse ticks belongs to several events.
    #[test]
    fn a_clock_that_goes_on_did_not_stand_still() {
        let stamps: Vec<i64> = (0..100).map(|it| 10 * (it / 2)).collect();
        let edges = received_at(&stamps);
        assert_eq!(moving(&edges, &[stretch((B, 200, 210))]), [(120, 290)]);
    }
}
