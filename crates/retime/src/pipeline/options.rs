//! The options that methods share, and which of them a method heeds.
//!
//! They are declared once for all methods, so that a command line, a comparison and a
//! program can set them without knowing which method will read them. A method names
//! those that have a part in it ([`Choice`]); whoever is given another one for it can
//! say so instead of ignoring it.

use super::logical_clock::LogicalClock;
use retime_clocks::estimate::Reference;
use retime_model::LocationIndex;

/// The options of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The clock whose time is the common one.
    pub reference: Reference,
    /// The logical clock that runs, or that follows an estimate; `None` for an estimate
    /// alone.
    pub clock: Option<LogicalClock>,
    /// The amount by which the rates of clocks may wander, a share.
    pub drift: f64,
    /// Number of sub-intervals.
    pub intervals: IntervalNumber,
    /// How many times as wide as the narrowest bounds of any pair those are that are guessed where
    /// messages go one way only; `None` for what round trips tell.
    pub one_way_factor: Option<f64>,
    /// How two clocks are compared.
    pub pairs: PairMethod,
    /// Offsets of clocks from the common time.
    pub offsets: MeasuredOffsets,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reference: Reference::default(),
            clock: Some(LogicalClock::default()),
            drift: 1e-4,
            intervals: IntervalNumber::ByMessages,
            one_way_factor: None,
            pairs: PairMethod::ConvexHull,
            offsets: MeasuredOffsets::default(),
        }
    }
}

/// An option, or several that belong together, with a part in some methods only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The clock whose time is the common one, as clocks are aligned or estimated.
    Reference,
    /// The logical clock that follows an estimate, if any.
    Repair,
    /// The control factor, the controllers and the amortisation of the controlled
    /// logical clock.
    Control,
    /// The least time between successive events of a location.
    Distance,
    /// From the beginning of the trace to its end, or backwards.
    Direction,
    /// [`Options::intervals`].
    Intervals,
    /// [`Options::one_way_factor`].
    OneWay,
    /// [`Options::pairs`].
    Pairs,
    /// [`Options::offsets`].
    Offsets,
    /// [`Options::drift`], which the search for error bounds reads, too.
    Drift,
}

/// How many sub-intervals a run is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalNumber {
    /// The number of intervals that messages fill.
    ByMessages,
    /// So many that clocks part by less in each than the fastest message takes, as fast as they
    /// may wander.
    ByDrift,
    /// So many intervals.
    Given(u32),
}

/// How the line between two clocks is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairMethod {
    /// Regression, which knows no minimal delay.
    Regression,
    /// Convex hulls.
    ConvexHull,
}

/// An offset that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredOffset {
    /// Whose clock it is.
    pub location: LocationIndex,
    /// The stamp of that clock, in ticks since the base.
    pub stamp: i64,
    /// The ticks to add for the common time.
    pub offset: f64,
}

/// Offsets that were measured while the program ran.
#[derive(Clone, Debug, PartialEq)]
pub enum MeasuredOffsets {
    /// They are known.
    Known(Vec<MeasuredOffset>),
    /// They are not, and where they could come from.
    Missing(String),
}

impl Default for MeasuredOffsets {
    fn default() -> Self {
        Self::Missing("no measured offsets are given".into())
    }
}
