//! `retime check`: the contradictions in a trace.

use std::path::Path;
use std::time::Instant;

use retime::causality::{CausalityOptions, Check, Defect, check};
use retime::{Causality, Clocks, Correction, Grouping, Timestamp, TraceInfo, split_clocks};

use crate::args::{CheckArgs, ClockGrouping, ModelArgs, RunArgs};
use crate::bounds::{Bounded, BoundsArgs, Switch, Timed};
use crate::delay::{self, DelaySource, ResolvedDelay};
use crate::error::{CliError, VIOLATIONS};
use crate::load::{Loaded, load, with_threads};
use crate::method::{Input, Method, Solution, Unsolved};
use crate::progress::check_interrupt;
use crate::report::{self, build, model, warnings};
use crate::truth::Truth;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CheckArgs) -> Result<u8, CliError> {
    report::target::check(&args.run, None)?;
    let (report, outcome) = with_threads(args.run.threads, || {
        let analysed = analyse(&args.trace, &args.model, &args.run)?;
        let outcome = outcome(&analysed);
        let mut report = analysed.report(&args.model);
        analysed.bound(&mut report, &args.bounds, &args.run, None)?;
        report.accuracy = analysed.accuracy(None)?;
        report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
        Ok((report, outcome))
    })?;
    report::print(&report, outcome, &args.run)?;
    let contradicted = report.before.reversed > 0 || report.before.out_of_order > 0;
    let failed = contradicted || args.model.strict && !report.matching.defects.is_empty();
    Ok(if failed { VIOLATIONS } else { 0 })
}

fn outcome(analysed: &Analysed) -> &'static str {
    if analysed.is_sound() {
        "No contradiction: every effect is stamped at or after its cause."
    } else if analysed.before.reversed() == 0 {
        "Locations contradict themselves: their time runs backwards; retime correct repairs it."
    } else {
        "The clocks of this trace contradict each other; retime correct repairs it."
    }
}

/// A trace whose contradictions are counted.
pub(crate) struct Analysed {
    pub(crate) loaded: Loaded,
    pub(crate) clocks: Clocks,
    pub(crate) delay: ResolvedDelay,
    pub(crate) before: Check,
    pub(crate) truth: Option<Truth>,
    pub(crate) start: Instant,
    analysis_seconds: f64,
}

/// Loads a trace, groups its clocks and checks its recorded times.
pub(crate) fn analyse(path: &Path, model: &ModelArgs, run: &RunArgs) -> Result<Analysed, CliError> {
    analyse_some(path, model, run, |_, _| Ok(()))
}

/// As [`analyse`], but checks only what `limit` leaves of the dependencies.
pub(crate) fn analyse_some(
    path: &Path,
    model: &ModelArgs,
    run: &RunArgs,
    limit: impl FnOnce(&mut Causality, &TraceInfo) -> Result<(), CliError>,
) -> Result<Analysed, CliError> {
    let start = Instant::now();
    let options = CausalityOptions {
        dense_alltoallv: model.dense_alltoallv,
    };
    let mut loaded = load(path, options, run)?;
    let truth = Truth::of(&loaded, model, run)?;
    let analysis = Instant::now();
    let grouping = Grouping::from(model.clocks);
    let clocks = grouping.clocks(loaded.trace.info(), &loaded.causality);
    let delay = delay::resolve(&model.min_delay, &loaded, &clocks)?;
    limit(&mut loaded.causality, loaded.trace.info())?;
    let times = loaded.causality.nodes().timestamps();
    let before = check(&loaded.causality, &clocks, &delay.delay, times);
    let analysis_seconds = analysis.elapsed().as_secs_f64();
    Ok(Analysed {
        loaded,
        clocks,
        delay,
        before,
        truth,
        start,
        analysis_seconds,
    })
}

impl Analysed {
    /// Whether the recorded times contradict nothing.
    pub(crate) fn is_sound(&self) -> bool {
        self.before.reversed() == 0 && self.out_of_order() == 0
    }

    /// What methods work on.
    pub(crate) fn input(&self, model: &ModelArgs) -> Input<'_> {
        Input {
            info: self.loaded.trace.info(),
            causality: &self.loaded.causality,
            clocks: &self.clocks,
            delay: &self.delay.delay,
            delay_is_known: self.delay.source != DelaySource::Learned,
            may_regroup: model.clocks == ClockGrouping::Auto,
        }
    }

    /// Runs a method; without writing anything. Clocks that turn out to be several
    /// are split on the way, if it was left to retime to group them: those of the
    /// correction count. That there is no valid solution is [`CliError::Unsolved`].
    pub(crate) fn solve(&self, method: &Method, model: &ModelArgs) -> Result<Solution, CliError> {
        let mut finer: Option<(Clocks, ResolvedDelay)> = None;
        loop {
            let mut input = self.input(model);
            if let Some((clocks, delay)) = &finer {
                (input.clocks, input.delay) = (clocks, &delay.delay);
            }
            let unsolved = match method.solve(&input) {
                Ok(solution) => return Ok(solution),
                Err(unsolved) => unsolved,
            };
            check_interrupt()?;
            let split = match &unsolved {
                Unsolved::Cycle(cycle) => split_clocks(input.clocks, input.info, cycle),
                _ => None,
            };
            let hint = match split {
                Some(clocks) if input.may_regroup => {
                    let delay = delay::resolve(&model.min_delay, &self.loaded, &clocks)?;
                    finer = Some((clocks, delay));
                    continue;
                }
                Some(_) => "\nif locations that share a clock should not, give a finer --clocks",
                None => "",
            };
            let reason = unsolved.describe(input.info, input.clocks);
            return Err(CliError::Unsolved {
                trace: self.loaded.path.clone(),
                message: match &unsolved {
                    Unsolved::Cycle(_) => format!("{reason}{hint}"),
                    _ => format!(
                        "--method {} finds no correction: {reason}",
                        method.name().as_str()
                    ),
                },
            });
        }
    }

    /// Takes the clocks and the minimal delay of a solution, and what follows
    /// from them.
    pub(crate) fn adopt(&mut self, solution: &Solution, model: &ModelArgs) -> Result<(), CliError> {
        let clocks = solution.correction.clocks();
        let regrouped = *clocks != self.clocks;
        if regrouped {
            self.clocks = clocks.clone();
            self.delay = delay::resolve(&model.min_delay, &self.loaded, clocks)?;
        }
        if let Some(enforced) = &solution.enforced
            && self.delay.source == DelaySource::Learned
        {
            self.delay.delay = enforced.delay.clone();
            self.delay.half_round_trip = enforced.shortest;
        }
        if regrouped || solution.enforced.is_some() {
            let causality = &self.loaded.causality;
            let times = causality.nodes().timestamps();
            self.before = check(causality, &self.clocks, &self.delay.delay, times);
        }
        Ok(())
    }

    /// Adds to the report how far times can be from the truth: those that a
    /// solution gives, or else the recorded ones.
    pub(crate) fn bound(
        &self,
        report: &mut model::Report,
        args: &BoundsArgs,
        run: &RunArgs,
        solution: Option<&Solution>,
    ) -> Result<Option<Bounded>, CliError> {
        if args.bounds == Switch::Off {
            return Ok(None);
        }
        let start = Instant::now();
        let trace = Timed {
            rate: self.loaded.trace.info().rate,
            causality: &self.loaded.causality,
            clocks: &self.clocks,
            estimate: solution.and_then(|it| it.aligned.as_ref()?.estimate.as_ref()),
        };
        let recorded = Correction::new(self.clocks.clone(), Vec::new());
        let bounded = args.of(trace, solution.map_or(&recorded, |it| &it.correction));
        check_interrupt()?;
        if let Some(bounded) = &bounded {
            let truth = self.truth.as_ref();
            let truth = truth.map(|truth| bounded.coverage(trace, truth.times()));
            report.bounds = Some(build::bounds_part(bounded, truth.transpose()?.as_ref()));
            let info = self.loaded.trace.info();
            report.warnings.extend(bounded.warnings(info, &self.clocks));
            if run.verbose || run.json.is_some() {
                let gentlest = trace.gentlest(&self.delay.delay);
                let part =
                    gentlest.map(|(it, edges)| build::gentlest_part(&self.loaded, &it, &edges));
                report.gentlest = part;
                check_interrupt()?;
            }
            report.timing.bounds_seconds = Some(start.elapsed().as_secs_f64());
        }
        Ok(bounded)
    }

    /// Events stamped before their predecessor on the same location.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.loaded
            .causality
            .defects()
            .count(Defect::TimeRunsBackwards)
    }

    /// How far the recorded and the given times are from the truth, if it is known.
    pub(crate) fn accuracy(
        &self,
        corrected: Option<&[Timestamp]>,
    ) -> Result<Option<model::AccuracyPart>, CliError> {
        let measure = |truth: &Truth| truth.measure(&self.loaded, corrected);
        self.truth.as_ref().map(measure).transpose()
    }

    /// The report so far.
    pub(crate) fn report(&self, model: &ModelArgs) -> model::Report {
        let info = self.loaded.trace.info();
        model::Report {
            schema: model::SCHEMA,
            trace: build::trace_part(&self.loaded),
            matching: build::matching_part(&self.loaded),
            clocks: build::clocks_part(info, &self.clocks, model.clocks.into(), &[]),
            before: build::check_part(info, &self.clocks, &self.before, self.out_of_order()),
            after: None,
            method: None,
            parameters: model::ParametersPart {
                min_delay: build::delay_part(&self.delay),
                dense_alltoallv: model.dense_alltoallv,
                gamma_max: None,
                amortization_rate: None,
                threads: rayon::current_num_threads(),
            },
            distortion: None,
            bounds: None,
            gentlest: None,
            accuracy: None,
            timing: model::TimingPart {
                scan_seconds: self.loaded.timing.scan.as_secs_f64(),
                matching_seconds: self.loaded.timing.matching.as_secs_f64(),
                analysis_seconds: self.analysis_seconds,
                total_seconds: self.start.elapsed().as_secs_f64(),
                ..model::TimingPart::default()
            },
            advice: Vec::new(),
            warnings: warnings::trace_warnings(
                &self.loaded,
                &self.clocks,
                &self.before,
                &self.delay,
            ),
        }
    }
}
