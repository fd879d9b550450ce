//! An analysis that several processes make together.
//!
//! Each holds the logs of its own locations, and all take the same steps: the first does
//! what it is called for, as in one process, but [announces](Share::announce) each step
//! before it takes it. The others follow.
//!
//! ```text
//!  process 0: Analysis::shared   solve   adopt   bounds        what a command asks for
//!                  |               |       |       |     Step
//!  process 1: Follower::follow   follow  follow  follow
//! ```
//!
//! Whatever needs the trace in one process, or fails in one of them, ends the step in all
//! of them: [`Share::broken`] tells why.

use serde::{Deserialize, Serialize};

use super::analysis::{Analysis, AnalysisOptions};
use super::bounds::Bounds;
use super::logical_clock::{ClockControl, ClockKind, LogicalClock};
use super::method::Method;
use super::solution::Solution;
use crate::causality::Nodes;
use crate::clock::{AmortizationRate, Control};
use crate::correction::{ClockMap, Correction, Knot, Step as ClockStep};
use crate::delay::MinimalDelay;
use crate::estimate::Reference;
use crate::grouping::Grouping;
use crate::share::{NeedsWhole, Share};
use retime_model::Timestamp;
use retime_model::{
    ClockId, Implementation, LocationIndex, LocationLog, Monitor, Ticks, TraceInfo,
};

/// What processes do together, in the order in which the first announces it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Step {
    Analyse(Options),
    Solve(Asked),
    Adopt,
    /// With this drift bound and so many steps, for the times of the solution if there is one.
    Bounds(f64, u64, bool),
    LeastDistortion(bool),
    Outside,
    Rises,
    Measure,
    /// For the times of the solution and with bounds, if there are any.
    Stragglers(bool, bool),
}

/// The options of an analysis that processes can make together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Options {
    grouping: Grouping,
    delay: Option<Ticks>,
    dense_alltoallv: bool,
    trusted: Option<Implementation>,
    window: Option<(Timestamp, Timestamp)>,
}

impl Options {
    /// `None` where delays differ from pair to pair.
    pub(super) fn of(options: &AnalysisOptions) -> Option<Self> {
        let delay = match options.delay {
            None => None,
            Some(MinimalDelay::Uniform(delay)) => Some(delay),
            Some(MinimalDelay::PerPair(_)) => return None,
        };
        Some(Self {
            grouping: options.grouping,
            delay,
            dense_alltoallv: options.dense_alltoallv,
            trusted: options.trusted,
            window: options.window,
        })
    }

    fn unpack(self) -> AnalysisOptions {
        AnalysisOptions {
            grouping: self.grouping,
            delay: self.delay.map(MinimalDelay::Uniform),
            dense_alltoallv: self.dense_alltoallv,
            trusted: self.trusted,
            window: self.window,
        }
    }
}

/// A method that processes can run together: one by which each clock has to know of
/// others only what arrives from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Asked {
    Auto(Reference),
    Clock {
        kind: ClockKind,
        factor: f64,
        distance: Ticks,
        amortization: Option<AmortizationRate>,
        backward: bool,
    },
}

impl Asked {
    /// `None` for a method that needs the whole trace.
    pub(super) fn of(method: &Method) -> Option<Self> {
        if method.is_auto() {
            return Some(Self::Auto(method.options().reference));
        }
        let clock = method.clock_alone()?;
        let ClockControl::ByEvent(Control::Constant(factor)) = clock.control else {
            return None;
        };
        let looks_at_itself = match clock.kind {
            ClockKind::Controlled => clock.distance == Ticks(0),
            ClockKind::Simple => true,
            ClockKind::Lamport => false,
        };
        looks_at_itself.then_some(Self::Clock {
            kind: clock.kind,
            factor,
            distance: clock.distance,
            amortization: clock.amortization,
            backward: clock.backward,
        })
    }

    fn unpack(self) -> Method {
        match self {
            Self::Auto(reference) => Method::default().by(reference),
            Self::Clock {
                kind,
                factor,
                distance,
                amortization,
                backward,
            } => Method::clock(LogicalClock {
                kind,
                control: ClockControl::ByEvent(Control::Constant(factor)),
                distance,
                amortization,
                backward,
            }),
        }
    }
}

impl Method {
    /// True if processes that hold a part of the trace each can run it together.
    pub fn can_be_shared(&self) -> bool {
        Asked::of(self).is_some()
    }
}

/// A map as it is sent.
type SentMap = (ClockId, Vec<Knot>, Vec<ClockStep>);

/// The correction with the maps of all clocks, for the first of several processes, which
/// writes it down. The others keep what they have, and know the maps of their own clocks.
pub(super) fn collected(correction: Correction, nodes: &Nodes) -> Correction {
    let share = nodes.share();
    if share.is_whole() {
        return correction;
    }
    let (rank, size) = share.place();
    let clocks = correction.clocks().clone();
    let sent = |clock: ClockId| {
        let map = correction.map(clock);
        (clock, map.knots().to_vec(), map.steps().to_vec())
    };
    let own = clocks.iter().filter(|it| nodes.owns_clock(&clocks, *it));
    let mut to: Vec<Vec<SentMap>> = vec![Vec::new(); size];
    if rank > 0 {
        to[0] = own.map(sent).collect();
    }
    let mut maps: Vec<ClockMap> = clocks.iter().map(|it| correction.map(it).clone()).collect();
    let mut fit = true;
    for (clock, knots, steps) in share.exchanged(to).into_iter().flatten() {
        match (maps.get_mut(clock.as_usize()), ClockMap::new(knots, steps)) {
            (Some(map), Ok(sent)) => *map = sent,
            _ => fit = false,
        }
    }
    if !share.all(fit) {
        share.needs_whole(NeedsWhole::TooFar);
    }
    Correction::new(clocks, maps)
}

/// One of the processes that follow the first.
#[derive(Debug)]
pub struct Follower {
    share: Share,
    info: TraceInfo,
    /// Its own, until they are analysed.
    logs: Vec<LocationLog>,
    analysis: Option<Analysis>,
    solution: Option<Solution>,
    bounds: Option<Bounds>,
}

impl Follower {
    /// With the logs of its own locations.
    pub fn new(info: TraceInfo, logs: Vec<LocationLog>, share: Share) -> Self {
        Self {
            share,
            info,
            logs,
            analysis: None,
            solution: None,
            bounds: None,
        }
    }

    /// Takes the step that the first process has announced. What came of it is told to no
    /// one: all processes know whether they still [work together](Share::broken).
    pub fn follow(&mut self, step: &[u8], monitor: &dyn Monitor) {
        let Ok(step) = postcard::from_bytes::<Step>(step) else {
            return;
        };
        if let Step::Analyse(options) = step {
            let (info, logs) = (self.info.clone(), std::mem::take(&mut self.logs));
            let analysis = Analysis::shared(info, logs, options.unpack(), &self.share, monitor);
            self.analysis = analysis.ok();
            return;
        }
        let Some(analysis) = &mut self.analysis else {
            return;
        };
        let solution = self.solution.as_ref();
        match step {
            Step::Solve(asked) => {
                self.solution = analysis.solve(&asked.unpack(), monitor).ok();
            }
            Step::Adopt => {
                // That it failed is known already.
                let _ = solution.map(|it| analysis.adopt(it, monitor));
            }
            Step::Bounds(drift, budget, solved) => {
                let solution = solution.filter(|_| solved);
                let bounds = analysis.bounds_within((drift, budget), solution, monitor);
                self.bounds = bounds.ok().flatten();
            }
            Step::LeastDistortion(solved) => {
                let _ = analysis.least_distortion(solution.filter(|_| solved), monitor);
            }
            Step::Outside => {
                let both = solution.zip(self.bounds.as_ref());
                let _ = both.map(|(solution, bounds)| analysis.outside(solution, bounds));
            }
            Step::Rises => {
                let _ = solution.map(|it| analysis.rises(it, monitor));
            }
            Step::Measure => {
                let _ = solution.map(|it| analysis.measure(it, monitor));
            }
            Step::Stragglers(solved, bounded) => {
                let solution = solution.filter(|_| solved);
                let bounds = self.bounds.as_ref().filter(|_| bounded);
                let _ = analysis.stragglers(solution, bounds, monitor);
            }
            Step::Analyse(_) => {}
        }
    }

    /// The numbers of the events with a role of a location of this process.
    pub fn events(&self, location: LocationIndex) -> &[u32] {
        let nodes = self.analysis.as_ref().map(|it| it.causality().nodes());
        nodes.map_or(&[], |it| it.events(&it.of(location.as_usize())))
    }

    /// What the solution makes of their times.
    pub fn times(&self, location: LocationIndex) -> &[Timestamp] {
        let known = self.analysis.as_ref().zip(self.solution.as_ref());
        let times = known.and_then(|(analysis, solution)| {
            let of = analysis.causality().nodes().of(location.as_usize());
            solution.times.get(of.range())
        });
        times.unwrap_or_default()
    }
}
