//! How far the times of a trace can be from the truth.
//!
//! Nothing but messages and the steadiness of clocks says when something was,
//! and both leave an interval. [`Bounds`] is that interval for the times that a
//! correction gives, or for the recorded ones; [`crate::optimal`] computes it.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::base::{Base, PlaceSet};
use super::contradicted::{contradict_throughout, contradicted, known_to_be_set};
use super::drift_bound::{BoundSearch, Premise, bound_options};
use super::solution::{Aligned, ClockRateChange, ClockSet, Solution};
use super::twice::{UnfoundStep, set_back, unfound, with_steps};
use crate::TruthError;
use retime_alignment::{ClockStep, align_on_steady};

use retime_bounds::{
    BoundOptions, BoundSummary, ClockBounds, Coverage, ErrorBounds, LeastDistortion, OffsetBounds,
    Outside, Witnessed, coverage, largest_stray, least_distortion, offset_bounds, outside,
    with_step_places, witnessed,
};
use retime_causality::MinimalDelay;
use retime_causality::edges::{Edge, Edges, ListedEdges, Source, TraceEdges};
use retime_causality::{Causality, Nodes};
use retime_clocks::estimate::{Estimate, Offset, Reference};
use retime_clocks::{RateChange, Straight};
use retime_model::Correction;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks};
use retime_model::{TickRate, Ticks, Timestamp, TraceInfo};

/// Where a step can be is looked for so often: bounds without what was taken to be on the wrong side of it
/// may show that more can be.
const STEP_PLACE_ROUNDS: usize = 4;

/// All that is known of the times of a trace.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The amount by which rates may wander, a share.
    pub drift: f64,
    /// The drift bound that was asked for, where several places contradict it and
    /// [a larger one](BoundSearch::or_drift) was tried. If it is not `drift`, these bounds are by the larger.
    pub refuted: Option<f64>,
    /// Bounds of what has to be added to recorded stamps.
    pub offsets: OffsetBounds,
    /// Clocks that contradict the drift bound, each with the place and by how much at least, either
    /// way, though no alignment found that they were set. Bounds take them to have been set there.
    pub contradicted: Vec<ClockSet>,
    /// Clocks that an alignment found to have been set, each with the place and by how much: bounds
    /// follow them there, and rest on it that they were.
    pub if_set: Vec<ClockSet>,
    /// Clocks that an alignment found to have changed their rates: bounds are by rates without these
    /// changes, and rest on it that there were no others beyond `drift`.
    pub if_rates_change: Vec<ClockRateChange>,
    /// Clocks that are known to have been set back where no alignment found a step: bounds allow for any.
    pub set_back: Vec<UnfoundStep>,
    /// The stamps between which a step of each clock would show.
    pub steps: Vec<StepsShow>,
    /// True for each clock that is bounded below at all, and above.
    sides: Vec<(bool, bool)>,
    /// True for each clock that contradicts the others wherever it depends on them.
    contradicting: Vec<bool>,
    /// How far times can be from the truth.
    pub errors: ErrorBounds,
    /// The summary of all events with edges.
    pub all: BoundSummary,
    /// The largest at any moment between the first and the last event of a clock; `None` where
    /// that is not bounded.
    pub largest_over_run: Option<f64>,
    /// The summary of each clock.
    pub by_clock: Vec<BoundSummary>,
}

/// The stamps of a clock between which a step of it [would show](crate::optimal::witnessed) if it is
/// large. Outside of them bounds hold only if the clock is not set there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepsShow {
    /// The first; `None` where one would show nowhere.
    #[serde(rename = "step_shows_from")]
    pub from: Option<Timestamp>,
    /// The last.
    #[serde(rename = "step_shows_until")]
    pub until: Option<Timestamp>,
    /// Events with edges that are not between these.
    pub events_beyond: u64,
}

impl StepsShow {
    fn of(clock: ClockId, known: Option<Witnessed>, nodes: &Nodes, clocks: &Clocks) -> Self {
        let shown = |at: i64| nodes.absolute(Ticks(at));
        let is_beyond = |at: i64| known.is_none_or(|it| at < it.from || at > it.until);
        let locations = clocks.locations(clock).iter();
        let own = locations.flat_map(|it| nodes.of(it.as_usize()));
        Self {
            from: known.and_then(|it| shown(it.from)),
            until: known.and_then(|it| shown(it.until)),
            events_beyond: own.filter(|&it| is_beyond(nodes.time(it).0)).count() as u64,
        }
    }
}

/// A trace whose clocks are known.
#[derive(Clone, Copy)]
pub(super) struct Timed<'a> {
    pub(super) rate: TickRate,
    pub(super) causality: &'a Causality,
    pub(super) clocks: &'a Clocks,
    pub(super) info: &'a TraceInfo,
    /// The alignment of a solution, which knows how clocks differ.
    pub(super) aligned: Option<&'a Aligned>,
    /// The base where there is no solution, once it is known; `None`
    /// where nothing relates any.
    pub(super) differ: &'a OnceLock<Option<Base>>,
    pub(super) monitor: &'a dyn Monitor,
}

impl Timed<'_> {
    /// Bounds of what has to be added to recorded stamps; `None` where nothing relates any clocks.
    pub(super) fn offsets(&self, search: BoundSearch) -> Result<Option<BoundedOffsets>, Cancelled> {
        if self.clocks.len() < 2 {
            return Ok(None);
        }
        let Some(found) = self.base()? else {
            return Ok(None);
        };
        let set_back = set_back(self.info, self.clocks, self.causality.nodes());
        let unfound = unfound(&set_back, &found.estimate);
        // Bounds hold whichever of the clocks was set that may have been.
        let open = set_back.iter().chain(&found.instead).copied();
        let base = Base {
            estimate: with_steps(&found.estimate, open),
            ..found.clone()
        };
        let trace = self.edges();
        let (base, premise, offsets, witnessed, contradicting) =
            trace.at_root::<Estimate, _>(|| {
                let source = trace.dependencies(&base.estimate)?;
                let (base, premise, offsets) =
                    self.by_step_places(&source, base.clone(), search)?;
                // Where bounds were given up nobody knows which clocks have them.
                let is_bounded = |clock: ClockId| {
                    let own = offsets.clocks.get(clock.as_usize());
                    let sides = own.and_then(|it| it.as_ref().map(ClockBounds::sides));
                    !offsets.complete || sides == Some((true, true))
                };
                let witnessed = witnessed(&source, is_bounded, self.monitor)?;
                let contradicting = contradict_throughout(&source, &base.estimate, self.monitor)?;
                Ok((base, premise, offsets, witnessed, contradicting))
            })?;
        Ok(Some(BoundedOffsets {
            premise,
            contradicted: contradicted(&offsets.relaxed, &base),
            if_set: known_to_be_set(&found.estimate, &base.estimate),
            if_rates_change: base.rate_changes,
            set_back: unfound,
            offsets,
            witnessed,
            contradicting,
        }))
    }

    /// Bounds that rest on steps wherever these [can be](with_step_places), and the base with them.
    fn by_step_places(
        &self,
        source: &dyn Source,
        mut base: Base,
        search: BoundSearch,
    ) -> Result<(Base, Premise, OffsetBounds), Cancelled> {
        let (mut premise, mut offsets) = self.without_changes(source, &base, search)?;
        for _ in 0..STEP_PLACE_ROUNDS {
            let estimate = with_step_places(source, &base.estimate, &offsets, self.monitor)?;
            if estimate == base.estimate {
                break;
            }
            base.estimate = estimate;
            (premise, offsets) = self.without_changes(source, &base, search)?;
        }
        Ok((base, premise, offsets))
    }

    /// Bounds by clocks without the changes of their rates that are known.
    fn without_changes(
        &self,
        source: &dyn Source,
        base: &Base,
        search: BoundSearch,
    ) -> Result<(Premise, OffsetBounds), Cancelled> {
        if base.rate_changes.is_empty() {
            return self.under_premises(source, base, search, 0.0);
        }
        let clocks = (0..source.clocks() as u32).map(ClockId);
        let extents: Vec<_> = clocks.map(|clock| source.extent(clock)).collect();
        // Rates that no drift bound explains are unknown.
        let most = bound_options(search.drift).most_difference;
        let straight = Straight::new(base.rate_changes.clone(), &extents);
        let Some(straight) = straight.and_then(|it| it.known_to(most)) else {
            return self.under_premises(source, base, search, 0.0);
        };
        let list = straight.straightened(&ListedEdges {
            edges: source.list(self.monitor)?.into_owned(),
            granularities: source.granularities(self.monitor)?,
        });
        let straightened = Base {
            estimate: straight.unbent(&base.estimate),
            rate_changes: Vec::new(),
            ..base.clone()
        };
        let within = straight.rates_within(most);
        let (premise, bounds) = self.under_premises(&list, &straightened, search, within)?;
        Ok((premise, bounds.bent(&straight)))
    }

    /// Bounds under the drift bound that is asked for, or under the larger one where that explains more.
    /// Rates may differ by `within` besides, which is how well they are known.
    fn under_premises(
        &self,
        source: &dyn Source,
        base: &Base,
        search: BoundSearch,
        within: f64,
    ) -> Result<(Premise, OffsetBounds), Cancelled> {
        let under = |drift: f64| {
            let options = BoundOptions {
                steps: search.steps,
                ..bound_options(drift + within)
            };
            offset_bounds(source, |_| 0, &base.estimate, &options, self.monitor)
        };
        let places = |of: &OffsetBounds| contradicted(&of.relaxed, base).len();
        let asked = under(search.drift)?;
        let clocks = (0..source.clocks() as u32).map(ClockId);
        let extents: Vec<_> = clocks.map(|clock| source.extent(clock)).collect();
        let stray = largest_stray(&base.estimate, &extents);
        let Some(larger) = search.larger(places(&asked), stray) else {
            let premise = Premise {
                drift: search.drift,
                refuted: None,
            };
            return Ok((premise, asked));
        };
        let wider = under(larger)?;
        let is_explained = wider.complete && places(&wider) == 0;
        let (drift, offsets) = if is_explained {
            (larger, wider)
        } else {
            (search.drift, asked)
        };
        let premise = Premise {
            drift,
            refuted: Some(search.drift),
        };
        Ok((premise, offsets))
    }

    /// About how clocks differ from one of them; `None` where nothing relates any.
    fn base(&self) -> Result<Option<Base>, Cancelled> {
        let nodes = self.causality.nodes();
        if let Some(base) = self.aligned.and_then(|it| Base::of(it, nodes)) {
            return Ok(Some(base));
        }
        if let Some(known) = self.differ.get() {
            return Ok(known.clone());
        }
        let (causality, clocks) = (self.causality, self.clocks);
        let by = |reference| {
            let found = align_on_steady(causality, clocks, self.rate, reference, self.monitor)?;
            Ok(Base {
                rate_changes: found.rate_changes.clone(),
                instead: PlaceSet::all(&found.instead),
                estimate: found.base(),
            })
        };
        let reference = Reference::First.clock(causality, clocks);
        let found = reference.map(by).transpose()?;
        Ok(self.differ.get_or_init(|| found).clone())
    }

    fn edges(&self) -> TraceEdges<'_> {
        TraceEdges {
            causality: self.causality,
            clocks: self.clocks,
            monitor: self.monitor,
        }
    }

    /// The amount by which local intervals have to change at least.
    pub(super) fn least_distortion(
        &self,
        delay: &MinimalDelay,
    ) -> Result<Option<LeastDistortion>, Cancelled> {
        let Some(base) = self.base()? else {
            return Ok(None);
        };
        let least = |edge: &Edge| edge.minimal_delay(delay, self.causality);
        let trace = self.edges();
        let found = trace.at_root::<Estimate, _>(|| {
            let source = trace.dependencies(&base.estimate)?;
            least_distortion(&source, &least, super::GENTLEST_STEPS, self.monitor)
        });
        found.map(Some)
    }
}

impl Bounds {
    /// Bounds of the times that a correction gives.
    pub(super) fn new(
        known: BoundedOffsets,
        correction: &Correction,
        common: Option<&Offset>,
        causality: &Causality,
        clocks: &Clocks,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let nodes = causality.nodes();
        let extents = Edges::new(Vec::new(), Edges::extents(causality, clocks));
        let errors =
            ErrorBounds::new(&known.offsets, correction, common, &extents, nodes, monitor)?;
        let (all, by_clock) = errors.summary(nodes, clocks, monitor)?;
        let recorded = clocks.iter().map(|it| extents.extent(it).is_some());
        let recorded = nodes.by_clock(recorded.collect(), clocks);
        let has_events = |it: ClockId| recorded.get(it.as_usize()).is_none_or(|it| *it);
        let largest_over_run = errors.largest_over_run(has_events);
        let own = known.offsets.clocks.iter();
        let own = own.map(|it| it.as_ref().map_or((false, false), ClockBounds::sides));
        let steps = clocks.iter().zip(&known.witnessed);
        let steps = steps.map(|(clock, known)| StepsShow::of(clock, *known, nodes, clocks));
        let places = |steps: &[ClockStep]| {
            let places = steps
                .iter()
                .filter_map(|it| ClockSet::of(it, Vec::new(), nodes).ok());
            places.collect()
        };
        let if_set = known.if_set.iter().filter_map(|step| {
            let within = known.gained(step);
            let place = ClockSet::of(step, Vec::new(), nodes).ok()?;
            Some(ClockSet { within, ..place })
        });
        let if_set = if_set.collect();
        let changes = known.if_rates_change.iter();
        let changes = changes.filter_map(|it| ClockRateChange::of(it, nodes).ok());
        Ok(Self {
            if_rates_change: changes.collect(),
            drift: known.premise.drift,
            refuted: known.premise.refuted,
            contradicted: places(&known.contradicted),
            if_set,
            set_back: { known.set_back.iter() }
                .filter_map(|it| UnfoundStep::of(it, nodes))
                .collect(),
            sides: nodes.by_clock(own.collect(), clocks),
            contradicting: known.contradicting,
            steps: nodes.by_clock(steps.collect(), clocks),
            offsets: known.offsets,
            errors,
            all,
            largest_over_run,
            by_clock,
        })
    }

    /// How many events have their true time inside.
    pub fn coverage(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        truth: &[Timestamp],
    ) -> Result<Coverage, TruthError> {
        coverage(&self.offsets, causality, clocks, truth)
    }

    /// How many events a solution puts further outside of the bounds than any is as
    /// recorded, by more than the bounds leave open anyway.
    pub fn outside(&self, solution: &Solution, nodes: &Nodes) -> Outside {
        let correction = &solution.correction;
        let clocks = correction.clocks();
        let unchanged = Correction::new(clocks.clone(), Vec::new());
        let stamps = nodes.timestamps();
        let recorded = outside(&self.offsets, &unchanged, nodes, clocks, stamps, 0.0);
        let beyond = recorded.furthest + self.all.mean_half_width;
        let times = &solution.times;
        outside(&self.offsets, correction, nodes, clocks, times, beyond)
    }

    /// True if anything bounds what has to be added to a clock from below, and from above.
    pub fn sides(&self, clock: ClockId) -> (bool, bool) {
        let sides = self.sides.get(clock.as_usize());
        sides.copied().unwrap_or_default()
    }

    /// How many clocks with events are not bounded on both sides since the steps of a search
    /// were used up; also those count that more steps would not have bounded either, as
    /// nobody has looked.
    pub fn given_up(&self) -> usize {
        if !self.offsets.used_up {
            return 0;
        }
        let clocks = (0..).map(ClockId).zip(&self.sides);
        clocks
            .filter(|&(clock, sides)| self.has_events(clock) && *sides != (true, true))
            .count()
    }

    /// Clocks whose times are not bounded on both sides, and why, in words.
    pub fn warnings(&self, info: &TraceInfo, clocks: &Clocks) -> Vec<String> {
        if !self.offsets.complete {
            return vec![self.stopped()];
        }
        let mut one_sided = Vec::new();
        let mut unrelated = Vec::new();
        let mut contradicting = Vec::new();
        for (clock, sides) in clocks.iter().zip(&self.sides) {
            match sides {
                _ if !self.has_events(clock) => {}
                (true, true) => {}
                (true, false) | (false, true) => one_sided.push(clock),
                (false, false) if self.contradicts(clock) => contradicting.push(clock),
                (false, false) => unrelated.push(clock),
            }
        }
        let mut warnings = Vec::new();
        let reference = clocks.describe(info, self.offsets.reference);
        let mut add = |of: &[ClockId], what: &str| {
            if !of.is_empty() {
                warnings.push(format!("{}: {what}", names(info, clocks, of)));
            }
        };
        add(
            &one_sided,
            &format!(
                "dependencies relate it to {reference} in one direction only, so that its time is \
                 bounded on one side"
            ),
        );
        add(
            &unrelated,
            &format!("no dependency relates it to {reference}, so that nothing bounds its time"),
        );
        add(
            &contradicting,
            "its clock was set or stood still wherever dependencies relate it to others, so that \
             nothing bounds its time",
        );
        warnings
    }

    /// Why bounds are not what they could be.
    fn stopped(&self) -> String {
        if !self.offsets.used_up {
            return "too many dependencies contradict each other under this drift bound, so that the \
                    search for error bounds was given up: a larger --drift-bound may help"
                .into();
        }
        let bounds = match self.given_up() {
            0 => "bounds are wider than they could be".into(),
            1 => "1 clock is not bounded on both sides".into(),
            more => format!("{more} clocks are not bounded on both sides"),
        };
        format!(
            "the search for error bounds has used up its steps: {bounds}; --bounds-budget allows more"
        )
    }

    fn contradicts(&self, clock: ClockId) -> bool {
        self.contradicting.get(clock.as_usize()) == Some(&true)
    }

    fn has_events(&self, clock: ClockId) -> bool {
        let summary = self.by_clock.get(clock.as_usize());
        summary.is_some_and(|it| it.events + it.unbounded > 0)
    }
}

/// The bounds of clock offsets of a trace, for many corrections of it.
#[derive(Clone, Debug)]
pub struct BoundedOffsets {
    premise: Premise,
    contradicted: Vec<ClockStep>,
    if_set: Vec<ClockStep>,
    if_rates_change: Vec<RateChange>,
    set_back: Vec<PlaceSet>,
    offsets: OffsetBounds,
    witnessed: Vec<Option<Witnessed>>,
    contradicting: Vec<bool>,
}

impl Bounds {
    /// A step of a clock, with what bounds tell of how much it gained, and between which stamps.
    #[must_use]
    pub fn of_step(&self, step: &ClockSet) -> ClockSet {
        let is_one = |it: &&ClockSet| {
            it.clock == step.clock && it.after <= step.after && step.until <= it.until
        };
        match self.if_set.iter().find(is_one) {
            Some(known) => ClockSet {
                within: known.within,
                after: known.after,
                until: known.until,
                ..step.clone()
            },
            None => step.clone(),
        }
    }
}

impl BoundedOffsets {
    /// The amount by which rates may wander, a share.
    pub fn drift(&self) -> f64 {
        self.premise.drift
    }

    /// The least and the most that a clock gained by a step; `None` where one of these is open.
    fn gained(&self, step: &ClockStep) -> Option<(Ticks, Ticks)> {
        let clock = self.offsets.clocks.get(step.clock.as_usize())?.as_ref()?;
        let (least, most) = clock.gained(step.after, step.until);
        let is_known = least.is_finite() && most.is_finite();
        is_known.then(|| (Ticks(least.floor() as i64), Ticks(most.ceil() as i64)))
    }

    /// How many events have their true time inside.
    pub fn coverage(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        truth: &[Timestamp],
    ) -> Result<Coverage, TruthError> {
        coverage(&self.offsets, causality, clocks, truth)
    }
}

/// The first few names of clocks.
fn names(info: &TraceInfo, clocks: &Clocks, of: &[ClockId]) -> String {
    const SHOWN: usize = 4;
    let shown = of.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|&clock| clocks.describe(info, clock)).collect();
    match of.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
