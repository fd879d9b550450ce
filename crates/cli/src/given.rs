//! Which options stand on the command line.
//!
//! Defaults suit whatever is asked for, but an option that is given and does nothing is a
//! misunderstanding, and is refused.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

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

impl Given {
    /// True if an option was given.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.0.iter().any(|given| given == option)
    }

    /// The first of some options that was given.
    pub(crate) fn first<'a>(&self, options: &[&'a str]) -> Option<&'a str> {
        options.iter().copied().find(|option| self.has(option))
    }
}
