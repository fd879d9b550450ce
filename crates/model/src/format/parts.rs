//! A trace that several processes read and write together, each a part of its locations.
//!
//! ```text
//!             each process, of its part          one process, of all
//!  scan       scan_part --> PartScan ---------->  join, logs and contents; take_up
//!  timelines  timelines_of --> Timeline ------->  in order of locations
//!  rewrite    write_part --> PartUndo --------->  write_rest --> Undo
//! ```
//!
//! Each process has opened the trace for itself. What goes from one to another is plain
//! data. Whatever the parts, the results are those of [`Rewrite`]; for that, locations that
//! only make sense together have to be in one part: those of a process, and of the
//! processes that it has made.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Contents, FormatError, Rewrite, Timeline, Undo};
use crate::correction::Correction;
use crate::log::{LocationLog, NamedMessage};
use crate::monitor::Monitor;
use crate::role::MessageId;
use crate::trace::{LocationIndex, TraceInfo};

/// A trace whose locations can be read and written apart.
pub trait InParts: Rewrite {
    /// The parts of the trace, known before its events are read.
    fn info(&self) -> &TraceInfo;

    /// How many bytes the events of each location take, in order.
    fn sizes(&self) -> Vec<u64>;

    /// Reads all events of some locations, as [`Trace::scan`](super::Trace::scan) does of all.
    ///
    /// What is read `thoroughly` takes longer and may say more. It is of use in all
    /// parts, or in none: all are to be read so, and again, if [`PartScan::wants_more`]
    /// in one.
    fn scan_part(
        &self,
        part: &[LocationIndex],
        thoroughly: bool,
        monitor: &dyn Monitor,
    ) -> Result<PartScan, FormatError>;

    /// Takes up what scans of parts have [`concluded`](PartLocation::concluded), of all
    /// locations in order, for what [`Trace::unused`](super::Trace::unused) and
    /// [`Trace::warnings`](super::Trace::warnings) say.
    fn take_up(&self, concluded: &[Vec<u64>]);

    /// Reads the times of some events of some locations, as
    /// [`Trace::timelines`](super::Trace::timelines) does of all.
    fn timelines_of(
        &self,
        events: &[(LocationIndex, &[u32])],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError>;

    /// Does of [`Rewrite::rewrite`], or of [`Rewrite::copy`] if there is no correction, what
    /// concerns some locations alone. The disk has it when this returns.
    fn write_part(
        &self,
        correction: Option<&Correction>,
        part: &[LocationIndex],
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<PartUndo, FormatError>;

    /// Does the rest, once all parts are written.
    fn write_rest(
        &self,
        correction: Option<&Correction>,
        parts: Vec<PartUndo>,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError>;
}

/// The result of a pass over a part of a trace.
#[derive(Debug)]
pub struct PartScan {
    /// The result for each location, in the order in which they were given.
    pub locations: Vec<PartLocation>,
    /// True if all parts have to be read thoroughly.
    pub wants_more: bool,
}

/// The result of such a pass for a location.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartLocation {
    /// The log of the location.
    pub log: LocationLog,
    /// Its contents besides times.
    pub contents: Contents,
    /// Notes of the format for [`InParts::take_up`].
    pub concluded: Vec<u64>,
    /// Ends of messages that count if another location has the other end; see [`join`].
    pub causes: Vec<NamedMessage>,
    /// Receiving ends of messages that count if another location has the other end.
    pub effects: Vec<NamedMessage>,
}

/// Adds to the logs of all locations the messages of which both ends are there.
pub fn join(locations: Vec<PartLocation>) -> Result<Vec<PartLocation>, FormatError> {
    let ids = |ends: fn(&PartLocation) -> &Vec<NamedMessage>| -> HashSet<MessageId> {
        let ends = locations.iter().flat_map(ends);
        ends.map(|it| it.id).collect()
    };
    let (sent, received) = (ids(|it| &it.causes), ids(|it| &it.effects));
    if sent.is_disjoint(&received) {
        return Ok(locations);
    }
    let is_known = |it: &NamedMessage| sent.contains(&it.id) && received.contains(&it.id);
    let add = |mut it: PartLocation| {
        let ends = it.causes.drain(..).chain(it.effects.drain(..));
        let known: Vec<NamedMessage> = ends.filter(is_known).collect();
        let mut columns = it.log.into_columns();
        columns.named_messages.extend(known);
        let log = LocationLog::try_from(columns).map_err(FormatError::failed)?;
        Ok(PartLocation { log, ..it })
    };
    locations.into_iter().map(add).collect()
}

/// All that it takes to undo what was written of a part: text that the format alone
/// understands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartUndo(pub String);
