//! Traces whose files viewers read by themselves: documents in Chrome's JSON format, or in
//! Perfetto's packets.
//!
//! Lists of [rows](super::Trace::rows) say of each event what all formats know. A document
//! says more, its arguments, counters and arrows, and a viewer shows all of it. So whoever
//! puts such files together takes their content, and only has to know whose each is and where
//! in it a location stands.

use std::path::PathBuf;

use crate::trace::LocationIndex;

/// The kind of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DocumentKind {
    /// Chrome's JSON.
    #[default]
    Chrome,
    /// Packets of Perfetto.
    Packets,
}

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The kind of the file.
    pub kind: DocumentKind,
    /// The file, plain or gzip.
    pub path: PathBuf,
    /// The nanoseconds at which its times begin to count.
    pub base: i64,
    /// The earliest and the latest time in the document, in nanoseconds with the base; nothing
    /// without events.
    pub extent: Option<Extent>,
    /// The rank that wrote it.
    pub rank: Option<u32>,
    /// All that it says of its job and its host, as an object of JSON, if it says either.
    pub said: Option<String>,
    /// The host that it ran on, or the part of it that has one clock.
    pub host: Option<String>,
    /// The groups of processes that the rank is a member of.
    pub groups: Vec<DocumentGroup>,
    /// The ranks whose profiles were put into it, where it is of several.
    pub ranks: Vec<DocumentRank>,
    /// The tracks that events are on, in the order of the trace's locations.
    pub tracks: Vec<DocumentTrack>,
    /// The location of the first track.
    pub first: LocationIndex,
    /// The dependencies between processes that the document draws as arrows itself, sorted.
    pub drawn: Vec<DrawnArrow>,
}

impl Document {
    /// The document with times that are so many nanoseconds later.
    #[must_use]
    pub fn later(&self, by: i64) -> Self {
        let mut moved = self.clone();
        moved.base = self.base.saturating_add(by);
        if let Some(extent) = &mut moved.extent {
            extent.first = extent.first.saturating_add(by);
            extent.last = extent.last.saturating_add(by);
        }
        for arrow in &mut moved.drawn {
            arrow.from.at = arrow.from.at.saturating_add(by);
            arrow.to.at = arrow.to.at.saturating_add(by);
        }
        moved
    }
}

/// A rank whose profile was put into a document of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentRank {
    /// The number of the rank, or the word that stands for it.
    pub label: String,
    /// All that its profile said of its job and its host, as an object of JSON, if it said either.
    pub said: Option<String>,
    /// The host that it ran on, or the part of it that has one clock.
    pub host: Option<String>,
    /// The groups of processes that the rank is a member of.
    pub groups: Vec<DocumentGroup>,
}

/// The stretch from the first to the last event, in nanoseconds; the last may have a length
/// besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The earliest time.
    pub first: i64,
    /// The latest time.
    pub last: i64,
}

/// A group of processes, with the rank of the document's own in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentGroup {
    /// The name of the group, or its purpose.
    pub name: String,
    /// The place of the rank among its members.
    pub place: u32,
    /// The number of its members.
    pub size: u32,
}

/// An arrow that a document draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawnArrow {
    /// The cause,
    pub from: DrawnEnd,
    /// and the effect.
    pub to: DrawnEnd,
}

/// An end of an arrow that a document draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawnEnd {
    /// The position of the process in the trace,
    pub process: u32,
    /// and when the cause or the effect is, in nanoseconds with the base.
    pub at: i64,
}

/// The process and thread of events, as the document writes them, without quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentTrack {
    /// The value of `pid`.
    pub pid: String,
    /// The value of `tid`.
    pub tid: String,
    /// The machine that packets say.
    pub machine: u32,
    /// The number that packets give to the track, if they do.
    pub uuid: Option<u64>,
    /// The position of the process in the trace.
    pub process: u32,
    /// The position of its rank in the document's, where that is of several.
    pub rank: Option<u32>,
}
