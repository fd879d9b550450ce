//! Which options stand on the command line, and whether they have a part in the
//! method.
//!
//! Defaults suit every method, but an option that is given and does nothing is a
//! misunderstanding, and is refused.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use retime::pipeline::{Choice, LogicalClock, Method};

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

/// Options with a part in some methods only, each with the choice that it makes: methods
/// say which of these they heed.
const CHOICES: [(&str, Choice); 23] = [
    ("controller", Choice::Control),
    ("gamma-max", Choice::Control),
    ("amortization", Choice::Control),
    ("amortization-method", Choice::Control),
    ("start-clock-difference", Choice::Control),
    ("max-advance", Choice::Control),
    ("gamma-min", Choice::Control),
    ("q-init", Choice::Control),
    ("q-min", Choice::Control),
    ("q-factor", Choice::Control),
    ("gamma-degress", Choice::Control),
    ("l-upper", Choice::Control),
    ("l-lower", Choice::Control),
    ("min-distance", Choice::Distance),
    ("steps", Choice::Control),
    ("backward", Choice::Direction),
    ("repair", Choice::Repair),
    ("reference", Choice::Reference),
    ("max-rate-difference", Choice::Reference),
    ("intervals", Choice::Intervals),
    ("one-way-factor", Choice::OneWay),
    ("pairs", Choice::Pairs),
    ("offsets", Choice::Offsets),
];

impl Given {
    /// True if an option was given.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.0.iter().any(|given| given == option)
    }

    /// The first of some options that was given.
    pub(crate) fn first<'a>(&self, options: &[&'a str]) -> Option<&'a str> {
        options.iter().copied().find(|option| self.has(option))
    }

    /// Refuses an option that does nothing with this method.
    pub(super) fn fits(&self, method: &Method) -> Result<(), CliError> {
        let stranger = CHOICES
            .iter()
            .find(|(option, choice)| self.has(option) && !method.heeds(*choice));
        let Some((option, choice)) = stranger else {
            return Ok(());
        };
        let repaired = method.clone().repaired_by(Some(LogicalClock::default()));
        let without = if repaired.heeds(*choice) {
            " --repair off"
        } else {
            ""
        };
        let method = method.name();
        Err(CliError::Usage(format!(
            "--{option} has no part in --method {method}{without}; leave it out or choose another method"
        )))
    }
}
