//! A trace on disk with what an analysis finds in it, and the report of that.

use std::sync::Arc;
use std::time::Instant;

use retime::causality::{AllEvents, Nodes, Violation};
use retime::format::{EventNumbers, Trace};
use retime::pipeline::{
    Analysis, AnalysisError, AnalysisOptions, AskedDelay, Bounds, Method, Solution, Unsolved,
};
use retime::{Causality, CausalityOptions, ClockAttribution, Ticks, Timestamp, TraceInfo};
use retime_parallel::Dealt;

use crate::args::{ModelArgs, RunArgs};
use crate::bounds::{BoundsArgs, Switch};
use crate::delay::{DelaySource, MinDelay};
use crate::delay_beside::DelayBeside;
use crate::error::CliError;
use crate::formats;
use crate::load::{LoadTiming, Loaded, Opened, Source, joined, load_with};
use crate::progress::{Interrupts, Progress, Stage, check_interrupt};
use crate::report::{build, model, stragglers, warnings};
use crate::truth::Truth;

/// A trace on disk, and what an analysis finds in it.
pub(crate) struct Analysed {
    pub(crate) opened: Opened,
    pub(crate) analysis: Analysis,
    pub(crate) delay_source: DelaySource,
    pub(crate) truth: Option<Truth>,
    pub(crate) start: Instant,
    analysis_seconds: f64,
}

/// How often a trace is matched again at corrected times. Each round brings two ranks
/// together that had nothing in common before; what has not settled after so many is not told
/// by clocks, and the verdict on the written trace says what is left.
const ROUNDS: usize = 8;

/// How often a method runs again with a larger margin, at most; the verdict says what is left.
const MARGINS: usize = 8;

/// A stretch of time, once the base and the rate of the trace are known.
type Window = Option<(Timestamp, Timestamp)>;

/// Loads a trace, groups its clocks and checks its recorded times.
pub(crate) fn analyse(source: Source<'_>, model: &ModelArgs) -> Result<Analysed, CliError> {
    analyse_some(source, model, |_, _| Ok(None))
}

/// Analyses as [`analyse`] does, but checks only the dependencies within a `window`.
pub(crate) fn analyse_some(
    source: Source<'_>,
    model: &ModelArgs,
    window: impl FnOnce(&Causality, &TraceInfo) -> Result<Window, CliError>,
) -> Result<Analysed, CliError> {
    let is_one_path = source.others.is_empty();
    if let Some(team) = source.team.filter(|_| source.together && is_one_path) {
        let format = formats::of(source.path, source.format)?;
        let opened = retime_parallel::open_in_parts(team, format, source.path, &Interrupts)?;
        if let Some(trace) = opened {
            return analyse_together(trace, source, model);
        }
    }
    let start = Instant::now();
    let options = |saved: &_| CausalityOptions {
        keep_all_places: source.keep_all_places,
        ..options(model, saved)
    };
    let (loaded, saved) = load_with(source, |trace| {
        let saved = saved_delay(trace, model)?;
        Ok((options(&saved), saved))
    })?;
    let truth = Truth::of(&loaded, model, source.quiet)?;
    let analysing = Instant::now();
    let Loaded {
        opened,
        info,
        causality,
    } = loaded;
    let options = AnalysisOptions {
        grouping: model.clocks.into(),
        delay: asked(model, &saved, &info)?,
        causality: options(&saved),
        window: window(&causality, &info)?,
    };
    let progress = Progress::open(Stage::Matching);
    let analysis = Analysis::of(info, causality, options, &progress)?;
    Ok(Analysed {
        opened,
        analysis,
        delay_source: DelaySource::of(&model.min_delay, saved.is_there()),
        truth,
        start,
        analysis_seconds: analysing.elapsed().as_secs_f64(),
    })
}

/// A solution at times that the format of the trace can give.
struct Settled {
    solution: Solution,
    /// The time by which a dependency misses what is asked of it, where the method kept it and the
    /// format could not.
    missing: Option<Ticks>,
}

impl Settled {
    /// The number of dependencies that miss what is asked of them.
    fn left(&self) -> u64 {
        self.solution.left.violated() + self.solution.left.short()
    }
}

/// The time by which the worst dependency between clocks misses what is asked of it; `None` if
/// none does.
fn missing_margin(solution: &Solution) -> Option<Ticks> {
    let clocks = solution.correction.clocks();
    let is_between =
        |it: &&Violation| clocks.of(it.cause.location) != clocks.of(it.effect.location);
    let worst = solution.left.worst.iter().find(is_between)?;
    (worst.slack.0 < 0).then(|| Ticks(worst.slack.0.saturating_neg()))
}

/// The delay that is saved with a trace, if it is left to the trace.
fn saved_delay(trace: &dyn Trace, model: &ModelArgs) -> Result<DelayBeside, CliError> {
    if model.min_delay == MinDelay::Auto {
        DelayBeside::of(trace)
    } else {
        Ok(DelayBeside::default())
    }
}

fn options(model: &ModelArgs, saved: &DelayBeside) -> CausalityOptions {
    CausalityOptions {
        keep_lengths: model.min_delay.looks_at_lengths() || saved.looks_at_lengths(),
        ..model.matching.options()
    }
}

/// The minimal delay that is wanted.
fn asked(model: &ModelArgs, saved: &DelayBeside, info: &TraceInfo) -> Result<AskedDelay, CliError> {
    saved
        .asked(info)?
        .map_or_else(|| model.min_delay.asked(info), Ok)
}

/// Analyses a trace by all processes, none of which gets to see the whole trace.
pub(crate) fn analyse_together(
    trace: Dealt,
    source: Source<'_>,
    model: &ModelArgs,
) -> Result<Analysed, CliError> {
    let start = Instant::now();
    let progress = Progress::new(Stage::Reading, trace.bytes(), source.quiet);
    let read = trace.read(&progress)?;
    drop(progress);
    let scan = start.elapsed();
    let saved = saved_delay(&trace, model)?;
    let options = AnalysisOptions {
        grouping: model.clocks.into(),
        delay: asked(model, &saved, &read.info)?,
        causality: options(model, &saved),
        window: None,
    };
    let analysing = Instant::now();
    let analysis = {
        let progress = Progress::open(Stage::Matching);
        retime_distributed::analyse(read.info, read.own, options, &read.distribution, &progress)
    };
    let analysis = analysis.map_err(|error| match error {
        AnalysisError::Cancelled(_) => CliError::Interrupted,
        AnalysisError::Causality(error) => CliError::Causality {
            trace: source.path.into(),
            source: error,
        },
    })?;
    check_interrupt()?;
    let of_other_kind = retime_perfetto::of_other_kind(source.path, trace.format())?;
    let trace = Arc::new(trace);
    Ok(Analysed {
        opened: Opened {
            path: source.path.into(),
            is_of_files: false,
            trace: trace.clone(),
            dealt: Some(trace),
            contents: read.contents,
            timing: LoadTiming {
                scan,
                ..LoadTiming::default()
            },
            of_other_kind,
        },
        analysis,
        delay_source: DelaySource::of(&model.min_delay, saved.is_there()),
        truth: None,
        start,
        analysis_seconds: analysing.elapsed().as_secs_f64(),
    })
}

impl Analysed {
    /// Runs a method; without writing anything. That there is no valid solution is
    /// [`CliError::Unsolved`].
    ///
    /// A format that cannot give all events the times of their maps, such as one in which calls
    /// keep their length, moves some a little on; where that leaves effects before their causes,
    /// the method runs again and keeps these further apart by what is missing.
    pub(crate) fn solve(&self, method: &Method) -> Result<Solution, CliError> {
        let mut best = self.solve_settled(method, Ticks(0))?;
        let mut margin = Ticks(0);
        for _ in 0..MARGINS {
            let Some(missing) = best.missing else {
                break;
            };
            margin.0 = margin.0.saturating_add(missing.0);
            let again = match self.solve_settled(method, margin) {
                Err(CliError::Unsolved { .. }) => break,
                again => again?,
            };
            if again.left() < best.left() {
                best = again;
            }
        }
        Ok(best.solution)
    }

    /// Runs a method, and gives events the times that the format can give them.
    fn solve_settled(&self, method: &Method, margin: Ticks) -> Result<Settled, CliError> {
        let solution = self.solve_with_margin(method, margin)?;
        let was_sound = missing_margin(&solution).is_none();
        let solution = match self.settled(&solution)? {
            None => solution,
            Some(times) => self.analysis.settled(solution, times, &Interrupts)?,
        };
        let missing = missing_margin(&solution).filter(|_| was_sound);
        Ok(Settled { solution, missing })
    }

    fn solve_with_margin(&self, method: &Method, margin: Ticks) -> Result<Solution, CliError> {
        let progress = Progress::open(Stage::Aligning);
        let solved = self.analysis.solve_with_margin(method, margin, &progress);
        check_interrupt()?;
        solved.map_err(|unsolved| match unsolved.reason {
            // Another process was told to stop.
            Unsolved::Cancelled(_) => CliError::Interrupted,
            reason => {
                let mut message = unsolved.message;
                if let Unsolved::Cycle(_) = reason {
                    // Often say why.
                    for warning in self.opened.trace.warnings(&self.opened.contents) {
                        message.extend(["\n", &warning]);
                    }
                }
                CliError::Unsolved {
                    trace: self.opened.path.clone(),
                    message,
                }
            }
        })
    }

    /// Runs a method, and again as long as other events belong together at the times that it
    /// gives, for formats that tell this by times.
    pub(crate) fn solve_matched(&mut self, method: &Method) -> Result<Solution, CliError> {
        let looks_at_all = method.looks_at_all_events();
        self.show_all_events_if(looks_at_all)?;
        let mut solution = self.solve(method)?;
        for _ in 0..ROUNDS {
            if !self.rematch(&solution)? {
                break;
            }
            self.show_all_events_if(looks_at_all)?;
            solution = self.solve(method)?;
        }
        Ok(solution)
    }

    /// Lets the method look at all events, if it does.
    fn show_all_events_if(&mut self, wanted: bool) -> Result<(), CliError> {
        if wanted && !self.analysis.has_all_events() {
            let all = self.all_events()?;
            self.analysis.show_all_events(all);
        }
        Ok(())
    }

    /// Reads the times of all events once more, for callers that look at each of them: each process
    /// those of its part.
    pub(crate) fn all_events(&self) -> Result<AllEvents, CliError> {
        let causality = self.analysis.causality();
        let nodes = causality.nodes();
        let times = match &self.opened.dealt {
            Some(dealt) => dealt.show_all_events(nodes, &Interrupts)?,
            None => self.times_of_all(nodes)?,
        };
        let all = causality.with_all_events(&times);
        all.map_err(|reason| CliError::input(&self.opened.path, reason.to_string()))
    }

    /// The recorded times of all events of each location.
    fn times_of_all(&self, nodes: &Nodes) -> Result<Vec<Vec<Timestamp>>, CliError> {
        let counts = (0..nodes.locations()).map(|it| nodes.event_count(it));
        let numbers = EventNumbers::of(counts);
        let trace = &self.opened.trace;
        let timelines = trace.timelines(&numbers.by_location(), &Interrupts)?;
        Ok(timelines.into_iter().map(|it| it.times).collect())
    }

    /// Joins what belongs together at the times of a solution; whether that is anything else
    /// than before.
    fn rematch(&mut self, solution: &Solution) -> Result<bool, CliError> {
        if !self.analysis.causality().whole().is_here() {
            return Ok(false);
        }
        let trace = &*self.opened.trace;
        let Some(scan) = trace.rematch(&solution.correction, &Interrupts)? else {
            return Ok(false);
        };
        let options = self.analysis.options().clone();
        let causality = joined(&self.opened.path, &scan.info, scan.logs, options.causality)?;
        if let Some(truth) = &mut self.truth {
            truth.follow(causality.nodes())?;
        }
        self.analysis = Analysis::of(scan.info, causality, options, &Interrupts)?;
        Ok(true)
    }

    /// The times of the events that take part as the format of the trace can give them; `None`
    /// if these are those of their maps.
    fn settled(&self, solution: &Solution) -> Result<Option<Vec<Timestamp>>, CliError> {
        let nodes = self.analysis.causality().nodes();
        if !nodes.whole().is_here() {
            return Ok(None);
        }
        let all: Vec<_> = (0..nodes.locations()).map(|it| nodes.of(it)).collect();
        let events: Vec<&[u32]> = all.iter().map(|it| nodes.events(it)).collect();
        let Some(trace) = self.opened.trace.rewriting() else {
            return Ok(None);
        };
        let settled = trace.settled(&solution.correction, &events, &Interrupts)?;
        Ok(settled.map(|times| times.concat()))
    }

    /// Adds to the report how far times can be from the truth: those that a
    /// solution gives, or else the recorded ones; and which participants came last by them.
    pub(crate) fn bound(
        &self,
        report: &mut model::Report,
        args: &BoundsArgs,
        run: &RunArgs,
        solution: Option<&Solution>,
    ) -> Result<Option<Bounds>, CliError> {
        let bounds = self.bound_alone(report, args, run, solution)?;
        let came_last = self
            .analysis
            .stragglers(solution, bounds.as_ref(), &Interrupts)?;
        let contradictory = self.analysis.are_contradictory(solution);
        let are_tied = self
            .analysis
            .attributions()
            .contains(&ClockAttribution::Tied);
        let unrelated = self.analysis.clocks().len() > 1 && !are_tied;
        let info = self.analysis.info();
        report.stragglers = stragglers::part(info, &came_last, contradictory, unrelated);
        if let Some(part) = &mut report.stragglers {
            part.leave_out(info, &self.opened.unused());
        }
        Ok(bounds)
    }

    fn bound_alone(
        &self,
        report: &mut model::Report,
        args: &BoundsArgs,
        run: &RunArgs,
        solution: Option<&Solution>,
    ) -> Result<Option<Bounds>, CliError> {
        if args.bounds == Switch::Off {
            return Ok(None);
        }
        let start = Instant::now();
        let analysis = &self.analysis;
        let progress = Progress::open(Stage::Bounding);
        let bounds = analysis.bounds_within(args.asked(), solution, &progress)?;
        if let Some(bounds) = &bounds {
            let truth = self.truth.as_ref();
            let truth = truth.map(|truth| truth.coverage(bounds, analysis));
            report.bounds = Some(build::bounds_part(
                analysis,
                bounds,
                truth.transpose()?.as_ref(),
            ));
            let alignment = report.method.as_mut().and_then(|it| it.alignment.as_mut());
            if let Some(alignment) = alignment {
                build::bound_steps(&mut alignment.steps, bounds);
            }
            let warnings = bounds.warnings(analysis.info(), analysis.clocks());
            report.warnings.extend(warnings);
            if run.verbose || run.json.is_some() {
                let least = analysis.least_distortion(solution, &progress)?;
                report.gentlest = least.map(|it| build::gentlest_part(analysis, &it));
            }
            report.timing.bounds_seconds = Some(start.elapsed().as_secs_f64());
        }
        Ok(bounds)
    }

    /// How far the recorded and the given times are from the truth, if it is known.
    pub(crate) fn accuracy(
        &self,
        corrected: Option<&[Timestamp]>,
    ) -> Result<Option<model::AccuracyPart>, CliError> {
        let measure = |truth: &Truth| truth.measure(&self.analysis, corrected);
        self.truth.as_ref().map(measure).transpose()
    }

    /// How far recorded times and those of a method are from the truth, if it is known. What counts
    /// events is no time, and at no distance from one.
    pub(crate) fn accuracy_by(
        &self,
        method: &Method,
        corrected: &[Timestamp],
    ) -> Result<Option<model::AccuracyPart>, CliError> {
        self.accuracy(method.keeps_time().then_some(corrected))
    }

    /// How much of the communication in the trace was looked at.
    pub(crate) fn examined(&self) -> model::ExaminedPart {
        let (analysis, unused) = (&self.analysis, self.opened.unused());
        let stretch = build::stretch_part(analysis);
        // What relates clocks may lie outside of a stretch.
        let unrelated = if stretch.is_none() {
            let (info, clocks) = (analysis.info(), analysis.clocks());
            build::unrelated_parts(info, clocks, analysis.recorded(), &unused)
        } else {
            Vec::new()
        };
        model::ExaminedPart {
            unrelated,
            ..build::examined_part(analysis.examined(&unused), stretch)
        }
    }

    /// The report so far.
    pub(crate) fn report(&self, model: &ModelArgs) -> model::Report {
        let (analysis, info) = (&self.analysis, self.analysis.info());
        let (clocks, grouping) = (analysis.clocks(), model.clocks.into());
        let timing = self.opened.timing;
        model::Report {
            schema: model::SCHEMA,
            trace: build::trace_part(&self.opened, analysis),
            matching: build::matching_part(analysis),
            examined: self.examined(),
            clocks: build::clocks_part(analysis, grouping, &[]),
            before: build::check_part(info, clocks, analysis.recorded(), analysis.out_of_order()),
            after: None,
            method: None,
            parameters: model::ParametersPart {
                min_delay: build::delay_part(analysis, self.delay_source),
                dense_alltoallv: model.matching.dense_alltoallv,
                trusted_implementation: model.matching.trust_implementation,
                gamma_max: None,
                amortization_rate: None,
                threads: rayon::current_num_threads(),
            },
            distortion: None,
            bounds: None,
            gentlest: None,
            hosts: None,
            devices: Vec::new(),
            stragglers: None,
            accuracy: None,
            timing: model::TimingPart {
                scan_seconds: timing.scan.as_secs_f64(),
                matching_seconds: timing.matching.as_secs_f64(),
                analysis_seconds: self.analysis_seconds,
                total_seconds: self.start.elapsed().as_secs_f64(),
                ..model::TimingPart::default()
            },
            advice: Vec::new(),
            warnings: warnings::trace_warnings(&self.opened, analysis),
        }
    }
}
