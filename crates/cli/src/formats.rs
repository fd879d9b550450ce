//! The trace formats that the command knows, and which of them a path is.
//!
//! This is the one place that names those built in; everything else speaks to
//! [`retime::format`].

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use retime::format::{Format, Recognition, Rewrite, Trace};
use retime::{presence, printable_path};
use retime_kineto::{BadPattern, Kineto};
use retime_parallel::Team;
use retime_perfetto::{Perfetto, ProfilesByPath, refuse_both_kinds, refuse_files_of_both_kinds};

use crate::error::CliError;
use crate::foreign;
use crate::progress::Interrupts;
use crate::table::{BadTable, Table, check};

/// The formats that are built in. Of several that recognise a path equally well the first
/// reads it.
pub const FORMATS: &[&dyn Format] = &[
    &retime_otf2_format::Otf2,
    &retime_jsonl::JsonLines,
    &retime_kineto::Kineto,
    &retime_perfetto::Perfetto,
];

static KNOWN: Table<&dyn Format> = Table::new(FORMATS);

/// All formats.
pub(crate) fn known() -> &'static [&'static dyn Format] {
    KNOWN.all()
}

/// Their names, in words.
pub(crate) fn names() -> String {
    let names: Vec<&str> = known().iter().map(|it| it.name()).collect();
    names.join(", ")
}

/// Replaces the formats, before a command line is read.
pub(crate) fn give(formats: &[&'static dyn Format]) -> Result<(), BadTable> {
    check("formats", formats.iter().map(|it| it.name()))?;
    if KNOWN.give(formats) {
        Ok(())
    } else {
        Err(BadTable::Late)
    }
}

/// The format in which simulations are written.
pub(crate) const SIMULATED: &dyn Format = FORMATS[0];

/// A format by its name.
#[derive(Clone, Copy)]
pub(crate) struct FormatName {
    format: &'static dyn Format,
    /// True if `--rank-from` asked for it, which says nothing of traces that are no profiles.
    is_for_ranks: bool,
}

impl FormatName {
    const fn of(format: &'static dyn Format) -> Self {
        Self {
            format,
            is_for_ranks: false,
        }
    }
}

impl std::fmt::Debug for FormatName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.format.name())
    }
}

impl ValueEnum for FormatName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: OnceLock<Vec<FormatName>> = OnceLock::new();
        ALL.get_or_init(|| known().iter().copied().map(FormatName::of).collect())
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.format.name()).help(self.format.describe()))
    }
}

/// The format of a trace, and the processes that work on it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FormatArgs {
    /// The format of the trace [default: the one that its path shows]
    #[arg(
        long,
        value_name = "FORMAT",
        help_heading = "Running",
        ignore_case = true,
        conflicts_with = "rank_from"
    )]
    pub(crate) format: Option<FormatName>,
    #[command(flatten)]
    pub(crate) ranks: RanksByPath,
    /// The processes that share the work, if this one is not alone.
    #[arg(skip)]
    pub(crate) team: Option<Arc<Team>>,
    /// True if these processes also analyse the trace together.
    #[arg(skip)]
    pub(crate) together: bool,
}

/// Where the ranks of profiles stand, if not in them.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RanksByPath {
    /// Take the rank of each profile of a training job from its path: what the one group of
    /// this regular expression matches, as in 'worker-(\d+)/'
    #[arg(long, value_name = "REGEX", help_heading = "Running")]
    rank_from: Option<RankFrom>,
}

impl RanksByPath {
    /// The format that takes ranks so, if it was asked for.
    pub(crate) fn asked(&self) -> Option<FormatName> {
        self.rank_from.as_ref().map(RankFrom::format)
    }
}

/// A pattern that finds ranks in paths.
#[derive(Clone, Debug)]
pub(crate) struct RankFrom(FormatName);

impl RankFrom {
    /// The format that takes ranks so.
    pub(crate) fn format(&self) -> FormatName {
        self.0
    }
}

impl FromStr for RankFrom {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        // Formats live as long as the process; there is one pattern for each command line.
        let format: &'static dyn Format = Box::leak(Box::new(ProfilesByPath(text.parse()?)));
        Ok(Self(FormatName {
            format,
            is_for_ranks: true,
        }))
    }
}

impl FormatArgs {
    /// The format that was asked for, be it by what only one has.
    pub(crate) fn asked(&self) -> Option<FormatName> {
        self.ranks.asked().or(self.format)
    }
}

/// Files of a trace besides the first, as the shell expands `RUN/*.json`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OtherFiles {
    /// Further files of the same training job
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// The format of a path: the one asked for, or the one that recognises it best. That none
/// recognises what lies there is an error.
pub(crate) fn of(path: &Path, asked: Option<FormatName>) -> Result<&'static dyn Format, CliError> {
    if let Some(FormatName {
        format,
        is_for_ranks,
    }) = asked
    {
        if is_for_ranks {
            refuse_other_than_profiles(path, format)?;
        }
        return Ok(format);
    }
    let found = presence::kind(path).map_err(|error| untold(path, error))?;
    let known = known();
    let (mut first, mut best) = (known[0], Recognition::No);
    for format in known.iter().copied() {
        let sure = format.recognise(path);
        let sure = sure.map_err(|error| untold(path, error))?;
        // Of several that are equally sure, the first.
        if sure > best {
            (first, best) = (format, sure);
        }
        if best == Recognition::Certain {
            // What others would have to look at for it is not touched.
            break;
        }
    }
    let what = match found {
        Some(found) if found.is_dir() => Some("no trace that retime recognises in this directory"),
        Some(found) if found.is_file() => Some("no trace that retime recognises"),
        _ => None,
    };
    let foreign = match best {
        Recognition::No => foreign::told(path, known),
        // A name may promise what the content is not.
        Recognition::Possible => foreign::by_content(path),
        Recognition::Certain => None,
    };
    if let Some(told) = foreign {
        return Err(CliError::input(path, told));
    }
    if let Some(what) = what.filter(|_| best == Recognition::No) {
        return Err(CliError::Unrecognised {
            path: path.into(),
            what,
            formats: names(),
        });
    }
    if first.name() == Kineto.name() {
        refuse_both_kinds(path)?;
    }
    // Why a path that leads nowhere, or to no file, cannot be opened is for a format to say.
    Ok(first)
}

/// Refuses a trace in which no ranks are taken from paths.
fn refuse_other_than_profiles(path: &Path, profiles: &dyn Format) -> Result<(), CliError> {
    let is_certain = |it: &dyn Format| {
        let sure = it.recognise(path);
        sure.is_ok_and(|it| it == Recognition::Certain)
    };
    let mut others = known().iter().copied();
    let other = others.find(|it| it.name() != profiles.name() && is_certain(*it));
    match other.filter(|_| !is_certain(profiles)) {
        Some(other) => Err(CliError::input(
            path,
            format!(
                "is of the format {}, and --rank-from takes the ranks of profiles; leave it out",
                other.name()
            ),
        )),
        None => Ok(()),
    }
}

/// Why a path cannot be looked at.
fn untold(path: &Path, error: io::Error) -> CliError {
    let without = path.file_name().map(|name| path.with_file_name(name));
    if error.kind() == ErrorKind::NotADirectory && without.is_some_and(|it| it.is_file()) {
        let message = "is a file, and the slash at its end makes a directory of it; leave that out";
        return CliError::input(path, message);
    }
    CliError::io(path, error)
}

/// Opens a trace of a format, on all processes of a team if there is one; these also work on files
/// of which `together` they make one trace.
pub(crate) fn open(
    path: &Path,
    format: &'static dyn Format,
    team: Option<&Arc<Team>>,
    together: bool,
) -> Result<Box<dyn Trace>, CliError> {
    Ok(match team {
        Some(team) => retime_parallel::open(team, format, path, together, &Interrupts)?,
        None => format.open_watched(path, &Interrupts)?,
    })
}

/// The trace as one that can be written.
pub(crate) fn rewriting(trace: &dyn Trace) -> Result<&dyn Rewrite, CliError> {
    trace
        .rewriting()
        .ok_or_else(|| CliError::input(trace.path(), READ_ONLY))
}

/// The format of a path, as [`of`], if a trace can be written in it.
pub(crate) fn of_writable(
    path: &Path,
    asked: Option<FormatName>,
) -> Result<&'static dyn Format, CliError> {
    let format = of(path, asked)?;
    if format.can_rewrite() {
        return Ok(format);
    }
    Err(CliError::input(path, READ_ONLY))
}

/// The way out where a trace of a format that only reads should be written.
const READ_ONLY: &str = "is of a format that retime only reads, so no corrected copy can be \
                         written in it; retime correct --merged writes its events at corrected \
                         times as JSON lines, and retime export for viewers";

/// Opens a trace that was given as several files.
pub(crate) fn open_files(
    first: &Path,
    others: &[PathBuf],
    format: &'static dyn Format,
) -> Result<Box<dyn Trace>, CliError> {
    let files: Vec<&Path> = std::iter::once(first)
        .chain(others.iter().map(PathBuf::as_path))
        .collect();
    if [Kineto.name(), Perfetto.name()].contains(&format.name()) {
        refuse_files_of_both_kinds(&files)?;
    }
    match format.open_files(&files) {
        Some(trace) => Ok(trace?),
        None => Err(CliError::Usage(format!(
            "{} is {}, of which one path is the whole trace; run retime once for each",
            printable_path(first),
            format.describe()
        ))),
    }
}
