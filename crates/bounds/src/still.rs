//! Clocks that stand still.
//!
//! A clock that must not run backwards stands still where it is set back, until
//! its old time has come again. All that it stamps meanwhile has one stamp, which
//! belongs neither to what was before nor to what comes after.

use retime_causality::EventNode;
use retime_causality::edges::InOrder;
use retime_model::ClockId;

/// From stretches between two stamps of a clock to the stamps before and after,
/// where it stands still at them: where several events have that stamp.
pub(super) fn moving(all: &InOrder, stretches: &[(ClockId, i64, i64)]) -> Vec<(i64, i64)> {
    if stretches.is_empty() {
        return Vec::new();
    }
    let ends = stretches.iter();
    let ends = ends.flat_map(|&(clock, after, until)| [(clock, after), (clock, until)]);
    let mut watch = WatchedStamps::of(ends.collect());
    for edge in all.list.edges.all() {
        watch.see(edge.from, edge.sent, edge.cause.get());
        watch.see(edge.to, edge.received, edge.effect.get());
    }
    let moved = |&(clock, after, until): &(ClockId, i64, i64)| {
        let before = watch.at(clock, after).and_then(|it| it.before);
        let later = watch.at(clock, until).and_then(|it| it.later);
        (before.unwrap_or(after), later.unwrap_or(until))
    };
    stretches.iter().map(moved).collect()
}

/// A stamp of a clock, and what the clock shows next to it.
struct WatchedStamp {
    place: (ClockId, i64),
    /// One that has this stamp, if there is any.
    event: Option<EventNode>,
    /// True if several events have it.
    several: bool,
    before: Option<i64>,
    later: Option<i64>,
}

impl WatchedStamp {
    fn see(&mut self, event: Option<EventNode>) {
        self.several |= self.event.zip(event).is_some_and(|(a, b)| a != b);
        self.event = event.or(self.event);
    }

    fn before(&mut self, stamp: i64) {
        self.before = self.before.max(Some(stamp));
    }

    fn later(&mut self, stamp: i64) {
        self.later = Some(self.later.map_or(stamp, |it| it.min(stamp)));
    }
}

/// The stamps that are looked for, in the order of clocks and stamps.
struct WatchedStamps(Vec<WatchedStamp>);

impl WatchedStamps {
    fn of(mut places: Vec<(ClockId, i64)>) -> Self {
        places.sort_unstable();
        places.dedup();
        let still = |place| WatchedStamp {
            place,
            event: None,
            several: false,
            before: None,
            later: None,
        };
        Self(places.into_iter().map(still).collect())
    }

    /// An event. It is next to the nearest stamps that are looked for only, since
    /// these are themselves stamps of events.
    fn see(&mut self, clock: ClockId, stamp: i64, event: Option<EventNode>) {
        let place = (clock, stamp);
        let at = self.0.partition_point(|it| it.place < place);
        let mut next = at;
        if let Some(same) = self.0.get_mut(at).filter(|it| it.place == place) {
            same.see(event);
            next += 1;
        }
        let own = |it: &&mut WatchedStamp| it.place.0 == clock;
        if let Some(later) = self.0.get_mut(next).filter(own) {
            later.before(stamp);
        }
        let before = at.checked_sub(1).and_then(|it| self.0.get_mut(it));
        if let Some(before) = before.filter(own) {
            before.later(stamp);
        }
    }

    /// The finding where a clock stands still.
    fn at(&self, clock: ClockId, stamp: i64) -> Option<&WatchedStamp> {
        let place = (clock, stamp);
        let at = self.0.binary_search_by_key(&place, |it| it.place).ok()?;
        self.0.get(at).filter(|it| it.several)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::edges::{Edge, Edges};

    #[test]
    fn a_stamp_of_several_events_is_left_to_both_sides() {
        let (a, b) = (ClockId(0), ClockId(1));
        let stamps = [100, 200, 200, 200, 300];
        let edges = stamps.iter().zip(0..).map(|(&received, event)| Edge {
            effect: EventNode(event).into(),
            ..Edge::message(a, 10 * i64::from(event), b, received)
        });
        let edges = Edges::new(edges.collect(), vec![Some((0, 40)), Some((100, 300))]);
        let edges = InOrder::new(&edges, &()).unwrap();
        let stretches = [(b, 200, 200), (b, 100, 200), (a, 10, 20), (b, 100, 300)];
        let moved = [(100, 300), (100, 300), (10, 20), (100, 300)];
        assert_eq!(moving(&edges, &stretches), moved);
        assert_eq!(moving(&edges, &[(b, 200, 300)]), [(100, 300)]);
    }
}
