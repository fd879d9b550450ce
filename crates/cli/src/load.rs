//! From a path to the happened-before relation of its trace.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use retime::causality::{CausalityOptions, LocationLog};
use retime::{Causality, LocationIndex};
use retime_otf2::{EventCounts, Otf2Trace};

use crate::args::RunArgs;
use crate::error::CliError;
use crate::progress::{Progress, check_interrupt};

/// A trace with what its events say about causality.
pub(crate) struct Loaded {
    pub(crate) path: PathBuf,
    pub(crate) trace: Otf2Trace,
    pub(crate) causality: Causality,
    /// Events by type, per location.
    pub(crate) counts: Vec<EventCounts>,
    pub(crate) timing: LoadTiming,
}

/// How long loading took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadTiming {
    pub(crate) scan: Duration,
    pub(crate) matching: Duration,
}

/// Reads all events of a trace, locations in parallel.
pub(crate) fn load(
    path: &Path,
    options: CausalityOptions,
    run: &RunArgs,
) -> Result<Loaded, CliError> {
    let trace = Otf2Trace::open(path)?;
    let start = Instant::now();
    let (logs, counts) = scan(&trace, run)?;
    let scanned = Instant::now();
    let causality =
        Causality::build(trace.info(), logs, options).map_err(|source| CliError::Causality {
            trace: path.into(),
            source,
        })?;
    check_interrupt()?;
    let timing = LoadTiming {
        scan: scanned - start,
        matching: scanned.elapsed(),
    };
    Ok(Loaded {
        path: path.into(),
        trace,
        causality,
        counts,
        timing,
    })
}

fn scan(
    trace: &Otf2Trace,
    run: &RunArgs,
) -> Result<(Vec<LocationLog>, Vec<EventCounts>), CliError> {
    let progress = Progress::new("reading", trace.event_bytes(), run.quiet);
    let locations = (0..trace.info().locations.len() as u32).into_par_iter();
    let scanned: Result<Vec<_>, _> = locations
        .map(|location| trace.scan(LocationIndex(location), &progress))
        .collect();
    let scanned = scanned.map_err(not_if_interrupted)?;
    Ok(scanned
        .into_iter()
        .map(|scanned| (scanned.log, scanned.counts))
        .unzip())
}

/// An interrupt reaches the readers as an error of theirs.
pub(crate) fn not_if_interrupted(error: retime_otf2::Error) -> CliError {
    if crate::progress::interrupted() {
        CliError::Interrupted
    } else {
        error.into()
    }
}

/// Runs `work` on as many threads as asked for.
pub(crate) fn with_threads<T: Send>(
    threads: Option<u16>,
    work: impl FnOnce() -> Result<T, CliError> + Send,
) -> Result<T, CliError> {
    let threads = threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| CliError::Usage(format!("cannot start {threads} threads: {error}")))?
        .install(work)
}
