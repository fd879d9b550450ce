//! The options of `retime explain`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::super::asked::Asked;
use crate::args::{SolvingArgs, THE_TRACE};
use crate::error::CliError;
use crate::load::Source;

/// The name that stands for every kind.
pub(super) const ALL: &str = "all";

#[derive(Debug, Args)]
#[command(
    override_usage = "retime explain [OPTIONS] <TRACE> <LOCATION:EVENT>\n       \
                      retime explain [OPTIONS] <TRACE> --unused[=<KIND>]",
    after_help = "Examples: retime explain run/ 1:35676; retime explain run/ \
    --unused=receive-without-send. docs/DEPENDENCIES.md says what proves what. Exit codes: 0 explained; 2 \
    usage, input or system error; 130 interrupted.",
    mut_arg("html", |html| html.hide(true)),
    mut_arg("truth", |truth| truth.hide(true)),
    mut_arg("verbose", |verbose| verbose.hide(true))
)]
pub(crate) struct ExplainArgs {
    #[arg(help = THE_TRACE)]
    pub(crate) trace: PathBuf,
    /// The event: the id of its location and its number there, from 0, as reports call it
    #[arg(value_name = "LOCATION:EVENT", required_unless_present = "unused")]
    pub(crate) event: Option<EventName>,
    /// List the events of communication that no dependency rests on since the recording
    /// lacks or contradicts something; of one kind, such as receive-without-send, if that is given
    #[arg(
        long,
        value_name = "KIND",
        require_equals = true,
        num_args = 0..=1,
        default_missing_value = ALL,
        conflicts_with = "event"
    )]
    pub(crate) unused: Option<String>,
    #[command(flatten)]
    pub(crate) solving: SolvingArgs,
}

impl ExplainArgs {
    /// Fails if an option was given that has no part in this.
    pub(crate) fn refuse_strangers(&self) -> Result<(), CliError> {
        if self.unused.is_some() {
            let method = &self.solving.method;
            method.refuse_all("in explain --unused, which corrects nothing")?;
        }
        self.solving.refuse_strangers()?;
        let run = &self.solving.run;
        let strangers = [
            ("--html", run.html.is_some()),
            ("--truth", self.solving.model.truth.is_some()),
            ("-v", run.verbose),
        ];
        match strangers.iter().find(|it| it.1) {
            Some((option, _)) => Err(CliError::Usage(format!(
                "{option} has no part in explain: give it to check, correct or compare"
            ))),
            None => Ok(()),
        }
    }
}

impl<'a> From<&'a ExplainArgs> for Asked<'a> {
    fn from(args: &'a ExplainArgs) -> Self {
        let solving = &args.solving;
        let source = Source {
            keep_all_places: true,
            ..Source::alone(&args.trace, solving.format.asked(), solving.run.quiet)
        };
        // Nothing is written, so there is nothing to protect.
        Self::of(source, solving, true)
    }
}

/// An event as reports call it: the id of its location, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventName {
    pub(crate) location: u64,
    pub(crate) event: u64,
}

impl FromStr for EventName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = text.split_once(':').and_then(|(location, event)| {
            Some(Self {
                location: location.parse().ok()?,
                event: event.parse().ok()?,
            })
        });
        both.ok_or_else(|| {
            "an event is the id of its location and its number there, such as 1:35676".to_owned()
        })
    }
}
