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
//! For the *mean* of all clocks `z` is the mean of theirs, taken at 65 moments or more
//! from the first to the last event and linear between them.
//!
//! The *ensemble* keeps the overall offset and rate of the reference, and takes out what it wanders:
//! clocks wander independently, so what half of them have in common is nearer to how time goes than
//! any one, by up to the root of their number. With `w_p` for what remains of `z_p` beside a straight
//! line through its moments (least squares), it is the interquartile mean
//!
//! ```text
//! z(t) = mean of the middle half of the w_p(t) of all p,     w_reference among them
//! ```
//!
//! the plain mean of two clocks; of more, a clock that wanders far off all others moves nobody. Of three
//! and more, how much each wanders shows in how it differs from all (the *n-cornered hat*): with `d_pq`
//! for the mean square of `w_p - w_q`,
//!
//! ```text
//! v_p = (sum over q of d_pq  -  V) / (n - 2),     V = sum of all v_p = sum over pairs of d_pq / (n - 1)
//! ```
//!
//! and the time of the reference stays where it wanders less than the mean of all would,
//! `v_reference <= V / n^2`. In runs too short for waves to turn often clocks look alike by chance,
//! and some references stay that are no steadier.
//!
//! That a time scale of several clocks is steadier than each is how atomic time is made: J. E. Gray
//! and D. W. Allan, *A method for estimating the frequency stability of an individual oscillator*,
//! 28th Symposium on Frequency Control (1974); J. Levine, *The statistical modeling of atomic clocks
//! and the design of time scales*, Review of Scientific Instruments 83 (2012).
//!
//! ```
//! use retime_model::ClockId;
//! use retime_clocks::estimate::{Estimate, Offset};
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
    /// The first clock that is related to others; where an alignment finds that clocks wander, less
    /// what it wanders against all of them.
    #[default]
    Ensemble,
    /// The first clock that is related to others.
    First,
    /// The mean of all clocks that are related to others.
    Mean,
    /// The clock that this location reads.
    ClockOf(LocationIndex),
}

/// Moments at which clocks are averaged, but for the last, at least; where offsets bend more often, as
/// many as one of them has knots,
const MOMENTS: usize = 64;
/// but no more than that.
const MOST_MOMENTS: usize = 1 << 12;

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
            Self::Ensemble | Self::First | Self::Mean => {
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
            Self::Ensemble => return estimate.rebased_to_ensemble(edges),
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

impl Reference {
    /// The ticks by which the chosen time is ahead of that of an estimate; `None` where that is the
    /// time of one clock, or where the time of a clock does not advance.
    pub fn change(self, estimate: &Estimate, edges: &Edges) -> Option<Offset> {
        match self {
            Self::Mean => estimate.mean_time(edges),
            Self::Ensemble => estimate.ensemble_time(edges),
            Self::First | Self::ClockOf(_) => None,
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
    /// where there are none, or a clock's time does not advance.
    #[must_use]
    pub fn rebased_to_mean(&self, edges: &Edges) -> Option<Self> {
        self.onto(&self.mean_time(edges)?)
    }

    /// This estimate with the time of the reference as the common one, less what that clock wanders
    /// against all that are related, unless it is steadier than these; `None` where a clock's time does
    /// not advance.
    #[must_use]
    pub fn rebased_to_ensemble(&self, edges: &Edges) -> Option<Self> {
        match self.ensemble_time(edges) {
            Some(ahead) => self.onto(&ahead),
            None => Some(self.clone()),
        }
    }

    /// The ticks by which the mean of all related clocks is ahead of the common time; `None` if there
    /// are none, or where a clock's time does not advance.
    pub(crate) fn mean_time(&self, edges: &Edges) -> Option<Offset> {
        let shown = self.shown(edges)?;
        let count = shown.ahead.len() as f64;
        let mean = |moment: usize| shown.ahead.iter().map(|it| it[moment]).sum::<f64>() / count;
        Some(shown.through(mean))
    }

    /// The ticks by which all related clocks together are ahead of the common time, but for a straight
    /// line; `None` if there are not two, where a clock's time does not advance, and where the reference
    /// is steadier than all together.
    pub(crate) fn ensemble_time(&self, edges: &Edges) -> Option<Offset> {
        let mut shown = self.shown(edges).filter(|it| it.ahead.len() > 1)?;
        for ahead in &mut shown.ahead {
            take_out_line(ahead);
        }
        if shown.reference_is_steadier() {
            return None;
        }
        let of_all = |moment: usize| shown.ahead.iter().map(|it| it[moment]).collect();
        Some(shown.through(|moment| interquartile_mean(of_all(moment))))
    }

    /// Reads all related clocks with events against the common time, from the first event to the
    /// last; `None` if there are none, or where the time of one does not advance.
    fn shown(&self, edges: &Edges) -> Option<ShownByAll> {
        let mut inverses = Vec::new();
        let mut reference = None;
        let mut span: Option<(i64, i64)> = None;
        for (clock, offset) in self.offsets.iter().enumerate() {
            let clock = ClockId(clock as u32);
            if let (Some(offset), true) = (offset, self.knows(clock, edges)) {
                let (first, last) = edges.extent(clock)?;
                let own = (offset.common_time(first), offset.common_time(last));
                let both = |all: (i64, i64)| (all.0.min(own.0), all.1.max(own.1));
                span = Some(span.map_or(own, both));
                if clock == self.reference {
                    reference = Some(inverses.len());
                }
                inverses.push(offset.inverse()?);
            }
        }
        let (first, last) = span?;
        let knots = inverses.iter().map(|it| it.knots().len()).max();
        let pieces = knots.unwrap_or(0).clamp(MOMENTS, MOST_MOMENTS);
        let moment = |number: usize| {
            let part = number as f64 / pieces as f64;
            first.saturating_add((last.saturating_sub(first) as f64 * part) as i64)
        };
        let moments: Vec<i64> = (0..=pieces).map(moment).collect();
        let ahead = |inverse: &Offset| moments.iter().map(|at| inverse.at(*at)).collect();
        let ahead = inverses.iter().map(ahead).collect();
        Some(ShownByAll {
            moments,
            ahead,
            reference,
        })
    }

    /// True if the clock has events, and is related to others.
    fn knows(&self, clock: ClockId, edges: &Edges) -> bool {
        let offset = self.offsets.get(clock.as_usize());
        offset.is_some_and(Option::is_some)
            && clock.as_usize() < edges.clocks()
            && edges.extent(clock).is_some()
    }

    /// With the common time `t + change(t)` instead of `t`.
    pub fn onto(&self, change: &Offset) -> Option<Self> {
        let moved = |offset: &Option<Offset>| match offset {
            Some(offset) => Some(Some(offset.onto(change)?)),
            None => Some(None),
        };
        Some(Self {
            offsets: self.offsets.iter().map(moved).collect::<Option<_>>()?,
            reference: self.reference,
        })
    }
}

/// The readings of clocks less the common time, at some moments of it.
struct ShownByAll {
    moments: Vec<i64>,
    /// Per clock: ticks at each moment.
    ahead: Vec<Vec<f64>>,
    /// The place of the reference among the clocks, if it counts.
    reference: Option<usize>,
}

impl ShownByAll {
    /// The offset through so many ticks at each moment.
    fn through(&self, ticks: impl Fn(usize) -> f64) -> Offset {
        let moments = self.moments.iter().enumerate();
        Offset::through(moments.map(|(moment, at)| (*at, ticks(moment))).collect())
    }

    /// True if the reference wanders less than the mean of all does, as far as differences of three
    /// clocks or more tell.
    fn reference_is_steadier(&self) -> bool {
        let own = self.reference.and_then(|it| self.ahead.get(it));
        let (Some(own), count @ 3..) = (own, self.ahead.len()) else {
            return false;
        };
        let count = count as f64;
        let sums: Vec<f64> = (0..self.moments.len())
            .map(|moment| self.ahead.iter().map(|it| it[moment]).sum())
            .collect();
        let products = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        // The squares of all differences, of one clock and of all pairs, without going over pairs.
        let squares: f64 = self.ahead.iter().map(|it| products(it, it)).sum();
        let of_own = count * products(own, own) + squares - 2.0 * products(own, &sums);
        let of_pairs = count * squares - products(&sums, &sums);
        let all = of_pairs / (count - 1.0);
        (of_own - all) / (count - 2.0) <= all / (count * count)
    }
}

/// Takes the straight line out of values at equal distances that leaves the least squares.
fn take_out_line(values: &mut [f64]) {
    let count = values.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / count;
    let (mut products, mut squares) = (0.0, 0.0);
    for (number, value) in values.iter().enumerate() {
        let along = number as f64 - middle;
        products += along * (value - mean);
        squares += along * along;
    }
    let slope = if squares > 0.0 {
        products / squares
    } else {
        0.0
    };
    for (number, value) in values.iter_mut().enumerate() {
        *value -= mean + slope * (number as f64 - middle);
    }
}

/// The mean of the middle half of some values, of which those at its ends count in part: a quarter of
/// them is left out on either side.
fn interquartile_mean(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len() as f64;
    // The value at place `i` stands for the stretch from `i` to `i + 1`.
    let within = |place: usize| {
        let (from, to) = (place as f64, place as f64 + 1.0);
        (to.min(0.75 * count) - from.max(0.25 * count)).max(0.0)
    };
    let inside = values.iter().enumerate();
    let sum: f64 = inside.map(|(place, value)| within(place) * value).sum();
    sum / (0.5 * count)
}
