//! The effect of a correction on local intervals and displacements.
//!
//! A correction should move events, not stretch what one process measured by
//! itself. For successive events of one location, `d` apart before and `d'`
//! after, the relative change is `|d' - d| / d`. Stamps are whole ticks, so a
//! change of one tick counts as small whatever its ratio. Which events these are
//! is up to the caller: the ones with edges, or [all](Changes).
//!
//! A correction that moves effects to behind their causes changes the intervals before effects
//! most. So changes are summed up apart by the event at the end of the interval: before an effect
//! (`d_R`), a cause (`d_S`), or an event that is neither (`d_I`); the sizes of changes in ticks are
//! the `e_R`, `e_S` and `e_I` of the source.
//!
//! ```
//! use retime::causality::{Place, Role};
//! use retime::{Changes, Distortion, LocationIndex, Ticks, Timestamp};
//!
//! let mut changes = Changes::default();
//! // Recorded 100 and 50 ticks apart, corrected 100 and 60.
//! for (number, (before, after)) in [(0, 7), (100, 107), (150, 167)].into_iter().enumerate() {
//!     let place = Place { location: LocationIndex(0), event: number as u64 };
//!     let role = (number == 2).then_some(Role::Receive);
//!     changes.event(Timestamp(before), Timestamp(after), place, role);
//! }
//! let distortion = Distortion::of([changes]);
//! assert_eq!((distortion.intervals, distortion.unchanged, distortion.large), (2, 1, 1));
//! assert_eq!((distortion.largest, distortion.largest_displacement), (0.2, Ticks(17)));
//! let effects = distortion.before_effects;
//! assert_eq!((effects.intervals, effects.mean_size, effects.largest_size), (1, 10.0, Ticks(10)));
//! assert_eq!(distortion.before_others.mean_size, 0.0);
//! ```
//!
//! Source: Rabenseifner 2000, section 5.1 and figure 5.1 for the kinds of intervals, figure 6.3 for
//! the classes of changes.

use serde::{Deserialize, Serialize};

use crate::pace::Pace;
use retime_causality::{Causality, Place};
use retime_model::{Cancelled, Clocks, LocationIndex, Monitor, Role, Ticks, Timestamp};
use retime_numerics::parallel;

/// Changes up to this share count as small.
const SMALL: f64 = 1e-3;

/// Change of local intervals and displacement of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distortion {
    /// Intervals between successive events of one location.
    pub intervals: u64,
    /// Not changed at all.
    pub unchanged: u64,
    /// Changed by one tick or by at most 0.1 %.
    pub small: u64,
    /// Mean and largest relative change of those.
    pub small_change: MeanAndMost,
    /// Changed by more.
    pub large: u64,
    /// Mean and largest relative change of those.
    pub large_change: MeanAndMost,
    /// Shortest recorded interval above zero.
    pub shortest_interval: Option<Ticks>,
    /// Mean relative change.
    pub mean: f64,
    /// Largest relative change of more than one tick.
    pub largest: f64,
    /// Where it is: the event at the end of the interval.
    #[serde(skip)]
    pub largest_at: Option<Place>,
    /// Intervals before receives and ends of collective operations.
    pub before_effects: EndChanges,
    /// Intervals before sends and begins of collective operations.
    pub before_causes: EndChanges,
    /// Intervals before events that communicate with nobody.
    pub before_others: EndChanges,
    /// Share of local time during which corrections grow.
    pub growing_share: f64,
    /// Events that have another stamp than before.
    pub moved: u64,
    /// Largest displacement of an event, to later or (negative) to earlier.
    pub largest_displacement: Ticks,
    /// Mean size of displacements over all events, in ticks.
    pub mean_displacement: f64,
}

/// Changes of intervals that end alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndChanges {
    /// The number of intervals.
    pub intervals: u64,
    /// Mean size of a change, in ticks.
    pub mean_size: f64,
    /// Size of the largest change.
    pub largest_size: Ticks,
    /// Mean relative change.
    pub mean: f64,
}

impl EndChanges {
    /// One more; means hold sums until [`Self::divide`].
    fn add(&mut self, size: u64, relative: f64) {
        self.intervals += 1;
        self.mean_size += size as f64;
        self.largest_size.0 = self
            .largest_size
            .0
            .max(i64::try_from(size).unwrap_or(i64::MAX));
        self.mean += relative;
    }

    fn merge(&mut self, other: Self) {
        self.intervals += other.intervals;
        self.mean_size += other.mean_size;
        self.largest_size = self.largest_size.max(other.largest_size);
        self.mean += other.mean;
    }

    fn divide(&mut self) {
        self.mean_size = ratio(self.mean_size, self.intervals as f64);
        self.mean = ratio(self.mean, self.intervals as f64);
    }
}

/// Mean and largest of relative changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanAndMost {
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub most: f64,
}

impl MeanAndMost {
    /// One more; `mean` holds the sum until [`Self::divide`].
    fn add(&mut self, change: f64) {
        self.mean += change;
        self.most = self.most.max(change);
    }

    fn merge(&mut self, other: Self) {
        self.mean += other.mean;
        self.most = self.most.max(other.most);
    }

    fn divide(&mut self, count: u64) {
        self.mean = ratio(self.mean, count as f64);
    }
}

/// The changes of one location, summed up event by event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Changes {
    out: Distortion,
    change: f64,
    growing: f64,
    time: f64,
    displacement: f64,
    events: u64,
    /// The last event.
    #[serde(skip)]
    last: Option<Stamps>,
}

/// The time of an event before and after a correction.
#[derive(Clone, Copy, Debug)]
struct Stamps {
    before: Timestamp,
    after: Timestamp,
}

impl Stamps {
    fn moved(self) -> i64 {
        self.after.0.wrapping_sub(self.before.0) as i64
    }
}

impl Distortion {
    /// Compares the stamps of all nodes before and after. Fails only if `monitor` says to
    /// give up.
    pub fn measure(
        causality: &Causality,
        after: &[Timestamp],
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let parts: Result<Vec<Changes>, Cancelled> =
            parallel::try_numbers(causality.nodes().locations(), |location| {
                Changes::of_nodes(causality, after, location, monitor)
            });
        // Reports leave out where the largest is.
        let sent = parts?
            .into_iter()
            .map(|it| (it.out.largest_at, it))
            .collect();
        let parts = causality.whole().by_location(sent).into_iter();
        let parts = parts.map(|(largest_at, mut it): (Option<Place>, Changes)| {
            it.out.largest_at = largest_at;
            it
        });
        Ok(Self::of(parts))
    }

    /// The changes of all kinds of intervals.
    fn by_end(&mut self) -> [&mut EndChanges; 3] {
        [
            &mut self.before_effects,
            &mut self.before_causes,
            &mut self.before_others,
        ]
    }

    /// The changes of intervals that end in events of a role.
    fn ends_in(&mut self, role: Option<Role>) -> &mut EndChanges {
        match role {
            Some(Role::Receive | Role::CollectiveEnd) => &mut self.before_effects,
            Some(Role::Send | Role::CollectiveBegin) => &mut self.before_causes,
            None => &mut self.before_others,
        }
    }

    /// The changes of all locations together. They have to be in one order whenever sums of floats
    /// are to come out alike.
    pub fn of(locations: impl IntoIterator<Item = Changes>) -> Self {
        let parts = locations.into_iter();
        let mut sums = parts.fold(Changes::default(), Changes::merge);
        sums.out.mean = ratio(sums.change, sums.out.intervals as f64);
        sums.out.small_change.divide(sums.out.small);
        sums.out.large_change.divide(sums.out.large);
        for ends in sums.out.by_end() {
            ends.divide();
        }
        sums.out.growing_share = ratio(sums.growing, sums.time);
        sums.out.mean_displacement = ratio(sums.displacement, sums.events as f64);
        sums.out
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Changes {
    fn of_nodes(
        causality: &Causality,
        after: &[Timestamp],
        location: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let nodes = causality.nodes();
        let mut changes = Self::default();
        let mut pace = Pace::of(monitor);
        for node in nodes.of(location) {
            pace.event()?;
            let place = Place {
                location: LocationIndex(location as u32),
                event: nodes.event(node),
            };
            let role = (!nodes.is_between(node)).then(|| nodes.role(node));
            changes.event(nodes.timestamp(node), after[node.index()], place, role);
        }
        Ok(changes)
    }

    /// The next event of the location: its times before and after, where it is, and the part it
    /// plays in communication, if any.
    pub fn event(&mut self, before: Timestamp, after: Timestamp, place: Place, role: Option<Role>) {
        let stamps = Stamps { before, after };
        let moved = stamps.moved();
        self.events += 1;
        self.out.moved += u64::from(moved != 0);
        self.displacement += moved.unsigned_abs() as f64;
        if moved.unsigned_abs() > self.out.largest_displacement.0.unsigned_abs() {
            self.out.largest_displacement = Ticks(moved);
        }
        if let Some(last) = self.last.replace(stamps) {
            let was = before.0.wrapping_sub(last.before.0) as i64;
            let is = after.0.wrapping_sub(last.after.0) as i64;
            self.interval(was, is, place, role);
        }
    }

    fn interval(&mut self, before: i64, now: i64, place: Place, role: Option<Role>) {
        let change = now.saturating_sub(before);
        let relative = change.unsigned_abs() as f64 / before.max(1) as f64;
        self.out.ends_in(role).add(change.unsigned_abs(), relative);
        self.out.intervals += 1;
        if before > 0 {
            let shortest = self
                .out
                .shortest_interval
                .map_or(before, |it| it.0.min(before));
            self.out.shortest_interval = Some(Ticks(shortest));
        }
        self.time += before as f64;
        if change == 0 {
            self.out.unchanged += 1;
            return;
        }
        self.change += relative;
        if change > 1 {
            self.growing += before as f64;
        }
        if change.unsigned_abs() <= 1 || relative <= SMALL {
            self.out.small += 1;
            self.out.small_change.add(relative);
        } else {
            self.out.large += 1;
            self.out.large_change.add(relative);
        }
        if change.unsigned_abs() > 1 && relative > self.out.largest {
            self.out.largest = relative;
            self.out.largest_at = Some(place);
        }
    }

    fn merge(mut self, other: Self) -> Self {
        let (own, its) = (&mut self.out, other.out);
        own.intervals += its.intervals;
        own.unchanged += its.unchanged;
        own.small += its.small;
        own.large += its.large;
        for (own, its) in own.by_end().into_iter().zip(its.clone().by_end()) {
            own.merge(*its);
        }
        own.small_change.merge(its.small_change);
        own.large_change.merge(its.large_change);
        own.shortest_interval = own
            .shortest_interval
            .into_iter()
            .chain(its.shortest_interval)
            .min();
        own.moved += its.moved;
        if its.largest > own.largest {
            own.largest = its.largest;
            own.largest_at = its.largest_at;
        }
        if its.largest_displacement.0.unsigned_abs() > own.largest_displacement.0.unsigned_abs() {
            own.largest_displacement = its.largest_displacement;
        }
        self.change += other.change;
        self.growing += other.growing;
        self.time += other.time;
        self.displacement += other.displacement;
        self.events += other.events;
        self
    }
}

/// How far each clock is ahead of its recorded time at its last event with an
/// edge; `None` for a clock without any.
pub fn final_advance(
    causality: &Causality,
    clocks: &Clocks,
    after: &[Timestamp],
) -> Vec<Option<Ticks>> {
    let nodes = causality.nodes();
    let of_clock = |clock| {
        let locations = clocks
            .locations(clock)
            .iter()
            .map(|location| nodes.of(location.as_usize()));
        let last = locations
            .filter_map(|range| range.clone().next_back())
            .max_by_key(|&node| nodes.time(node))?;
        Some(Ticks(
            after[last.index()].0.wrapping_sub(nodes.timestamp(last).0) as i64,
        ))
    };
    let own = clocks.iter().map(of_clock).collect();
    nodes.by_clock(own, clocks)
}
