//! Alignment: clocks that agree as well as the trace can tell.
//!
//! The controlled logical clock moves what contradicts causality and nothing
//! else; a clock that is a little late and contradicts nobody stays late. But
//! *all* dependencies say something about how clocks differ, most of all the
//! tightest. Here each clock gets a function of its own time, made of straight
//! pieces, such that all of them together lie in the middle of what the
//! dependencies allow:
//!
//! ```text
//!  reduced       of each pair of clocks and stretch of time those that can be the tightest
//!  pairwise      constants: the middle of what the least latency of each pair allows
//!  lines         constant drift: the robust slope of pair differences, to begin with
//!  selection     the stiffest clocks that the trace does not prove wrong
//!    division      families of clocks: how much rates wander, and in how many pieces
//!    drift_test    constants, unless lines fit better than by chance
//!    survey        a pass over all dependencies
//!    active_set    the tightest dependencies of each pair and stretch, and their offsets:
//!    centre        the minimum of a convex function of all offsets, by Newton's method
//!    barrier         what little slack costs
//!  outliers      dependencies that contradict all others are left out
//!  steps         clocks that were set are taken for several, and all that again
//!  ties          clocks that messages reach in one direction only
//!  curves        from the common axis to what has to be added, relative to the reference
//!  recorded_parts  parts that nothing joins stay to each other where they were recorded
//! ```
//!
//! Nothing is guaranteed: a message may stay reversed, where its clock behaved
//! as no smooth function does. What is left is repaired event by event.
//!
//! ```
//! use retime_alignment::{Relation, align_edges};
//! use retime_causality::{Edge, Edges};
//! use retime_model::{ClockId, TickRate};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // The second clock is 5000 behind, and loses one tick in 100000.
//! let shown = |time: i64| time - 5_000 - time / 100_000;
//! let there = |i: i64| Edge::message(a, 1_000 * i, b, shown(1_000 * i + 300 + i % 7));
//! let back = |i: i64| Edge::message(b, shown(1_000 * i + 500), a, 1_000 * i + 800 + i % 5);
//! let edges = (0..2_000).flat_map(|i| [there(i), back(i)]).collect();
//! let extents = vec![Some((0, 2_000_000)), Some((shown(0), shown(2_000_000)))];
//! let rate = TickRate::per_second(1_000_000_000).unwrap();
//! let alignment = align_edges(&Edges::new(edges, extents), rate, a, &())?;
//! let offset = alignment.estimate.offsets[1].as_ref().unwrap();
//! assert!((offset.at(shown(700_000)) - 5_007.0).abs() < 10.0); // of delays of 300
//! assert_eq!(alignment.relations, [Relation::BothWays; 2]);
//! assert_eq!(alignment.pieces, 1);
//! assert!((alignment.shortest.unwrap() - 300.0).abs() < 2.0);
//! # Ok::<(), retime_model::Cancelled>(())
//! ```

mod across;
mod active_set;
mod alignment;
mod asymmetry;
mod axis;
mod barrier;
mod candidates;
mod centre;
mod components;
mod cost;
mod curves;
mod division;
mod drift_test;
mod floor;
mod frame;
mod grains;
mod latency;
mod least_moves;
mod line;
mod lines;
mod links;
mod newton;
mod options;
mod outliers;
mod pairwise;
mod penalties;
mod recorded;
mod recorded_parts;
mod reduced;
mod selection;
mod sharing;
mod stages;
mod steps;
mod survey;
mod ties;
mod ways;
mod weights;

pub use alignment::{Alignment, ClockStep, Relation};
pub use latency::{shortest_latency, shortest_of_trace};
pub use sharing::{Sharing, sharing};

use serde::{Deserialize, Serialize};

use self::options::OPTIONS;
use self::stages::AlignmentTask;
use frame::Frame;
use retime_causality::Causality;
use retime_causality::edges::{Edges, InOrder, Source, Times, TraceEdges};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::TickRate;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks};

/// The most by which the rates of two clocks differ, as a fraction: of clocks that are wrong by 50 ppm each, of
/// which one is slewed by 500 ppm.
pub const MOST_RATE_DIFFERENCE: f64 = OPTIONS.proven;

impl Alignment {
    /// The estimate that error bounds may rest on: on the time of the reference
    /// without its steps, and without drift for clocks
    /// that messages reach in one direction only. There the fastest messages of a
    /// few moments decide on the line, and nothing from the other side says how
    /// wrong it is; that clocks run at about the same rate is safer to assume.
    pub fn base(&self) -> Estimate {
        let clocks = self.estimate.offsets.iter().zip(&self.relations);
        let base = |(offset, relation): (&Option<Offset>, &Relation)| {
            let offset = offset.as_ref()?;
            let ends = (offset.knots().first(), offset.knots().last());
            Some(match (relation, ends) {
                (Relation::OneWay, (Some(first), Some(last))) => {
                    Offset::constant(offset.at(i64::midpoint(first.0, last.0)))
                }
                _ => offset.clone(),
            })
        };
        let estimate = Estimate {
            offsets: clocks.map(base).collect(),
            reference: self.estimate.reference,
        };
        steps::unset(estimate, &self.steps)
    }
}

/// How clocks differ, as an alignment gets to know it.
#[derive(Clone, Serialize, Deserialize)]
enum KnownClocks {
    /// Not at all.
    Recorded,
    /// To a line.
    Roughly(Frame),
    /// Aligned as well as can be told.
    SmoothAlignment(Estimate),
}

impl Times for KnownClocks {
    #[inline]
    fn add(&self, clock: ClockId, stamp: i64) -> f64 {
        match self {
            Self::Recorded => 0.0,
            Self::Roughly(frame) => frame.add(clock.as_usize(), stamp),
            Self::SmoothAlignment(estimate) => estimate.at(clock, stamp),
        }
    }
}

/// Aligns the clocks of a trace.
///
/// Dependencies are not listed but walked, each time for what is asked of them.
/// Which of collectives are the tightest depends on how clocks differ: first those by
/// recorded stamps, then those by clocks that are known to a line. Fails only if
/// `monitor` says to give up.
///
/// Lines are found twice. Where recorded clocks are further apart than ranks are when they enter, each
/// rank waits for the one whose clock is ahead, by these stamps, and nothing is told of the others; the
/// tightest by lines that were found so would confirm these lines.
pub fn align(
    causality: &Causality,
    clocks: &Clocks,
    rate: TickRate,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Alignment, Cancelled> {
    let trace = TraceEdges {
        causality,
        clocks,
        monitor,
    };
    trace.at_root::<KnownClocks, _>(|| {
        let mut rough = stages::rough(
            &trace.dependencies(&KnownClocks::Recorded)?,
            OPTIONS.rough_windows,
            reference,
            monitor,
        )?;
        let before = KnownClocks::Roughly(rough.lines.clone());
        let anew = trace.dependencies(&before)?;
        if anew.may_depend_on_times() {
            rough = stages::rough(&anew, OPTIONS.windows, reference, monitor)?;
        }
        let roughly = KnownClocks::Roughly(rough.lines.clone());
        let source = trace.dependencies(&roughly)?;
        let aligned = stages::align_roughly_aligned(
            &source,
            rough.base,
            AlignmentTask::of(rate, reference),
            monitor,
        )?;
        let list = |estimate: &Estimate| {
            let aligned = KnownClocks::SmoothAlignment(estimate.clone());
            let anew = trace.dependencies(&aligned);
            Some(anew.and_then(|it| InOrder::new(&it, monitor)))
        };
        let found = steps::explain(&source, aligned, rate, list, monitor)?;
        Ok(found.with_parts_as_recorded(|clock| source.extent(clock)))
    })
}

/// Aligns the clocks of a trace as [`align`] does, on the time of another clock where the reference
/// changes its rate and [another one](Alignment::steadiest) is steady.
pub fn align_on_steady(
    causality: &Causality,
    clocks: &Clocks,
    rate: TickRate,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Alignment, Cancelled> {
    let found = align(causality, clocks, rate, reference, monitor)?;
    let changes = found.rate_changes.iter().any(|it| it.clock == reference);
    let steady = found.steadiest();
    if !changes || steady == reference {
        return Ok(found);
    }
    align(causality, clocks, rate, steady, monitor)
}

/// Aligns clocks by a list of dependencies; fails only if `monitor` says to give up.
pub fn align_edges(
    edges: &Edges,
    rate: TickRate,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Alignment, Cancelled> {
    let aligned = stages::align_plainly(edges, AlignmentTask::of(rate, reference), monitor)?;
    let found = steps::explain(edges, aligned, rate, |_| None, monitor)?;
    Ok(found.with_parts_as_recorded(|clock| edges.extent(clock)))
}
