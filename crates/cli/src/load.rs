//! From a path to the happened-before relation of its trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use retime::causality::{CausalityError, CausalityOptions, LocationLog};
use retime::format::{Contents, Rewrite, Trace, Unused};
use retime::{Causality, TraceInfo};
use retime_parallel::{Dealt, Team};

use crate::call;
use crate::error::CliError;
use crate::formats::{self, FormatName};
use crate::memory;
use crate::progress::{Progress, Stage};

/// A trace on disk whose events were read once.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    /// True if it was given as several files, which may not be all of their directory.
    pub(crate) is_of_files: bool,
    /// Shared with who draws it while it is corrected.
    pub(crate) trace: Arc<dyn Trace>,
    /// The trace as several processes have it, each a part, where they analyse it together; `None`
    /// where this process has all of it.
    pub(crate) dealt: Option<Arc<Dealt>>,
    /// The content of each location besides times: its events, counted by kind.
    pub(crate) contents: Vec<Contents>,
    pub(crate) timing: LoadTiming,
    /// Profiles of another kind that lie beside those of the trace.
    pub(crate) of_other_kind: Vec<PathBuf>,
}

impl Opened {
    /// The trace as one that can be written.
    pub(crate) fn rewriting(&self) -> Result<&dyn Rewrite, CliError> {
        formats::rewriting(&*self.trace)
    }

    /// Counts the records of communication that lead to no dependencies.
    pub(crate) fn unused(&self) -> Vec<Unused> {
        self.trace.unused(&self.contents)
    }
}

/// How long loading took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadTiming {
    pub(crate) scan: Duration,
    pub(crate) matching: Duration,
}

/// A trace with what its events say about causality.
pub(crate) struct Loaded {
    pub(crate) opened: Opened,
    pub(crate) info: TraceInfo,
    pub(crate) causality: Causality,
}

/// Which trace is loaded, and how.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    /// Further files of the trace, if it was given as several.
    pub(crate) others: &'a [PathBuf],
    pub(crate) format: Option<FormatName>,
    /// Who shares the work.
    pub(crate) team: Option<&'a Arc<Team>>,
    /// True if they also analyse the trace together.
    pub(crate) together: bool,
    /// True if the place of each defect is wanted, instead of the first few.
    pub(crate) keep_all_places: bool,
    pub(crate) quiet: bool,
}

impl<'a> Source<'a> {
    /// One path, read by this process alone.
    pub(crate) fn alone(path: &'a Path, format: Option<FormatName>, quiet: bool) -> Self {
        Self {
            path,
            others: &[],
            format,
            team: None,
            together: false,
            keep_all_places: false,
            quiet,
        }
    }
}

/// Reads all events of a trace.
pub(crate) fn load(source: Source<'_>, options: CausalityOptions) -> Result<Loaded, CliError> {
    let beside = |_: &dyn Trace| Ok((options, ()));
    load_with(source, beside).map(|it| it.0)
}

/// Loads as [`load`] does, with what lies beside a trace, which has a say in the options.
pub(crate) fn load_with<T>(
    source: Source<'_>,
    beside: impl FnOnce(&dyn Trace) -> Result<(CausalityOptions, T), CliError>,
) -> Result<(Loaded, T), CliError> {
    let Source {
        path,
        others,
        format,
        team,
        together,
        quiet,
        ..
    } = source;
    let format = formats::of(path, format)?;
    let trace = if others.is_empty() {
        formats::open(path, format, team, together)?
    } else {
        if let Some(team) = team {
            team.work_alone();
        }
        formats::open_files(path, others, format)?
    };
    let path = if others.is_empty() {
        path.to_owned()
    } else {
        trace.path().to_owned()
    };
    // Of files that are given one by one none beside them is copied.
    let of_other_kind = if others.is_empty() {
        retime_perfetto::of_other_kind(&path, trace.format())?
    } else {
        Vec::new()
    };
    memory::check(&path, format)?;
    let (options, beside) = beside(&*trace)?;
    let mut loaded = load_opened(&path, trace, options, quiet)?;
    loaded.opened.is_of_files = !others.is_empty();
    loaded.opened.of_other_kind = of_other_kind;
    Ok((loaded, beside))
}

/// Reads all events of a trace that is open.
pub(crate) fn load_opened(
    path: &Path,
    trace: Box<dyn Trace>,
    options: CausalityOptions,
    quiet: bool,
) -> Result<Loaded, CliError> {
    let start = Instant::now();
    let progress = Progress::new(Stage::Reading, trace.bytes(), quiet);
    let scan = trace.scan(&progress)?;
    drop(progress);
    let scanned = Instant::now();
    let causality = joined(path, &scan.info, scan.logs, options)?;
    let timing = LoadTiming {
        scan: scanned - start,
        matching: scanned.elapsed(),
    };
    Ok(Loaded {
        opened: Opened {
            path: path.into(),
            is_of_files: false,
            trace: Arc::from(trace),
            dealt: None,
            contents: scan.contents,
            timing,
            of_other_kind: Vec::new(),
        },
        info: scan.info,
        causality,
    })
}

/// Matches what the logs of the trace at `path` say: which event must follow which.
pub(crate) fn joined(
    path: &Path,
    info: &TraceInfo,
    logs: Vec<LocationLog>,
    options: CausalityOptions,
) -> Result<Causality, CliError> {
    let progress = Progress::open(Stage::Matching);
    let causality = Causality::build_watched(info, logs, options, &progress);
    causality.map_err(|error| match error {
        CausalityError::Cancelled(_) => CliError::Interrupted,
        source => CliError::Causality {
            trace: path.into(),
            source,
        },
    })
}

/// Describes a trace; where its format cannot do so at once, its events are read for it.
pub(crate) fn describe(trace: &dyn Trace, quiet: bool) -> Result<TraceInfo, CliError> {
    if let Some(info) = trace.describe() {
        return Ok(info.clone());
    }
    let progress = Progress::new(Stage::Reading, trace.bytes(), quiet);
    Ok(trace.scan(&progress)?.info)
}

/// Runs `work` on as many threads as asked for.
pub(crate) fn with_threads<T: Send>(
    threads: Option<u16>,
    work: impl FnOnce() -> Result<T, CliError> + Send,
) -> Result<T, CliError> {
    let threads = threads.map_or(0, usize::from);
    let call = call::current();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |_| call::join(call.clone()));
    pool.build()
        .map_err(|error| CliError::Usage(no_threads(threads, &error)))?
        .install(work)
}

/// Why threads could not be started, of which none means as many as there are cores.
fn no_threads(wanted: usize, error: &dyn std::error::Error) -> String {
    let cause = error
        .source()
        .map_or(error.to_string(), ToString::to_string);
    let (threads, fewer) = match wanted {
        0 => ("a thread for each core".to_owned(), ", or give --threads 1"),
        1 => ("a thread".to_owned(), ""),
        more => (format!("{more} threads"), ", or give fewer --threads"),
    };
    format!(
        "cannot start {threads}: {cause}; raise the limits on processes and memory \
         (ulimit -u, ulimit -v){fewer}"
    )
}

#[cfg(test)]
mod tests {
    use super::no_threads;

    #[test]
    fn threads_that_cannot_be_started_are_not_said_to_be_none() {
        let error = std::io::Error::other("no room");
        let message = |wanted| no_threads(wanted, &error);
        assert_eq!(
            message(0),
            "cannot start a thread for each core: no room; raise the limits on processes and \
             memory (ulimit -u, ulimit -v), or give --threads 1"
        );
        assert!(message(7).starts_with("cannot start 7 threads: no room; "));
        assert!(message(7).ends_with(", or give fewer --threads"));
        assert!(message(1).ends_with("(ulimit -u, ulimit -v)"));
    }
}
