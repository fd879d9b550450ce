//! The few dependencies that steps are looked for by, where there are many.
//!
//! The search aligns all clocks some dozen times. A clock that was set shows in the tightest
//! dependencies before and after, and of these a part tells nearly as much as all: of each link and
//! window of time those are kept that can be the [tightest](crate::reduced), whatever the drift.
//! Windows are as many as leave each link [`FULL`] dependencies in one on average, of which a hull
//! has some ten. In the window of a step the dependencies of one direction are tighter before it and
//! those of the other after it, so that the step lies between what is kept of them, and [somewhat
//! more](Thinned::around) is cut out when all are aligned.

use rustc_hash::FxHashSet;

use super::parts::Cuts;
use crate::ClockStep;
use crate::axis::Axis;
use crate::options::OPTIONS;
use crate::reduced::{Cell, Reduced, Reduction, Same, same};
use retime_causality::edges::{Edges, InOrder, ListedEdges, Source};
use retime_model::{Cancelled, ClockId, Monitor};

/// So many dependencies are aligned in a few hundredths of a second, and all are kept.
const ENOUGH: usize = 1 << 17;
/// A window of a link has so many on average: several times those that are kept of it.
const FULL: usize = 64;

/// Some of the dependencies of a trace.
pub(super) struct Thinned {
    pub(super) edges: InOrder,
    /// The length of a window, in ticks.
    window: i64,
}

/// Those that can be the tightest; `None` where there are not so many.
pub(super) fn thinned(all: &InOrder, monitor: &dyn Monitor) -> Result<Option<Thinned>, Cancelled> {
    let list = &all.list;
    let edges = list.edges.all();
    if edges.len() <= ENOUGH {
        return Ok(None);
    }
    let links = edges.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to));
    let filled = edges.len() / (FULL * links.count());
    let begin = |clock| list.extent(ClockId(clock)).map_or(0, |(first, _)| -first);
    let axis = Axis::new(list, (0..list.clocks() as u32).map(begin).collect());
    let reduction = Reduction {
        windows: filled.max(1),
        layers: OPTIONS.tightest,
        axis,
    };
    let reduced = Reduced::new(list, &reduction, &FxHashSet::default(), monitor)?;
    let kept = kept(&reduced);
    let positions = edges.iter().zip(&all.positions);
    let positions = positions.filter(|(edge, _)| kept.contains(&same(edge)));
    let (edges, positions) = positions.map(|(edge, at)| (*edge, *at)).unzip();
    let extents = (0..list.clocks() as u32).map(|clock| list.extent(ClockId(clock)));
    Ok(Some(Thinned {
        window: (reduction.axis.span / reduction.windows as f64) as i64,
        edges: InOrder {
            list: ListedEdges {
                edges: Edges::new(edges, extents.collect()),
                granularities: list.granularities.clone(),
            },
            positions,
        },
    }))
}

/// The keys of all dependencies that are left of a trace.
fn kept(reduced: &Reduced) -> FxHashSet<Same> {
    let cells = reduced.cells().iter().enumerate();
    let points = cells.flat_map(|(at, cell): (usize, &Cell)| {
        let (from, to) = (ClockId(cell.from), ClockId(cell.to));
        let points = reduced.of(at).iter();
        points.map(move |it| (from, to, it.sent, it.received))
    });
    points.collect()
}

impl Thinned {
    /// Cuts around steps that these dependencies show: a window more on either side, but not beyond
    /// the middle of what lies between two steps of a clock, or between one and where the clock begins or
    /// ends: a part of which nothing is left would be known by nothing.
    pub(super) fn around(&self, steps: &[ClockStep]) -> Cuts {
        let list = &self.edges.list;
        let mut cuts: Cuts = vec![Vec::new(); list.clocks()];
        for step in steps {
            cuts[step.clock.as_usize()].push((step.after, step.until));
        }
        for (clock, own) in (0..).map(ClockId).zip(&mut cuts) {
            own.sort_unstable();
            let Some((first, last)) = list.extent(clock) else {
                continue;
            };
            // The stamps between which the clock was not set, from its first to its last.
            let starts = std::iter::once(first).chain(own.iter().map(|it| it.1));
            let ends = own.iter().map(|it| it.0).chain(std::iter::once(last));
            let middles: Vec<i64> = starts
                .zip(ends)
                .map(|it| i64::midpoint(it.0, it.1))
                .collect();
            for (cut, around) in own.iter_mut().zip(middles.windows(2)) {
                let wide = (
                    cut.0.saturating_sub(self.window),
                    cut.1.saturating_add(self.window),
                );
                *cut = (
                    wide.0.max(around[0] + 1).min(cut.0),
                    wide.1.min(around[1]).max(cut.1),
                );
            }
        }
        cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_wider_by_a_window_but_do_not_meet() {
        let extents = vec![Some((-1_000, 2_000)), Some((0, 1_092))];
        let few = Thinned {
            edges: InOrder::new(&Edges::new(Vec::new(), extents), &()).unwrap(),
            window: 100,
        };
        let step = |clock, after, until| ClockStep {
            clock: ClockId(clock),
            after,
            until,
            by: 50.0,
            alternatives: Vec::new(),
        };
        let steps = [step(1, 1_000, 1_010), step(1, 1_050, 1_052), step(0, 7, 8)];
        let around = few.around(&steps);
        assert_eq!(around[0], [(-93, 108)]);
        // Behind the last step a half of what the clock shows is left.
        assert_eq!(around[1], [(900, 1_030), (1_031, 1_072)]);
    }
}
