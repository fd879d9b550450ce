//! Where clocks may have been set: the places that are tried.
//!
//! ```text
//!  contradictions   dependencies that no rate explains          as for bounds
//!  steepest         where clocks that wander do so all at once  steep
//!  silences         all clocks, where nothing is heard of any   silences
//!  suspects         what pulls at stiff clocks before and after score
//! ```

use super::at_once::AtOnce;
use super::doubts::are_alone;
use super::explained::Explained;
use super::parts::Cuts;
use super::score::{self, Suspect};
use super::silences::silences;
use super::steep::{Steep, stamp, steepest};
use crate::options::OPTIONS;
use crate::stages::SmoothAlignment;
use crate::{Alignment, ClockStep};
use retime_bounds as optimal;
use retime_causality::edges::{Edges, InOrder};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::ClockId;
use retime_model::{Cancelled, Monitor};

/// So many of the steepest stretches are tried together: a clock that was set forward and back is off
/// for a while, which neither step explains alone.
const STEEPEST_AT_ONCE: [usize; 3] = [1, 2, 4];

/// Dependencies, and what explains them best so far.
pub(super) struct Places<'a> {
    pub(super) listed: &'a InOrder,
    pub(super) known: &'a Explained,
    pub(super) monitor: &'a dyn Monitor,
}

/// Where another step explains the most, the best place first.
#[derive(Default)]
pub(super) struct SuspectPlaces {
    /// For what clocks leave unexplained as they are known,
    of_known: Vec<Suspect>,
    /// and for what stiff ones do.
    of_stiff: Vec<Suspect>,
}

impl SuspectPlaces {
    pub(super) fn all(&self) -> impl Iterator<Item = &Suspect> {
        self.of_known.iter().chain(&self.of_stiff)
    }
}

impl Places<'_> {
    /// Sets of places where clocks may have been set, each to be tried.
    ///
    /// Where clocks are steepest, those are looked at that wander as they are known to or, where
    /// few messages contradict them, as much as it takes to follow these.
    pub(super) fn candidates(
        &self,
        followed: Option<&SmoothAlignment>,
        first: bool,
    ) -> Result<Vec<Cuts>, Cancelled> {
        let known = &self.known.alignment;
        let most = known.steps.len() + OPTIONS.more_steps * self.edges().clocks();
        let mut candidates = Vec::new();
        for seen in seen(self.listed, &known.estimate, first, self.monitor) {
            let (usual, cuts) = seen?;
            if usual || cuts.iter().map(Vec::len).sum::<usize>() <= most {
                candidates.push(cuts);
            }
        }
        candidates.extend(self.steep_cuts(followed));
        Ok(candidates)
    }

    /// Known steps, and some where clocks are steepest.
    pub(super) fn steep_cuts(&self, followed: Option<&SmoothAlignment>) -> Vec<Cuts> {
        let steep = self.steepest(followed);
        let cuts = STEEPEST_AT_ONCE.into_iter().filter_map(|count| {
            let steepest = steep.get(..count)?.iter();
            self.with_cuts(steepest.map(|it| (it.clock, it.cut)))
        });
        cuts.collect()
    }

    /// Where clocks are steepest that wander as they are known to or, if they are not, as `followed`.
    fn steepest(&self, followed: Option<&SmoothAlignment>) -> Vec<Steep> {
        let known = &self.known.alignment;
        let wandering = followed.map(|it| &it.alignment);
        let wandering = wandering.or(self.known.wanders().then_some(known));
        wandering.map_or_else(Vec::new, |it| steepest(it, self.edges()))
    }

    /// The times at which all clocks may have been set: the longest silences, where a clock is the
    /// steepest, and where one is suspected the most.
    pub(super) fn times(
        &self,
        followed: Option<&SmoothAlignment>,
        suspects: &SuspectPlaces,
    ) -> Vec<AtOnce> {
        if self.known.leaves_none() {
            return Vec::new();
        }
        let edges = self.edges();
        let estimate = &self.known.alignment.estimate;
        let steep = self.steepest(followed).into_iter();
        let steep: Vec<_> = steep.map(|it| (it.clock, it.cut)).collect();
        let place = |it: &Suspect| (it.clock, it.cut);
        let first = [suspects.of_known.first(), suspects.of_stiff.first()];
        let first = first.into_iter().flatten().map(place);
        let first: Vec<_> = steep.first().copied().into_iter().chain(first).collect();
        let mut times = silences(estimate, edges, OPTIONS.suspects);
        let of_one = first.iter();
        times.extend(of_one.map(|&(clock, cut)| AtOnce::at(clock, cut, estimate, edges)));
        let suspected = steep.iter().copied().take(OPTIONS.suspects);
        let suspected: Vec<_> = suspected.chain(suspects.all().map(place)).collect();
        let together = first.into_iter().filter_map(|it| {
            let places: Vec<_> = std::iter::once(it)
                .chain(suspected.iter().copied())
                .collect();
            AtOnce::suspected(&places, estimate)
        });
        times.extend(together);
        times
    }

    /// Known steps, and one of each clock but the reference.
    pub(super) fn all_at_once(&self, at_once: &AtOnce) -> Option<Cuts> {
        self.with_cuts(at_once.of_others())
    }

    /// Known steps, and one of the reference and of each clock that was not set by about as
    /// much as most were by `found`; `None` where most were not.
    pub(super) fn of_reference(&self, at_once: &AtOnce, found: &Explained) -> Option<Cuts> {
        let by = |clock: ClockId, (after, until): (i64, i64)| {
            let steps = found.alignment.steps.iter();
            let own = steps.filter(|it| it.clock == clock && it.after < until && after < it.until);
            own.map(|it| it.by).sum()
        };
        let cuts = at_once.of_reference(by);
        let reference = self.known.alignment.estimate.reference;
        let is_it = cuts.iter().any(|it| it.0 == reference);
        is_it.then(|| self.with_cuts(cuts))?
    }

    /// Where another step explains the most of what clocks as they are known, and `stiff` ones, leave
    /// unexplained.
    pub(super) fn suspects(&self, stiff: Option<&SmoothAlignment>) -> SuspectPlaces {
        // Stiff clocks that nothing contradicts leave nothing for another step to explain.
        if self.known.leaves_none() {
            return SuspectPlaces::default();
        }
        // Of two clocks that only know each other, the reference is right.
        let edges = self.edges();
        let reference = self.known.alignment.estimate.reference;
        let mut others = (0..edges.clocks() as u32).map(ClockId);
        let is_right = others.any(|other| are_alone(reference, other, edges));
        let of = |alignment: &Alignment, wanders: bool| {
            let mut suspects = score::suspects(alignment, wanders, edges);
            suspects.truncate(OPTIONS.suspects);
            suspects.retain(|it| !is_right || it.clock != reference);
            suspects
        };
        let of_stiff = stiff.map(|it| of(&it.alignment, false));
        SuspectPlaces {
            of_known: of(&self.known.alignment, self.known.wanders()),
            of_stiff: of_stiff.unwrap_or_default(),
        }
    }

    /// Known steps, and that of a suspect; `None` where that is no other.
    pub(super) fn with_suspect(&self, suspect: &Suspect) -> Option<Cuts> {
        self.with_cuts([(suspect.clock, suspect.cut)])
    }

    /// The steps that are new in `better`, each as if it were of another clock: of those that
    /// exchange the most with the clock that is said to have been set, as what it does by itself
    /// looks to others like what these do. Of several steps the smallest are those to doubt.
    pub(super) fn elsewhere(&self, better: &Explained) -> Vec<Cuts> {
        let known = &self.known.alignment.steps;
        let is_old = |step: &ClockStep| {
            let overlaps = |it: &ClockStep| it.after <= step.until && step.after <= it.until;
            known
                .iter()
                .any(|it| it.clock == step.clock && overlaps(it))
        };
        let steps = better.alignment.steps.iter();
        let mut new: Vec<&ClockStep> = steps.filter(|step| !is_old(step)).collect();
        new.sort_by(|a, b| a.by.abs().total_cmp(&b.by.abs()));
        let moved = new
            .into_iter()
            .flat_map(|step| self.of_partners(better, step));
        moved.take(OPTIONS.suspects).collect()
    }

    /// A step as if it were of each of the clocks that exchange the most with its own.
    fn of_partners(&self, better: &Explained, step: &ClockStep) -> Vec<Cuts> {
        let edges = self.edges();
        let estimate = &better.alignment.estimate;
        // As long again on either side: these clocks may know less of when it was.
        let length = step.until.saturating_sub(step.after);
        let ends = [
            step.after.saturating_sub(length),
            step.until.saturating_add(length),
        ];
        let common = ends.map(|it| estimate.common_time(step.clock, it));
        let others = |it: &ClockStep| (it.clock, it.after) != (step.clock, step.after);
        let moved = |other: ClockId| {
            let offset = estimate.offsets.get(other.as_usize())?.as_ref()?;
            let [after, until] = common.map(|it| stamp(offset, it));
            let mut cuts = better.cuts(edges.clocks(), |_, it| others(it));
            add_cut(&mut cuts, other, (after, until)).then_some(cuts)
        };
        let partners = partners(step.clock, edges).into_iter();
        // What one of two clocks that only know each other did, the other one can have done anyway.
        let partners = partners.filter(|it| !are_alone(step.clock, *it, edges));
        partners.take(OPTIONS.suspects).filter_map(moved).collect()
    }

    /// Known steps, and those of others that are none of them; `None` where there are no others.
    fn with_cuts(&self, others: impl IntoIterator<Item = (ClockId, (i64, i64))>) -> Option<Cuts> {
        let mut cuts = self.known.cuts(self.edges().clocks(), |_, _| true);
        let new = others.into_iter();
        let new = new.filter(|&(clock, cut)| add_cut(&mut cuts, clock, cut));
        (new.count() > 0).then_some(cuts)
    }

    fn edges(&self) -> &Edges {
        &self.listed.list.edges
    }
}

/// Adds a cut, and returns true, where no other of the clock overlaps it.
fn add_cut(cuts: &mut Cuts, clock: ClockId, cut: (i64, i64)) -> bool {
    let Some(own) = cuts.get_mut(clock.as_usize()) else {
        return false;
    };
    if own.iter().any(|it| it.0 <= cut.1 && it.1 >= cut.0) {
        return false;
    }
    own.push(cut);
    own.sort_unstable();
    true
}

/// The clocks that a clock exchanges something with, those with the most first.
fn partners(clock: ClockId, edges: &Edges) -> Vec<ClockId> {
    let mut exchanged = vec![0_u64; edges.clocks()];
    for edge in edges.all() {
        let other = if edge.from == clock {
            edge.to
        } else {
            edge.from
        };
        if edge.from == clock || edge.to == clock {
            exchanged[other.as_usize()] += 1;
        }
    }
    let all = (0..edges.clocks() as u32).map(ClockId);
    let mut partners: Vec<ClockId> = all.filter(|it| exchanged[it.as_usize()] > 0).collect();
    partners.sort_by_key(|it| std::cmp::Reverse(exchanged[it.as_usize()]));
    partners
}

/// Where clocks may have stepped, along the lines of an estimate and at `first` as
/// if there were none; each costs a pass over all dependencies. With it whether rates may change as usual: if not, and clocks
/// wander, there are many that are none.
fn seen(
    all: &InOrder,
    estimate: &Estimate,
    first: bool,
    monitor: &dyn Monitor,
) -> impl Iterator<Item = Result<(bool, Cuts), Cancelled>> {
    let tries = OPTIONS.steady.into_iter().map(|drift| (drift, false));
    let tries = tries.chain(first.then_some((Some(OPTIONS.level), true)));
    tries.map(move |(drift, flat)| {
        let flat = flat.then(|| level(estimate, &all.list.edges));
        let base = flat.as_ref().unwrap_or(estimate);
        let usual = flat.is_some() || drift.is_none();
        Ok((usual, optimal::steps(all, base, drift, monitor)?))
    })
}

/// These clocks, as if none gained on another.
fn level(estimate: &Estimate, edges: &Edges) -> Estimate {
    let clocks = estimate.offsets.iter().enumerate();
    let constant = |(clock, offset): (usize, &Option<Offset>)| {
        let (first, last) = edges.extent(ClockId(clock as u32))?;
        let middle = i64::midpoint(first, last);
        Some(Offset::constant(offset.as_ref()?.at(middle)))
    };
    Estimate {
        offsets: clocks.map(constant).collect(),
        reference: estimate.reference,
    }
}
