//! Rounds of the search for steps, until none finds more.
//!
//! Each round searches by [dependencies listed](InOrder) for the clocks as they are known so far: those that
//! matter to steep clocks matter less to straight ones. Where dependencies are many, the tightest few are
//! searched first, and all by the steps that are found. What comes out is asked twice more: whether
//! [fewer](super::complement) clocks explain as much, and whether clocks [wander](Filled::PerClock) instead.

use super::complement::complements;
use super::doubts::Doubt;
use super::explained::Explained;
use super::parts::Cuts;
use super::rates::Rates;
use super::search::{StepSearch, Tried};
use super::thinned::{Thinned, thinned};
use crate::Alignment;
use crate::division::{Filled, Finest};
use crate::options::OPTIONS;
use crate::stages::SmoothAlignment;
use retime_causality::edges::{InOrder, ListedEdges, Source};
use retime_clocks::estimate::Estimate;
use retime_model::{Cancelled, Monitor};

/// The best explanation, and the clocks that may have been set instead of those it sets.
pub(super) struct Found {
    pub(super) best: Explained,
    pub(super) doubts: Vec<Doubt>,
}

/// Rounds of the search, until none finds more.
pub(super) struct Rounds<'a> {
    pub(super) list: &'a dyn Fn(&Estimate) -> Option<Result<InOrder, Cancelled>>,
    /// The places at which clocks may have been set, by what [pairs](super::breaks) of them show.
    pub(super) seen: &'a Cuts,
    /// The dependencies by which pieces of offsets may be short.
    pub(super) filled: Filled,
    pub(super) rates: Rates,
    pub(super) monitor: &'a dyn Monitor,
}

impl Rounds<'_> {
    /// The best explanation of all these dependencies, by clocks that may have been set.
    pub(super) fn explained(
        &self,
        all: &InOrder,
        found: SmoothAlignment,
    ) -> Result<Alignment, Cancelled> {
        if !found.contradicted && found.wander <= OPTIONS.usual_wander() {
            return Ok(found.alignment);
        }
        let explained = self.best(all, found)?;
        Ok(explained.best.doubted(&explained.doubts))
    }

    /// The best explanation, and who else may have been set.
    pub(super) fn best(&self, all: &InOrder, found: SmoothAlignment) -> Result<Found, Cancelled> {
        let explained = match thinned(all, self.monitor)? {
            Some(few) => self.coarse_to_fine(&few, found, all)?,
            None => self.of(all, found)?,
        };
        let explained = self.or_fewer(explained, all)?;
        self.or_finer(explained, all)
    }

    /// Clocks that wander [in more pieces](Filled::PerClock), where steps and what pairs of clocks allow
    /// leave something contradicted, and the steps that are better than that.
    fn or_finer(&self, found: Found, all: &InOrder) -> Result<Found, Cancelled> {
        if found.best.leaves_nothing() || !allow_more_pieces(&all.list) {
            return Ok(found);
        }
        let finer = Rounds {
            filled: Filled::PerClock,
            ..*self
        };
        let anew = (self.list)(&found.best.alignment.estimate).transpose()?;
        let listed = anew.as_ref().unwrap_or(all);
        let (mut tried, mut doubts) = (Tried::default(), Vec::new());
        let mut search = finer.search(all, listed, &mut tried, &mut doubts);
        let Some(mut best) = search.wandering_instead(&found.best)? else {
            return Ok(found);
        };
        let set = found.best.cuts(all.list.clocks(), |_, _| true);
        let better = search.better_by([set, self.seen.clone()].into_iter(), &best)?;
        best = better.unwrap_or(best);
        for _ in 0..OPTIONS.step_rounds {
            let Some(better) = search.better_where_steep(&best)? else {
                break;
            };
            best = better;
        }
        Ok(Found { best, doubts })
    }

    /// [Fewer clocks](super::complement) that were set instead of more, where that says as much.
    fn or_fewer(&self, mut found: Found, all: &InOrder) -> Result<Found, Cancelled> {
        let (mut tried, mut doubts) = (Tried::default(), Vec::new());
        for _ in 0..found.best.alignment.steps.len() {
            let known = &found.best;
            let complements = complements(&known.alignment, &all.list.edges, self.seen);
            if complements.is_empty() {
                break;
            }
            let anew = (self.list)(&known.alignment.estimate).transpose()?;
            let listed = anew.as_ref().unwrap_or(all);
            let mut search = self.search(all, listed, &mut tried, &mut doubts);
            let mut fewer = None;
            for cuts in complements {
                fewer = search.with_fewer(cuts, known)?;
                if fewer.is_some() {
                    break;
                }
            }
            let Some(fewer) = fewer else {
                break;
            };
            found.best = fewer;
        }
        Ok(found)
    }

    /// Explains all these dependencies.
    fn of(&self, all: &InOrder, found: SmoothAlignment) -> Result<Found, Cancelled> {
        let mut best = Explained::of(found, &all.list, self.rates);
        let mut listed: Option<InOrder> = None;
        let mut tried = Tried::default();
        let mut doubts = Vec::new();
        for round in 0..OPTIONS.step_rounds {
            self.monitor.check()?;
            if let Some(anew) = (self.list)(&best.alignment.estimate).transpose()? {
                let before = listed.as_ref().unwrap_or(all);
                if anew.list.edges.all() != before.list.edges.all() {
                    tried.clear();
                }
                listed = Some(anew);
            }
            let listed = listed.as_ref().unwrap_or(all);
            let mut search = self.search(all, listed, &mut tried, &mut doubts);
            let followed = search.or_wandering(&mut best)?;
            let Some(better) = search.better(&best, followed.as_ref(), round == 0)? else {
                break;
            };
            let same = better.alignment.steps == best.alignment.steps;
            best = better;
            if same {
                break;
            }
        }
        if best.alignment.steps.len() > 1 {
            let listed = listed.as_ref().unwrap_or(all);
            let mut tried = Tried::default();
            best = self
                .search(all, listed, &mut tried, &mut doubts)
                .fewest(best)?;
        }
        Ok(Found { best, doubts })
    }

    /// Looks for steps by few dependencies, and explains all by those that are found; looks for them by
    /// all where few show others than all do. Where few show none clocks wander.
    fn coarse_to_fine(
        &self,
        few: &Thinned,
        found: SmoothAlignment,
        all: &InOrder,
    ) -> Result<Found, Cancelled> {
        let list = |estimate: &Estimate| {
            let anew = (self.list)(estimate)?;
            Some(anew.and_then(|it| Ok(thinned(&it, self.monitor)?.map_or(it, |few| few.edges))))
        };
        let of_few = Rounds {
            list: &list,
            ..*self
        };
        let coarse = of_few.of(&few.edges, found.clone())?;
        let steps = &coarse.best.alignment.steps;
        if steps.is_empty() {
            return self.wandering(all, found);
        }
        let anew = (self.list)(&coarse.best.alignment.estimate).transpose()?;
        let listed = anew.as_ref().unwrap_or(all);
        let known = Explained::of(found.clone(), &all.list, self.rates);
        let cuts = few.around(steps);
        let (mut tried, mut doubts) = (Tried::default(), coarse.doubts);
        let mut search = self.search(all, listed, &mut tried, &mut doubts);
        let sharp = search.sharpened(cuts, &known)?;
        if let Some(best) = sharp.filter(|it| it.alignment.steps.len() == steps.len()) {
            return Ok(Found { best, doubts });
        }
        self.of(all, found)
    }

    /// Clocks that were not set, which may wander.
    fn wandering(&self, all: &InOrder, found: SmoothAlignment) -> Result<Found, Cancelled> {
        let mut best = Explained::of(found, &all.list, self.rates);
        let anew = (self.list)(&best.alignment.estimate).transpose()?;
        let listed = anew.as_ref().unwrap_or(all);
        let (mut tried, mut doubts) = (Tried::default(), Vec::new());
        let search = self.search(all, listed, &mut tried, &mut doubts);
        search.or_wandering(&mut best)?;
        Ok(Found { best, doubts })
    }

    fn search<'b>(
        &'b self,
        all: &'b InOrder,
        listed: &'b InOrder,
        tried: &'b mut Tried,
        doubts: &'b mut Vec<Doubt>,
    ) -> StepSearch<'b> {
        StepSearch {
            all: &all.list,
            listed,
            seen: self.seen,
            tried,
            doubts,
            filled: self.filled,
            rates: self.rates,
            monitor: self.monitor,
        }
    }
}

/// True if the dependencies of clocks allow more pieces than those of pairs.
fn allow_more_pieces(list: &ListedEdges) -> bool {
    let links = list
        .edges
        .all()
        .chunk_by(|a, b| (a.from, a.to) == (b.from, b.to));
    let pairs = links.filter_map(|link| {
        let first = link.first()?;
        Some(((first.from.as_usize(), first.to.as_usize()), link.len()))
    });
    let finest = Finest::of(pairs, f64::INFINITY);
    finest.pieces(Filled::PerClock) > finest.pieces(Filled::PerPair)
}

#[cfg(test)]
mod tests {
    use super::super::tests::exchange;
    use super::*;
    use crate::stages::{AlignmentTask, align_plainly};
    use retime_model::{ClockId, TickRate};

    /// The clocks that an explanation sets.
    fn set(explained: &Explained) -> Vec<u32> {
        let steps = explained.alignment.steps.iter();
        steps.map(|it| it.clock.0).collect()
    }

    /// The last of three clocks was set forward; that both others were set back says as much.
    #[test]
    fn one_clock_was_set_rather_than_both_others() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let edges = exchange(2_000);
        let all = InOrder::new(&edges, &()).unwrap();
        let (seen, list) = (vec![Vec::new(); 3], |_: &Estimate| None);
        let rounds = Rounds {
            list: &list,
            seen: &seen,
            filled: Filled::PerPair,
            rates: Rates::any(rate),
            monitor: &(),
        };
        let task = AlignmentTask::of(rate, ClockId(0));
        let plain = align_plainly(&edges, task, &()).unwrap();
        let plain = Explained::of(plain, &all.list, rounds.rates);
        let around = vec![(995_000, 1_005_000)];
        let cuts = vec![around.clone(), around, Vec::new()];
        let (mut tried, mut doubts) = (Tried::default(), Vec::new());
        let mut search = rounds.search(&all, &all, &mut tried, &mut doubts);
        let best = search.sharpened(cuts, &plain).unwrap().unwrap();
        assert_eq!(set(&best), [0, 1]);
        let doubts = Vec::new();
        let found = rounds.or_fewer(Found { best, doubts }, &all).unwrap();
        assert_eq!(set(&found.best), [2]);
        assert!((found.best.alignment.steps[0].by - 50_000.0).abs() < 10.0);
    }
}
