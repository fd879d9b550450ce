//! The duties of a trace format, so that everything else works on it.
//!
//! ```text
//!  Format   finds out whether a path holds such a trace, and opens it
//!  Trace    describe ----> TraceInfo     what it is made of, as far as known unread
//!           scan --------> Scan          all that causality needs of all locations
//!           timelines ---> Timeline      the times of chosen events, to verify a copy
//!           rematch -----> Scan          the same, joined by what clocks are found to be
//!           rows --------> EventRow      all events of a location, one by one, for lists
//!  Rewrite  copy, rewrite, restore       the trace again: as it is, corrected, as it was
//! ```
//!
//! The format decides how it reads: locations in parallel, or one file from
//! its beginning to its end with the records of all locations mixed, and with
//! locations that are met on the way. Messages and operations are joined by whoever gets
//! the [logs](LocationLog), unless what tells them lies in no log: then the format names
//! them itself, and if that takes times, names them [again](Trace::rematch) when clocks are
//! known better.
//!
//! A format that only reads has four methods of [`Format`] and five of [`Trace`] to write,
//! and its traces can be checked, compared, exported, listed and viewed; [`Rewrite`] is what
//! correcting a trace takes besides.
//!
//! What a format must guarantee:
//!
//! - A trace is never changed; what is written goes where it was asked for, and
//!   nothing that exists there is overwritten.
//! - The same bytes give the same [`Scan`], whatever the number of threads.
//! - [`rewrite`](Rewrite::rewrite) changes times and nothing else, and
//!   [`restore`](Rewrite::restore) takes that back or refuses.
//! - Damaged input is an error that says where; it never panics, never loops and
//!   never makes memory grow beyond what was read.

mod checksum;
mod contents;
mod corrected_events;
mod documents;
mod error;
mod event_numbers;
mod in_files;
mod opened_files;
mod parts;
mod rewrite;
mod rows;
mod timeline;

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::correction::Correction;
use crate::log::LocationLog;
use crate::monitor::Monitor;
use crate::time::Timestamp;
use crate::trace::{LocationIndex, TraceInfo};

pub use self::checksum::Checksum;
pub use self::contents::{Contents, Reach, SILENT_RANK, Unused};
pub use self::corrected_events::{CorrectedEvent, CorrectedEvents, TimeTooLarge};
pub use self::documents::{
    Document, DocumentGroup, DocumentKind, DocumentRank, DocumentTrack, DrawnArrow, DrawnEnd,
    Extent,
};
pub use self::error::FormatError;
pub use self::event_numbers::EventNumbers;
pub use self::in_files::{FileHolders, InFiles};
pub use self::opened_files::{FileError, OpenedFiles, Written};
pub use self::parts::{InParts, PartLocation, PartScan, PartUndo, join};
pub use self::rewrite::{CORRECTION, EARLIER, Rewrite, Shape, Undo, is_correction};
pub use self::rows::{EventRow, EventRows, OperationFacts, Passage};
pub use self::timeline::{Difference, Timeline};

/// A file format.
pub trait Format: Send + Sync {
    /// The name that an option has for it, such as `otf2`.
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

    /// Opens a trace as several processes can share the work on it; `None` if the format does
    /// not allow that.
    fn open_in_parts(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Option<Result<Box<dyn InParts>, FormatError>> {
        let _ = (path, monitor);
        None
    }

    /// Opens a trace whose files can be worked on apart, where [parts](Self::open_in_parts) of it
    /// cannot; `None` if the format does not allow that either.
    fn open_in_files(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Option<Result<Box<dyn InFiles>, FormatError>> {
        let _ = (path, monitor);
        None
    }

    /// Opens a trace that is given as some files; `None` if a trace of this format always is
    /// one path.
    fn open_files(&self, files: &[&Path]) -> Option<Result<Box<dyn Trace>, FormatError>> {
        let _ = files;
        None
    }

    /// True if its traces can be [written](Trace::rewriting), not only read.
    fn can_rewrite(&self) -> bool {
        false
    }

    /// Succeeds if `target` holds nothing but what this format wrote there, beside
    /// copies of what lies beside `input`: then it may be replaced. An error says
    /// what else it holds, or why that cannot be told.
    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String> {
        let _ = (target, input);
        Err("is nothing that this format writes".to_owned())
    }
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

/// A trace that was opened.
pub trait Trace: Send + Sync {
    /// The name of the format in a report, such as `OTF2`.
    fn format(&self) -> &'static str;

    /// The file that stands for the trace, whatever path it was opened by.
    fn path(&self) -> &Path;

    /// The parts of the trace, if that is known before its events are read.
    fn describe(&self) -> Option<&TraceInfo> {
        None
    }

    /// About how many bytes a [`Monitor`] will hear of in one pass over all
    /// events.
    fn bytes(&self) -> u64;

    /// Reads all events of all locations for what they say about causality.
    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError>;

    /// Reads the times of some events of each location, given by rising number
    /// (from 0), and what there is to verify besides.
    ///
    /// Unless a format knows a faster way, all [rows](Self::rows) are read, and there are no
    /// [`Contents`] to verify.
    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        let locations = (0..).map(LocationIndex).zip(events);
        let timelines = locations.map(|(location, wanted)| {
            monitor.check()?;
            timeline::of_rows(&mut *self.rows(location)?, wanted, self.path())
        });
        timelines.collect()
    }

    /// A [`scan`](Self::scan) of the same events with the stamps that were recorded, but
    /// with what belongs together found at the times that they will have once the trace is
    /// [rewritten](Rewrite::rewrite); `None` where that is what was found last, or where no
    /// logs depend on how clocks differ. What is [unused](Self::unused) follows.
    fn rematch(
        &self,
        correction: &Correction,
        monitor: &dyn Monitor,
    ) -> Result<Option<Scan>, FormatError> {
        let _ = (correction, monitor);
        Ok(None)
    }

    /// The events of a location, in order, for lists.
    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError>;

    /// The name of a region that a row mentions.
    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        let _ = id;
        None
    }

    /// The programming interface or tool that a region is of, such as `MPI`.
    fn region_paradigm(&self, id: u32) -> Option<&'static str> {
        let _ = id;
        None
    }

    /// The programming interface that events of a [kind](EventRow::kind) are of.
    fn kind_paradigm(&self, kind: &str) -> Option<&'static str> {
        let _ = kind;
        None
    }

    /// The facts that files state about the operations that these events of a location begin or end,
    /// beyond what its log says: for each event, or nothing if they say nothing of any.
    fn operations(&self, location: LocationIndex, events: &[u32]) -> Vec<OperationFacts> {
        let _ = (location, events);
        Vec::new()
    }

    /// True if [rows](Self::rows) have the groups and bytes of operations already, so that whoever
    /// goes over them need not ask for [these](Self::operations).
    fn rows_tell_operations(&self) -> bool {
        false
    }

    /// The trace as one that can be written, if its format [does that](Format::can_rewrite).
    fn rewriting(&self) -> Option<&dyn Rewrite> {
        None
    }

    /// The files of the trace as documents that viewers read by themselves, once events were
    /// read; nothing where they are something else.
    fn documents(&self) -> Vec<Document> {
        Vec::new()
    }

    /// The stamp of what the files call 0, once events were read: not 0 only where they have
    /// times below that. What is told of a stamp is how far it lies from there.
    fn zero(&self) -> Timestamp {
        Timestamp(0)
    }

    /// The time of day of a stamp, once events were read, where the format says how its clock
    /// relates to that.
    fn time_of_day(&self, stamp: Timestamp) -> Option<SystemTime> {
        let _ = stamp;
        None
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
