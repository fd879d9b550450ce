//! The options of methods, and the [method](retime::pipeline::Method) that they
//! give.

mod args;
mod controller;
mod given;
mod reference;
mod table;
mod window;

use clap::ValueEnum;
use retime::pipeline::PairMethod;

pub(crate) use args::MethodArgs;
pub(crate) use controller::{ConstantsArgs, Controller, to_ticks};
pub(crate) use table::{MethodOption, give, methods, named};
pub(crate) use window::WindowArgs;

/// The repair that follows an estimate, by its name.
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
