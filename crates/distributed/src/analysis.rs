//! An analysis that several processes make together.
//!
//! Each has the logs of its own locations, and all take the same steps: the root does
//! what it is called for, as in one process, but announces each step before it takes it. The
//! others follow.
//!
//! ```text
//!  rank 0: analyse           solve   adopt   bounds        what a command asks for
//!            |                 |       |       |     Step
//!  rank 1: Follower::follow  follow  follow  follow
//! ```
//!
//! Whatever needs the trace in one process, or fails in one of them, ends the step in all
//! of them: [`Distribution::broken`] tells why.

use serde::{Deserialize, Serialize};

use retime::causality::{NeedsWhole, OtherEvents};
use retime::estimate::DelayRule;
use retime::pipeline::{
    Analysis, AnalysisError, AnalysisOptions, AskedDelay, Bounds, Solution, Step,
};
use retime::{CausalityOptions, Grouping, MinimalDelay};
use retime_model::{LocationIndex, LocationLog, Monitor, Ticks, Timestamp, TraceInfo};

use crate::build::build;
use crate::distribution::Distribution;
use crate::peers::Broken;

/// Joins and checks a trace of which this process has the logs of its own locations. What is
/// known of the whole trace afterwards all processes know.
pub fn analyse(
    info: TraceInfo,
    own: Vec<LocationLog>,
    options: AnalysisOptions,
    distribution: &Distribution,
    monitor: &dyn Monitor,
) -> Result<Analysis, AnalysisError> {
    match Options::of(&options) {
        // What cannot be packed nobody understands, and all stop.
        Some(options) => {
            distribution.announce(&postcard::to_allocvec(&options).unwrap_or_default());
        }
        None => distribution.needs_whole(NeedsWhole::Method),
    }
    let analysis = || {
        distribution.check()?;
        let causality = build(&info, own, options.causality, distribution, monitor)?;
        Ok(Analysis::of(info, causality, options, monitor)?)
    };
    let analysis = analysis();
    match &analysis {
        Ok(_) => {
            distribution.all_reduce(());
            distribution.check()?;
        }
        Err(AnalysisError::Cancelled(_)) => distribution.stop(Broken::Cancelled),
        Err(AnalysisError::Causality(_)) => distribution.stop(Broken::Failed),
    }
    analysis
}

/// The options of an analysis that processes can make together.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Options {
    grouping: Grouping,
    delay: SharedDelay,
    causality: CausalityOptions,
    window: Option<(Timestamp, Timestamp)>,
}

/// A minimal delay that processes can enforce together: one for all dependencies.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum SharedDelay {
    Learned,
    Given(Ticks),
    LearnedBefore(Ticks),
}

impl SharedDelay {
    /// `None` for those that differ from pair to pair or by length, and for rules that look at
    /// calls or lengths.
    fn of(asked: &AskedDelay) -> Option<Self> {
        Some(match asked {
            AskedDelay::Learned(DelayRule::Fastest) => Self::Learned,
            AskedDelay::Given(MinimalDelay::Uniform(delay)) => Self::Given(*delay),
            AskedDelay::LearnedBefore(MinimalDelay::Uniform(delay)) => Self::LearnedBefore(*delay),
            _ => return None,
        })
    }

    fn unpack(self) -> AskedDelay {
        match self {
            Self::Learned => AskedDelay::default(),
            Self::Given(delay) => AskedDelay::Given(MinimalDelay::Uniform(delay)),
            Self::LearnedBefore(delay) => AskedDelay::LearnedBefore(MinimalDelay::Uniform(delay)),
        }
    }
}

impl Options {
    /// `None` where the delay is none that processes [enforce together](SharedDelay).
    fn of(options: &AnalysisOptions) -> Option<Self> {
        Some(Self {
            grouping: options.grouping,
            delay: SharedDelay::of(&options.delay)?,
            causality: options.causality,
            window: options.window,
        })
    }

    fn unpack(self) -> AnalysisOptions {
        AnalysisOptions {
            grouping: self.grouping,
            delay: self.delay.unpack(),
            causality: self.causality,
            window: self.window,
        }
    }
}

/// One of the processes that follow the first.
#[derive(Debug)]
pub struct Follower {
    distribution: Distribution,
    info: TraceInfo,
    /// Its own, until they are analysed.
    logs: Vec<LocationLog>,
    analysis: Option<Analysis>,
    solution: Option<Solution>,
    bounds: Option<Bounds>,
}

impl Follower {
    /// With the logs of its own locations.
    pub fn new(info: TraceInfo, logs: Vec<LocationLog>, distribution: Distribution) -> Self {
        Self {
            distribution,
            info,
            logs,
            analysis: None,
            solution: None,
            bounds: None,
        }
    }

    /// Takes the step that the first process has announced. What came of it is told to no
    /// one: all processes know whether they still [work together](Distribution::broken).
    pub fn follow(&mut self, step: &[u8], monitor: &dyn Monitor) {
        let Some(analysis) = &mut self.analysis else {
            let Ok(options) = postcard::from_bytes::<Options>(step) else {
                return;
            };
            let (info, logs) = (self.info.clone(), std::mem::take(&mut self.logs));
            let analysis = analyse(info, logs, options.unpack(), &self.distribution, monitor);
            self.analysis = analysis.ok();
            return;
        };
        let Ok(step) = postcard::from_bytes::<Step>(step) else {
            return;
        };
        let solution = self.solution.as_ref();
        match step {
            Step::Solve(method) => {
                self.solution = analysis.solve(&method.method(), monitor).ok();
            }
            Step::Adopt => {
                // That it failed is known already.
                let _ = solution.map(|it| analysis.adopt(it, monitor));
            }
            Step::Bounds(search, solved) => {
                let solution = solution.filter(|_| solved);
                let bounds = analysis.bounds_within(search, solution, monitor);
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
        }
    }

    /// The number of all events of a location of this process.
    pub fn event_count(&self, location: LocationIndex) -> u64 {
        let nodes = self.analysis.as_ref().map(|it| it.causality().nodes());
        nodes.map_or(0, |it| it.event_count(location.as_usize()))
    }

    /// Shows the steps that follow all events of its own locations, given their recorded times
    /// by location. Each process has to be shown its own before a step looks at them.
    ///
    /// # Errors
    ///
    /// If these are the times of other events.
    pub fn show_all_events(&mut self, times: &[Vec<Timestamp>]) -> Result<(), OtherEvents> {
        if let Some(analysis) = &mut self.analysis {
            let all = analysis.causality().with_all_events(times)?;
            analysis.show_all_events(all);
        }
        Ok(())
    }

    /// The numbers of the events with a role of a location of this process.
    pub fn events(&self, location: LocationIndex) -> &[u32] {
        let nodes = self.analysis.as_ref().map(|it| it.causality().nodes());
        nodes.map_or(&[], |it| it.events(&it.of(location.as_usize())))
    }

    /// Their times in the solution.
    pub fn times(&self, location: LocationIndex) -> &[Timestamp] {
        let known = self.analysis.as_ref().zip(self.solution.as_ref());
        let times = known.and_then(|(analysis, solution)| {
            let of = analysis.causality().nodes().of(location.as_usize());
            solution.times.get(of.range())
        });
        times.unwrap_or_default()
    }
}
