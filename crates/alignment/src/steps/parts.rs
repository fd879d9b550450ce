//! A clock that stepped, taken for several.
//!
//! ```text
//!  stamps  first ... after | until ... last
//!  clocks  the first part  | a clock of its own
//! ```
//!
//! Each part is aligned by its own dependencies, those in between are left out,
//! and the offsets are joined again: from the last stamp before the step to the
//! first after it in a straight line.

use crate::options::OPTIONS;
use crate::recorded_parts::joined;
use crate::{Alignment, ClockStep, Relation};
use retime_causality::edges::{Edge, Edges, ListedEdges, Source};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::ClockId;

/// Per clock: the intervals of stamps in which it stepped.
pub(super) type Cuts = Vec<Vec<(i64, i64)>>;

/// Which clocks are several.
#[derive(Debug)]
pub(super) struct Parts {
    /// Per clock: where it steps, in order.
    cuts: Vec<Vec<(i64, i64)>>,
    /// Per clock: the number of its second part.
    second: Vec<usize>,
    /// Per part: its clock.
    owner: Vec<ClockId>,
}

impl Parts {
    /// `None` where nothing steps, or too often.
    pub(super) fn new(cuts: Vec<Vec<(i64, i64)>>) -> Option<Self> {
        let most = cuts.iter().map(Vec::len).max()?;
        if most == 0 || most > OPTIONS.most_steps {
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

    /// Per clock: where it steps, in order.
    pub(super) fn cuts(&self) -> &[Vec<(i64, i64)>] {
        &self.cuts
    }

    /// Which step of a clock a stamp lies in, with the parts before and after.
    pub(super) fn around(&self, clock: ClockId, stamp: i64) -> Option<(usize, [ClockId; 2])> {
        let cuts = self.cuts.get(clock.as_usize())?;
        let before = cuts.partition_point(|&(_, until)| until < stamp);
        cuts.get(before).filter(|&&(after, _)| after <= stamp)?;
        let sides = (self.number(clock, before)?, self.number(clock, before + 1)?);
        Some((before, [sides.0, sides.1]))
    }

    /// The part of a clock, as a clock, that shows a stamp; `None` where it steps.
    pub(super) fn part(&self, clock: ClockId, stamp: i64) -> Option<ClockId> {
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
    pub(super) fn split(&self, list: &ListedEdges) -> ListedEdges {
        let mut extents = vec![None; self.owner.len()];
        for clock in (0..list.clocks() as u32).map(ClockId) {
            for (part, extent) in self.of(clock, &list.edges) {
                extents[part.as_usize()] = Some(extent);
            }
        }
        let of_parts = list.edges.all().iter().filter_map(|edge| {
            Some(Edge {
                from: self.part(edge.from, edge.sent)?,
                to: self.part(edge.to, edge.received)?,
                ..*edge
            })
        });
        let granularity = |clock: &ClockId| list.granularities.get(clock.as_usize()).copied();
        let granularities = self.owner.iter().map(|it| granularity(it).unwrap_or(1));
        ListedEdges {
            edges: Edges::new(of_parts.collect(), extents),
            granularities: granularities.collect(),
        }
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
            part: self.joined(&parts.part, edges.clocks()),
            outliers: parts.outliers.into_iter().map(whole).collect(),
            steps: clocks
                .zip(&offsets)
                .filter_map(|(clock, offset)| {
                    Some(self.steps(&parts.estimate, clock, offset.as_ref()?))
                })
                .flatten()
                .collect(),
            instead: parts.instead,
            rate_changes: parts.rate_changes,
            estimate: Estimate {
                offsets,
                reference: parts.estimate.reference,
            },
            pieces: parts.pieces,
            is_loose: parts.is_loose,
            wanders: parts.wanders,
            common: parts.common,
            shortest: parts.shortest,
        }
    }

    /// Per clock the first of those that any part of it is tied to.
    fn joined(&self, of_parts: &[ClockId], clocks: usize) -> Vec<ClockId> {
        let whole = |part: ClockId| self.owner[part.as_usize()].as_usize();
        let pairs = of_parts.iter().zip(&self.owner);
        let pairs = pairs.map(|(first, owner)| (owner.as_usize(), whole(*first)));
        let first = joined(clocks, pairs).into_iter();
        first.map(|it| ClockId(it as u32)).collect()
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
        let cuts = &self.cuts[clock.as_usize()];
        (!knots.is_empty()).then(|| Offset::through(knots).with_steps(cuts))
    }

    /// The relation of the part that is tied worst.
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

    /// Where a clock steps, and by how much in the middle between both stamps: over a second
    /// without messages it also gains what its rate makes of it.
    fn steps(&self, of_parts: &Estimate, clock: ClockId, offset: &Offset) -> Vec<ClockStep> {
        let known = |part: usize| of_parts.offsets[self.number(clock, part)?.as_usize()].as_ref();
        let cuts = self.cuts[clock.as_usize()].iter().enumerate();
        cuts.map(|(number, &(after, until))| {
            let middle = i64::midpoint(after, until);
            let by = match (known(number), known(number + 1)) {
                (Some(before), Some(behind)) => before.at(middle) - behind.at(middle),
                _ => offset.at(after) - offset.at(until),
            };
            ClockStep {
                clock,
                after,
                until,
                by,
                alternatives: Vec::new(),
            }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::tests::{exchange, shown};
    use retime_causality::edges::InOrder;

    #[test]
    fn parts_keep_their_stamps_and_lose_what_lies_between() {
        let edges = exchange(2_000);
        let list = InOrder::new(&edges, &()).unwrap().list;
        let parts = Parts::new(vec![vec![], vec![], vec![(900_000, 1_100_000)]]).unwrap();
        let split = parts.split(&list);
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
        assert_eq!(split.edges.all().len() + lost, edges.all().len());
        assert!(Parts::new(vec![vec![], vec![]]).is_none());
        assert!(Parts::new(vec![vec![(0, 1); OPTIONS.most_steps + 1]]).is_none());
    }
}
