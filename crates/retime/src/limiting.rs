//! Which send stands behind an interval that a correction stretched.
//!
//! A jump is ramped up over the time before it, unless an event there has an
//! effect that would come too early: a send whose message arrives just in time
//! can hardly be moved, and what is missing is added between it and the jump. For
//! an interval that has grown by `g` that is the last send or begin of a
//! collective before its end which could not have been moved by `g`:
//!
//! ```text
//! room = min over its effects r of LC'(r) - mu - T(s) < g
//! ```
//!
//! with `LC'` the time before amortisation, by which amortisation takes its limits.
//!
//! Only events close to the interval explain it: at most its own length before, or
//! on the same ramp, where intervals have grown at least half as steeply.
//!
//! ```
//! # use retime::Grouping;
//! use retime::causality::{Causality, CausalityOptions, Place};
//! use retime::{LocationIndex, MinimalDelay, Ticks, Timestamp, clock, limiting_send};
//! # let trace = retime_testing::trace("0: send 1 @900, receive 1 @1000
//! #                                    1: receive 0 @906, send 0 @1010")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Grouping::Process.clocks(&trace.info, &causality);
//! // Location 0 sends at 900, what arrives at 906, and receives at 1000 what was
//! // sent at 1010. The correction moved them by 6 and by 10.
//! let delay = MinimalDelay::Uniform(Ticks(0));
//! let times = clock::controlled(&causality, &clocks, &delay, "0.99".parse()?, &())?;
//! let after = [906, 1_010, 906, 1_010].map(Timestamp);
//! let place = Place { location: LocationIndex(0), event: 1 };
//! let limit = limiting_send(&causality, &clocks, &delay, &times, &after, place).unwrap();
//! assert_eq!((limit.send.event, limit.effect.event, limit.room), (0, 0, Ticks(0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 2000, section 4.5 and figure 4.12: the limits of the
//! piecewise linear amortisation.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use retime_causality::MinimalDelay;
use retime_causality::{Causality, EventNode, Place, Reached, Role, Slot};
use retime_logical_clocks::LogicalTimes;
use retime_model::{Clocks, LocationIndex};
use retime_model::{Ticks, Timestamp};

/// A send, or the begin of a collective, that could not be moved far enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitingSend {
    /// The event.
    pub send: Place,
    /// The effect that would come too early.
    pub effect: Place,
    /// How far it could still be moved.
    pub room: Ticks,
}

/// Two nodes of a location, one after the other.
type Interval = (EventNode, EventNode);

/// The send behind the interval that ends at `end`; `None` if the interval has not
/// grown or nothing there limits it. `times` are those before amortisation, `after`
/// the stamps of all nodes after it.
pub fn limiting_send(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    times: &LogicalTimes,
    after: &[Timestamp],
    end: Place,
) -> Option<LimitingSend> {
    let nodes = causality.nodes();
    let look = Room {
        causality,
        clocks,
        delay,
        times,
    };
    let own = nodes.whole().has(end.location.as_usize());
    let near = own.then(|| near(causality, after, end)).flatten();
    let told = look.told_elsewhere(near.iter().flat_map(|it| &it.0));
    let limit = |send: EventNode, grown: i64| {
        let (effect, space) = match told.get(&send) {
            Some(&told) => told?,
            None => look.tightest(send)?,
        };
        let moved = nodes.relative(after[send.index()]).0 - times.get(send).0;
        let room = space.saturating_sub(moved);
        (room < grown).then(|| LimitingSend {
            send: nodes.place(send),
            effect,
            room: Ticks(room),
        })
    };
    let found = near.and_then(|(near, grown)| near.into_iter().find_map(|it| limit(it, grown)));
    nodes.whole().known(found)
}

/// The nodes that may have kept the interval that ends at `end` from being spread, the last
/// one first, and how far it has grown; `None` if it has not.
fn near(causality: &Causality, after: &[Timestamp], end: Place) -> Option<(Vec<EventNode>, i64)> {
    let nodes = causality.nodes();
    let of = nodes.of(end.location.as_usize());
    let events = nodes.events(&of);
    let at = events.partition_point(|&event| u64::from(event) < end.event);
    let interval = |end: usize| Some((of.get(end.checked_sub(1)?)?, of.get(end)?));
    let moved = |node: EventNode| nodes.relative(after[node.index()]).0 - nodes.time(node).0;
    let length = |(from, to): Interval| (nodes.time(to).0 - nodes.time(from).0).max(1);
    let growth = |(from, to): Interval| moved(to) - moved(from);
    let last = interval(at)?;
    let (grown, whole) = (growth(last), length(last));
    if grown <= 0 {
        return None;
    }
    let earliest = nodes.time(last.0).0 - whole;
    let half_as_steep = |interval: Interval| {
        2 * i128::from(growth(interval)) * i128::from(whole)
            >= i128::from(grown) * i128::from(length(interval))
    };
    // From the end backwards, over the intervals that the same ramp stretched.
    let intervals = (1..=at).rev().map_while(interval);
    let near = intervals
        .take_while(|it| nodes.time(it.0).0 >= earliest || half_as_steep(*it))
        .map(|(near, _)| near);
    Some((near.collect(), grown))
}

/// The room that dependencies leave to nodes.
struct Room<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    times: &'a LogicalTimes,
}

impl Room<'_> {
    /// Fetches the limits of nodes that begin operations which are joined elsewhere; all parts of a
    /// trace come here.
    fn told_elsewhere<'a>(
        &self,
        nodes: impl Iterator<Item = &'a EventNode>,
    ) -> FxHashMap<EventNode, Option<Reached>> {
        let causality = self.causality;
        let Some(rest) = causality.whole().rest().filter(|it| it.joins_apart()) else {
            return FxHashMap::default();
        };
        let is_begin = |it: &&EventNode| causality.nodes().role(**it) == Role::CollectiveBegin;
        let slots = nodes.filter(is_begin).filter_map(|it| causality.slot(*it));
        let slots: Vec<Slot> = slots.collect();
        let begin = |slot: Slot| causality.collectives().participant(slot).cause();
        let answers = rest.ask_joined(&slots, &|slot| self.tightest(begin(slot)?));
        let answers = answers.into_iter();
        answers
            .filter_map(|(slot, answer)| Some((begin(slot)?, answer)))
            .collect()
    }

    /// The tightest of all effects of a node on other clocks.
    fn tightest(&self, node: EventNode) -> Option<Reached> {
        let (causality, clocks) = (self.causality, self.clocks);
        let nodes = causality.nodes();
        let time = |node: EventNode| self.times.get(node).0;
        match nodes.role(node) {
            Role::Send => {
                let receive = causality.message_target(node)?;
                let (from, to) = (nodes.location(node), nodes.location(receive));
                let across = clocks.of(from) != clocks.of(to);
                let latency = time(receive) - time(node);
                let least = causality.message_delay(self.delay, node, receive);
                let room = latency.saturating_sub(least.0);
                across.then(|| (nodes.place(receive), room))
            }
            Role::CollectiveBegin => {
                let (instance, _) = causality.collectives().locate(causality.slot(node)?);
                let mut tightest: Option<(EventNode, i64)> = None;
                let clock = |it: LocationIndex| clocks.of(it);
                // Ends that wait for somebody later do not wait for this one.
                let note = |cause: EventNode, effect: EventNode, room: i64| {
                    if cause == node && tightest.is_none_or(|(_, least)| room < least) {
                        tightest = Some((effect, room));
                    }
                };
                causality.tightest_causes(instance, clock, self.delay, time, note);
                tightest.map(|(effect, room)| (nodes.place(effect), room))
            }
            Role::Receive | Role::CollectiveEnd => None,
        }
    }
}
