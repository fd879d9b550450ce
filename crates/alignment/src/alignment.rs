//! The result of an alignment: what to add to clocks, and where they were set.

use serde::{Deserialize, Serialize};

use retime_causality::edges::Edge;
use retime_clocks::RateChange;
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::ClockId;

/// How a clock is tied to the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// Dependencies go both ways, directly or over other clocks.
    BothWays,
    /// They go one way only: what its offset and what the delay of messages is
    /// cannot be told apart. The fastest are taken to be as fast as any.
    OneWay,
    /// None at all. Several such clocks may be tied to each other.
    Unrelated,
}

/// A clock was set. Stamps are ticks since
/// [`Nodes::base`](retime_causality::Nodes::base).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockStep {
    /// The clock.
    pub clock: ClockId,
    /// It showed this before
    pub after: i64,
    /// and this afterwards.
    pub until: i64,
    /// The ticks that it gained; negative where it was set back.
    pub by: f64,
    /// Other clocks, in order: if one of them had been set at that time instead, dependencies would
    /// be explained as well. Empty where the trace tells which clock it was.
    pub alternatives: Vec<ClockId>,
}

/// Aligned clocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Alignment {
    /// The offsets to be added to each clock to show the time of the reference, or where
    /// that was set the time it would show if it had not been. Clocks
    /// unrelated to it that are tied to each other show one time, which is to that of the reference
    /// as recorded stamps are; for those tied to none there is nothing.
    pub estimate: Estimate,
    /// Per clock: how it is tied to the reference.
    pub relations: Vec<Relation>,
    /// Per clock: the first of those that dependencies tie to it, in either direction and over
    /// whatever others; itself where there are none.
    pub part: Vec<ClockId>,
    /// Dependencies left out because they contradict the clocks that all others show.
    pub outliers: Vec<Edge>,
    /// Where clocks were set during the run.
    pub steps: Vec<ClockStep>,
    /// Steps that may have been instead, by clock and stamp: each with other steps taken away explains
    /// everything, too.
    pub instead: Vec<ClockStep>,
    /// The moments at which clocks changed their rates, by clock and stamp.
    pub rate_changes: Vec<RateChange>,
    /// The ticks by which the common time is ahead of that of the reference; `None` if it is that.
    pub common: Option<Offset>,
    /// True if dependencies prove that the rates of clocks change, by more than those of quartzes that
    /// nothing disturbs.
    pub wanders: bool,
    /// True if many dependencies both ways do not join all clocks that are tied both ways: between
    /// some there are few, or few back, and what lies between these is wide.
    pub is_loose: bool,
    /// How many straight pieces each offset has.
    pub pieces: usize,
    /// The minimal delay that the aligned trace shows, in ticks; `None` where too
    /// little is known. See [`shortest_latency`](super::shortest_latency).
    pub shortest: Option<f64>,
}

impl Alignment {
    /// The first clock that is tied to the reference both ways and was neither set nor changed its rate;
    /// the reference if there is none.
    pub fn steadiest(&self) -> ClockId {
        let reference = self.estimate.reference;
        let is_steady = |clock: ClockId| {
            !self.rate_changes.iter().any(|it| it.clock == clock)
                && !self.steps.iter().any(|it| it.clock == clock)
        };
        let relations = (0..).map(ClockId).zip(&self.relations);
        let mut tied = relations.filter(|(_, relation)| **relation == Relation::BothWays);
        let steady = tied.find(|(clock, _)| is_steady(*clock));
        steady.map_or(reference, |(clock, _)| clock)
    }

    /// True if half of the clocks that dependencies tie to each other, or more, were set at one
    /// time. Dependencies tell what they gained against each other and the rest; if all gained as
    /// much, that the rest was set the other way explains it as well, by no more steps.
    pub fn half_were_set_at_once(&self) -> bool {
        let at = |step: &ClockStep| {
            let offset = self.estimate.offsets.get(step.clock.as_usize())?.as_ref()?;
            Some((
                offset.common_time(step.after),
                offset.common_time(step.until),
            ))
        };
        let part = |clock: ClockId| self.part.get(clock.as_usize());
        self.steps.iter().any(|step| {
            let (own, tied) = (at(step), part(step.clock));
            let is_at_once = |other: &&ClockStep| {
                let overlap = own
                    .zip(at(other))
                    .is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1);
                overlap && part(other.clock) == tied
            };
            let mut set: Vec<ClockId> = self
                .steps
                .iter()
                .filter(is_at_once)
                .map(|it| it.clock)
                .collect();
            set.sort_unstable();
            set.dedup();
            2 * set.len() >= self.part.iter().filter(|it| Some(*it) == tied).count()
        })
    }
}

#[cfg(test)]
impl Alignment {
    /// Clocks of these offsets of which nothing else is known, the first of them the reference; for tests.
    pub(crate) fn of_offsets(offsets: Vec<Option<Offset>>) -> Self {
        Self {
            estimate: Estimate {
                offsets,
                reference: ClockId(0),
            },
            relations: Vec::new(),
            part: Vec::new(),
            outliers: Vec::new(),
            steps: Vec::new(),
            instead: Vec::new(),
            rate_changes: Vec::new(),
            pieces: 1,
            is_loose: false,
            wanders: false,
            common: None,
            shortest: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_clocks::estimate::Offset;

    #[test]
    fn half_of_a_part_is_enough() {
        // The second and third of four show more by 1000; two others exchange with each other alone.
        let ahead = [0.0, -1e3, -1e3, 0.0, 0.0, 0.0];
        let of = |set: &[(u32, i64)]| {
            let step = |&(clock, after): &(u32, i64)| ClockStep {
                clock: ClockId(clock),
                after,
                until: after + 10,
                by: 50.0,
                alternatives: Vec::new(),
            };
            let alignment = Alignment {
                part: [0, 0, 0, 0, 4, 4].map(ClockId).to_vec(),
                steps: set.iter().map(step).collect(),
                ..Alignment::of_offsets(ahead.map(|it| Some(Offset::constant(it))).to_vec())
            };
            alignment.half_were_set_at_once()
        };
        assert!(!of(&[]) && !of(&[(0, 5_000)]));
        // One in four, as often as it may be, and two at other times.
        assert!(!of(&[(1, 5_000), (1, 5_005), (1, 9_000)]));
        assert!(!of(&[(0, 5_000), (1, 5_000)]));
        assert!(of(&[(0, 5_000), (1, 6_005)]));
        assert!(of(&[(2, 7_000), (4, 7_000)]));
    }

    /// The first of four clocks changes its rate, the second was set, the third is tied one way.
    #[test]
    fn a_steady_clock_is_tied_both_ways_and_does_nothing_unusual() {
        let both = Relation::BothWays;
        let steadiest = |relations: &[Relation]| {
            let alignment = Alignment {
                relations: relations.to_vec(),
                steps: vec![ClockStep {
                    clock: ClockId(1),
                    after: 5,
                    until: 6,
                    by: 50.0,
                    alternatives: Vec::new(),
                }],
                rate_changes: vec![RateChange {
                    clock: ClockId(0),
                    after: 7,
                    until: 7,
                    at: 7,
                    by: 1e-3,
                    rates_within: [0.0; 2],
                }],
                ..Alignment::of_offsets(vec![Some(Offset::constant(0.0)); relations.len()])
            };
            alignment.steadiest().0
        };
        assert_eq!(steadiest(&[both, both, Relation::OneWay, both]), 3);
        assert_eq!(steadiest(&[both, both, both]), 2);
        assert_eq!(steadiest(&[both, both, Relation::OneWay]), 0);
    }
}
