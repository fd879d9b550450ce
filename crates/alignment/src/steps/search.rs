//! Trying where clocks may have been set.
//!
//! How much wander an explanation needs takes several alignments to find out, each dearer than
//! the one before; a single one of stiff clocks tells whether these do. So all candidates are tried
//! first with what clocks do without being set, and only then up to what the best so far needs.
//! Whoever cuts less, or more narrowly, has more dependencies to follow and needs no less.
//!
//! The step of the explanation that says the most is tried on the clocks that exchange the most with
//! its own, too, and is theirs if that says more. Where steps of other clocks explain as much, the
//! trace does not tell which clock it was: one of them is followed, since between the two all times
//! are right with either and with none they are not, and the others are named beside it.

use rustc_hash::FxHashMap;

use super::doubts::Doubt;
use super::explained::Explained;
use super::narrow::narrowed;
use super::parts::{Cuts, Parts};
use super::places::Places;
use super::rates::{Rates, rate};
use super::unset::unset;
use crate::ClockStep;
use crate::division::Filled;
use crate::options::OPTIONS;
use crate::selection::Stiffness;
use crate::stages::{SmoothAlignment, align_plainly};
use retime_causality::edges::{InOrder, ListedEdges, Source};
use retime_clocks::estimate::Estimate;
use retime_model::{Cancelled, Monitor};

/// The wander up to which a list of cuts was tried, by the cuts, the bits of the smallest step, and
/// whether few contradictions counted.
pub(super) type Tried = FxHashMap<(Cuts, u64, bool), f64>;
/// A round of the search.
pub(super) struct StepSearch<'a> {
    /// Dependencies as they were listed at first, to compare by.
    pub(super) all: &'a ListedEdges,
    /// Dependencies as they are for the clocks known now.
    pub(super) listed: &'a InOrder,
    /// The places at which clocks may have been set, by what pairs of them show.
    pub(super) seen: &'a Cuts,
    pub(super) tried: &'a mut Tried,
    /// The clocks that may have been set instead of those that are taken to be.
    pub(super) doubts: &'a mut Vec<Doubt>,
    /// The dependencies by which pieces of offsets may be short.
    pub(super) filled: Filled,
    pub(super) rates: Rates,
    pub(super) monitor: &'a dyn Monitor,
}

impl StepSearch<'_> {
    /// An explanation of the dependencies that is better than `known`.
    pub(super) fn better(
        &mut self,
        known: &Explained,
        followed: Option<&SmoothAlignment>,
        first: bool,
    ) -> Result<Option<Explained>, Cancelled> {
        let places = Places {
            listed: self.listed,
            known,
            monitor: self.monitor,
        };
        let mut candidates = places.candidates(followed, first)?;
        if first {
            candidates.insert(0, self.seen.clone());
        }
        let suspects = places.suspects(self.stiff(known)?.as_ref());
        let times = places.times(followed, &suspects);
        let mut found = Explanations::beside(known);
        for at_most in [OPTIONS.usual_wander(), f64::INFINITY] {
            // Whoever is suspected along stiff clocks is to explain all by these.
            let suspects = suspects.all().filter(|_| at_most.is_finite());
            let suspects = suspects.filter_map(|it| places.with_suspect(it));
            for cuts in candidates.iter().cloned().chain(suspects) {
                self.follow(cuts, at_most, &mut found, |_| true, |_| None)?;
            }
            for time in &times {
                let of_reference = |all: &Explained| places.of_reference(time, all);
                // Messages that are heard prove each step by itself, or there was none.
                let is_possible = |it: &Explained| !time.is_heard() || it.is_proven();
                if let Some(cuts) = places.all_at_once(time) {
                    self.follow(cuts, at_most, &mut found, is_possible, of_reference)?;
                }
            }
        }
        let Explanations {
            mut better,
            mut rivals,
            ..
        } = found;
        // On another clock it may say more; that is asked of other clocks in turn.
        while let Some(best) = &better {
            let mut moved: Option<Explained> = None;
            for cuts in places.elsewhere(best) {
                let best = moved.as_ref().unwrap_or(best);
                let Some(other) = self.explained(cuts, best, best.most_needed())? else {
                    continue;
                };
                if other.is_better_than(best) {
                    rivals.extend(moved.replace(other));
                } else {
                    rivals.push(other);
                }
            }
            let Some(moved) = moved else {
                break;
            };
            rivals.extend(better.replace(moved));
        }
        if let Some(best) = &better {
            let edges = &self.all.edges;
            let doubts = rivals.iter().flat_map(|rival| best.doubts(rival, edges));
            self.doubts.extend(doubts);
        }
        Ok(better)
    }

    /// Tries cuts, those of them that are likely, and what `more` makes of each explanation; takes what
    /// is possible.
    fn follow(
        &mut self,
        cuts: Cuts,
        at_most: f64,
        found: &mut Explanations<'_>,
        is_possible: impl Fn(&Explained) -> bool,
        more: impl Fn(&Explained) -> Option<Cuts>,
    ) -> Result<(), Cancelled> {
        let mut next = vec![cuts];
        while let Some(cuts) = next.pop() {
            let best = found.best();
            let at_most = at_most.min(best.most_needed());
            let Some(stepped) = self.explained(cuts, best, at_most)? else {
                continue;
            };
            next.extend(stepped.only_likely(self.all.clocks()));
            next.extend(more(&stepped));
            if is_possible(&stepped) {
                found.add(stepped);
            }
        }
        Ok(())
    }

    /// Clocks without steps that do what clocks do, if those known wander.
    fn stiff(&self, known: &Explained) -> Result<Option<SmoothAlignment>, Cancelled> {
        if !known.wanders() || !known.alignment.steps.is_empty() {
            return Ok(None);
        }
        let stiffness = Stiffness {
            measured_to: Some(OPTIONS.usual_wander()),
            ..Stiffness::default()
        };
        self.align_wandering(known, stiffness).map(Some)
    }

    /// Clocks without steps that wander as much as it takes to follow the few messages that
    /// contradict them; `None` where clocks wander already, or are known to have been set.
    fn followed(&self, known: &Explained) -> Result<Option<SmoothAlignment>, Cancelled> {
        if known.wanders() || !known.alignment.steps.is_empty() {
            return Ok(None);
        }
        let stiffness = Stiffness {
            at_least: OPTIONS.follow,
            may_wander: true,
            ..Stiffness::default()
        };
        self.align_wandering(known, stiffness).map(Some)
    }

    /// Takes clocks that wander [as little as it takes](Self::wandering) if they say more than what is
    /// known, and returns those that [follow](Self::followed) all that contradicts stiff ones.
    pub(super) fn or_wandering(
        &self,
        best: &mut Explained,
    ) -> Result<Option<SmoothAlignment>, Cancelled> {
        let followed = self.followed(best)?;
        if let Some(followed) = &followed {
            best.needed = best.needed.min(followed.needed);
        }
        if let Some(wandering) = self.wandering(best, followed.as_ref())? {
            *best = wandering;
        }
        Ok(followed)
    }

    /// An explanation by steps that few dependencies show, as all show it; `None` where these are not
    /// better explained by it.
    pub(super) fn sharpened(
        &mut self,
        cuts: Cuts,
        known: &Explained,
    ) -> Result<Option<Explained>, Cancelled> {
        let sharp = self.explained(cuts, known, known.most_needed())?;
        Ok(sharp.filter(|it| it.is_better_than(known)))
    }

    /// An explanation by fewer steps that explains as much.
    pub(super) fn with_fewer(
        &mut self,
        cuts: Cuts,
        known: &Explained,
    ) -> Result<Option<Explained>, Cancelled> {
        let other = self.explained(cuts, known, known.needed)?;
        Ok(other.filter(|it| {
            let is_fewer = it.alignment.steps.len() < known.alignment.steps.len();
            is_fewer && it.needed <= known.needed && it.leaves_no_more_than(known)
        }))
    }

    /// Clocks that wander and were not set, if they leave less than half as much reversed.
    pub(super) fn wandering_instead(
        &self,
        known: &Explained,
    ) -> Result<Option<Explained>, Cancelled> {
        let stiffness = Stiffness {
            may_wander: true,
            ..Stiffness::default()
        };
        let aligned = self.align_wandering(known, stiffness)?;
        let explained = Explained::of(aligned, self.all, self.rates);
        Ok(explained.leaves_less_than(known).then_some(explained))
    }

    /// The best explanation by some of these cuts, if it is better than what is known.
    pub(super) fn better_by(
        &mut self,
        candidates: impl Iterator<Item = Cuts>,
        known: &Explained,
    ) -> Result<Option<Explained>, Cancelled> {
        let mut found = Explanations::beside(known);
        for cuts in candidates {
            self.follow(cuts, f64::INFINITY, &mut found, |_| true, |_| None)?;
        }
        Ok(found.better)
    }

    /// A better explanation by more steps, where clocks that wander are steepest.
    pub(super) fn better_where_steep(
        &mut self,
        known: &Explained,
    ) -> Result<Option<Explained>, Cancelled> {
        let places = Places {
            listed: self.listed,
            known,
            monitor: self.monitor,
        };
        self.better_by(places.steep_cuts(None).into_iter(), known)
    }

    /// Clocks that wander as little as it takes to [follow](Self::followed) what contradicts stiff
    /// ones: no outliers, since these would have been left out, but few, so that clocks were not
    /// taken to wander for their sake. `None` where nothing does, or wander is not enough.
    fn wandering(
        &self,
        known: &Explained,
        followed: Option<&SmoothAlignment>,
    ) -> Result<Option<Explained>, Cancelled> {
        let needed = followed.map_or(f64::INFINITY, |it| it.needed);
        if known.left == 0 || needed.is_infinite() {
            return Ok(None);
        }
        let stiffness = Stiffness {
            at_least: needed,
            may_wander: true,
            ..Stiffness::default()
        };
        let aligned = self.align_wandering(known, stiffness)?;
        let explained = Explained::of(aligned, self.all, self.rates);
        Ok(explained.is_firmer_than(known).then_some(explained))
    }

    /// Aligns clocks that were not set.
    fn align_wandering(
        &self,
        known: &Explained,
        stiffness: Stiffness,
    ) -> Result<SmoothAlignment, Cancelled> {
        let stiffness = Stiffness {
            filled: self.filled,
            ..stiffness
        };
        let reference = known.alignment.estimate.reference;
        let task = self.rates.task(reference, stiffness);
        align_plainly(&self.listed.list, task, self.monitor)
    }

    /// Without the steps that nothing needs, the gentlest first: where a clock is known little
    /// between two cuts, one step can look like several. A step that is not
    /// [entangled](Explained::entangled) paid for itself when it was found, and is kept: steps of other
    /// clocks at other times hardly explain what it does.
    pub(super) fn fewest(&mut self, mut known: Explained) -> Result<Explained, Cancelled> {
        let mut order = known.entangled();
        if known.alignment.steps.len() > OPTIONS.most_steps {
            return Ok(known);
        }
        let steepest = |steps: &[ClockStep]| steps.iter().map(rate).fold(0.0, f64::max);
        order.sort_by(|a, b| steepest(a).total_cmp(&steepest(b)));
        for together in order {
            if known.alignment.steps.len() <= together.len() {
                break;
            }
            let is_it = |a: &ClockStep, b: &ClockStep| (a.clock, a.after) == (b.clock, b.after);
            let others = |step: &ClockStep| !together.iter().any(|it| is_it(it, step));
            let cuts = known.cuts(self.all.clocks(), |_, step| others(step));
            if let Some(fewer) = self.explained(cuts, &known, known.needed)?
                && fewer.says_as_much_as(&known)
            {
                known = fewer;
            }
        }
        Ok(known)
    }

    /// An alignment with these steps, each of them in an instant. If clocks wander, what little
    /// contradicts the stiffest may be that. `None` where rates have to wander by more than
    /// `at_most`.
    fn explained(
        &mut self,
        cuts: Cuts,
        before: &Explained,
        at_most: f64,
    ) -> Result<Option<Explained>, Cancelled> {
        let incumbent = Incumbent {
            explained: before,
            at_most,
        };
        let stiff = self.explained_by(cuts.clone(), incumbent, false)?;
        // Clocks that nothing contradicts would be the same if they might wander.
        let is_enough =
            |it: &Explained| it.leaves_no_more_than(before) || it.needed <= OPTIONS.usual_wander();
        if !before.wanders() || stiff.as_ref().is_none_or(is_enough) {
            return Ok(stiff);
        }
        Ok(self.explained_by(cuts, incumbent, true)?.or(stiff))
    }

    fn explained_by(
        &mut self,
        cuts: Cuts,
        incumbent: Incumbent<'_>,
        may_wander: bool,
    ) -> Result<Option<Explained>, Cancelled> {
        let Some(wide) = self.align_parts(cuts, incumbent, may_wander)? else {
            return Ok(None);
        };
        let list = &self.listed.list;
        let mut cuts = wide.parts.cuts().to_vec();
        let mut found = wide.aligned;
        let mut of_parts = wide.of_parts;
        for _ in 0..OPTIONS.instants {
            let by: Vec<f64> = found.alignment.steps.iter().map(|it| it.by).collect();
            let instants = narrowed(&wide.parts, &of_parts, list, &by);
            if instants == cuts {
                break;
            }
            cuts = instants;
            let Some(next) = self.align_parts(cuts.clone(), incumbent, may_wander)? else {
                return Ok(None);
            };
            found = next.aligned;
            of_parts = next.of_parts;
            if next.parts.cuts() != cuts {
                break;
            }
        }
        Ok(Some(Explained::of(found, self.all, self.rates)))
    }

    /// Aligns the parts of clocks that stepped. Where a
    /// step comes out smaller than messages could tell, there was none. `None` for cuts that were
    /// tried before, since they explained no more than what is known since, and for those that
    /// need more wander than the incumbent lets them.
    fn align_parts(
        &mut self,
        mut cuts: Cuts,
        incumbent: Incumbent<'_>,
        may_wander: bool,
    ) -> Result<Option<InParts>, Cancelled> {
        let before = incumbent.explained;
        let stiffness = Stiffness {
            may_wander,
            measured_to: Some(incumbent.at_most),
            filled: self.filled,
            ..Stiffness::default()
        };
        let reference = before.alignment.estimate.reference;
        let task = self.rates.task(reference, stiffness);
        let smallest = before
            .alignment
            .shortest
            .unwrap_or(0.0)
            .max(OPTIONS.smallest_step * self.rates.ticks.get() as f64);
        let list = &self.listed.list;
        loop {
            let this = (cuts.clone(), smallest.to_bits(), may_wander);
            if self
                .tried
                .get(&this)
                .is_some_and(|it| *it >= incumbent.at_most)
            {
                return Ok(None);
            }
            self.tried.insert(this, incumbent.at_most);
            let Some(parts) = Parts::new(cuts) else {
                return Ok(None);
            };
            let aligned = align_plainly(&parts.split(list), task, self.monitor)?;
            if aligned.needed > incumbent.at_most {
                return Ok(None);
            }
            let of_parts = aligned.alignment.estimate.clone();
            let mut joined = parts.join(aligned.alignment, &list.edges);
            let real = |step: &&ClockStep| step.by.abs() > smallest;
            if joined.steps.iter().all(|step| real(&step)) {
                joined.estimate = unset(joined.estimate, &joined.steps);
                return Ok(advances(&joined.estimate).then_some(InParts {
                    aligned: SmoothAlignment {
                        alignment: joined,
                        ..aligned
                    },
                    parts,
                    of_parts,
                }));
            }
            cuts = vec![Vec::new(); list.clocks()];
            for step in joined.steps.iter().filter(real) {
                cuts[step.clock.as_usize()].push((step.after, step.until));
            }
        }
    }
}

/// Explanations that were found in a round.
struct Explanations<'a> {
    known: &'a Explained,
    /// The best of them, if it is better than what is known.
    better: Option<Explained>,
    /// All others.
    rivals: Vec<Explained>,
}

impl<'a> Explanations<'a> {
    /// None yet.
    fn beside(known: &'a Explained) -> Self {
        Self {
            known,
            better: None,
            rivals: Vec::new(),
        }
    }

    /// The best so far.
    fn best(&self) -> &Explained {
        self.better.as_ref().unwrap_or(self.known)
    }

    fn add(&mut self, it: Explained) {
        if it.is_better_than(self.best()) {
            self.rivals.extend(self.better.replace(it));
        } else {
            self.rivals.push(it);
        }
    }
}

/// The best explanation so far, as branch and bound has one.
#[derive(Clone, Copy)]
struct Incumbent<'a> {
    explained: &'a Explained,
    /// Explanations that need more wander than this are given up.
    at_most: f64,
}

/// Clocks that were aligned in parts.
struct InParts {
    /// The clocks as they are together.
    aligned: SmoothAlignment,
    parts: Parts,
    /// The offset of each part.
    of_parts: Estimate,
}
/// True if no clock runs backwards.
fn advances(estimate: &Estimate) -> bool {
    let time = |&(stamp, add): &(i64, f64)| i128::from(stamp) + add.round() as i128;
    let mut offsets = estimate.offsets.iter().flatten();
    offsets.all(|offset| offset.knots().is_sorted_by_key(time))
}
