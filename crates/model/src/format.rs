//! The duties of a trace format, so that everything else works on it.
//!
//! ```text
//!  Format   finds out whether a path holds such a trace, and opens it
//!  Trace    describe ----> TraceInfo     what it is made of, as far as known unread
//!           scan --------> Scan          all that causality needs of all locations
//!           timelines ---> Timeline      the times of chosen events, to verify a copy
//!           rematch -----> Scan          the same, joined by what clocks are found to be
//!           copy, rewrite, restore       the trace again: as it is, corrected, as it was
//!           rows --------> EventRow      all events of a location, one by one, for lists
//! ```
//!
//! The format decides how it reads: locations in parallel, or one file from
//! its beginning to its end with the records of all locations mixed, and with
//! locations that are met on the way. Messages and operations are joined by whoever gets
//! the [logs](LocationLog), unless what tells them lies in no log: then the format names
//! them itself, and if that takes times, names them [again](Trace::rematch) when clocks are
//! known better.
//!
//! What a format must guarantee:
//!
//! - A trace is never changed; what is written goes where it was asked for, and
//!   nothing that exists there is overwritten.
//! - The same bytes give the same [`Scan`], whatever the number of threads.
//! - [`rewrite`](Trace::rewrite) changes times and nothing else, and
//!   [`restore`](Trace::restore) takes that back or refuses.
//! - Damaged input is an error that says where; it never panics, never loops and
//!   never makes memory grow beyond what was read.

mod parts;

use std::borrow::Cow;
use std::error::Error;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::correction::Correction;
use crate::log::LocationLog;
use crate::monitor::{Cancelled, Monitor};
use crate::time::Timestamp;
use crate::trace::{LocationIndex, TraceInfo};

pub use self::parts::{InParts, PartLocation, PartScan, PartUndo, join};

/// A file format.
pub trait Format: Send + Sync {
    /// As an option names it, such as `otf2`.
    fn name(&self) -> &'static str;

    /// A path of this format in words.
    fn describe(&self) -> &'static str;

    /// Tells how surely a path holds a trace of this format, by its name and its first
    /// bytes. That nothing lies there is no error; that it cannot be looked at is one.
    fn recognise(&self, path: &Path) -> io::Result<Recognition>;

    /// Opens a trace, and reads what it says of itself, unless `monitor` says to give up.
    fn open_watched(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Box<dyn Trace>, FormatError>;

    /// Opens a trace with nobody watching.
    fn open(&self, path: &Path) -> Result<Box<dyn Trace>, FormatError> {
        self.open_watched(path, &())
    }

    /// Opens a trace that is given as some files; `None` if a trace of this format always is
    /// one path.
    fn open_files(&self, files: &[&Path]) -> Option<Result<Box<dyn Trace>, FormatError>> {
        let _ = files;
        None
    }

    /// Succeeds if `target` holds nothing but what this format wrote there, beside
    /// copies of what lies beside `input`: then it may be replaced. An error says
    /// what else it holds, or why that cannot be told.
    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String>;
}

/// How sure a format is of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recognition {
    /// It is something else.
    No,
    /// Nothing speaks against it.
    Possible,
    /// It is a trace of this format, maybe a damaged one.
    Certain,
}

/// The end of the name of a saved correction: nothing that other programs take for a
/// trace, a profile or JSON.
pub const CORRECTION: &str = "retime";

/// The text that follows it in the names of corrections that were saved when these still ended so.
pub const EARLIER: &str = ".json";

/// True if a file is called as saved corrections are.
pub fn is_correction(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let name = name.strip_suffix(EARLIER.as_bytes()).unwrap_or(name);
    let stem = name.strip_suffix(CORRECTION.as_bytes());
    stem.is_some_and(|stem| stem.ends_with(b"."))
}

/// A trace that was opened.
pub trait Trace: Send + Sync {
    /// The name of the format in a report, such as `OTF2`.
    fn format(&self) -> &'static str;

    /// The file that stands for the trace, whatever path it was opened by.
    fn path(&self) -> &Path;

    /// The parts of the trace, if that is known before its events are read.
    fn describe(&self) -> Option<&TraceInfo>;

    /// About how many bytes a [`Monitor`] will hear of in one pass over all
    /// events.
    fn bytes(&self) -> u64;

    /// Reads all events of all locations for what they say about causality.
    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError>;

    /// Reads the times of some events of each location, given by rising number
    /// (from 0), and what there is to verify besides.
    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError>;

    /// One file, or a directory with several.
    fn shape(&self) -> Shape;

    /// Copies the trace byte for byte: into the existing directory `to`, or if it
    /// is one file, to that new file.
    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError>;

    /// As [`copy`](Self::copy), but with all times sent through the maps of their
    /// clocks. Events stamped before their predecessors wait for those.
    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError>;

    /// The times that chosen events, as in [`timelines`](Self::timelines), will have once
    /// the trace is [rewritten](Self::rewrite), where the format cannot give each event the
    /// time that its map says; `None` if it can.
    fn settled(
        &self,
        correction: &Correction,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<Vec<Timestamp>>>, FormatError> {
        let _ = (correction, events, monitor);
        Ok(None)
    }

    /// As [`scan`](Self::scan), of the same events with the stamps that were recorded, but
    /// with what belongs together found at the times that they will have once the trace is
    /// [rewritten](Self::rewrite); `None` where that is what was found last, or where no
    /// logs depend on how clocks differ. What is [unused](Self::unused) follows.
    fn rematch(
        &self,
        correction: &Correction,
        monitor: &dyn Monitor,
    ) -> Result<Option<Scan>, FormatError> {
        let _ = (correction, monitor);
        Ok(None)
    }

    /// Writes the trace that [`rewrite`](Self::rewrite) has turned into this one;
    /// `to` as in [`copy`](Self::copy).
    fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError>;

    /// True if [`restore`](Self::restore) compresses files anew: then their contents are those
    /// of the original, and their bytes are not.
    fn packs_anew(&self) -> bool {
        false
    }

    /// The path to open the copy by that was written to `to`.
    fn copy_at(&self, to: &Path) -> PathBuf;

    /// Opens what [`rewrite`](Self::rewrite) wrote to `copy` so that its times count from
    /// where those of this trace do; `None` if they always count from the same.
    fn open_copy(
        &self,
        copy: &Path,
        monitor: &dyn Monitor,
    ) -> Option<Result<Box<dyn Trace>, FormatError>> {
        let _ = (copy, monitor);
        None
    }

    /// Where the correction of a trace at `path` is saved: beside it, under a name that ends
    /// in [`CORRECTION`].
    fn correction_of(&self, path: &Path) -> PathBuf;

    /// Where the correction of this trace is saved.
    fn correction_path(&self) -> PathBuf {
        self.correction_of(self.path())
    }

    /// True if the correction that is saved beside the trace belongs to what was named, so
    /// that a copy without it would lose the way back.
    fn includes_correction(&self) -> bool {
        true
    }

    /// The events of a location, in order, for lists.
    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError>;

    /// The name of a region that a row mentions.
    fn region(&self, id: u32) -> Option<Cow<'_, str>>;

    /// The facts that files state about the operations that these events of a location begin or end,
    /// beyond what its log says: for each event, or nothing if they say nothing of any.
    fn operations(&self, location: LocationIndex, events: &[u32]) -> Vec<OperationFacts> {
        let _ = (location, events);
        Vec::new()
    }

    /// The trace as several processes can share the work on it, if its format allows that.
    fn in_parts(&self) -> Option<&dyn InParts> {
        None
    }

    /// The stamp of what the files call 0, once events were read: not 0 only where they have
    /// times below that. What is told of a stamp is how far it lies from there.
    fn zero(&self) -> Timestamp {
        Timestamp(0)
    }

    /// True if the times of the trace were interpolated between measured offsets
    /// already.
    fn has_applied_offsets(&self) -> bool {
        false
    }

    /// Events that tell of communication in ways that no log takes up, for a trace
    /// with these contents; kinds of which there are none are left out.
    fn unused(&self, contents: &[Contents]) -> Vec<Unused> {
        let _ = contents;
        Vec::new()
    }

    /// Notes that a reader should know of a trace with these contents before trusting it.
    fn warnings(&self, contents: &[Contents]) -> Vec<String> {
        let _ = contents;
        Vec::new()
    }
}

/// The files that a trace consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One file.
    File,
    /// Several, in a directory.
    Directory,
}

/// The result of a pass over a trace.
#[derive(Debug)]
pub struct Scan {
    /// The parts of the trace, all locations included.
    pub info: TraceInfo,
    /// The log of each location, in the order of [`TraceInfo::locations`].
    pub logs: Vec<LocationLog>,
    /// The contents of each location besides times.
    pub contents: Vec<Contents>,
}

/// The contents of a location besides times, which a correction must not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// How many events there are of each kind; numbers as the format has them.
    pub kinds: Vec<(u32, u64)>,
    /// Whatever else can be counted or summed up.
    pub rest: Vec<u64>,
}

/// Records of one kind that tell of communication, and that nothing is concluded
/// from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The name of one of them, in words that take a plural.
    pub kind: &'static str,
    /// Whom they can relate.
    pub reach: Reach,
    /// How many each location has, in the order of [`TraceInfo::locations`].
    pub records: Vec<u64>,
}

/// Whom a kind of communication can relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Threads and streams of one process.
    Process,
    /// Any two locations.
    Trace,
}

/// The times of chosen events of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The times of the events asked for.
    pub times: Vec<Timestamp>,
    /// Its contents besides times.
    pub contents: Contents,
    /// How many events there are, asked for or not.
    pub events: u64,
    /// The stamp of the first of them and the largest, as
    /// [`LogColumns::range`](crate::LogColumns::range); `None` without events.
    pub range: Option<(Timestamp, Timestamp)>,
    /// Number of events stamped before their predecessor.
    pub backwards: u64,
}

/// How the timeline of a copy is not the one that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Difference {
    /// There are other events.
    OtherEvents,
    /// So many are stamped before their predecessor.
    Backwards(u64),
    /// An event has another time than computed.
    OtherTime,
}

impl Timeline {
    /// Counts the next event of the location, whether or not it was asked for.
    pub fn count(&mut self, time: Timestamp) {
        self.events += 1;
        let (first, last) = self.range.unwrap_or((time, time));
        self.range = Some((first, last.max(time)));
    }

    /// How it is not the one of these contents and times.
    pub fn difference(&self, contents: &Contents, times: &[Timestamp]) -> Option<Difference> {
        if self.contents != *contents {
            Some(Difference::OtherEvents)
        } else if self.backwards > 0 {
            Some(Difference::Backwards(self.backwards))
        } else if self.times != times {
            Some(Difference::OtherTime)
        } else {
            None
        }
    }
}

/// All that it takes to restore a rewritten trace: JSON text that the format alone
/// understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo(pub String);

/// An event as it stands in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Its time as recorded.
    pub time: Timestamp,
    /// The name that the format gives it.
    pub kind: &'static str,
    /// The region that is entered or left, or that it happens in; [`Trace::region`]
    /// names it.
    pub region: Option<u32>,
    /// The way into or out of where the location is, if it is one.
    pub passage: Option<Passage>,
    /// The id of the location it speaks to or hears from.
    pub peer: Option<u64>,
}

/// Facts about a collective operation, as one participant recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationFacts {
    /// Its kind, as the recorder calls it: `all_reduce`.
    pub kind: Option<String>,
    /// Its group.
    pub group: Option<String>,
    /// Its number in the group.
    pub sequence: Option<u64>,
    /// The bytes that the participant gives or gets, whichever is more.
    pub bytes: Option<u64>,
}

/// How an event changes in which regions its location is: these are a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The region of the event is entered.
    Enter,
    /// It is left, and with it all that was entered since.
    Leave,
}

/// The events of a location, one after the other; those of several locations can be read
/// in parallel.
pub trait EventRows: Send {
    /// The next event, `None` at the end.
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError>;
}

/// Why a format could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Anything else, in the words of the format: file, place, what is wrong, and
    /// the way out.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl FormatError {
    /// An error of a format.
    pub fn failed(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed(Box::new(error))
    }
}
