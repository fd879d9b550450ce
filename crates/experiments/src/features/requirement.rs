//! The requirements that a method is asked to meet, and the answers.

use super::cell::Cell;
use super::kind::Kind;
use super::one_pass::one_pass;
use super::online::online;
use super::order::{local, near, order};
use super::traces::{long_run, sparse, traces};
use crate::accuracy::{Method, Trace};
use crate::simulated::Failure;

/// Clocks of traces with more than two.
const SEVERAL: u32 = 6;
/// Nanoseconds that clocks are off, to either side.
const OFF: f64 = 200_000.0;
/// Nanoseconds that the thesis' clocks are off, which are up to 5 ms apart.
const FAR_OFF: f64 = 2_500_000.0;

/// A criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Effects come after causes, on so many clocks of a kind.
    Order(Kind, u32),
    /// Times come near to the truth.
    Near,
    /// Intervals that a process measured by itself stay right.
    Local,
    /// Events can be corrected in one pass.
    OnePass,
    /// Events can be corrected as they happen.
    Online,
}

/// All of them with their headings, in the order of the thesis but for the first,
/// which stands at its end.
pub const REQUIREMENTS: &[(&str, Requirement)] = &[
    ("2 rate", Requirement::Order(Kind::ConstantRate, 2)),
    ("2 var", Requirement::Order(Kind::VariableRate, 2)),
    ("n off", Requirement::Order(Kind::Offsets, SEVERAL)),
    ("n rate", Requirement::Order(Kind::ConstantRate, SEVERAL)),
    ("n var", Requirement::Order(Kind::VariableRate, SEVERAL)),
    ("jumps", Requirement::Order(Kind::Jumps, SEVERAL)),
    ("ticks", Requirement::Order(Kind::CoarseTicks, SEVERAL)),
    ("near", Requirement::Near),
    ("local", Requirement::Local),
    ("1 pass", Requirement::OnePass),
    ("online", Requirement::Online),
];

impl Requirement {
    /// The traces that decide it.
    pub fn traces(self) -> Result<Vec<Trace>, Failure> {
        match self {
            // Lines between clocks of constant rates are what the thesis promises for any messages.
            Self::Order(kind @ Kind::ConstantRate, clocks @ SEVERAL) => {
                let mut all = traces(kind, clocks)?;
                all.extend(sparse(kind, clocks)?);
                Ok(all)
            }
            Self::Order(kind, clocks) => traces(kind, clocks),
            Self::Near | Self::Local => traces(Kind::ConstantRate, SEVERAL),
            Self::OnePass => Ok(vec![long_run(OFF)?]),
            Self::Online => Ok(vec![long_run(FAR_OFF)?]),
        }
    }

    /// Runs a method over them.
    pub fn decide(self, method: &Method, traces: &[Trace]) -> Cell {
        let first = |decide: fn(&Method, &Trace) -> Cell| {
            let first = traces.first();
            first.map_or_else(|| Cell::no("none"), |trace| decide(method, trace))
        };
        match self {
            Self::Order(..) => order(method, traces),
            Self::Near => near(method, traces),
            Self::Local => local(method, traces),
            Self::OnePass => first(one_pass),
            Self::Online => first(online),
        }
    }
}
