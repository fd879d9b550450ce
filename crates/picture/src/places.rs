//! Which stretches of time are shown.
//!
//! The first is the whole trace. Then, for each of the pairs of clocks that contradict
//! each other most, the surroundings of its worst dependency: from a few events before it
//! to a few after it on both its locations, but not so much that the dependency itself
//! could no longer be seen. A trace without contradictions shows its middle.

use retime::Ticks;
use retime::causality::EventNode;
use serde::Serialize;

use crate::pairs::Tallies;
use crate::{Lanes, Subject};

/// So many of the pairs that contradict each other most.
const PAIRS: usize = 8;
/// So many events that communicate before and after the worst one of a pair.
const AROUND: usize = 12;
/// A stretch is at most so many times as long as what is looked at.
const MOST_TIMES: i64 = 60;
/// And at least so many times.
const LEAST_TIMES: i64 = 2;

/// A stretch of time, by recorded and corrected times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The title of the stretch: what there is to see, in words.
    pub title: String,
    /// From here
    pub from: i64,
    /// to here, in ticks.
    pub to: i64,
    /// The clocks whose worst dependency it shows: that of the cause and that of the
    /// effect.
    pub pair: Option<(u32, u32)>,
    /// The dependency that is shown: the location and event number of its cause and its effect.
    pub dependency: Option<[(u64, u64); 2]>,
}

pub(crate) fn of(subject: &Subject<'_>, pairs: &Tallies, lanes: &Lanes) -> Vec<Place> {
    let mut places = vec![whole(subject, lanes)];
    let nodes = subject.nodes();
    let is_shown = |node: EventNode| lanes.lane_of(nodes.location(node)).is_some();
    let mut worst: Vec<_> = pairs.all.iter().filter(|it| it.reversed > 0).collect();
    worst.retain(|it| is_shown(it.worst.1) && is_shown(it.worst.2));
    worst.sort_by_key(|it| (it.worst.0, it.from, it.to));
    for pair in worst.into_iter().take(PAIRS) {
        let (latency, cause, effect) = pair.worst;
        let name = |node: EventNode| {
            let lane = lanes.lane_of(nodes.location(node));
            lane.and_then(|it| lanes.shown.get(it))
                .map_or("", crate::Lane::short)
        };
        places.push(Place {
            title: format!(
                "{} too early: {} hears from {}",
                subject.info.rate.format(Ticks(latency.saturating_neg())),
                name(effect),
                name(cause),
            ),
            pair: Some((pair.from, pair.to)),
            dependency: Some([event(subject, cause), event(subject, effect)]),
            ..around(subject, &[cause, effect])
        });
    }
    if places.len() == 1
        && let Some(middle) = nodes.all().get(nodes.len() / 2)
    {
        places.push(Place {
            title: "A stretch from the middle".into(),
            ..around(subject, &[middle])
        });
    }
    places
}

fn event(subject: &Subject<'_>, node: EventNode) -> (u64, u64) {
    let nodes = subject.nodes();
    let location = nodes.location(node).as_usize();
    let id = subject.info.locations.get(location).map_or(0, |it| it.id);
    (id, nodes.event(node))
}

/// From the first to the last event of all lanes.
fn whole(subject: &Subject<'_>, lanes: &Lanes) -> Place {
    let nodes = subject.nodes();
    let mut ends: Vec<i64> = Vec::new();
    for lane in &lanes.shown {
        let Some(extent) = nodes.extent(lane.location.as_usize()) else {
            continue;
        };
        let map = subject
            .corrected
            .map(|it| it.correction.map_of(lane.location));
        for stamp in [extent.first, extent.last] {
            ends.push(nodes.relative(stamp).0);
            let corrected = map.and_then(|it| it.cursor(lane.location).map_time(stamp));
            ends.extend(corrected.map(|it| nodes.relative(it).0));
        }
    }
    Place {
        title: "The whole trace".into(),
        from: ends.iter().copied().min().unwrap_or_default(),
        to: ends.iter().copied().max().unwrap_or_default(),
        pair: None,
        dependency: None,
    }
}

/// The stretch around some events, with their neighbours that communicate.
fn around(subject: &Subject<'_>, of: &[EventNode]) -> Place {
    let nodes = subject.nodes();
    let both = |node: EventNode| [subject.recorded(node), subject.time(node)];
    let (first, last) = hull(of.iter().flat_map(|&node| both(node)));
    let neighbours = of.iter().flat_map(|&node| {
        let own = nodes.of(nodes.location(node).as_usize());
        let at = node.index() - own.range().start;
        let near = at.saturating_sub(AROUND)..=at + AROUND;
        near.filter_map(move |it| own.get(it))
    });
    let (from, to) = hull(neighbours.flat_map(both));
    let (span, middle) = (last - first, first + (last - first) / 2);
    let length = match span {
        0 => to - from,
        // What is sparse would make the dependency a point, what is dense would cut it off.
        _ => (to - from).clamp(
            span.saturating_mul(LEAST_TIMES),
            span.saturating_mul(MOST_TIMES),
        ),
    };
    let half = length.max(16) / 2;
    Place {
        title: String::new(),
        from: middle.saturating_sub(half),
        to: middle.saturating_add(half),
        pair: None,
        dependency: None,
    }
}

fn hull(times: impl Iterator<Item = i64> + Clone) -> (i64, i64) {
    let (first, last) = (times.clone().min(), times.max());
    (first.unwrap_or_default(), last.unwrap_or_default())
}
