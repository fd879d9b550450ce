//! Whose time is the common one.
//!
//! Messages tell how clocks differ, not which of them is right, nor how fast
//! time really goes: whatever is done to all clocks together fits them as well.
//! So the common time is a choice, and an [`Estimate`] made against one clock can
//! be turned into one against another. With `M_p(C) = C + y_p(C)`, the common
//! time at which clock `p` shows `C`, clock `b` shows at the common time `t`
//!
//! ```text
//! M_b^-1(t) = t + z(t),     z through (C + y_b(C), -y_b(C)) for its knots C
//! ```
//!
//! and against `b` clock `p` has to be moved by `y_p(C) + z(C + y_p(C))`: again
//! piecewise linear, with bends where `y_p` has them, and where the time of `p`
//! reaches a bend of `z`, to the nearest tick. Before the first and after the
//! last knot of `b` the common time goes on as it did.
//!
//! For the *mean* of all clocks `z` is the mean of theirs, taken at 65 moments
//! from the first to the last event and linear between them.
//!
//! ```
//! use retime::ClockId;
//! use retime::estimate::{Estimate, Offset};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // Against a, clock b is 1000 ahead at first and gains 1 in 1001 then.
//! let offset = Offset::line((1_000, -1_000.0), (1_002_000, -2_000.0));
//! let estimate = Estimate { offsets: vec![Some(Offset::constant(0.0)), Some(offset)], reference: a };
//! let by_b = estimate.rebased(b).unwrap();
//! let add = |clock: usize, stamp| by_b.offsets[clock].as_ref().unwrap().at(stamp);
//! assert_eq!(by_b.reference, b);
//! assert_eq!(add(1, 500_000), 0.0);
//! assert_eq!(add(0, 500_000), 1_500.0); // when a shows 500 000, b shows 501 500
//! ```

use serde::{Deserialize, Serialize};

use super::{Estimate, Offset};
use retime_causality::edges::Edges;
use retime_causality::merge::{Any, Least};
use retime_causality::{Causality, EventNode};
use retime_model::LocationIndex;
use retime_model::{ClockId, Clocks};

/// The common time, by choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reference {
    /// The first clock that is related to others.
    #[default]
    First,
    /// The mean of all clocks that are related to others.
    Mean,
    /// The clock that this location reads.
    ClockOf(LocationIndex),
}

/// Moments at which the mean of all clocks is taken, but for the last.
const MOMENTS: u32 = 64;

impl Reference {
    /// The clock to make an estimate against: for [`Reference::Mean`] the first
    /// that is related to others. `None` if there is none, or the one asked for
    /// is related to no other.
    pub fn clock(self, causality: &Causality, clocks: &Clocks) -> Option<ClockId> {
        let whole = causality.whole();
        let related = |clock: &ClockId| is_related(causality, clocks, *clock);
        match self {
            Self::ClockOf(location) => {
                let clock = clocks.of(location);
                let Any(is_related) = whole.all_reduce(Any(related(&clock)));
                is_related.then_some(clock)
            }
            Self::First | Self::Mean => {
                let first = clocks.iter().find(related);
                whole.all_reduce(Least(first)).0
            }
        }
    }

    /// An estimate against [that clock](Self::clock) with the common time that
    /// was chosen; `None` where a clock's time does not advance.
    pub fn of(self, estimate: Estimate, clocks: &Clocks, edges: &Edges) -> Option<Estimate> {
        let asked = match self {
            Self::Mean => return estimate.rebased_to_mean(edges),
            Self::ClockOf(location) => clocks.of(location),
            Self::First => estimate.reference,
        };
        if asked == estimate.reference {
            Some(estimate)
        } else {
            estimate.rebased(asked)
        }
    }
}

/// True if an event of the clock depends on one of another, or is its cause.
fn is_related(causality: &Causality, clocks: &Clocks, clock: ClockId) -> bool {
    let (nodes, collectives) = (causality.nodes(), causality.collectives());
    let other = |node: EventNode| clocks.of(nodes.location(node)) != clock;
    let related = |node: EventNode| {
        let message = causality.message_source(node);
        let message = message.or_else(|| causality.message_target(node));
        message.is_some_and(other)
            || causality.slot(node).is_some_and(|slot| {
                let (instance, _) = collectives.locate(slot);
                let participants = collectives.participants(instance).iter();
                let mut ends = participants.filter_map(|it| it.cause().or(it.effect()));
                ends.any(other)
            })
    };
    let locations = clocks.locations(clock).iter();
    // Ghosts too: where an operation is joined all of its calls are known, elsewhere own ones.
    let mut nodes = locations.flat_map(|location| nodes.span(location.as_usize()));
    nodes.any(related)
}

impl Estimate {
    /// This estimate with another clock's time as the common one; `None` where that
    /// clock is related to no other, or where a clock's time does not advance.
    #[must_use]
    pub fn rebased(&self, reference: ClockId) -> Option<Self> {
        let offset = self.offsets.get(reference.as_usize())?.as_ref()?;
        let mut rebased = self.onto(&offset.inverse()?)?;
        rebased.reference = reference;
        *rebased.offsets.get_mut(reference.as_usize())? = Some(Offset::constant(0.0));
        Some(rebased)
    }

    /// This estimate with the mean of all related clocks as the common time; `None`
    /// where a clock's time does not advance.
    #[must_use]
    pub fn rebased_to_mean(&self, edges: &Edges) -> Option<Self> {
        let mut inverses = Vec::new();
        let mut span: Option<(i64, i64)> = None;
        for (clock, offset) in self.offsets.iter().enumerate() {
            let clock = ClockId(clock as u32);
            if let (Some(offset), true) = (offset, self.knows(clock, edges)) {
                let (first, last) = edges.extent(clock)?;
                let own = (common(offset, first), common(offset, last));
                let both = |all: (i64, i64)| (all.0.min(own.0), all.1.max(own.1));
                span = Some(span.map_or(own, both));
                inverses.push(offset.inverse()?);
            }
        }
        let Some((first, last)) = span else {
            return Some(self.clone());
        };
        let count = inverses.len() as f64;
        let moment = |number: u32| {
            let part = f64::from(number) / f64::from(MOMENTS);
            let at = first.saturating_add((last.saturating_sub(first) as f64 * part) as i64);
            let sum: f64 = inverses.iter().map(|inverse| inverse.at(at)).sum();
            (at, sum / count)
        };
        self.onto(&Offset::through((0..=MOMENTS).map(moment).collect()))
    }

    /// True if the clock has events, and is related to others.
    fn knows(&self, clock: ClockId, edges: &Edges) -> bool {
        let offset = self.offsets.get(clock.as_usize());
        offset.is_some_and(Option::is_some)
            && clock.as_usize() < edges.clocks()
            && edges.extent(clock).is_some()
    }

    /// With the common time `t + change(t)` instead of `t`.
    pub(crate) fn onto(&self, change: &Offset) -> Option<Self> {
        let moved = |offset: &Option<Offset>| match offset {
            Some(offset) => Some(Some(onto(offset, change)?)),
            None => Some(None),
        };
        Some(Self {
            offsets: self.offsets.iter().map(moved).collect::<Option<_>>()?,
            reference: self.reference,
        })
    }
}

/// The common time at which a clock shows `stamp`, to the nearest tick.
pub(crate) fn common(offset: &Offset, stamp: i64) -> i64 {
    stamp.saturating_add(offset.at(stamp).round() as i64)
}

/// The offset with the common time `t + change(t)` instead of `t`; `None` where a time does not
/// advance.
pub(crate) fn onto(offset: &Offset, change: &Offset) -> Option<Offset> {
    let shown = offset.inverse()?;
    let own = offset.knots().iter().map(|&(stamp, _)| stamp);
    let bends = change.knots().iter().map(|&(at, _)| common(&shown, at));
    let mut stamps: Vec<i64> = own.chain(bends).collect();
    stamps.sort_unstable();
    stamps.dedup();
    let point = |stamp: i64| {
        let add = offset.at(stamp);
        (stamp, add + change.at(common(offset, stamp)))
    };
    let points = stamps.into_iter().map(point).collect();
    Some(Offset::through(points).with_steps(offset.steps()))
}
