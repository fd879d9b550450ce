//! Traces of PyTorch's profiler (Kineto), and others in Chrome's JSON format, as a trace
//! format of retime.
//!
//! A training job writes one file per rank, each stamped by the clock of its host. Here they
//! are one trace: a directory of files, or some of them, is read as a whole, calls of
//! collective operations are joined across ranks, and the files are written again with
//! nothing but the digits of `ts` changed.
//!
//! ```text
//! window   file --> bytes                      plain or gzip, an event always whole
//! document a kind of file                     Chrome's JSON here, others elsewhere
//! chrome   Chrome's JSON as such a kind
//! outline  bytes --> trace or not              what is left out, and what is damaged
//! recordings files --> one of each rank      of those that were recorded at one time
//! copies   files --> without second ones       as JAX writes them
//! pass     bytes --> events                    where they stand, and what of them moves
//! recorded an event --> name, arguments        whatever kind of file it stands in
//! gathering events --> tracks, names, calls    as they are read
//! profile  what was gathered                   what a file says
//! stamps   of which event, and which end       where both ends have one
//! columns  events --> times, lengths, digits   what is kept of each event
//! order    entries --> events with numbers     a stay begins and ends
//! kernels  names of kernels --> operations    of those that say nothing else
//! xla      events --> instructions             of compiled programs
//! compiled instructions --> calls            where it is known who takes part
//! sizes    signatures --> bytes                what an operation moves
//! facts    calls --> facts                     what a table of operations says
//! launch   kernels --> calls                   what they do, told by the call that launched them
//! devices  calls --> what they started         on devices, and who waited for it
//! astride  kernels begun after a clock was set back, but launched before
//! early    kernels and launches --> warning   whether GPU and host are on one clock
//! computing kernels that do not communicate
//! busy     these --> when devices compute      which hides what they wait for
//! apart    early kernels --> clocks            of devices, which are processes of their own then
//! between  host and device --> dependencies    where these are two clocks
//! few      names --> words                     the first few of many
//! repeated events --> each once             that stand in a file twice
//! posted   ranges of gloo --> messages         their receivers, told by the call that posted them
//! roots    launches --> roots                of kernels, which do not say theirs
//! streams  calls --> groups                    of kernels that do not say theirs
//! matching calls of ranks --> operations       by numbers, or by aligning sequences
//! named_ranks names of files --> ranks          where files say none
//! rank_pattern paths --> ranks               as the user says
//! found    a directory --> files               which are traces
//! nested   directories --> files               where each rank has its own
//! advice   what was not used --> warning       what to record
//! silent   ranks --> those that recorded no communication
//! headers  tracks --> headers                   of ranks whose profiles are in one file
//! threads  tracks --> threads                   that have several
//! known    calls --> moments                   between which an arrow says nothing new
//! labels   pid --> rank                        where all ranks are in one file
//! merged   a file of several ranks --> one of each, to be matched
//! hosts    names --> clocks                    one name is one clock, unless it is not
//! one_name ranks of one name --> runs           that share a clock by more than coincidence
//! placing  maps --> new times                  lengths stay, so stays are moved as wholes
//! run      scan, timelines, rewrite, restore, rows
//! spans    files --> from when to when        there are events
//! extract  a file --> what joining takes       where others have read it
//! task     what is asked of these, and answered
//! by_file  a run as these see it: file by file
//! documents files --> whose they are           for whoever puts them together
//! texts    events --> members                as they stand, likewise
//! ```
//!
//! Two ranks whose clocks disagree by a second:
//!
//! ```
//! use retime::Monitor;
//! use retime::format::Format;
//! use retime::pipeline::{Analysis, AnalysisOptions, Method};
//! use retime_kineto::Kineto;
//!
//! let directory = tempfile::tempdir()?;
//! let run = directory.path().join("run");
//! std::fs::create_dir(&run)?;
//! for (rank, ts, dur) in [(0, "1000.250", "90.5"), (1, "1001040.250", "51.125")] {
//!     std::fs::write(run.join(format!("rank{rank}.json")), format!(r#"{{
//!         "distributedInfo": {{"rank": {rank}, "world_size": 2}},
//!         "traceEvents": [
//!         {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7,
//!           "ts": {ts}, "dur": {dur}, "args": {{"Collective name": "allreduce", "Seq": 1,
//!           "In msg nelems": 4, "dtype": "Float", "Process Group Name": "0",
//!           "Process Group Ranks": "[0, 1]"}}}}]}}"#))?;
//! }
//! let trace = Kineto.open(&run)?;
//! let scan = trace.scan(&())?;
//! let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &())?;
//! assert_eq!(analysis.recorded().violated(), 1);
//!
//! let solution = analysis.solve(&Method::default(), &())?;
//! let corrected = directory.path().join("corrected");
//! std::fs::create_dir(&corrected)?;
//! let writable = trace.rewriting().ok_or("profiles can be rewritten")?;
//! writable.rewrite(&solution.correction, &corrected, &())?;
//! let scan = Kineto.open(&corrected)?.scan(&())?;
//! let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &())?;
//! assert_eq!(analysis.recorded().violated(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod apart;
mod ascend;
mod astride;
mod between;
mod busy;
mod by_file;
mod call;
mod chrome;
mod chunks;
mod columns;
mod compiled;
mod computing;
mod copies;
mod derived;
mod devices;
mod digits;
mod document;
mod documents;
mod early;
mod error;
mod extract;
mod facts;
mod few;
mod flows;
mod found;
mod gathering;
mod header;
mod headers;
mod hosts;
mod iterations;
mod joined_moments;
mod kernels;
mod labelled;
mod labels;
mod launch;
mod launched_in;
mod launches_by_rank;
mod matching;
mod merged;
mod named_ranks;
mod nested;
mod number_forms;
mod one_name;
mod order;
mod outline;
mod pass;
mod peers;
mod places;
mod placing;
mod posted;
mod profile;
mod rank_pattern;
mod rank_prefix;
mod reading;
mod recognise;
mod recorded;
mod recordings;
mod repeated;
mod restore;
mod rewrite;
mod roots;
mod rows;
mod run;
mod said_ranks;
mod scan;
mod silent;
mod sizes;
mod spans;
mod stamps;
mod streams;
mod task;
mod texts;
mod threads;
mod timelines;
mod together;
mod undo;
mod window;
mod writing;
mod xla;

use std::io;
use std::path::{Path, PathBuf};

use retime_model::format::{Format, FormatError, InFiles, Recognition, Trace};
use retime_model::{Monitor, presence};

use by_file::ByFile;
pub use chrome::Chrome;
pub use chunks::Chunks;
pub use document::{Document, Renew, Renewal, Renewed, Show};
pub use error::KinetoError;
pub use gathering::{Gathering, Passed};
pub use outline::Look;
pub use places::{is_of_missing_ranks, missing_ranks};
pub use profile::{FileRead, NewLength, TrackRead};
pub use rank_pattern::{BadPattern, RankPattern};
pub use recognise::{may_replace, recognise};
pub use recorded::{Arguments, Recorded};
pub use stamps::Stamp;

/// Opens the profiles at a path that are of a kind, with the ranks that a pattern finds.
pub fn open(
    document: &'static dyn Document,
    path: &Path,
    pattern: Option<&RankPattern>,
) -> Result<Box<dyn Trace>, FormatError> {
    Ok(Box::new(run::Run::open(document, path, pattern)?))
}

/// Opens profiles that are given one by one.
pub fn open_files(
    document: &'static dyn Document,
    files: &[&Path],
    pattern: Option<&RankPattern>,
) -> Result<Box<dyn Trace>, FormatError> {
    let run = run::Run::open_files(document, files, pattern)?;
    Ok(Box::new(run))
}

/// The profiles of a kind that lie in a directory; nothing elsewhere.
pub fn profiles_in(document: &dyn Document, path: &Path) -> io::Result<Vec<PathBuf>> {
    if !presence::is_directory(path)? {
        return Ok(Vec::new());
    }
    Ok(nested::found(path, document, None)?.0.traces)
}

/// The files in a directory that are called like profiles of a kind and are none; nothing elsewhere.
pub fn others_in(document: &dyn Document, path: &Path) -> io::Result<Vec<PathBuf>> {
    if !presence::is_directory(path)? {
        return Ok(Vec::new());
    }
    let others = nested::found(path, document, None)?.0.others;
    Ok(others.into_iter().map(|(path, _)| path).collect())
}

pub use texts::{EventText, Member, alone, each_event};

/// Files of PyTorch's profiler, or in Chrome's format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kineto;

impl Format for Kineto {
    fn name(&self) -> &'static str {
        "kineto"
    }

    fn describe(&self) -> &'static str {
        "a directory of files of PyTorch's profiler (Kineto), one per rank, or a file in \
         Chrome's JSON format, plain or gzip"
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        recognise::recognise(&Chrome, path)
    }

    fn open_watched(&self, path: &Path, _: &dyn Monitor) -> Result<Box<dyn Trace>, FormatError> {
        open(&Chrome, path, None)
    }

    fn open_in_files(
        &self,
        path: &Path,
        _: &dyn Monitor,
    ) -> Option<Result<Box<dyn InFiles>, FormatError>> {
        let opened = run::Run::open(&Chrome, path, None);
        Some(opened.map(|it| Box::new(ByFile::of(it)) as Box<dyn InFiles>))
    }

    fn open_files(&self, files: &[&Path]) -> Option<Result<Box<dyn Trace>, FormatError>> {
        Some(open_files(&Chrome, files, None))
    }

    fn can_rewrite(&self) -> bool {
        true
    }

    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String> {
        recognise::may_replace(&Chrome, target, input)
    }
}

/// The format of [`Kineto`] with the ranks that a pattern finds in paths.
#[derive(Clone, Debug)]
pub struct KinetoByPath(pub RankPattern);

impl Format for KinetoByPath {
    fn name(&self) -> &'static str {
        Kineto.name()
    }

    fn describe(&self) -> &'static str {
        Kineto.describe()
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        Kineto.recognise(path)
    }

    fn open_watched(&self, path: &Path, _: &dyn Monitor) -> Result<Box<dyn Trace>, FormatError> {
        open(&Chrome, path, Some(&self.0))
    }

    fn open_files(&self, files: &[&Path]) -> Option<Result<Box<dyn Trace>, FormatError>> {
        Some(open_files(&Chrome, files, Some(&self.0)))
    }

    fn can_rewrite(&self) -> bool {
        true
    }

    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String> {
        Kineto.may_replace(target, input)
    }
}
