//! Clocks that stand still.
//!
//! A clock that must not run backwards stands still where it is set back, until
//! its old time has come again. All that it stamps meanwhile has one stamp, which
//! belongs neither to what was before nor to what comes after.

use std::cmp::Ordering;

use crate::clocks::ClockId;
use crate::edges::Edges;

/// From two stamps of a clock to the ones before and after, where it stands still
/// at them: where several events have that stamp.
pub(super) fn moving(edges: &Edges, clock: ClockId, after: i64, until: i64) -> (i64, i64) {
    let mut start = Still::at(after);
    let mut end = Still::at(until);
    for edge in edges.all() {
        let ends = [
            (edge.from, edge.sent, edge.cause),
            (edge.to, edge.received, edge.effect),
        ];
        for (_, stamp, event) in ends.into_iter().filter(|end| end.0 == clock) {
            start.see(stamp, event);
            end.see(stamp, event);
        }
    }
    let before = start.before.filter(|_| start.several);
    let later = end.later.filter(|_| end.several);
    (before.unwrap_or(after), later.unwrap_or(until))
}

/// Whether a clock stands still at a stamp, and what it shows next to it.
struct Still {
    stamp: i64,
    event: Option<u32>,
    several: bool,
    before: Option<i64>,
    later: Option<i64>,
}

impl Still {
    fn at(stamp: i64) -> Self {
        Self {
            stamp,
            event: None,
            several: false,
            before: None,
            later: None,
        }
    }

    fn see(&mut self, stamp: i64, event: u32) {
        match stamp.cmp(&self.stamp) {
            Ordering::Less => self.before = self.before.max(Some(stamp)),
            Ordering::Greater => {
                self.later = Some(self.later.map_or(stamp, |later| later.min(stamp)));
            }
            Ordering::Equal => {
                self.several |= self.event.is_some_and(|it| it != event);
                self.event = Some(event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edge;

    #[test]
    fn a_stamp_of_several_events_is_left_to_both_sides() {
        let (a, b) = (ClockId(0), ClockId(1));
        let stamps = [100, 200, 200, 200, 300];
        let edges = stamps.iter().zip(0..).map(|(&received, event)| Edge {
            effect: event,
            ..Edge::message(a, 10 * i64::from(event), b, received)
        });
        let edges = Edges::new(edges.collect(), vec![Some((0, 40)), Some((100, 300))]);
        assert_eq!(moving(&edges, b, 200, 200), (100, 300));
        assert_eq!(moving(&edges, b, 100, 200), (100, 300));
        assert_eq!(moving(&edges, b, 100, 300), (100, 300));
        assert_eq!(moving(&edges, a, 10, 20), (10, 20));
    }
}
