//! The solution that a method found, and how good it is.

use super::implausible::RateDifference;
use super::unsolved::Unsolved;
use crate::ends::EndsEvidence;
use crate::repair::Direction;
use retime_alignment::{Alignment, ClockStep, Relation};
use retime_causality::edges::Edges;
use retime_causality::{Causality, Check, MinimalDelay, Nodes};
use retime_clocks::RateChange;
use retime_clocks::estimate::{BadEstimate, Estimate, Offset, Reference};
use retime_logical_clocks::LogicalTimes;
use retime_model::Correction;
use retime_model::{ClockId, Clocks};
use retime_model::{Ticks, Timestamp, TraceInfo};

/// A correction that a method found. Its times were checked against every dependency before
/// it was returned: [`is_sound`](Self::is_sound) is a fact, not a promise.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The correction of recorded times. Its clocks are finer than those of the analysis where these
    /// were refuted.
    pub correction: Correction,
    /// The result of the estimator, if there was one.
    pub aligned: Option<Aligned>,
    /// Why clocks were not aligned, where they would have been.
    pub unaligned: Option<NotAligned>,
    /// The result of the logical clock, on the trace as aligned.
    pub repaired: Option<Repaired>,
    /// If it is another minimal delay than the one given.
    pub enforced: Option<Enforced>,
    /// The corrected time of each event that takes part in happened-before.
    pub times: Vec<Timestamp>,
    /// All dependencies at these times.
    pub left: Check,
}

impl Solution {
    /// True if no effect comes before its cause, or too early after it.
    pub fn is_sound(&self) -> bool {
        self.left.violated() == 0 && self.left.short() == 0
    }

    /// The ticks by which its common time is ahead of that of the reference; `None` if it is that.
    pub fn common(&self) -> Option<&Offset> {
        self.aligned.as_ref()?.common.as_ref()
    }

    /// The amount by which the rates of its clocks differ; `None` without an alignment, or if none
    /// differ for certain.
    pub fn rate_difference(&self) -> Option<RateDifference> {
        let aligned = self.aligned.as_ref()?;
        let set = |clock: ClockId| {
            let own = aligned.steps.iter().filter(|it| it.clock == clock);
            own.map(|it| it.after..it.until).collect()
        };
        RateDifference::largest(&self.correction, set)
    }

    /// Words on the meaning for error bounds if rates differ by more than those of any two clocks and
    /// nothing shows that they changed; `None` if they do not.
    pub fn rates_warning(&self, info: &TraceInfo, clocks: &Clocks) -> Option<String> {
        let aligned = self.aligned.as_ref()?;
        let is_by_all = aligned.estimate.is_some() && aligned.rate_changes.is_empty();
        let difference = self.rate_difference().filter(|_| is_by_all)?;
        difference.warning(info, clocks)
    }
}

/// The work of a logical clock.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// Events that were forced ahead of their own clock.
    pub jumps: u64,
    /// How far at most.
    pub largest_jump: Ticks,
    /// Which way the clock ran; `None` if there was nothing to repair.
    pub direction: Option<Direction>,
    /// Before amortisation, if there was any; as of the recorded trace, neither
    /// aligned nor mirrored.
    pub times: Option<LogicalTimes>,
}

/// Why a trace is not aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAligned {
    /// No dependency relates any two clocks.
    NoDependency,
    /// The estimate makes no clock.
    BadEstimate(BadEstimate),
    /// Aligned times would not fit into 64 bits.
    TooFar,
    /// Violated dependencies would miss by more than they do as recorded; in
    /// sum, in ticks.
    Worse {
        /// The sum as recorded.
        recorded: u128,
        /// After alignment.
        aligned: u128,
    },
}

impl NotAligned {
    /// In words, with the names of clocks.
    pub fn describe(&self, info: &TraceInfo, clocks: &Clocks) -> String {
        let why = match self {
            Self::NoDependency => "no dependency relates any two of them".to_owned(),
            Self::BadEstimate(bad) => bad.describe(info, clocks),
            Self::TooFar => "aligned times would lie too far apart for a trace".to_owned(),
            Self::Worse { .. } => {
                "dependencies would be reversed by more than they are as recorded".to_owned()
            }
        };
        format!("clocks were not aligned, and recorded times repaired as they are: {why}")
    }
}

/// A minimal delay that a method told from clocks.
#[derive(Clone, Debug)]
pub struct Enforced {
    /// The delay that was enforced.
    pub delay: MinimalDelay,
    /// The one that the trace shows, if it shows any.
    pub shortest: Option<Ticks>,
    /// True if aligned clocks show it, false if recorded times do.
    pub of_aligned_clocks: bool,
}

/// Clocks put on one time.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// The estimate of what has to be added to each clock, if all dependencies were weighed: what
    /// one of the papers' estimators finds may be too far off to bound errors by.
    pub estimate: Option<Estimate>,
    /// The ticks to be added to the time of the reference, which the estimate gives, to have the common
    /// one, where that is another.
    pub common: Option<Offset>,
    /// Clocks that nothing relates to the reference: each keeps its time, or the time of those that
    /// are related to each other is where it was recorded beside the reference's.
    pub unrelated: Vec<ClockId>,
    /// Clocks related to the others in one direction only.
    pub one_way: Vec<ClockId>,
    /// How many dependencies were left out because they contradict the clocks that all others show.
    pub outliers: usize,
    /// The most straight pieces that a clock's offset has; 0 if all are constant to less than a
    /// tick.
    pub pieces: usize,
    /// The clock whose time is the common one; `None` for the mean of all.
    pub reference: Option<ClockId>,
    /// The ticks by which all events were moved later than the common time has them, since some stamp
    /// would lie before 0 otherwise.
    pub moved_later: Ticks,
    /// Clocks that were set during the run.
    pub steps: Vec<ClockSet>,
    /// Steps that may have been instead of `steps`, by clock and stamp.
    pub instead: Vec<ClockSet>,
    /// The moments at which clocks changed their rates, by clock and stamp.
    pub rate_changes: Vec<ClockRateChange>,
    /// True if half of the clocks that dependencies tie to each other, or more, were set at one time,
    /// so that it may have been others: known is what clocks gained against each other.
    pub half_were_set_at_once: bool,
    /// The evidence of ends of operations where dependencies leave clocks open.
    pub ends: Option<EndsEvidence>,
}

impl Aligned {
    /// Clocks put on one time by all dependencies.
    pub(super) fn by_all(
        alignment: &Alignment,
        reference: Reference,
        causality: &Causality,
        clocks: &Clocks,
    ) -> Result<Self, Unsolved> {
        let extents = Edges::new(Vec::new(), Edges::extents(causality, clocks));
        let estimate = &alignment.estimate;
        let tied = |how: Relation| {
            let relations = (0..).map(ClockId).zip(&alignment.relations);
            let tied = relations.filter(|(_, relation)| **relation == how);
            tied.map(|(clock, _)| clock).collect()
        };
        let steps = alignment.steps.iter().zip(alignment.set_together());
        let steps = steps.map(|(step, others)| ClockSet::of(step, others, causality.nodes()));
        Ok(Self {
            unrelated: tied(Relation::Unrelated),
            one_way: tied(Relation::OneWay),
            outliers: alignment.outliers.len(),
            pieces: Self::pieces(estimate, alignment.pieces),
            reference: (reference != Reference::Mean).then_some(estimate.reference),
            moved_later: estimate.moved_later(causality, clocks, &extents)?,
            steps: steps.collect::<Result<_, _>>()?,
            instead: { alignment.instead.iter() }
                .map(|it| ClockSet::of(it, Vec::new(), causality.nodes()))
                .collect::<Result<_, _>>()?,
            rate_changes: { alignment.rate_changes.iter() }
                .map(|it| ClockRateChange::of(it, causality.nodes()))
                .collect::<Result<_, _>>()?,
            half_were_set_at_once: alignment.half_were_set_at_once(),
            estimate: Some(alignment.base()),
            common: alignment.common.clone(),
            ends: None,
        })
    }
}

/// The rate at which systems slew a clock at most unless told otherwise, as a fraction: that of
/// `adjtime` of Linux.
const SLEWED: f64 = 500e-6;

/// A clock ran at another rate from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockRateChange {
    /// Which.
    pub clock: ClockId,
    /// It showed no less than this then,
    pub after: Timestamp,
    /// no more than this,
    pub until: Timestamp,
    /// and most probably this.
    pub at: Timestamp,
    /// The ticks that it gained more from then on in each tick of the common time.
    pub by: f64,
    /// How well dependencies tell the rate before, and that from then on: as shares.
    pub rates_within: [f64; 2],
}

impl ClockRateChange {
    /// How far [`by`](Self::by) can be from the truth; infinite where nothing tells.
    pub fn known_to(&self) -> f64 {
        self.rates_within.iter().sum()
    }

    /// A change at a stamp as recorded; fails where that does not fit into 64 bits.
    pub(super) fn of(change: &RateChange, nodes: &Nodes) -> Result<Self, Unsolved> {
        let clock = change.clock;
        let absolute = |stamp: i64| {
            let stamp = nodes.absolute(Ticks(stamp));
            stamp.ok_or(Unsolved::StepTooFar { clock })
        };
        Ok(Self {
            clock,
            after: absolute(change.after)?,
            until: absolute(change.until)?,
            at: absolute(change.at)?,
            by: change.by,
            rates_within: change.rates_within,
        })
    }

    /// The change at stamps as nodes have them.
    pub(super) fn relative(&self, nodes: &Nodes) -> RateChange {
        let stamp = |at: Timestamp| nodes.relative(at).0;
        RateChange {
            clock: self.clock,
            after: stamp(self.after),
            until: stamp(self.until),
            at: stamp(self.at),
            by: self.by,
            rates_within: self.rates_within,
        }
    }
}

/// A clock was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockSet {
    /// Which.
    pub clock: ClockId,
    /// It showed this before
    pub after: Timestamp,
    /// and this afterwards.
    pub until: Timestamp,
    /// How much it gained.
    pub by: Ticks,
    /// The least and the most that it can have gained, as [bounds](super::Bounds) tell; `None` where they
    /// were not looked for, or leave one of these open.
    pub within: Option<(Ticks, Ticks)>,
    /// Other clocks, in order, of which one may have been set instead.
    pub alternatives: Vec<ClockId>,
    /// Other clocks, in order, that were set with it, at one time and by as much.
    pub together: Vec<ClockId>,
}

impl ClockSet {
    /// A step at stamps as recorded, of a clock that was set `together` with others; fails where stamps do
    /// not fit into 64 bits.
    pub(super) fn of(
        step: &ClockStep,
        together: Vec<ClockId>,
        nodes: &Nodes,
    ) -> Result<Self, Unsolved> {
        let stamp = |ticks: i64| {
            let stamp = nodes.absolute(Ticks(ticks));
            stamp.ok_or(Unsolved::StepTooFar { clock: step.clock })
        };
        Ok(Self {
            clock: step.clock,
            after: stamp(step.after)?,
            until: stamp(step.until)?,
            by: Ticks(step.by.round() as i64),
            within: None,
            alternatives: step.alternatives.clone(),
            together,
        })
    }

    /// How far what it gained can be from [`by`](Self::by), as far as bounds tell.
    #[must_use]
    pub fn known_to(&self) -> Option<u64> {
        let (least, most) = self.within?;
        Some(self.by.0.abs_diff(least.0).max(self.by.0.abs_diff(most.0)))
    }

    /// How it may have gained what it did, in the words of reports: a slew may do what it can in the
    /// time, and bounds that leave the whole step open do not prove it.
    #[must_use]
    pub fn how(&self) -> &'static str {
        let by = self.by.0.unsigned_abs();
        let lasts = self.until.0.saturating_sub(self.after.0) as f64;
        let is_proven = self.known_to().is_none_or(|it| it < by);
        match (is_proven, by as f64 > SLEWED * lasts) {
            (true, true) => "was set",
            (true, false) => "was set or slewed",
            (false, true) => "seems to have been set",
            (false, false) => "seems to have been set or slewed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::{Causality, CausalityOptions};
    use retime_model::{TickRate, TraceInfo};

    fn gained(by: i64, lasts: u64, within: Option<(i64, i64)>) -> ClockSet {
        ClockSet {
            clock: ClockId(1),
            after: Timestamp(1_000_000),
            until: Timestamp(1_000_000 + lasts),
            by: Ticks(by),
            within: within.map(|(least, most)| (Ticks(least), Ticks(most))),
            alternatives: Vec::new(),
            together: Vec::new(),
        }
    }

    #[test]
    fn what_a_slew_can_do_may_have_been_one() {
        // 50 us take a tenth of a second at 500 ppm.
        for by in [50_000, -50_000] {
            assert_eq!(gained(by, 99_000_000, None).how(), "was set");
            assert_eq!(gained(by, 100_000_000, None).how(), "was set or slewed");
        }
    }

    #[test]
    fn a_step_that_bounds_leave_open_only_seems_to_be_one() {
        let how = |least, lasts| gained(50_000, lasts, Some((least, 60_000))).how();
        assert_eq!(how(1, 1_000), "was set");
        assert_eq!(how(0, 1_000), "seems to have been set");
        assert_eq!(how(0, 100_000_000), "seems to have been set or slewed");
    }

    #[test]
    fn a_step_outside_of_what_stamps_hold_is_an_error() {
        let info = TraceInfo {
            rate: TickRate::per_second(1).unwrap(),
            locations: vec![],
            processes: vec![],
            nodes: vec![],
            communicators: vec![],
            streams: Vec::new(),
            set_back: Vec::new(),
        };
        let causality = Causality::build(&info, vec![], CausalityOptions::default()).unwrap();
        let clock = ClockId(3);
        let set = |after: i64, until: i64| {
            let by = 1.4;
            let step = ClockStep {
                clock,
                after,
                until,
                by,
                alternatives: vec![ClockId(4)],
            };
            ClockSet::of(&step, Vec::new(), causality.nodes())
        };
        let (after, until, by) = (Timestamp(5), Timestamp(7), Ticks(1));
        let inside = ClockSet {
            clock,
            after,
            until,
            by,
            within: None,
            alternatives: vec![ClockId(4)],
            together: Vec::new(),
        };
        assert_eq!(set(5, 7), Ok(inside));
        for (after, until) in [(-1, 7), (i64::MIN, i64::MAX)] {
            assert_eq!(set(after, until), Err(Unsolved::StepTooFar { clock }));
        }
    }
}
