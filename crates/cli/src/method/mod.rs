//! The options of methods, and the [method](retime::pipeline::Method) that they
//! give.

mod args;
mod controller;
mod distance;
mod given;
mod intervals;
mod reference;
mod table;
mod window;

use clap::ValueEnum;
use retime::clock::{AmortizationMethod, Steps};
use retime::pipeline::PairMethod;

pub(crate) use args::MethodArgs;
pub(crate) use controller::{ConstantsArgs, Controller, to_ticks};
pub(crate) use given::fits_one_of;
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

/// The events at which a controller steps, by their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StepsName {
    /// Each event that communicates
    Communicating,
    /// Each event
    Every,
}

impl From<StepsName> for Steps {
    fn from(name: StepsName) -> Self {
        match name {
            StepsName::Communicating => Self::Communicating,
            StepsName::Every => Self::Every,
        }
    }
}

/// How jumps become ramps, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AmortizationName {
    /// All at once
    Gentlest,
    /// Jump by jump
    Printed,
}

impl From<AmortizationName> for AmortizationMethod {
    fn from(name: AmortizationName) -> Self {
        match name {
            AmortizationName::Gentlest => Self::Gentlest,
            AmortizationName::Printed => Self::Printed,
        }
    }
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
