//! Lines that are added to aligned clocks and break no dependency.
//!
//! ```text
//!  run      the time that aligned clocks have in common
//!  line     what is added to one of them
//!  ties     dependencies, and how much slack lines leave them
//!  nearest  the lines next to others that satisfy conditions
//! ```
//!
//! [`ends`](crate::ends) have lines that they ask for. And an [alignment](crate::align), which
//! weighs all dependencies against each other, may leave some broken by a little where clocks could
//! satisfy all: then the lines next to none at all mend it. Whether one clock for several processes
//! can be right is known only then. Likewise lines between pairs of clocks, put one after another,
//! leave pairs aside, whose dependencies adjust them.

mod line;
mod nearest;
mod run;
mod ties;

pub(crate) use line::RunLine;
pub(crate) use run::AlignedRun;
pub(crate) use ties::{Judge, Tie};

use retime_model::{Cancelled, ClockId, Clocks, Monitor};

use self::nearest::Nearest;
use retime_causality::Causality;
use retime_causality::MinimalDelay;
use retime_causality::edges::{Edges, TraceEdges};
use retime_clocks::estimate::{Estimate, Offset};

/// Times that broken dependencies are looked for: which are tight changes with the clocks, less
/// each time.
const ROUNDS: usize = 32;
/// Slack that counts as missing, in ticks: less is lost when times become whole.
const BROKEN: f64 = 0.01;
/// Ticks of slack that are left because times become whole: one for each end.
const ROUNDING: f64 = 2.0;

/// A trace whose clocks are aligned.
pub(crate) struct AlignedTrace<'a> {
    pub(crate) causality: &'a Causality,
    pub(crate) clocks: &'a Clocks,
    pub(crate) estimate: &'a Estimate,
    /// The minimal delay that clocks are to keep.
    pub(crate) delay: &'a MinimalDelay,
    pub(crate) monitor: &'a dyn Monitor,
}

/// The dependencies that lines have to satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// All of them.
    All,
    /// The ones that are satisfied without lines; others must not get worse.
    Kept,
    /// All of them, also when times become whole.
    Rounded,
}

impl Demand {
    /// A tie with the slack that it may lose.
    fn of(self, tie: Tie) -> Tie {
        let spare = match self {
            Self::Kept => (tie.slack - ROUNDING).max(0.0),
            Self::All => tie.slack - tie.slack.clamp(0.0, ROUNDING),
            Self::Rounded => tie.slack - ROUNDING,
        };
        Tie {
            slack: spare,
            ..tie
        }
    }
}

impl AlignedTrace<'_> {
    /// The first and the last stamp of each clock.
    pub(crate) fn extents(&self) -> Vec<Option<(i64, i64)>> {
        Edges::extents(self.causality, self.clocks)
    }

    /// The dependencies of the trace.
    pub(crate) fn edges(&self) -> TraceEdges<'_> {
        TraceEdges {
            causality: self.causality,
            clocks: self.clocks,
            monitor: self.monitor,
        }
    }

    /// The estimate with the lines next to none that make it satisfy what is demanded; `None` if
    /// there are none, as far as that is found out.
    pub(crate) fn mended(&self, demand: Demand) -> Result<Option<Estimate>, Cancelled> {
        let extents = self.extents();
        let Some(run) = AlignedRun::new(self.estimate, &extents) else {
            return Ok(None);
        };
        let none = vec![RunLine::default(); self.clocks.len()];
        let work = || self.unbroken(&run, none, demand);
        let lines = self.edges().at_root::<Estimate, _>(work)?;
        Ok(lines.map(|lines| {
            if lines.iter().all(|it| *it == RunLine::default()) {
                return self.estimate.clone();
            }
            self.moved(&extents, &run, &lines)
        }))
    }

    /// The lines next to these that satisfy what is demanded; `None` if there are none, as far as that
    /// is found out.
    pub(crate) fn unbroken(
        &self,
        run: &AlignedRun<'_>,
        lines: Vec<RunLine>,
        demand: Demand,
    ) -> Result<Option<Vec<RunLine>>, Cancelled> {
        let extents = self.extents();
        let moved = self.moved(&extents, run, &lines);
        let mut broken = self.broken(run, &moved, &lines, demand)?;
        let by = |tie: &Tie| -tie.slack - tie.change(&lines);
        let broken_by = broken.iter().map(by).fold(0.0, f64::max);
        let reference = self.estimate.reference;
        let mut nearest = Nearest::to(lines, reference, run.length(), broken_by);
        for _ in 0..ROUNDS {
            if broken.is_empty() {
                return Ok(Some(nearest.lines));
            }
            if !nearest.take(&broken) {
                break;
            }
            let moved = self.moved(&extents, run, &nearest.lines);
            broken = self.broken(run, &moved, &nearest.lines, demand)?;
        }
        Ok(None)
    }

    /// The ties that lines break, which make the estimate what is `moved`.
    fn broken(
        &self,
        run: &AlignedRun<'_>,
        moved: &Estimate,
        lines: &[RunLine],
        demand: Demand,
    ) -> Result<Vec<Tie>, Cancelled> {
        let edges = self.edges();
        let source = edges.dependencies(moved)?;
        let judge = Judge {
            run,
            delay: self.delay,
            causality: self.causality,
            monitor: self.monitor,
        };
        let ties = judge.least(&source, |tie| {
            let left = demand.of(*tie).slack + tie.change(lines);
            (left < -BROKEN).then_some(left)
        })?;
        Ok(ties.into_iter().map(|tie| demand.of(tie)).collect())
    }

    /// The estimate with lines added.
    pub(crate) fn moved(
        &self,
        extents: &[Option<(i64, i64)>],
        run: &AlignedRun<'_>,
        lines: &[RunLine],
    ) -> Estimate {
        let clocks = (0..).map(ClockId).zip(&self.estimate.offsets).zip(lines);
        let offsets = clocks.map(|((clock, offset), line)| {
            let offset = offset.as_ref()?;
            let extent = extents.get(clock.as_usize()).copied().flatten();
            let bends = offset.knots().iter().map(|it| it.0);
            let stamps = bends.chain(extent.into_iter().flat_map(|it| [it.0, it.1]));
            let point = |stamp: i64| {
                let share = run.share(run.time(clock, stamp));
                (stamp, offset.at(stamp) + line.at(share))
            };
            Some(Offset::through(stamps.map(point).collect()).with_steps(offset.steps()))
        });
        Estimate {
            offsets: offsets.collect(),
            reference: self.estimate.reference,
        }
    }
}
