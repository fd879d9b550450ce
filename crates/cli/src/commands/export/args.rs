//! The options of `retime export`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use retime::{Delay, LocationIndex, TraceInfo, printable_path};
use retime_export::{Kind, Times};

use crate::args::{SolvingArgs, TraceArgs};
use crate::error::CliError;

#[derive(Debug, Args)]
#[command(
    after_help = "Open the file in https://ui.perfetto.dev; docs/EXPORT.md says what is shown how. Exit \
    codes: 0 success; 1 the times that were written have, or a correction would leave, violations; 2 \
    usage, input or system error; 3 as 0, but nothing, or fewer than half, of what the trace records \
    of communication could be used; 130 interrupted."
)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) input: TraceArgs,
    /// The file to write; must not exist. Compressed if its name ends in .gz, and with -
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace FILE if it exists and was exported by retime; and write what leaves more
    /// dependencies reversed than the recording has, or cannot be right
    #[arg(long)]
    pub(crate) force: bool,
    /// perfetto or chrome, the kind of file [default: by the ending of FILE, chrome for
    /// .json; perfetto for .pftrace, .perfetto-trace, .perfetto and none; each also with .gz
    /// behind it]; or a time: show events up to this time after the first event. May be
    /// given once for each
    #[arg(long, value_name = "KIND|TIME")]
    pub(crate) to: Vec<To>,
    /// Show events from this time after the first event on
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Delay>,
    /// Show these locations, such as 0-3,7: ids, as reports call them
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(crate) locations: Vec<IdRange>,
    /// Which times to show [default: corrected if anything contradicts, else recorded]
    #[arg(long, value_name = "WHICH")]
    pub(crate) times: Option<TimesName>,
    #[command(flatten)]
    pub(crate) solving: SolvingArgs,
}

/// Which times are shown, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimesName {
    /// Those of the recording
    Recorded,
    /// Those that the method gives
    Corrected,
    /// Both, side by side
    Both,
}

impl From<TimesName> for Times {
    fn from(name: TimesName) -> Self {
        match name {
            TimesName::Recorded => Self::Recorded,
            TimesName::Corrected => Self::Corrected,
            TimesName::Both => Self::Both,
        }
    }
}

/// Endings of file names and the kinds of file they stand for: those that Perfetto's own tools
/// give, and that of JSON.
const ENDINGS: [(&str, Kind); 4] = [
    ("pftrace", Kind::Perfetto),
    ("perfetto-trace", Kind::Perfetto),
    ("perfetto", Kind::Perfetto),
    ("json", Kind::Chrome),
];

/// The value of `--to`: a kind of file, or the time up to which events are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Kind(Kind),
    Time(Delay),
}

impl FromStr for To {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "perfetto" => Ok(Self::Kind(Kind::Perfetto)),
            "chrome" => Ok(Self::Kind(Kind::Chrome)),
            _ if text.starts_with(|it: char| it.is_alphabetic()) => Err(format!(
                "\"{text}\" is no kind of file: perfetto or chrome; nor a time, such as 20s"
            )),
            _ => text
                .parse()
                .map(Self::Time)
                .map_err(|error: retime::ParseDelayError| error.to_string()),
        }
    }
}

/// Some ids that follow each other, the last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdRange {
    first: u64,
    last: u64,
}

impl FromStr for IdRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(format!(
                "\"{text}\" is neither the id of a location nor a range of them, such as 0-3"
            )),
        }
    }
}

impl std::fmt::Display for IdRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

impl ExportArgs {
    /// Refuses options that were given and have no part in what is asked for.
    pub(super) fn refuse_strangers(&self) -> Result<(), CliError> {
        if self.times == Some(TimesName::Recorded) {
            let method = &self.solving.method;
            method.refuse_all("in --times recorded, which are not corrected")?;
        }
        if self.file().is_none() {
            let run = &self.solving.run;
            run.refuse_verbose("where the trace goes to standard output")?;
        }
        self.solving.refuse_strangers()
    }

    /// The file to write, if it is not standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        (self.output.as_os_str() != "-").then_some(&self.output)
    }

    /// True if the file is compressed, by the ending of its name.
    pub(super) fn gzip(&self) -> bool {
        self.output.extension().is_some_and(|it| it == "gz")
    }

    /// The kind of file, and up to which time events are shown.
    pub(super) fn kind_and_end(&self) -> Result<(Kind, Option<Delay>), CliError> {
        let (mut kind, mut end) = (None, None);
        for &to in &self.to {
            let is_second = match to {
                To::Kind(it) => kind.replace(it).is_some(),
                To::Time(it) => end.replace(it).is_some(),
            };
            if is_second {
                let message = "--to may be given once for the kind of file and once for a time";
                return Err(CliError::Usage(message.into()));
            }
        }
        let kind = kind.map_or_else(|| self.kind_by_name(), Ok)?;
        Ok((kind, end))
    }

    fn kind_by_name(&self) -> Result<Kind, CliError> {
        let name = if self.gzip() {
            self.output.with_extension("")
        } else {
            self.output.clone()
        };
        let Some(ending) = name.extension() else {
            return Ok(Kind::Perfetto);
        };
        let known = ENDINGS.iter().find(|it| ending == it.0);
        known.map(|it| it.1).ok_or_else(|| {
            let of = |kind| {
                let own = ENDINGS.iter().filter(|it| it.1 == kind);
                let own: Vec<String> = own.map(|it| format!(".{}", it.0)).collect();
                own.join(", ")
            };
            CliError::Usage(format!(
                "{}: the ending .{} says no kind of file: {} are Perfetto's, {} is Chrome's, each \
                 also with .gz behind it; or say --to perfetto or --to chrome",
                printable_path(&self.output),
                printable_path(ending),
                of(Kind::Perfetto),
                of(Kind::Chrome),
            ))
        })
    }

    /// The locations that are shown.
    pub(super) fn shown_locations(&self, info: &TraceInfo) -> Result<Vec<LocationIndex>, CliError> {
        let holds = |range: &IdRange, id| (range.first..=range.last).contains(&id);
        let ids = || info.locations.iter().map(|it| it.id);
        let missing = self
            .locations
            .iter()
            .find(|range| !ids().any(|id| holds(range, id)));
        if let Some(range) = missing {
            let message = format!("--locations {range}: the trace has no such location");
            return Err(CliError::Usage(message));
        }
        let shown = (0..).map(LocationIndex).zip(ids());
        let shown = shown.filter(|&(_, id)| {
            self.locations.is_empty() || self.locations.iter().any(|it| holds(it, id))
        });
        Ok(shown.map(|(location, _)| location).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_kind_or_a_time() {
        assert_eq!("perfetto".parse(), Ok(To::Kind(Kind::Perfetto)));
        assert_eq!("chrome".parse(), Ok(To::Kind(Kind::Chrome)));
        let time = "2us".parse().map(To::Time);
        assert_eq!(time.ok(), "2us".parse::<To>().ok());
        for wrong in ["json", "2", "-1s", ""] {
            assert!(wrong.parse::<To>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_are_numbers_and_ranges() {
        assert_eq!("0-3".parse(), Ok(IdRange { first: 0, last: 3 }));
        assert_eq!("7".parse(), Ok(IdRange { first: 7, last: 7 }));
        for wrong in ["", "-", "3-1", "a", "1-", "-1", "1-2-3"] {
            assert!(wrong.parse::<IdRange>().is_err(), "{wrong}");
        }
    }
}
