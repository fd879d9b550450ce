//! A trace whose contradictions are counted, ready to be solved.

mod judgement;

pub use judgement::{CameLast, JudgedBy, Measured, Runaway, Worse};

use std::sync::OnceLock;

use super::base::Base;
use super::collected::collected;
use super::examined::{Examined, families};
use super::method::Method;
use super::problem::{Found, Problem};
use super::solution::Solution;
use super::step::{SharedMethod, Step};
use super::unsolved::{NotSolved, Unsolved};
use super::used_delay::{AskedDelay, DelayStanding, UsedDelay};
use retime_causality::MinimalDelay;
use retime_causality::merge::Sum;
use retime_causality::{
    AllEvents, Causality, CausalityError, CausalityOptions, Check, Defect, Instance, LocationLog,
    NeedsWhole, check, used_within,
};
use retime_clocks::{ClockAttribution, Grouping, SharedClock, split_clocks};
use retime_model::format::Unused;
use retime_model::{Cancelled, Clocks, Monitor, Ticks, Timestamp, TraceInfo};

/// Knowledge and wishes before a trace is looked at.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// Which locations read one clock.
    pub grouping: Grouping,
    /// The least time from a cause to its effect.
    pub delay: AskedDelay,
    /// How doubtful operations are taken.
    pub causality: CausalityOptions,
    /// Only dependencies with both ends in this stretch of time are enforced.
    pub window: Option<(Timestamp, Timestamp)>,
}

impl Default for AnalysisOptions {
    /// All of it left to the trace.
    fn default() -> Self {
        Self {
            grouping: Grouping::Auto,
            delay: AskedDelay::default(),
            causality: CausalityOptions::default(),
            window: None,
        }
    }
}

/// Why a trace cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// Its logs cannot be joined.
    #[error(transparent)]
    Causality(CausalityError),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<CausalityError> for AnalysisError {
    fn from(error: CausalityError) -> Self {
        match error {
            CausalityError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            reason => Self::Causality(reason),
        }
    }
}

/// A trace whose contradictions are counted.
#[derive(Clone, Debug)]
pub struct Analysis {
    info: TraceInfo,
    causality: Causality,
    all_events: Option<AllEvents>,
    clocks: Clocks,
    delay: UsedDelay,
    recorded: Check,
    faster_within_clocks: u64,
    told: EdgeFigures,
    options: AnalysisOptions,
    /// How clocks differ, once somebody has asked; `None` where nothing relates any.
    differ: OnceLock<Option<Base>>,
}

/// Figures of dependencies, counted over the whole trace.
#[derive(Clone, Debug)]
struct EdgeFigures {
    counts: Counts,
    attributions: Vec<ClockAttribution>,
    used_within_families: u64,
}

/// How much there is of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Events with a role.
    pub nodes: u64,
    /// Messages with both ends.
    pub messages: u64,
    /// Synchronous sends whose completion depends on the posting of a receive.
    pub acknowledgements: u64,
    /// Collective operations.
    pub collectives: u64,
}

/// How many collective operations have a begin and, of another participant, an end.
fn related(causality: &Causality) -> u64 {
    let collectives = causality.collectives();
    let is_related = |&instance: &Instance| {
        let all = collectives.participants(instance);
        let begins = all.iter().filter(|it| it.cause().is_some());
        let own = begins.clone().filter(|it| it.effect().is_some()).count();
        let ends = all.iter().filter(|it| it.effect().is_some()).count();
        begins.count() * ends > own
    };
    collectives.instances().filter(is_related).count() as u64
}

impl EdgeFigures {
    fn by(causality: &Causality, clocks: &Clocks, info: &TraceInfo, is_stretch: bool) -> Self {
        let (nodes, whole) = (causality.nodes(), causality.whole());
        let sum = |own: u64| whole.all_reduce(Sum(own)).0;
        // Outside of a stretch of the trace nothing is left of most, as of messages.
        let collectives = if is_stretch {
            related(causality)
        } else {
            causality.collectives().instances().len() as u64
        };
        Self {
            counts: Counts {
                nodes: (0..nodes.locations())
                    .map(|it| nodes.count(it) as u64)
                    .sum(),
                messages: sum(causality.messages()),
                acknowledgements: sum(causality.acknowledgements()),
                collectives: sum(collectives),
            },
            attributions: ClockAttribution::of_locations(clocks, info, causality),
            used_within_families: used_within(causality, &families(info)),
        }
    }
}

impl Analysis {
    /// Joins the logs of a trace, groups its clocks and checks its recorded
    /// times.
    pub fn new(
        info: TraceInfo,
        logs: Vec<LocationLog>,
        options: AnalysisOptions,
        monitor: &dyn Monitor,
    ) -> Result<Self, AnalysisError> {
        let causality = Causality::build_watched(&info, logs, options.causality, monitor)?;
        Ok(Self::of(info, causality, options, monitor)?)
    }

    /// Analyses a trace that is joined already; fails only if `monitor` says to give up.
    pub fn of(
        info: TraceInfo,
        mut causality: Causality,
        options: AnalysisOptions,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let clocks = options.grouping.clocks(&info, &causality);
        let asked = &options.delay;
        let delay = asked.of(&causality, &clocks, info.rate, monitor)?;
        if let Some((from, to)) = options.window {
            causality.limit_to(from, to);
        }
        let times = causality.nodes().timestamps();
        let recorded = check(&causality, &clocks, &delay.delay, times, monitor)?;
        Ok(Self {
            faster_within_clocks: faster_within(&causality, &clocks, &delay, &recorded, monitor)?,
            recorded,
            told: EdgeFigures::by(&causality, &clocks, &info, options.window.is_some()),
            info,
            causality,
            all_events: None,
            clocks,
            delay,
            options,
            differ: OnceLock::new(),
        })
    }

    /// The parts of the trace.
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// Which event must follow which.
    pub fn causality(&self) -> &Causality {
        &self.causality
    }

    /// Shows [all events](Causality::with_all_events) of the trace to
    /// [methods that look at them](Method::looks_at_all_events).
    pub fn show_all_events(&mut self, all: AllEvents) {
        self.all_events = Some(all);
    }

    /// True if all events were [shown](Self::show_all_events).
    pub fn has_all_events(&self) -> bool {
        self.all_events.is_some()
    }

    /// Which locations read one clock, as far as it is known by now.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The minimal delay in use.
    pub fn delay(&self) -> &UsedDelay {
        &self.delay
    }

    /// All dependencies at recorded times.
    pub fn recorded(&self) -> &Check {
        &self.recorded
    }

    /// How much there is of what, in the whole trace.
    pub fn counts(&self) -> Counts {
        self.told.counts
    }

    /// The reasons for which each location is taken to read its clock.
    pub fn attributions(&self) -> &[ClockAttribution] {
        &self.told.attributions
    }

    /// Clocks that processes are taken to share since they ran on one node.
    pub fn shared_clocks(&self) -> Vec<SharedClock> {
        SharedClock::all(&self.clocks, &self.info, &self.told.attributions)
    }

    /// How much of the communication in the trace was looked at, given what its
    /// format knows [of other kinds](retime_model::format::Trace::unused).
    pub fn examined(&self, unused: &[Unused]) -> Examined {
        let usage = self.causality.usage();
        let families = families(&self.info);
        Examined::told(&families, usage, self.told.used_within_families, unused)
    }

    /// The options that were asked for.
    pub fn options(&self) -> &AnalysisOptions {
        &self.options
    }

    /// Events stamped before their predecessor on the same location.
    pub fn out_of_order(&self) -> u64 {
        self.causality.defects().count(Defect::TimeRunsBackwards)
    }

    /// Dependencies between locations of one clock that are faster as recorded than a minimal delay
    /// that was given, but not reversed. No map of the clock changes that, so they are no
    /// [contradictions](Self::contradictions); 0 where the delay was learned.
    pub fn faster_within_clocks(&self) -> u64 {
        self.faster_within_clocks
    }

    /// How many dependencies times contradict that were checked by the minimal delay in use:
    /// effects before their cause and, where that delay was given and not learned, effects
    /// sooner after it.
    pub fn contradictions(&self, check: &Check) -> u64 {
        if self.delay.is_given() {
            check.short() + check.violated_within_clock()
        } else {
            check.violated()
        }
    }

    /// True if the recorded times contradict nothing.
    pub fn is_sound(&self) -> bool {
        self.contradictions(&self.recorded) == 0 && self.out_of_order() == 0
    }

    /// The method that suits the trace best where the default is asked for: if no
    /// clock contradicts another, and locations contradict only themselves, there
    /// is nothing to align.
    pub fn suitable(&self, method: Method) -> Method {
        match method.where_clocks_agree() {
            Some(simpler) if self.contradictions(&self.recorded) == 0 => simpler,
            _ => method,
        }
    }

    /// Runs a method and checks what it found. Clocks that turn out to be several are
    /// split on the way, if it was left to the trace to group them: those of the
    /// correction count.
    pub fn solve(&self, method: &Method, monitor: &dyn Monitor) -> Result<Solution, NotSolved> {
        self.solve_with_margin(method, Ticks(0), monitor)
    }

    /// Solves as [`solve`](Self::solve) does, with effects that keep further from their causes than
    /// the minimal delay asks, by a margin: for formats that move events from where maps put them.
    pub fn solve_with_margin(
        &self,
        method: &Method,
        margin: Ticks,
        monitor: &dyn Monitor,
    ) -> Result<Solution, NotSolved> {
        let whole = self.causality.whole();
        match SharedMethod::of(method) {
            Some(method) => whole.announce(&Step::Solve(method)),
            None => whole.give_up(NeedsWhole::Method),
        }
        let solved = self.solve_alone(method, margin, monitor);
        whole.agreed(solved, |it| matches!(it.reason, Unsolved::Cancelled(_)))
    }

    /// A solution as a format can write it, which gives events other times than their maps
    /// say: it is checked by these. A minimal delay that was only learned is a guess, and none
    /// is asked of them; what comes before its cause is reversed all the same.
    /// Fails only if `monitor` says to give up.
    pub fn settled(
        &self,
        solution: Solution,
        times: Vec<Timestamp>,
        monitor: &dyn Monitor,
    ) -> Result<Solution, Cancelled> {
        let delay = if self.delay.is_given() {
            &self.delay.delay
        } else {
            &MinimalDelay::Uniform(Ticks(0))
        };
        let clocks = solution.correction.clocks();
        let left = check(&self.causality, clocks, delay, &times, monitor)?;
        Ok(Solution {
            times,
            left,
            ..solution
        })
    }

    fn solve_alone(
        &self,
        method: &Method,
        margin: Ticks,
        monitor: &dyn Monitor,
    ) -> Result<Solution, NotSolved> {
        self.causality.whole().check().map_err(NotSolved::from)?;
        let mut finer: Option<(Clocks, UsedDelay)> = None;
        loop {
            let (clocks, delay) = match &finer {
                Some((clocks, delay)) => (clocks, delay),
                None => (&self.clocks, &self.delay),
            };
            let demanded = delay.delay.with_margin(margin);
            let input = Problem {
                info: &self.info,
                causality: &self.causality,
                all_events: self.all_events.as_ref(),
                clocks,
                delay: &demanded,
                margin,
                delay_is_settled: delay.standing != DelayStanding::Guess,
                may_regroup: self.options.grouping == Grouping::Auto,
                monitor,
            };
            let found = method.solve(&input).and_then(|it| checked(it, &input));
            let reason = match found {
                Ok(solution) => return Ok(solution),
                Err(reason) => reason,
            };
            let split = match &reason {
                Unsolved::Cycle(cycle) => split_clocks(clocks, &self.info, &self.causality, cycle),
                _ => None,
            };
            match split {
                Some(clocks) if input.may_regroup => {
                    let learned = self.learn(&clocks, monitor);
                    let named = |reason: Cancelled| {
                        let (name, info) = (method.name(), &self.info);
                        NotSolved::new(reason.into(), name, info, &clocks, false)
                    };
                    let delay = learned.map_err(named)?;
                    finer = Some((clocks, delay));
                }
                shared => {
                    let (name, info, shared) = (method.name(), &self.info, shared.is_some());
                    return Err(NotSolved::new(reason, name, info, clocks, shared));
                }
            }
        }
    }

    /// The minimal delay between other clocks.
    fn learn(&self, clocks: &Clocks, monitor: &dyn Monitor) -> Result<UsedDelay, Cancelled> {
        let (asked, rate) = (&self.options.delay, self.info.rate);
        asked.of(&self.causality, clocks, rate, monitor)
    }

    /// Takes over the clocks and the minimal delay of a solution, and what follows
    /// from them. Fails only if `monitor` says to give up, and leaves all as it was.
    pub fn adopt(&mut self, solution: &Solution, monitor: &dyn Monitor) -> Result<(), Cancelled> {
        let whole = self.causality.whole().clone();
        whole.announce(&Step::Adopt);
        let adopted = self.adopt_alone(solution, monitor);
        whole.agreed(adopted, |_| true)
    }

    fn adopt_alone(&mut self, solution: &Solution, monitor: &dyn Monitor) -> Result<(), Cancelled> {
        let clocks = solution.correction.clocks();
        let regrouped = *clocks != self.clocks;
        if !regrouped && solution.enforced.is_none() {
            return Ok(());
        }
        let mut delay = if regrouped {
            self.learn(clocks, monitor)?
        } else {
            self.delay.clone()
        };
        if let Some(enforced) = &solution.enforced
            && delay.standing == DelayStanding::Guess
        {
            delay.delay = enforced.delay.clone();
            delay.half_round_trip = enforced.shortest;
        }
        // Nothing is taken over before all of it is known.
        let times = self.causality.nodes().timestamps();
        self.recorded = check(&self.causality, clocks, &delay.delay, times, monitor)?;
        self.faster_within_clocks =
            faster_within(&self.causality, clocks, &delay, &self.recorded, monitor)?;
        self.delay = delay;
        if regrouped {
            self.clocks = clocks.clone();
            self.differ = OnceLock::new();
            let is_stretch = self.options.window.is_some();
            self.told = EdgeFigures::by(&self.causality, &self.clocks, &self.info, is_stretch);
        }
        Ok(())
    }
}

/// A solution of the correction that was found, with its times, which are checked.
fn checked(found: Found, input: &Problem<'_>) -> Result<Solution, Unsolved> {
    let retimed = input.causality.retimed(&found.correction, input.monitor)?;
    let times = retimed.into_timestamps();
    let delay = found.enforced.as_ref().map_or(input.delay, |it| &it.delay);
    let clocks = found.correction.clocks();
    let left = check(input.causality, clocks, delay, &times, input.monitor)?;
    Ok(Solution {
        correction: collected(found.correction, input.causality.nodes())?,
        aligned: found.aligned,
        unaligned: found.unaligned,
        repaired: found.repaired,
        enforced: found.enforced,
        times,
        left,
    })
}

/// How many dependencies within one of `clocks` are faster than a delay that was given, though not
/// reversed: those that are too fast if each location has a clock of its own, less those that are too fast
/// between `clocks`, of which `recorded` tells.
fn faster_within(
    causality: &Causality,
    clocks: &Clocks,
    delay: &UsedDelay,
    recorded: &Check,
    monitor: &dyn Monitor,
) -> Result<u64, Cancelled> {
    let locations = causality.nodes().locations();
    if !delay.is_given() || clocks.len() == locations {
        return Ok(0);
    }
    let times = causality.nodes().timestamps();
    let each = Clocks::each_location(locations);
    let all = check(causality, &each, &delay.delay, times, monitor)?;
    let told = recorded.short() + recorded.violated_within_clock();
    Ok(all.short().saturating_sub(told))
}
