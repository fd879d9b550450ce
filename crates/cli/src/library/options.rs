//! Which options a command has, and what those of `stream` make of a filter.

use retime_stream::FilterOptions;

use super::{Call, Failure, parsed};
use crate::command_line::Command;

/// An option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionHelp {
    /// Its name, without dashes.
    pub name: String,
    /// The placeholder of its value in the help; a switch has none.
    pub value: Option<String>,
    /// The value that it has if it is not given.
    pub default: Option<String>,
    /// The words that it can be, if it takes one of a few.
    pub choices: Vec<String>,
    /// The help text of the option.
    pub help: String,
}

/// The options of a command in the order of its help; none if there is no such command.
pub fn options(command: &str) -> Vec<OptionHelp> {
    let all = crate::command();
    let Some(found) = all.find_subcommand(command) else {
        return Vec::new();
    };
    let named = found.get_arguments().filter(|it| !it.is_positional());
    let option = |it: &clap::Arg| {
        let takes = it.get_action().takes_values();
        let value = it.get_value_names().and_then(<[_]>::first);
        let value = value.map_or_else(|| it.get_id().to_string(), ToString::to_string);
        let default = it.get_default_values().first();
        let choices = it.get_possible_values();
        Some(OptionHelp {
            name: it.get_long()?.to_owned(),
            value: takes.then_some(value),
            default: default
                .filter(|_| takes)
                .map(|it| it.to_string_lossy().into_owned()),
            choices: choices
                .iter()
                .filter(|_| takes)
                .map(|it| it.get_name().to_owned())
                .collect(),
            help: it.get_help().map(ToString::to_string).unwrap_or_default(),
        })
    };
    named.filter_map(option).collect()
}

/// The filter that the words of `stream` ask for; those that say what is read and written
/// have no part in it.
pub fn filter_options(call: &Call) -> Result<FilterOptions, Failure> {
    match parsed(call)? {
        Command::Stream(args) => args.filter(None).map_err(|error| Failure::of(&error, &[])),
        _ => Err(Failure::option("give the words of stream")),
    }
}
