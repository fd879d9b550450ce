//! Estimators: from the dependencies between clocks to what has to be added to each.
//!
//! ```text
//!  dependencies --estimate--> Estimate --correction--> clocks on one time
//!               --repair----> no dependency violated, if a logical clock follows
//! ```
//!
//! An estimator sees the dependencies as a list and knows nothing of files, clock maps or
//! repairs. All else is done here for each of them alike: of collectives, the
//! dependencies that are the tightest at estimated times are listed ([`twice`]), the
//! estimate is put on the time of the [reference](Choice::Reference), made a correction,
//! and followed by a logical clock.
//!
//! Here is one whole: a clock is off by a constant, half of what the fastest round trip
//! with the reference is askew (F. Cristian, *Probabilistic clock synchronization*,
//! Distributed Computing 3, 1989).
//!
//! ```
//! use retime::estimate::{Estimate, NoEstimate, Offset};
//! use retime::pipeline::{Estimator, Input, Unsolved};
//! use retime::{ClockId, Edge};
//!
//! #[derive(Debug)]
//! struct Cristian;
//!
//! impl Estimator for Cristian {
//!     fn name(&self) -> &'static str {
//!         "cristian"
//!     }
//!
//!     fn help(&self) -> &'static str {
//!         "Cristian: clocks shifted by the fastest round trip with the reference"
//!     }
//!
//!     fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
//!         let (edges, reference) = (input.edges, input.reference);
//!         let fastest = |from: ClockId, to: ClockId| {
//!             let between = edges.all().iter().filter(|it| (it.from, it.to) == (from, to));
//!             between.map(Edge::latency).min()
//!         };
//!         let offset = |clock: ClockId| {
//!             if clock == reference || edges.extent(clock).is_none() {
//!                 return Ok(Some(Offset::constant(0.0)));
//!             }
//!             let there = fastest(reference, clock).ok_or(NoEstimate::Unrelated(vec![clock]))?;
//!             let back = fastest(clock, reference).ok_or(NoEstimate::Unrelated(vec![clock]))?;
//!             Ok(Some(Offset::constant((back - there) as f64 / 2.0)))
//!         };
//!         let offsets = input.problem.clocks.iter().map(offset);
//!         let offsets = offsets.collect::<Result<_, NoEstimate>>()?;
//!         Ok(Estimate { offsets, reference })
//!     }
//! }
//!
//! # use retime::causality::{LogBuilder, Message};
//! # use retime::{Communicator, Location, LocationIndex, Members, Process, TickRate, Timestamp, TraceInfo};
//! # let location = |id: u32| Location { id: id.into(), name: String::new(), process: id as usize, endpoint: LocationIndex(id) };
//! # let process = |node| Process { name: String::new(), node: Some(node), creator: None };
//! # let info = TraceInfo {
//! #     rate: TickRate::per_second(1_000_000_000).unwrap(),
//! #     locations: vec![location(0), location(1)],
//! #     processes: vec![process(0), process(1)],
//! #     nodes: vec![String::new(), String::new()],
//! #     communicators: vec![Communicator { name: "world".into(), members: Members::Ranks([LocationIndex(0), LocationIndex(1)].into()) }],
//! #     streams: Vec::new(),
//! #     set_back: Vec::new(),
//! # };
//! # let message = |peer| Message { communicator: 0, peer: LocationIndex(peer), tag: 1 };
//! // A message of 2 us there and one of 2 us back; the second clock is 5 us ahead.
//! let (mut first, mut second) = (LogBuilder::new(LocationIndex(0)), LogBuilder::new(LocationIndex(1)));
//! first.send(0, Timestamp(10_000), message(1), None);
//! second.receive(0, Timestamp(12_000 + 5_000), message(0));
//! second.send(1, Timestamp(15_000 + 5_000), message(0), None);
//! first.receive(1, Timestamp(17_000), message(1));
//! let logs = vec![
//!     first.finish(2, Timestamp(10_000), Timestamp(17_000))?,
//!     second.finish(2, Timestamp(17_000), Timestamp(20_000))?,
//! ];
//! use retime::pipeline::{Analysis, AnalysisOptions, Method};
//! let analysis = Analysis::new(info, logs, AnalysisOptions::default(), &())?;
//! let method = Method::new(&Cristian);
//! assert_eq!(method.to_string(), "cristian, then controlled logical clock");
//! let solution = analysis.solve(&method.repaired_by(None), &())?;
//! assert!(solution.is_sound());
//! let times: Vec<u64> = solution.times.iter().map(|it| it.0).collect();
//! assert_eq!(times, [10_000, 17_000, 12_000, 15_000]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::any::Any;
use std::fmt::Debug;

use super::algorithm::{Algorithm, Variant};
use super::composition::{followed, settled};
use super::logical_clock::LogicalClock;
use super::options::{Choice, Options};
use super::problem::{Found, Problem};
use super::solution::{Aligned, Repaired};
use super::unsolved::Unsolved;
use retime_causality::edges::{Edge, Edges};
use retime_causality::{AllEvents, Causality};
use retime_clocks::estimate::{Estimate, NoEstimate, Offset, Reference, twice};
use retime_model::Correction;
use retime_model::{ClockId, Ticks};

/// A way to estimate how clocks differ.
pub trait Estimator: Any + Debug + Send + Sync {
    /// Its name on a command line, which no other method has.
    fn name(&self) -> &'static str;

    /// One line of help.
    fn help(&self) -> &'static str;

    /// Its name in a sentence of a report.
    fn describe(&self, _options: &Options) -> &'static str {
        self.name()
    }

    /// The options with a part in it, besides those that all estimators have: the
    /// reference, and the logical clock that follows.
    fn choices(&self) -> &'static [Choice] {
        &[]
    }

    /// Estimates what has to be added to each clock to show the time of the reference.
    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved>;
}

/// The input of an estimator.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The trace, its clocks, and the monitor that long work asks for leave to go on.
    pub problem: &'a Problem<'a>,
    /// The options of the method.
    pub options: &'a Options,
    /// The dependencies between clocks; of collectives the tightest.
    pub edges: &'a Edges,
    /// The clock to estimate the others against.
    pub reference: ClockId,
}

impl<'a> Input<'a> {
    /// The least time that a dependency takes, in ticks.
    pub fn least(&self) -> impl Fn(&Edge) -> i64 + Copy + Send + Sync + use<'a> {
        let (delay, causality) = (self.problem.delay, self.problem.causality);
        move |edge| edge.minimal_delay(delay, causality)
    }
}

impl<E: Estimator> Algorithm for E {
    fn name(&self) -> &'static str {
        Estimator::name(self)
    }

    fn help(&self) -> &'static str {
        Estimator::help(self)
    }

    fn describe(&self, options: &Options) -> String {
        let estimator = Estimator::describe(self, options);
        match &options.clock {
            Some(clock) => format!("{estimator}, then {clock}"),
            None => estimator.into(),
        }
    }

    fn choices(&self, options: &Options) -> Vec<Choice> {
        let all = [Choice::Reference, Choice::Repair].into_iter();
        let own = Estimator::choices(self).iter().copied();
        let of_clock = options.clock.iter().flat_map(|it| it.kind.own_choices());
        all.chain(own).chain(of_clock.copied()).collect()
    }

    fn solve(&self, problem: &Problem<'_>, options: &Options) -> Result<Found, Unsolved> {
        let (correction, aligned) = estimated(self, problem, options)?;
        let found = match &options.clock {
            Some(clock) => repaired(&correction, clock, problem)?,
            None => Found::new(correction),
        };
        Ok(Found {
            aligned: Some(aligned),
            ..found
        })
    }

    /// Alone, and followed by the controlled logical clock.
    fn variants(&self) -> Vec<Variant> {
        let name = Estimator::name(self);
        let alone = Options {
            clock: None,
            ..Options::default()
        };
        vec![
            Variant {
                name: name.into(),
                words: format!("--method {name} --repair off"),
                options: alone,
            },
            Variant {
                name: format!("{name}, clc"),
                words: format!("--method {name}"),
                options: Options::default(),
            },
        ]
    }
}

/// Estimates from the dependencies that are the tightest at estimated times.
fn estimated(
    estimator: &dyn Estimator,
    problem: &Problem<'_>,
    options: &Options,
) -> Result<(Correction, Aligned), Unsolved> {
    let Problem {
        causality,
        clocks,
        monitor,
        ..
    } = *problem;
    let solve = |edges: &Edges| {
        monitor.check()?;
        from_edges(estimator, problem, options, edges)
    };
    let retimed =
        |(_, correction): &(Estimate, Correction)| Ok(causality.retimed(correction, monitor)?);
    let (estimate, correction) = twice(causality, clocks, solve, retimed, monitor)?;
    let extents = Edges::new(Vec::new(), Edges::extents(causality, clocks));
    let aligned = Aligned {
        moved_later: estimate.moved_later(causality, clocks, &extents)?,
        ..Aligned::by_estimate(&estimate, options.reference)
    };
    Ok((correction, aligned))
}

fn from_edges(
    estimator: &dyn Estimator,
    problem: &Problem<'_>,
    options: &Options,
    edges: &Edges,
) -> Result<(Estimate, Correction), Unsolved> {
    let Problem {
        causality, clocks, ..
    } = *problem;
    let reference = options.reference;
    let mut estimate = estimator.estimate(&Input {
        problem,
        options,
        edges,
        reference: clock_of(reference, problem)?,
    })?;
    if reference == Reference::Mean {
        let of_all = reference.of(estimate, clocks, edges);
        estimate = of_all.ok_or(Unsolved::NoMean)?;
    }
    let correction = estimate.correction(causality, clocks, edges)?;
    Ok((estimate, correction))
}

/// The clock to estimate against.
fn clock_of(reference: Reference, problem: &Problem<'_>) -> Result<ClockId, NoEstimate> {
    let found = reference.clock(problem.causality, problem.clocks);
    found.ok_or_else(|| {
        NoEstimate::Unrelated(match reference {
            Reference::ClockOf(location) => vec![problem.clocks.of(location)],
            Reference::Ensemble | Reference::First | Reference::Mean => {
                problem.clocks.iter().collect()
            }
        })
    })
}

/// An estimate followed by a logical clock, until nothing is violated.
fn repaired(
    estimated: &Correction,
    clock: &LogicalClock,
    problem: &Problem<'_>,
) -> Result<Found, Unsolved> {
    // Where the clock looks at all events, so does what it follows.
    let all = problem.all_events.filter(|_| clock.looks_at_all_events());
    let problem = &Problem {
        causality: all.map_or(problem.causality, AllEvents::causality),
        all_events: None,
        ..*problem
    };
    let run = |causality: &Causality| {
        clock.run(&Problem {
            causality,
            ..*problem
        })
    };
    let mut first = None;
    let correction = followed(problem, estimated, |causality| {
        let (found, repaired) = run(causality)?;
        first = Some(Repaired {
            times: None,
            ..repaired
        });
        Ok(found)
    })?;
    let again = |causality: &Causality| run(causality).map(|(found, _)| found);
    Ok(Found {
        repaired: first,
        ..Found::new(settled(problem, correction, again)?)
    })
}

impl Aligned {
    /// The most straight pieces of offsets that have up to so many.
    pub(super) fn pieces(estimate: &Estimate, most: usize) -> usize {
        let mut offsets = estimate.offsets.iter().flatten();
        if offsets.all(Offset::is_constant) {
            0
        } else {
            most.max(1)
        }
    }

    /// Clocks put on one time by an estimator.
    fn by_estimate(estimate: &Estimate, reference: Reference) -> Self {
        let offsets = (0..).map(ClockId).zip(&estimate.offsets);
        let unrelated = offsets.filter(|(_, offset)| offset.is_none());
        let knots = estimate.offsets.iter().flatten().map(|it| it.knots().len());
        Self {
            unrelated: unrelated.map(|(clock, _)| clock).collect(),
            one_way: Vec::new(),
            outliers: 0,
            pieces: Self::pieces(estimate, knots.max().unwrap_or(0).saturating_sub(1)),
            reference: (reference != Reference::Mean).then_some(estimate.reference),
            moved_later: Ticks(0),
            steps: Vec::new(),
            instead: Vec::new(),
            rate_changes: Vec::new(),
            half_were_set_at_once: false,
            estimate: None,
            common: None,
            ends: None,
        }
    }
}
