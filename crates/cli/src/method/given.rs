//! Which options stand on the command line, and whether they have a part in the
//! method.
//!
//! Defaults suit every method, but an option that is given and does nothing is a
//! misunderstanding, and is refused.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use retime::pipeline::MethodName;

use super::RepairName;
use crate::error::CliError;

/// The options that were given, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(Vec<String>);

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let given = matches.ids().map(clap::Id::as_str);
        let given = given.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
        self.0 = given.map(|id| id.replace('_', "-")).collect();
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// Options with a part in some methods only, and in which.
const PARTS: [(&str, Part); 19] = [
    ("controller", Part::ControlledClock),
    ("gamma-max", Part::ControlledClock),
    ("amortization", Part::ControlledClock),
    ("max-advance", Part::ControlledClock),
    ("gamma-min", Part::ControlledClock),
    ("q-init", Part::ControlledClock),
    ("q-min", Part::ControlledClock),
    ("q-factor", Part::ControlledClock),
    ("gamma-degress", Part::ControlledClock),
    ("l-upper", Part::ControlledClock),
    ("l-lower", Part::ControlledClock),
    ("min-distance", Part::AnyTrueClock),
    ("backward", Part::AnyClock),
    ("repair", Part::Estimator),
    ("reference", Part::Aligned),
    ("max-rate-difference", Part::Aligned),
    ("intervals", Part::Intervals),
    ("pairs", Part::Tree),
    ("offsets", Part::Measured),
];

#[derive(Clone, Copy)]
enum Part {
    ControlledClock,
    AnyTrueClock,
    AnyClock,
    Estimator,
    Aligned,
    Intervals,
    Tree,
    Measured,
}

impl Part {
    fn is_in(self, method: MethodName, repair: RepairName) -> bool {
        use MethodName as M;
        let repaired = method.is_estimator() && repair == RepairName::Clc;
        match self {
            Self::ControlledClock => method == M::Clc || repaired,
            Self::AnyTrueClock => matches!(method, M::Clc | M::Simple) || repaired,
            Self::AnyClock => matches!(method, M::Clc | M::Simple | M::Lamport) || repaired,
            Self::Estimator => method.is_estimator(),
            Self::Aligned => method.is_estimator() || method == M::Auto,
            Self::Intervals => matches!(method, M::MinMax | M::HofmannHilgers | M::Extended),
            Self::Tree => method == M::SpanningTree,
            Self::Measured => method == M::Interpolation,
        }
    }
}

impl Given {
    /// Refuses an option that does nothing with this method.
    pub(super) fn fits(&self, method: MethodName, repair: RepairName) -> Result<(), CliError> {
        let stranger = PARTS.iter().find(|(option, part)| {
            self.0.iter().any(|given| given == option) && !part.is_in(method, repair)
        });
        let Some((option, part)) = stranger else {
            return Ok(());
        };
        let without = if part.is_in(method, RepairName::Clc) {
            " --repair off"
        } else {
            ""
        };
        Err(CliError::Usage(format!(
            "--{option} has no part in --method {method}{without}; leave it out or choose another method"
        )))
    }
}
