//! A method with its options: from a trace to a correction.

use std::any::Any;
use std::fmt;

use super::algorithm::Algorithm;
use super::auto::Auto;
use super::logical_clock::{ClockKind, LogicalClock};
use super::options::{Choice, Options};
use super::problem::{Found, Problem};
use super::unsolved::Unsolved;
use retime_clocks::estimate::Reference;
use retime_logical_clocks::{AmortizationRate, Gamma};

/// A method with its options.
///
/// ```
/// use retime::estimate::Reference;
/// use retime::pipeline::{GentlestCorrection, Method};
/// let method = Method::new(&GentlestCorrection).by(Reference::Mean);
/// assert_eq!(method.to_string(), "gentlest correction, then controlled logical clock");
/// assert_eq!(method.repaired_by(None).to_string(), "gentlest correction");
/// ```
#[derive(Clone, Debug)]
pub struct Method {
    algorithm: &'static dyn Algorithm,
    options: Options,
}

impl Default for Method {
    /// The one that suits most traces: [`Auto`].
    fn default() -> Self {
        Self::new(&Auto)
    }
}

impl Method {
    /// A method with its usual options; estimators are followed by the controlled
    /// logical clock.
    pub fn new(algorithm: &'static dyn Algorithm) -> Self {
        Self {
            algorithm,
            options: Options::default(),
        }
    }

    /// A logical clock alone.
    pub fn clock(clock: LogicalClock) -> Self {
        let algorithm: &'static dyn Algorithm = match clock.kind {
            ClockKind::Controlled => &ClockKind::Controlled,
            ClockKind::Simple => &ClockKind::Simple,
            ClockKind::Lamport => &ClockKind::Lamport,
        };
        Self::new(algorithm).with(Options {
            clock: Some(clock),
            ..Options::default()
        })
    }

    /// With other options.
    #[must_use]
    pub fn with(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// With another clock as the one that is right. Logical clocks have none.
    #[must_use]
    pub fn by(mut self, reference: Reference) -> Self {
        self.options.reference = reference;
        self
    }

    /// An estimator followed by this logical clock, or by none; other methods stay as they
    /// are.
    #[must_use]
    pub fn repaired_by(mut self, clock: Option<LogicalClock>) -> Self {
        if self.heeds(Choice::Repair) {
            self.options.clock = clock;
        }
        self
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Its options.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// True if an option has a part in it.
    pub fn heeds(&self, choice: Choice) -> bool {
        self.algorithm.choices(&self.options).contains(&choice)
    }

    /// False if corrected stamps are no times.
    pub fn keeps_time(&self) -> bool {
        self.algorithm.keeps_time()
    }

    /// The method that takes its place where no clock contradicts another.
    pub(super) fn where_clocks_agree(&self) -> Option<Self> {
        self.algorithm.where_clocks_agree().map(Self::new)
    }

    /// The logical clock that takes part, if one with parameters does.
    pub fn logical_clock(&self) -> Option<LogicalClock> {
        let follows = || {
            self.options
                .clock
                .clone()
                .filter(|_| self.heeds(Choice::Repair))
        };
        self.clock_alone().or_else(follows)
    }

    /// True if it depends on events between those that take part in happened-before.
    pub fn looks_at_all_events(&self) -> bool {
        let clock = self.logical_clock();
        clock.is_some_and(|clock| clock.looks_at_all_events())
    }

    /// The largest control factor, if the method was given one.
    pub fn gamma_max(&self) -> Option<Gamma> {
        self.logical_clock()?.gamma_max()
    }

    /// The rate of amortisation, if there is any.
    pub fn amortization(&self) -> Option<AmortizationRate> {
        self.logical_clock()?.amortization()
    }

    /// True for the default.
    pub fn is_auto(&self) -> bool {
        let algorithm: &dyn Any = self.algorithm;
        algorithm.is::<Auto>()
    }

    /// The logical clock that is all of the method, if one is.
    pub(super) fn clock_alone(&self) -> Option<LogicalClock> {
        let algorithm: &dyn Any = self.algorithm;
        let kind: &ClockKind = algorithm.downcast_ref()?;
        Some(kind.with(&self.options))
    }

    /// Runs the method over a trace.
    pub(super) fn solve(&self, problem: &Problem<'_>) -> Result<Found, Unsolved> {
        self.algorithm.solve(problem, &self.options)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.algorithm.describe(&self.options))
    }
}
