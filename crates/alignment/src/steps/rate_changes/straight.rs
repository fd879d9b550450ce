//! Stamps of clocks whose rates change, as they would be if these had not.
//!
//! ```text
//! W(C) = sum over changes  d_k max(0, C - C_k)      to be added to a stamp C
//! ```
//!
//! Nothing is added before the first bend: a reference whose rate changes goes on as before.

use crate::steps::breaks::{Bend, Place, Places};
use crate::steps::parts::Cuts;
use crate::{Alignment, ClockStep, RateChange};
use retime_causality::edges::{Edge, Edges, InOrder, ListedEdges};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::ClockId;

/// The straightened times of clocks.
pub(in crate::steps) struct Straight {
    /// Per clock: the way there and back; `None` where its rate does not change.
    clocks: Vec<Option<Way>>,
}

/// The ticks to add to the stamps of a clock to straighten them, and to straightened ones to get them back.
struct Way {
    there: Offset,
    back: Offset,
}

impl Straight {
    /// Clocks without the changes of rates at these places, over the stamps that they show; `None` where
    /// one would run backwards.
    pub(super) fn new(places: &Places, edges: &Edges) -> Option<Self> {
        let clocks = (0..).map(ClockId).zip(places);
        let ways = clocks.map(|(clock, places)| {
            let changes: Vec<Bend> = places.iter().filter_map(|it| it.bend).collect();
            let (Some((_, last)), false) = (edges.extent(clock), changes.is_empty()) else {
                return Some(None);
            };
            let there = offset(&changes, last);
            let back = there.inverse()?;
            Some(Some(Way { there, back }))
        });
        Some(Self {
            clocks: ways.collect::<Option<_>>()?,
        })
    }

    /// The straightened time at a stamp.
    pub(super) fn time(&self, clock: ClockId, stamp: i64) -> i64 {
        match self.of(clock) {
            Some(way) => way.there.common_time(stamp),
            None => stamp,
        }
    }

    /// The stamp at a straightened time.
    fn stamp(&self, clock: ClockId, time: i64) -> i64 {
        match self.of(clock) {
            Some(way) => way.back.common_time(time),
            None => time,
        }
    }

    fn of(&self, clock: ClockId) -> Option<&Way> {
        self.clocks.get(clock.as_usize())?.as_ref()
    }

    /// Dependencies between straightened clocks.
    pub(super) fn straightened(&self, list: &ListedEdges) -> ListedEdges {
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

    fn edge(&self, edge: &Edge) -> Edge {
        Edge {
            sent: self.time(edge.from, edge.sent),
            received: self.time(edge.to, edge.received),
            ..*edge
        }
    }

    /// Dependencies between straightened clocks, in the order they have.
    pub(in crate::steps) fn in_order(&self, all: &InOrder) -> InOrder {
        InOrder {
            list: self.straightened(&all.list),
            positions: all.positions.clone(),
        }
    }

    /// Cuts of straightened clocks where they were set.
    pub(super) fn cuts(&self, places: &Places) -> Cuts {
        self.cuts_at(places, |it| it.bend.is_none())
    }

    /// Cuts of straightened clocks at all places.
    pub(super) fn all_cuts(&self, places: &Places) -> Cuts {
        self.cuts_at(places, |_| true)
    }

    fn cuts_at(&self, places: &Places, is_cut: impl Fn(&Place) -> bool) -> Cuts {
        let clocks = (0..).map(ClockId).zip(places);
        let cuts = clocks.map(|(clock, places)| {
            let cut = places.iter().filter(|it| is_cut(it));
            cut.map(|it| (self.time(clock, it.after), self.time(clock, it.until)))
                .collect()
        });
        cuts.collect()
    }

    /// The offsets of clocks that straightened ones have these offsets of.
    pub(in crate::steps) fn bent(&self, straight: &Estimate) -> Estimate {
        let offsets = (0..).map(ClockId).zip(&straight.offsets);
        let bent = offsets.map(|(clock, offset)| {
            let offset = offset.as_ref()?;
            let Some(way) = self.of(clock) else {
                return Some(offset.clone());
            };
            let stamp = |time| way.back.common_time(time);
            let steps = offset.steps().iter();
            let steps: Vec<(i64, i64)> = steps.map(|it| (stamp(it.0), stamp(it.1))).collect();
            Some(way.there.onto(offset)?.with_steps(&steps))
        });
        Estimate {
            offsets: bent.collect(),
            reference: straight.reference,
        }
    }

    /// The alignment of clocks all of whose dependencies have been aligned straightened.
    pub(in crate::steps) fn bent_alignment(
        &self,
        straight: Alignment,
        all: &ListedEdges,
    ) -> Alignment {
        let is_outlier = |edge: &&Edge| straight.outliers.contains(&self.edge(edge));
        let outliers = if straight.outliers.is_empty() {
            Vec::new()
        } else {
            all.edges.all().iter().filter(is_outlier).copied().collect()
        };
        let step = |it: &ClockStep| ClockStep {
            after: self.stamp(it.clock, it.after),
            until: self.stamp(it.clock, it.until),
            ..it.clone()
        };
        Alignment {
            estimate: self.bent(&straight.estimate),
            outliers,
            steps: straight.steps.iter().map(step).collect(),
            rate_changes: self.rate_changes(),
            ..straight
        }
    }

    /// The changes of rates that this takes out.
    fn rate_changes(&self) -> Vec<RateChange> {
        let ways = (0..).map(ClockId).zip(&self.clocks);
        let ways = ways.filter_map(|(clock, way)| Some((clock, way.as_ref()?)));
        let changes = ways.flat_map(|(clock, way)| {
            // A clock that shows one tick while `1 + w` of them pass.
            let runs = |ends: &[(i64, f64)]| {
                let lasts = ends[1].0.saturating_sub(ends[0].0).max(1) as f64;
                1.0 / (1.0 + (ends[1].1 - ends[0].1) / lasts)
            };
            let knots = way.there.knots().windows(2);
            let rates = knots.map(move |ends| (ends[0].0, runs(ends)));
            rates.scan(1.0, move |before, (at, runs)| {
                let by = runs - std::mem::replace(before, runs);
                Some(RateChange { clock, at, by })
            })
        });
        changes.collect()
    }
}

/// The offset that straightens a clock whose rate changes, up to a last stamp.
fn offset(changes: &[Bend], last: i64) -> Offset {
    let mut knots = Vec::new();
    let (mut from, mut sum, mut slope) = (i64::MIN, 0.0, 0.0);
    let end = Bend { at: last, by: 0.0 };
    for change in changes.iter().chain([&end]) {
        sum += slope * change.at.saturating_sub(from).max(0) as f64;
        knots.push((change.at, sum));
        slope += change.by;
        from = change.at;
    }
    Offset::through(knots)
}
