//! Clocks that are set during the run.
//!
//! No smooth function follows a step. Where dependencies contradict the aligned
//! clocks, steps are looked for ([as for bounds](crate::optimal)); a clock that
//! stepped is then taken for several, one after the other:
//!
//! ```text
//!  stamps  first ... after | until ... last
//!  clocks  the first part  | a clock of its own
//! ```
//!
//! Each part is aligned by its own dependencies, those in between are left out,
//! and the offsets are joined again: from the last stamp before the step to the
//! first after it in a straight line.

use super::stages::{Aligned, align_plainly};
use super::{Alignment, ClockStep, Relation};
use crate::clocks::ClockId;
use crate::edges::{Edge, Edges};
use crate::estimate::{Estimate, Offset};
use crate::optimal;
use crate::time::TickRate;

/// A clock that steps more often does not step: it is another kind of bad.
const MOST: usize = 16;
/// Steps make the others easier to see: how often they are looked for.
const ROUNDS: usize = 3;
/// In seconds.
const SMALLEST: f64 = 200e-9;

/// Looks for steps where dependencies contradict the alignment, and keeps what
/// fits them best. `list` lists dependencies anew for clocks that are known
/// better.
pub(super) fn explain(
    edges: &Edges,
    found: Aligned,
    rate: TickRate,
    list: impl Fn(&Estimate) -> Option<Edges>,
) -> Alignment {
    let mut best = found.alignment;
    if !found.contradicted {
        return best;
    }
    let mut least = reversed(edges, &best.estimate);
    for _ in 0..ROUNDS {
        let listed = list(&best.estimate);
        let listed = listed.as_ref().unwrap_or(edges);
        let cuts = optimal::steps(listed, &best.estimate);
        let Some(stepped) = align_parts(listed, cuts, &best, rate) else {
            break;
        };
        let now = reversed(edges, &stepped.estimate);
        let unchanged = stepped.steps == best.steps;
        if now >= least {
            break;
        }
        (best, least) = (stepped, now);
        if unchanged {
            break;
        }
    }
    best
}

/// Aligns the parts of clocks that stepped. Where the step comes out smaller than
/// messages could tell, there was none.
fn align_parts(
    edges: &Edges,
    mut cuts: Vec<Vec<(i64, i64)>>,
    before: &Alignment,
    rate: TickRate,
) -> Option<Alignment> {
    let reference = before.estimate.reference;
    let smallest = before
        .shortest
        .unwrap_or(0.0)
        .max(SMALLEST * rate.get() as f64);
    loop {
        let parts = Parts::new(cuts)?;
        let aligned = align_plainly(&parts.split(edges), rate, reference);
        let joined = parts.join(aligned.alignment, edges);
        let real = |step: &&ClockStep| step.by.abs() > smallest;
        if joined.steps.iter().all(|step| real(&step)) {
            return Some(joined);
        }
        cuts = vec![Vec::new(); edges.clocks()];
        for step in joined.steps.iter().filter(real) {
            cuts[step.clock.as_usize()].push((step.after, step.until));
        }
    }
}

/// How far below zero all aligned latencies are together.
fn reversed(edges: &Edges, estimate: &Estimate) -> f64 {
    let latency = |edge: &Edge| {
        let offset = estimate.at(edge.to, edge.received) - estimate.at(edge.from, edge.sent);
        edge.latency() as f64 + offset
    };
    edges
        .all()
        .iter()
        .map(|edge| (-latency(edge)).max(0.0))
        .sum()
}

/// Which clocks are several.
#[derive(Debug)]
pub(super) struct Parts {
    /// By clock where it steps, in order.
    cuts: Vec<Vec<(i64, i64)>>,
    /// By clock the number of its second part.
    second: Vec<usize>,
    /// By part the clock.
    owner: Vec<ClockId>,
}

impl Parts {
    /// `None` where nothing steps, or too often.
    pub(super) fn new(cuts: Vec<Vec<(i64, i64)>>) -> Option<Self> {
        let most = cuts.iter().map(Vec::len).max()?;
        if most == 0 || most > MOST {
            return None;
        }
        let mut owner: Vec<ClockId> = (0..cuts.len() as u32).map(ClockId).collect();
        let mut second = Vec::with_capacity(cuts.len());
        for (clock, cuts) in cuts.iter().enumerate() {
            second.push(owner.len());
            owner.extend(cuts.iter().map(|_| ClockId(clock as u32)));
        }
        Some(Self {
            cuts,
            second,
            owner,
        })
    }

    /// The part of a clock, as a clock, that shows a stamp; `None` where it steps.
    fn part(&self, clock: ClockId, stamp: i64) -> Option<ClockId> {
        let cuts = self.cuts.get(clock.as_usize())?;
        let before = cuts.partition_point(|&(_, until)| until <= stamp);
        match cuts.get(before) {
            Some(&(after, _)) if after < stamp => None,
            _ => self.number(clock, before),
        }
    }

    fn number(&self, clock: ClockId, part: usize) -> Option<ClockId> {
        let Some(more) = part.checked_sub(1) else {
            return Some(clock);
        };
        let second = self.second.get(clock.as_usize())?;
        Some(ClockId((second + more) as u32))
    }

    /// The parts of a clock, and from which stamp to which each lasts.
    fn of<'a>(
        &'a self,
        clock: ClockId,
        edges: &'a Edges,
    ) -> impl Iterator<Item = (ClockId, (i64, i64))> + 'a {
        let cuts = &self.cuts[clock.as_usize()];
        let extent = edges.extent(clock).into_iter();
        extent.flat_map(move |(first, last)| {
            let starts = std::iter::once(first).chain(cuts.iter().map(|cut| cut.1));
            let ends = cuts.iter().map(|cut| cut.0).chain(std::iter::once(last));
            let parts = starts.zip(ends).enumerate();
            parts.filter_map(move |(part, (start, end))| {
                Some((self.number(clock, part)?, (start, end.max(start))))
            })
        })
    }

    /// The dependencies between parts.
    pub(super) fn split(&self, edges: &Edges) -> Edges {
        let mut extents = vec![None; self.owner.len()];
        for clock in (0..edges.clocks() as u32).map(ClockId) {
            for (part, extent) in self.of(clock, edges) {
                extents[part.as_usize()] = Some(extent);
            }
        }
        let of_parts = edges.all().iter().filter_map(|edge| {
            Some(Edge {
                from: self.part(edge.from, edge.sent)?,
                to: self.part(edge.to, edge.received)?,
                ..*edge
            })
        });
        Edges::new(of_parts.collect(), extents)
    }

    /// Joins what was found for parts; `edges` are those of whole clocks.
    pub(super) fn join(&self, parts: Alignment, edges: &Edges) -> Alignment {
        let clocks = (0..edges.clocks() as u32).map(ClockId);
        let offsets = clocks
            .clone()
            .map(|clock| self.offset(&parts.estimate, clock, edges));
        let offsets: Vec<Option<Offset>> = offsets.collect();
        let whole = |mut edge: Edge| {
            edge.from = self.owner[edge.from.as_usize()];
            edge.to = self.owner[edge.to.as_usize()];
            edge
        };
        Alignment {
            relations: clocks
                .clone()
                .map(|clock| self.relation(&parts.relations, clock, edges))
                .collect(),
            trimmed: parts.trimmed.into_iter().map(whole).collect(),
            steps: clocks
                .zip(&offsets)
                .filter_map(|(clock, offset)| Some(self.steps(clock, offset.as_ref()?)))
                .flatten()
                .collect(),
            estimate: Estimate {
                offsets,
                reference: parts.estimate.reference,
            },
            pieces: parts.pieces,
            shortest: parts.shortest,
        }
    }

    fn offset(&self, of_parts: &Estimate, clock: ClockId, edges: &Edges) -> Option<Offset> {
        let mut knots = Vec::new();
        for (part, (start, end)) in self.of(clock, edges) {
            let Some(offset) = &of_parts.offsets[part.as_usize()] else {
                continue;
            };
            let inside = offset.knots().iter().copied();
            knots.push((start, offset.at(start)));
            knots.extend(inside.filter(|&(at, _)| at > start && at < end));
            knots.push((end, offset.at(end)));
        }
        (!knots.is_empty()).then(|| Offset::through(knots))
    }

    /// That of the part that is tied worst.
    fn relation(&self, of_parts: &[Relation], clock: ClockId, edges: &Edges) -> Relation {
        let parts = self
            .of(clock, edges)
            .map(|(part, _)| of_parts[part.as_usize()]);
        let badness = |relation: &Relation| match relation {
            Relation::BothWays => 0,
            Relation::OneWay => 1,
            Relation::Unrelated => 2,
        };
        parts.max_by_key(badness).unwrap_or(Relation::Unrelated)
    }

    fn steps(&self, clock: ClockId, offset: &Offset) -> Vec<ClockStep> {
        let cuts = self.cuts[clock.as_usize()].iter();
        cuts.map(|&(after, until)| ClockStep {
            clock,
            after,
            until,
            by: offset.at(after) - offset.at(until),
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::align_edges;

    const STEP: i64 = 50_000;

    /// Three clocks that exchange messages of 300 to 309 ticks; the last one is
    /// 7000 behind and is set at 1 000 000.
    fn shown(clock: usize, time: i64) -> i64 {
        match clock {
            2 if time < 1_000_000 => time - 7_000,
            2 => time - 7_000 + STEP,
            _ => time,
        }
    }

    fn exchange(rounds: i64) -> Edges {
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
        let alignment = align_edges(&exchange(2_000), rate, ClockId(0));
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

    #[test]
    fn a_step_near_the_end_is_no_misreading() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&exchange(1_040), rate, ClockId(0));
        assert_eq!(alignment.steps.len(), 1);
        let (_, last) = exchange(1_040).extent(ClockId(2)).unwrap();
        let offset = alignment.estimate.offsets[2].as_ref().unwrap();
        assert!((offset.at(last) - (7_000 - STEP) as f64).abs() < 5.0);
    }

    #[test]
    fn parts_keep_their_stamps_and_lose_what_lies_between() {
        let edges = exchange(2_000);
        let parts = Parts::new(vec![vec![], vec![], vec![(900_000, 1_100_000)]]).unwrap();
        let split = parts.split(&edges);
        assert_eq!(split.clocks(), 4);
        assert_eq!(
            split.extent(ClockId(3)),
            Some((1_100_000, shown(2, 2_000_000)))
        );
        let inside = |edge: &&Edge| {
            let shown_by_third =
                |clock: ClockId, stamp| clock == ClockId(2) && stamp > 900_000 && stamp < 1_100_000;
            shown_by_third(edge.from, edge.sent) || shown_by_third(edge.to, edge.received)
        };
        let lost = edges.all().iter().filter(inside).count();
        assert!(lost > 0);
        assert_eq!(split.all().len() + lost, edges.all().len());
        assert!(Parts::new(vec![vec![], vec![]]).is_none());
        assert!(Parts::new(vec![vec![(0, 1); MOST + 1]]).is_none());
    }
}
