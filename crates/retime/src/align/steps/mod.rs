//! Clocks that are set during the run.
//!
//! No smooth function follows a step, but one that wanders enough comes near it. Where
//! dependencies contradict the stiffest clocks, steps are looked for ([as for
//! bounds](crate::optimal), and where clocks wander [all at once](steep)); a clock that
//! stepped is then taken for several, one after the other ([`parts`]), all is
//! aligned again, and the offsets are joined. What [says more with less](explained) is kept,
//! and shows the others better. Steps of the reference are taken out of the common time
//! ([`unset`]).
//!
//! Steps are looked for along the lines of the alignment, and at first also as if
//! all clocks ran at one rate: lines through several large steps in a short run
//! are so steep that no step can be seen any more.
//!
//! How much wander an explanation needs takes several alignments to find out, each dearer than
//! the one before; a single one of stiff clocks tells whether these do. So all candidates are tried
//! first with what clocks do without being set, and only then up to what the best so far needs.
//! Whoever cuts less, or more narrowly, has more dependencies to follow and needs no less.

mod explained;
mod narrow;
mod parts;
mod proof;
mod reversed;
mod steep;
mod unset;

use rustc_hash::FxHashMap;

use explained::{Explained, rate};
use narrow::narrowed;
use parts::{Cuts, Parts};
use steep::steepest;
pub(super) use unset::unset;

use super::selection::Stiffness;
use super::stages::{Asked, SmoothAlignment, align_plainly};
use super::{Alignment, ClockStep};
use crate::align::options::OPTIONS;
use crate::edges::{Edges, InOrder, ListedEdges, Source};
use crate::estimate::{Estimate, Offset};
use crate::optimal;
use retime_model::ClockId;
use retime_model::TickRate;
use retime_model::{Cancelled, Monitor};

/// Looks for steps where dependencies contradict the stiffest clocks, and keeps what
/// explains them best. `list` lists dependencies anew for clocks that are known
/// better.
pub(super) fn explain(
    source: &impl Source,
    found: SmoothAlignment,
    rate: TickRate,
    list: impl Fn(&Estimate) -> Option<Result<InOrder, Cancelled>>,
    monitor: &dyn Monitor,
) -> Result<Alignment, Cancelled> {
    if !found.contradicted && found.wander <= OPTIONS.usual_wander() {
        return Ok(found.alignment);
    }
    monitor.check()?;
    let all = InOrder::new(source, monitor)?;
    let mut best = Explained::of(found, &all.list, rate);
    let mut listed: Option<InOrder> = None;
    let mut tried = Tried::default();
    for round in 0..OPTIONS.step_rounds {
        monitor.check()?;
        if let Some(anew) = list(&best.alignment.estimate).transpose()? {
            let before = listed.as_ref().unwrap_or(&all);
            if anew.list.edges.all() != before.list.edges.all() {
                tried.clear();
            }
            listed = Some(anew);
        }
        let mut search = StepSearch {
            all: &all.list,
            listed: listed.as_ref().unwrap_or(&all),
            tried: &mut tried,
            rate,
            monitor,
        };
        let Some(better) = search.better(&best, round == 0)? else {
            break;
        };
        let same = better.alignment.steps == best.alignment.steps;
        best = better;
        if same {
            break;
        }
    }
    if best.alignment.steps.len() > 1 {
        let mut search = StepSearch {
            all: &all.list,
            listed: listed.as_ref().unwrap_or(&all),
            tried: &mut Tried::default(),
            rate,
            monitor,
        };
        best = search.fewest(best)?;
    }
    Ok(best.alignment)
}

/// A round of the search.
struct StepSearch<'a> {
    /// As they were listed at first, to compare by.
    all: &'a ListedEdges,
    /// As they are for the clocks known now.
    listed: &'a InOrder,
    tried: &'a mut Tried,
    rate: TickRate,
    monitor: &'a dyn Monitor,
}

impl StepSearch<'_> {
    /// An explanation of the dependencies that is better than `known`.
    fn better(&mut self, known: &Explained, first: bool) -> Result<Option<Explained>, Cancelled> {
        let candidates = self.candidates(known, first)?;
        let mut better: Option<Explained> = None;
        for at_most in [OPTIONS.usual_wander(), f64::INFINITY] {
            for cuts in &candidates {
                let mut next = Some(cuts.clone());
                while let Some(cuts) = next.take() {
                    let best = better.as_ref().unwrap_or(known);
                    let at_most = at_most.min(best.most_needed());
                    let Some(stepped) = self.explained(cuts, best, at_most)? else {
                        break;
                    };
                    next = stepped.only_proven(self.all.clocks());
                    if stepped.is_better_than(best) {
                        better = Some(stepped);
                    }
                }
            }
        }
        Ok(better)
    }

    /// Sets of places where clocks may have been set, each to be tried.
    fn candidates(&mut self, known: &Explained, first: bool) -> Result<Vec<Cuts>, Cancelled> {
        let most = known.alignment.steps.len() + OPTIONS.more_steps * self.all.clocks();
        let steep = self.steeper(known)?;
        let mut candidates = Vec::new();
        for seen in seen(self.listed, &known.alignment.estimate, first, self.monitor) {
            let (usual, cuts) = seen?;
            if usual || cuts.iter().map(Vec::len).sum::<usize>() <= most {
                candidates.push(cuts);
            }
        }
        candidates.extend(steep);
        Ok(candidates)
    }

    /// Known steps, and another one where clocks are steepest: those that wander as they are
    /// known to or, where few messages contradict them, as much as it takes to follow these.
    fn steeper(&mut self, known: &Explained) -> Result<Option<Cuts>, Cancelled> {
        if known.wanders() {
            return Ok(steeper(known, &known.alignment, self.listed));
        }
        if !known.alignment.steps.is_empty() {
            return Ok(None);
        }
        let asked = Asked {
            stiffness: Stiffness {
                at_least: OPTIONS.follow,
                may_wander: true,
                ..Stiffness::default()
            },
            ..Asked::of(self.rate, known.alignment.estimate.reference)
        };
        let followed = align_plainly(&self.listed.list, asked, self.monitor)?;
        Ok(steeper(known, &followed.alignment, self.listed))
    }

    /// Without the steps that nothing needs, the gentlest first: where a clock is known little
    /// between two cuts, one step can look like several.
    fn fewest(&mut self, mut known: Explained) -> Result<Explained, Cancelled> {
        let mut order: Vec<ClockStep> = known.alignment.steps.clone();
        if order.len() > OPTIONS.most_steps {
            return Ok(known);
        }
        order.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        for it in order {
            if known.alignment.steps.len() < 2 {
                break;
            }
            let others = |step: &ClockStep| (step.clock, step.after) != (it.clock, it.after);
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
        let is_enough = |it: &Explained| it.leaves_no_more_than(before);
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
            let instants = narrowed(&wide.parts, &of_parts, list);
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
        Ok(Some(Explained::of(found, self.all, self.rate)))
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
        let asked = Asked {
            stiffness: Stiffness {
                may_wander,
                measured_to: Some(incumbent.at_most),
                ..Stiffness::default()
            },
            ..Asked::of(self.rate, before.alignment.estimate.reference)
        };
        let smallest = before
            .alignment
            .shortest
            .unwrap_or(0.0)
            .max(OPTIONS.smallest_step * self.rate.get() as f64);
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
            let aligned = align_plainly(&parts.split(list), asked, self.monitor)?;
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

/// The best explanation so far, as branch and bound has one.
#[derive(Clone, Copy)]
struct Incumbent<'a> {
    explained: &'a Explained,
    /// Explanations that need more wander than this are given up.
    at_most: f64,
}

/// Clocks that were aligned in parts.
struct InParts {
    /// As they are together.
    aligned: SmoothAlignment,
    parts: Parts,
    /// As each part is.
    of_parts: Estimate,
}

/// Known steps, and another one where clocks are steepest that [wander](StepSearch::steeper).
fn steeper(known: &Explained, wandering: &Alignment, listed: &InOrder) -> Option<Cuts> {
    let edges = &listed.list.edges;
    let (clock, cut) = steepest(wandering, edges)?;
    let mut cuts = known.cuts(edges.clocks(), |_, _| true);
    let own = cuts.get_mut(clock.as_usize())?;
    if own.iter().any(|it| it.0 <= cut.1 && it.1 >= cut.0) {
        return None;
    }
    own.push(cut);
    own.sort_unstable();
    Some(cuts)
}

/// The wander up to which a list of cuts was tried, by the cuts, the bits of the smallest step, and
/// whether few contradictions counted.
type Tried = FxHashMap<(Cuts, u64, bool), f64>;

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

/// True if no clock runs backwards.
fn advances(estimate: &Estimate) -> bool {
    let time = |&(stamp, add): &(i64, f64)| i128::from(stamp) + add.round() as i128;
    let mut offsets = estimate.offsets.iter().flatten();
    offsets.all(|offset| offset.knots().is_sorted_by_key(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::{Relation, align_edges};
    use crate::edges::Edge;

    const STEP: i64 = 50_000;

    /// Three clocks that exchange messages of 300 to 309 ticks; the last one is
    /// 7000 behind and is set at 1 000 000.
    pub(super) fn shown(clock: usize, time: i64) -> i64 {
        match clock {
            2 if time < 1_000_000 => time - 7_000,
            2 => time - 7_000 + STEP,
            _ => time,
        }
    }

    pub(super) fn exchange(rounds: i64) -> Edges {
        let message = |round: i64, from: usize, to: usize| {
            let sent = 1_000 * round + 100 * from as i64;
            let received = sent + 300 + (round * 7 + to as i64) % 10;
            Edge::message(
                ClockId(from as u32),
                shown(from, sent),
                ClockId(to as u32),
                shown(to, received),
            )
        };
        let ways = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];
        let all = (0..rounds).flat_map(|round| ways.map(|(from, to)| message(round, from, to)));
        let extent = |clock| Some((shown(clock, 0), shown(clock, 1_000 * rounds)));
        Edges::new(all.collect(), (0..3).map(extent).collect())
    }

    #[test]
    fn a_clock_that_was_set_is_followed_on_both_sides() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&exchange(2_000), rate, ClockId(0), &()).unwrap();
        let [step] = alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(2));
        assert!((step.by - STEP as f64).abs() < 5.0, "{step:?}");
        let offset = alignment.estimate.offsets[2].as_ref().unwrap();
        for time in [0, 500_000, 990_000, 1_010_000, 1_900_000] {
            let stamp = shown(2, time);
            let error = stamp as f64 + offset.at(stamp) - time as f64;
            assert!(error.abs() < 5.0, "{time}: {error}");
        }
        assert_eq!(alignment.relations, [Relation::BothWays; 3]);
    }

    /// As one clock the last one needs more wander than clocks show; as two it needs none.
    #[test]
    fn what_needs_more_wander_than_is_of_interest_is_given_up() {
        let list = InOrder::new(&exchange(2_000), &()).unwrap().list;
        let asked = Asked {
            stiffness: Stiffness {
                measured_to: Some(OPTIONS.usual_wander()),
                ..Stiffness::default()
            },
            ..Asked::of(TickRate::per_second(1_000_000_000).unwrap(), ClockId(0))
        };
        let whole = align_plainly(&list, asked, &()).unwrap();
        assert!(whole.needed.is_infinite(), "{}", whole.needed);
        let set = (shown(2, 999_000), shown(2, 1_000_000));
        let parts = Parts::new(vec![vec![], vec![], vec![set]]).unwrap();
        let divided = align_plainly(&parts.split(&list), asked, &()).unwrap();
        assert!(
            divided.needed <= OPTIONS.usual_wander(),
            "{}",
            divided.needed
        );
    }

    #[test]
    fn a_step_near_the_end_is_no_misreading() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&exchange(1_040), rate, ClockId(0), &()).unwrap();
        assert_eq!(alignment.steps.len(), 1);
        let (_, last) = exchange(1_040).extent(ClockId(2)).unwrap();
        let offset = alignment.estimate.offsets[2].as_ref().unwrap();
        assert!((offset.at(last) - (7_000 - STEP) as f64).abs() < 5.0);
    }

    /// By the last clock, which is set, the time is what it showed before.
    #[test]
    fn a_reference_that_was_set_goes_on_as_before() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let edges = exchange(2_000);
        let alignment = align_edges(&edges, rate, ClockId(2), &()).unwrap();
        let [step] = alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(2));
        assert!((step.by - STEP as f64).abs() < 5.0, "{step:?}");
        let base = alignment.base();
        let options = optimal::BoundOptions::default();
        let bounds = optimal::offset_bounds(&edges, |_| 0, &base, &options, &()).unwrap();
        assert!(bounds.complete);
        for clock in 0..3 {
            let offset = alignment.estimate.offsets[clock].as_ref().unwrap();
            for time in [0, 500_000, 990_000, 1_010_000, 1_900_000] {
                let stamp = shown(clock, time);
                let add = (time - 7_000 - stamp) as f64;
                assert!((offset.at(stamp) - add).abs() < 5.0, "{clock} {time}");
                let (low, high) = bounds.clocks[clock].as_ref().unwrap().at(stamp);
                assert!(low <= add && add <= high, "{clock} {time}: {low} {high}");
                assert!(high - low < 2_000.0, "{clock} {time}: {low} {high}");
            }
        }
    }

    #[test]
    fn of_two_clocks_it_was_not_the_reference() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let all = exchange(2_000);
        let two = all.all().iter().filter(|it| it.from.0 > 0 && it.to.0 > 0);
        let extents = (0..3).map(|clock| all.extent(ClockId(clock)));
        let edges = Edges::new(two.copied().collect(), extents.collect());
        for (reference, other, sign) in [(1, 2, 1.0), (2, 1, -1.0)] {
            let alignment = align_edges(&edges, rate, ClockId(reference), &()).unwrap();
            let [step] = alignment.steps[..] else {
                panic!("{:?}", alignment.steps)
            };
            assert_eq!(step.clock, ClockId(other));
            assert!((sign * step.by - STEP as f64).abs() < 5.0, "{step:?}");
        }
    }
}
