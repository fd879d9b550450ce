//! The result of a method of estimation.

use serde::{Deserialize, Serialize};

use crate::estimate::Offset;
use retime_causality::Causality;
use retime_causality::edges::{Edges, Times};
use retime_model::Cancelled;
use retime_model::{ClockId, Clocks};
use retime_model::{ClockMap, Correction, Knot};
use retime_model::{Ticks, Timestamp, TraceInfo};

/// The offsets to be added to each clock to show the time of `reference`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Per clock: its offset; `None` where nothing relates it to the reference, so that it keeps
    /// its time.
    pub offsets: Vec<Option<Offset>>,
    /// The clock whose time is the common one.
    pub reference: ClockId,
}

/// Why a method has no valid solution for a trace. Clocks have no names here:
/// [`describe`](Self::describe) says the same with them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoEstimate {
    /// No dependency relates these clocks to the reference, not even through others.
    #[error("no message or collective relates some clocks to the others")]
    Unrelated(Vec<ClockId>),
    /// No dependency leads between these clocks and the last, the reference, by itself; some may
    /// through others, where the method does not go.
    #[error("no message or collective leads between some clocks and the reference itself")]
    NotDirect(Vec<ClockId>, ClockId),
    /// Dependencies between two clocks go only from the first to the second.
    #[error("messages between two clocks go in one direction only, and the method needs both")]
    OneDirection(ClockId, ClockId),
    /// Nothing in the method's model satisfies the dependencies along this cycle
    /// of clocks (or between these two); they miss it by this much.
    #[error("no clocks as the method assumes them fit the messages: they miss it by {1} ticks")]
    Infeasible(Vec<ClockId>, Ticks),
    /// No offset was measured for these clocks, which have events.
    #[error("no offset was measured for some clocks")]
    Unmeasured(Vec<ClockId>),
    /// Something that the method needs is not in the trace; what, and where it
    /// could come from.
    #[error("{0}")]
    Missing(String),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// An estimate that makes no clock map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEstimate {
    /// The estimated time of a clock does not advance from this stamp on.
    #[error("the estimated time of a clock does not advance from its stamp {1} on")]
    RunsBackwards(ClockId, Timestamp),
    /// Stamps would not fit into 64 bits.
    #[error("the estimated stamps of a clock do not fit into 64 bits")]
    TooLarge(ClockId),
}

impl NoEstimate {
    /// In words, with the names of clocks.
    pub fn describe(&self, info: &TraceInfo, clocks: &Clocks) -> String {
        let name = |clock: &ClockId| clocks.describe(info, *clock);
        let names = |of: &[ClockId], between: &str| {
            let shown = of.iter().take(8).map(name).collect::<Vec<_>>();
            let more = if of.len() > 8 {
                format!(" and {} more", of.len() - 8)
            } else {
                String::new()
            };
            shown.join(between) + &more
        };
        match self {
            Self::Unrelated(_) if clocks.len() == 1 => {
                "all locations read one clock, which has no other to be related to; --clocks says which \
                 locations do"
                    .into()
            }
            Self::Unrelated(unrelated) => format!(
                "no message or collective relates these clocks to the others: {}",
                names(unrelated, ", ")
            ),
            Self::NotDirect(apart, reference) => format!(
                "no message or collective leads between the reference, {}, and these clocks: {}; the \
                 method goes through no others, which spanning-tree does",
                name(reference),
                names(apart, ", ")
            ),
            Self::OneDirection(from, to) => format!(
                "messages go only from {} to {}, and the method needs both directions",
                name(from),
                name(to)
            ),
            Self::Infeasible(clocks, by) => format!(
                "no clocks as the method assumes them fit the messages along {}: they miss it by {}",
                names(clocks, " -> "),
                info.rate.format(*by)
            ),
            Self::Unmeasured(clocks) => format!(
                "no offset is given for {}; give \"LOCATION-ID 0 0\" for a clock that is right",
                names(clocks, ", ")
            ),
            Self::Missing(what) => what.clone(),
            Self::Cancelled(cancelled) => cancelled.to_string(),
        }
    }
}

impl BadEstimate {
    /// In words, with the names of clocks.
    pub fn describe(&self, info: &TraceInfo, clocks: &Clocks) -> String {
        match self {
            Self::RunsBackwards(clock, stamp) => format!(
                "the estimated time of {} does not advance at stamp {stamp}: a line through so few messages means nothing",
                clocks.describe(info, *clock)
            ),
            Self::TooLarge(clock) => format!(
                "the estimated times of {} do not fit into 64 bits",
                clocks.describe(info, *clock)
            ),
        }
    }
}

impl Times for Estimate {
    #[inline]
    fn add(&self, clock: ClockId, stamp: i64) -> f64 {
        self.at(clock, stamp)
    }
}

impl Estimate {
    /// The ticks to add to a clock that shows `stamp`; 0 where nothing is known.
    #[inline]
    pub fn at(&self, clock: ClockId, stamp: i64) -> f64 {
        let offset = self.offsets.get(clock.as_usize());
        let offset = offset.and_then(Option::as_ref);
        offset.map_or(0.0, |offset| offset.at(stamp))
    }

    /// The common time at which a clock shows `stamp`, to the nearest tick.
    pub fn common_time(&self, clock: ClockId, stamp: i64) -> i64 {
        stamp.saturating_add(self.at(clock, stamp).round() as i64)
    }

    /// The clock maps. Where a stamp would come to lie before 0, all events of
    /// the trace are moved later by as much: a shift common to all means nothing.
    pub fn correction(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        edges: &Edges,
    ) -> Result<Correction, BadEstimate> {
        let base = i128::from(causality.nodes().base().0);
        let all = clocks.iter().map(|clock| self.knots(clock, edges, base));
        let all: Vec<Vec<(i64, i128)>> = all.collect::<Result<_, _>>()?;
        let shift = below_zero(all.iter().filter_map(|knots| Some(knots.first()?.1)));
        let maps = clocks.iter().zip(&all).map(|(clock, knots)| {
            let knot = |&(at, to): &(i64, i128)| {
                let raw = u64::try_from(base + i128::from(at)).ok()?;
                let to = u64::try_from(to + shift).ok()?;
                Some(Knot::at(Timestamp(raw), Timestamp(to)))
            };
            let knots: Option<Vec<Knot>> = knots.iter().map(knot).collect();
            let knots = knots.ok_or(BadEstimate::TooLarge(clock))?;
            ClockMap::new(knots, Vec::new()).map_err(|_| BadEstimate::TooLarge(clock))
        });
        Ok(Correction::new(
            clocks.clone(),
            maps.collect::<Result<_, _>>()?,
        ))
    }

    /// The ticks by which the [correction](Self::correction) moves all events later, so that no stamp
    /// comes to lie before 0.
    pub fn moved_later(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        edges: &Edges,
    ) -> Result<Ticks, BadEstimate> {
        let base = i128::from(causality.nodes().base().0);
        let extents = clocks
            .iter()
            .filter_map(|clock| Some((clock, edges.extent(clock)?)));
        let firsts = extents.map(|(clock, (first, _))| self.corrected(clock, first, base));
        let firsts: Vec<i128> = firsts.collect::<Result<_, _>>()?;
        let shift = below_zero(firsts.into_iter());
        Ok(Ticks(i64::try_from(shift).unwrap_or(i64::MAX)))
    }

    /// The stamp, rounded to ticks, that a clock would show instead of `base + at`.
    fn corrected(&self, clock: ClockId, at: i64, base: i128) -> Result<i128, BadEstimate> {
        let ticks = self.at(clock, at).round();
        // Clocks that count from 1970 and from start-up are more than 10^18 ns apart.
        if !ticks.is_finite() || ticks.abs() >= i64::MAX as f64 {
            return Err(BadEstimate::TooLarge(clock));
        }
        Ok(base + i128::from(at) + i128::from(ticks as i64))
    }

    /// The ticks by which two corrected stamps may come too near to each other since offsets are
    /// doubles: none for clocks less than a month apart, some 400 at 56 years of nanoseconds.
    fn rounded_by(&self, clock: ClockId, at: i64) -> i128 {
        (self.at(clock, at).abs() * f64::EPSILON) as i128
    }

    /// Raw and corrected stamp of a clock's knots, the first and last at its
    /// first and last event; none for a clock without events.
    fn knots(
        &self,
        clock: ClockId,
        edges: &Edges,
        base: i128,
    ) -> Result<Vec<(i64, i128)>, BadEstimate> {
        let Some((first, last)) = edges.extent(clock) else {
            return Ok(Vec::new());
        };
        let offset = self.offsets[clock.as_usize()].as_ref();
        let inside = offset.map_or(&[][..], Offset::knots).iter().map(|it| it.0);
        let mut stamps: Vec<i64> = inside.filter(|&at| at > first && at < last).collect();
        stamps.insert(0, first);
        if last > first {
            stamps.push(last);
        }
        let mut knots: Vec<(i64, i128)> = Vec::with_capacity(stamps.len());
        for at in stamps {
            let to = self.corrected(clock, at, base)?;
            let before = knots.last().map_or(to, |&(_, before)| before);
            if before - to > self.rounded_by(clock, at) {
                let stamp = u64::try_from(base + i128::from(at)).unwrap_or(0);
                return Err(BadEstimate::RunsBackwards(clock, Timestamp(stamp)));
            }
            knots.push((at, to.max(before)));
        }
        Ok(knots)
    }
}

/// How far before 0 the earliest of the first corrected stamps of clocks lies.
fn below_zero(firsts: impl Iterator<Item = i128>) -> i128 {
    firsts.map(|to| -to).max().unwrap_or(0).max(0)
}
