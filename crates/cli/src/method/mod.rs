//! The options of methods, and the [method](retime::pipeline::Method) that they
//! give.

mod args;
mod controller;
mod given;
mod reference;
mod window;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use retime::estimate::PairMethod;
use retime::pipeline::MethodName;

pub(crate) use args::MethodArgs;
pub(crate) use controller::{ConstantsArgs, Controller, to_ticks};
pub(crate) use window::WindowArgs;

/// A method by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodOption(pub(crate) MethodName);

impl ValueEnum for MethodOption {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: std::sync::OnceLock<Vec<MethodOption>> = std::sync::OnceLock::new();
        ALL.get_or_init(|| MethodName::all().map(MethodOption).collect())
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()).help(self.0.help()))
    }
}

/// What follows an estimate, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RepairName {
    /// The controlled logical clock: no dependency stays violated
    Clc,
    /// Nothing: what the estimate alone gives
    Off,
}

/// How a spanning tree compares two clocks, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairsName {
    /// A line through their messages
    Regression,
    /// A line between the messages there and back
    ConvexHull,
}

impl From<PairsName> for PairMethod {
    fn from(name: PairsName) -> Self {
        match name {
            PairsName::Regression => Self::Regression,
            PairsName::ConvexHull => Self::ConvexHull,
        }
    }
}
