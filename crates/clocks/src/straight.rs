//! Clocks whose rates change at a few moments, and the stamps they would show if these had not.
//!
//! A clock that is slewed, or whose oscillator goes over to another frequency, runs at one rate up to a
//! moment and at another one from there on. What has to be added to such a clock bends there. With the bends
//! taken out it is a clock like any other, which can be aligned stiffly, and bounded by what it drifts:
//!
//! ```text
//! W(C) = sum over changes  d_k max(0, C - C_k)      to be added to a stamp C to straighten it
//! d_k  = 1 / (1 + r_k) - 1 / (1 + r_{k-1})          r_k: ticks gained per tick of the common time
//! ```
//!
//! Nothing is added before the first change: a reference whose rate changes goes on as before.
//!
//! ```
//! use retime_clocks::{RateChange, Straight};
//! use retime_model::ClockId;
//! let clock = ClockId(0);
//! // From 1000 on the clock shows 5 ticks for each 4 that pass.
//! let change = RateChange { clock, after: 990, until: 1_010, at: 1_000, by: 0.25, rates_within: [0.0; 2] };
//! let straight = Straight::new(vec![change], &[Some((0, 6_000))]).unwrap();
//! assert_eq!([500, 1_000, 6_000].map(|it| straight.time(clock, it)), [500, 1_000, 5_000]);
//! assert_eq!(straight.stamp(clock, 5_000), 6_000);
//! ```

use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, Offset};
use retime_causality::edges::{Edge, Edges, InOrder, ListedEdges};
use retime_model::ClockId;

/// A clock ran at another rate from a moment on, as one that is slewed does. Stamps are ticks since
/// [`Nodes::base`](retime_causality::Nodes::base).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateChange {
    /// The clock.
    pub clock: ClockId,
    /// It showed no less than this then,
    pub after: i64,
    /// no more than this,
    pub until: i64,
    /// and most probably this.
    pub at: i64,
    /// The ticks that it gained more from then on in each tick of the common time; negative where it
    /// ran slower than before.
    pub by: f64,
    /// How well dependencies tell the rate before, and that from then on: as shares.
    pub rates_within: [f64; 2],
}

/// The straightened times of clocks.
#[derive(Clone, Debug)]
pub struct Straight {
    /// All of them, in the order of clocks and stamps.
    changes: Vec<RateChange>,
    /// Per clock: the way there and back; `None` where its rate does not change.
    clocks: Vec<Option<Straightening>>,
    /// Per clock the first and the last stamp.
    extents: Vec<Option<(i64, i64)>>,
}

/// The ticks to add to the stamps of a clock to straighten them, and to straightened ones to get them back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Straightening {
    /// To be added to stamps.
    pub there: Offset,
    /// To be added to straightened ones.
    pub back: Offset,
}

impl Straightening {
    /// Without these changes of a clock's rate, in order, up to its last stamp; `None` where it would run
    /// backwards.
    fn new(changes: &[RateChange], last: i64) -> Option<Self> {
        let mut knots = Vec::new();
        let (mut from, mut sum, mut rate, mut slope) = (i64::MIN, 0.0, 0.0, 0.0);
        let ends = changes.iter().map(|it| (it.at, it.by));
        for (at, by) in ends.chain([(last, 0.0)]) {
            sum += slope * at.saturating_sub(from).max(0) as f64;
            knots.push((at, sum));
            rate += by;
            // A clock that shows `1 + r` ticks for one of the common time is given `1 / (1 + r)` for each.
            slope = 1.0 / (1.0 + rate) - 1.0;
            from = at;
        }
        let there = Offset::through(knots);
        let back = there.inverse()?;
        Some(Self { there, back })
    }
}

impl Straight {
    /// Clocks without these changes of their rates, over the stamps that they show: per clock the first and
    /// the last. `None` where one would run backwards.
    pub fn new(mut changes: Vec<RateChange>, extents: &[Option<(i64, i64)>]) -> Option<Self> {
        changes.sort_by_key(|it| (it.clock, it.at));
        let clocks = (0..).map(ClockId).zip(extents).map(|(clock, extent)| {
            let first = changes.partition_point(|it| it.clock < clock);
            let own = changes[first..].partition_point(|it| it.clock == clock);
            let (Some((_, last)), true) = (*extent, own > 0) else {
                return Some(None);
            };
            Straightening::new(&changes[first..first + own], last).map(Some)
        });
        Some(Self {
            clocks: clocks.collect::<Option<_>>()?,
            changes,
            extents: extents.to_vec(),
        })
    }

    /// The changes of rates that are taken out, by clock and stamp.
    pub fn changes(&self) -> &[RateChange] {
        &self.changes
    }

    /// The way of a clock to its straightened time and back; `None` where its rate does not change.
    pub fn of(&self, clock: ClockId) -> Option<&Straightening> {
        self.clocks.get(clock.as_usize())?.as_ref()
    }

    /// The straightened time at a stamp.
    pub fn time(&self, clock: ClockId, stamp: i64) -> i64 {
        self.of(clock)
            .map_or(stamp, |it| it.there.common_time(stamp))
    }

    /// The stamp at a straightened time.
    pub fn stamp(&self, clock: ClockId, time: i64) -> i64 {
        self.of(clock).map_or(time, |it| it.back.common_time(time))
    }

    /// A dependency between straightened clocks.
    pub fn edge(&self, edge: &Edge) -> Edge {
        Edge {
            sent: self.time(edge.from, edge.sent),
            received: self.time(edge.to, edge.received),
            ..*edge
        }
    }

    /// Dependencies between straightened clocks. A stamp of one is a tick or less off for rounding.
    pub fn straightened(&self, list: &ListedEdges) -> ListedEdges {
        let clocks = (0..list.edges.clocks() as u32).map(ClockId);
        let extents = clocks.map(|clock| {
            let (first, last) = list.edges.extent(clock)?;
            Some((self.time(clock, first), self.time(clock, last)))
        });
        let edges = list.edges.all().iter().map(|it| self.edge(it));
        ListedEdges {
            edges: Edges::new(edges.collect(), extents.collect()),
            granularities: list.granularities.clone(),
        }
    }

    /// Dependencies between straightened clocks, in the order they have.
    pub fn in_order(&self, all: &InOrder) -> InOrder {
        InOrder {
            list: self.straightened(&all.list),
            positions: all.positions.clone(),
        }
    }

    /// The offsets of clocks that straightened ones have these offsets of.
    pub fn bent(&self, straight: &Estimate) -> Estimate {
        self.each_offset(straight, |clock, offset| {
            let way = self.of(clock)?;
            let steps = steps(offset, |time| self.stamp(clock, time));
            Some(way.there.onto(offset)?.with_steps(&steps))
        })
    }

    /// The offsets of straightened clocks that have these offsets themselves. Where a rate changed nobody
    /// knows when exactly, and so what is left to be added: as if the clock had been set there.
    pub fn unbent(&self, bent: &Estimate) -> Estimate {
        self.each_offset(bent, |clock, offset| {
            let way = self.of(clock)?;
            let mut steps = steps(offset, |stamp| self.time(clock, stamp));
            let own = self.changes_of(clock);
            steps.extend(own.map(|it| (self.time(clock, it.after), self.time(clock, it.until))));
            steps.sort_unstable();
            steps.dedup_by(|next, before| {
                let is_one = next.0 < before.1;
                if is_one {
                    before.1 = before.1.max(next.1);
                }
                is_one
            });
            Some(way.back.onto(offset)?.with_steps(&steps))
        })
    }

    /// Clocks whose rates are known to `most` all along but for the moments at which they change: two changes
    /// between which one is not known are one that takes as long, and so is what is before the first and
    /// behind the last. `None` where one would run backwards.
    pub fn known_to(&self, most: f64) -> Option<Self> {
        let mut known: Vec<RateChange> = Vec::new();
        for (number, change) in self.changes.iter().enumerate() {
            let extent = self.extents.get(change.clock.as_usize()).copied();
            let (start, end) = extent.flatten()?;
            let next = self.changes.get(number + 1);
            let is_last = next.is_none_or(|it| it.clock != change.clock);
            let until = if is_last && change.rates_within[1] > most {
                end
            } else {
                change.until
            };
            let own = known.last_mut().filter(|it| it.clock == change.clock);
            match own {
                Some(before) if before.rates_within[1].min(change.rates_within[0]) > most => {
                    let by = before.by + change.by;
                    let rates_within = [before.rates_within[0], change.rates_within[1]];
                    *before = RateChange {
                        until,
                        by,
                        rates_within,
                        at: change.at,
                        ..*before
                    };
                }
                None if change.rates_within[0] > most => known.push(RateChange {
                    after: start,
                    until,
                    ..*change
                }),
                _ => known.push(RateChange { until, ..*change }),
            }
        }
        Self::new(known, &self.extents)
    }

    /// How well rates are known that are [known](Self::known_to) to `most`: a share by which each may differ
    /// from that of its straightened clock.
    pub fn rates_within(&self, most: f64) -> f64 {
        let all = self.changes.iter().flat_map(|it| it.rates_within);
        all.filter(|it| *it <= most).fold(0.0, f64::max)
    }

    fn changes_of(&self, clock: ClockId) -> impl Iterator<Item = &RateChange> {
        self.changes.iter().filter(move |it| it.clock == clock)
    }

    /// An estimate with other offsets of clocks whose rates change.
    fn each_offset(
        &self,
        of: &Estimate,
        other: impl Fn(ClockId, &Offset) -> Option<Offset>,
    ) -> Estimate {
        let offsets = (0..).map(ClockId).zip(&of.offsets);
        let others = offsets.map(|(clock, offset)| {
            let offset = offset.as_ref()?;
            if self.of(clock).is_none() {
                return Some(offset.clone());
            }
            other(clock, offset)
        });
        Estimate {
            offsets: others.collect(),
            reference: of.reference,
        }
    }
}

/// The stamps between which the clock of an offset was set, by another time.
fn steps(of: &Offset, to: impl Fn(i64) -> i64) -> Vec<(i64, i64)> {
    of.steps().iter().map(|it| (to(it.0), to(it.1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LAST: i64 = 1_000_000;

    fn changes() -> impl Strategy<Value = Vec<RateChange>> {
        let one = (0..2_u32, 0..LAST, -0.3..0.5_f64);
        let change = |(clock, at, by): (u32, i64, f64)| RateChange {
            clock: ClockId(clock),
            after: at - 10,
            until: at + 10,
            at,
            by,
            rates_within: [1e-6; 2],
        };
        proptest::collection::vec(one.prop_map(change), 0..3)
    }

    proptest! {
        /// A stamp is found again, give or take what is rounded: a clock shows three ticks or less for one.
        #[test]
        fn the_way_there_leads_back(changes in changes(), stamps in proptest::collection::vec(0..LAST, 1..20)) {
            let straight = Straight::new(changes, &[Some((0, LAST)); 3]).unwrap();
            for stamp in stamps {
                for clock in (0..3).map(ClockId) {
                    let back = straight.stamp(clock, straight.time(clock, stamp));
                    prop_assert!(back.abs_diff(stamp) <= 3, "{clock:?}: {stamp} {back}");
                }
                prop_assert_eq!(straight.time(ClockId(2), stamp), stamp);
            }
        }

        /// Changes that are taken out of an estimate are put back, and leave steps where rates changed.
        #[test]
        fn estimates_are_bent_and_unbent(changes in changes(), ticks in -1e5..1e5_f64) {
            let straight = Straight::new(changes, &[Some((0, LAST)); 3]).unwrap();
            let plain = Estimate {
                offsets: vec![
                    Some(Offset::constant(ticks)),
                    Some(Offset::constant(0.0)),
                    None,
                ],
                reference: ClockId(1),
            };
            let bent = straight.bent(&plain);
            let again = straight.unbent(&bent);
            for clock in (0..2).map(ClockId) {
                for stamp in (0..LAST).step_by(99_991) {
                    let time = straight.time(clock, stamp);
                    let moved = time as f64 + plain.at(clock, time) - stamp as f64;
                    prop_assert!((bent.at(clock, stamp) - moved).abs() < 3.0);
                    prop_assert!((again.at(clock, time) - plain.at(clock, time)).abs() < 3.0);
                }
                let own = straight.changes_of(clock);
                let steps = again.offsets[clock.as_usize()].as_ref().map_or(0, |it| it.steps().len());
                // Those that overlap are one.
                prop_assert_eq!(steps > 0, own.count() > 0);
            }
            prop_assert_eq!(&again.offsets[2], &None);
        }
    }

    #[test]
    fn a_clock_that_would_run_backwards_is_refused() {
        let change = RateChange {
            clock: ClockId(0),
            after: 0,
            until: 0,
            at: 0,
            by: -1.5,
            rates_within: [0.0; 2],
        };
        assert!(Straight::new(vec![change], &[Some((0, LAST))]).is_none());
    }

    /// The rate between the two changes is not known to a thousandth, those before and behind are.
    #[test]
    fn changes_are_one_if_the_rate_between_is_unknown() {
        let change = |at: i64, by: f64, rates_within| RateChange {
            clock: ClockId(0),
            after: at - 10,
            until: at + 10,
            at,
            by,
            rates_within,
        };
        let changes = |last| {
            let first = change(1_000, 0.5, [1e-5, 2e-3]);
            let straight = Straight::new(
                vec![first, change(2_500, -0.5, [3e-3, last])],
                &[Some((0, LAST))],
            );
            straight.unwrap()
        };
        let known = changes(2e-5).known_to(1e-3).unwrap();
        let [one] = known.changes() else {
            panic!("{known:?}")
        };
        let is_known = (one.after, one.until, one.by, one.rates_within);
        assert_eq!(is_known, (990, 2_510, 0.0, [1e-5, 2e-5]));
        assert!((known.rates_within(1e-3) - 2e-5).abs() < 1e-12);
        let two = changes(2e-5).known_to(5e-3).unwrap();
        assert_eq!(two.changes(), changes(2e-5).changes());
        // What is behind the last change is not known either.
        let open = changes(1e-2).known_to(1e-3).unwrap();
        assert_eq!(open.changes()[0].until, LAST);
    }
}
