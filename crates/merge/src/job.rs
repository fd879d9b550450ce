//! The documents of a job on one axis, and what hangs together across them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use retime_model::format::{Document, DocumentKind, DrawnArrow, DrawnEnd};

/// The documents and arrows that are put into one file.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The documents, at the times that are to be shown, in the order in which they are shown.
    pub documents: Vec<Document>,
    /// The arrows between them.
    pub arrows: Vec<Arrow>,
    /// The nanosecond that is 0 in the file: none of what is shown is earlier.
    pub origin: i64,
    /// Files of packets that come behind all documents as they are, with tracks of numbers below
    /// 2^31, sequences of numbers below 2^30, and arrows of numbers below 2^32: those of traces of other formats.
    pub packets: Vec<PathBuf>,
}

/// A dependency of one event on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The cause.
    pub from: ArrowEnd,
    /// The effect.
    pub to: ArrowEnd,
}

/// An end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArrowEnd {
    /// The position of the document,
    pub document: u32,
    /// and of its track there.
    pub track: u32,
    /// When it is, in nanoseconds.
    pub at: i64,
}

/// An end with its arrow, and what is said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pointed {
    pub(crate) end: ArrowEnd,
    pub(crate) is_cause: bool,
    /// The position of the arrow.
    pub(crate) arrow: usize,
    /// True if the effect of the arrow is before its cause.
    pub(crate) is_reversed: bool,
}

impl Pointed {
    /// True if both leave from one event. Each that arrives is alone, since an event waits for one.
    pub(crate) fn leaves_with(&self, other: &Self) -> bool {
        self.end == other.end && self.is_cause && other.is_cause
    }

    /// The name of what stands there.
    pub(crate) fn name(&self) -> &'static str {
        if self.is_cause { "cause" } else { "effect" }
    }
}

impl Job {
    /// The arrows that are added to a file of a kind: documents keep those that they draw, with their
    /// own ends, but for JSON that becomes packets, where slices begin and end at other events.
    pub(crate) fn added(&self, kind: MergedKind) -> Vec<Arrow> {
        let is_drawn = |arrow: &Arrow| {
            let document = self.documents.get(arrow.from.document as usize);
            let Some(own) = document.filter(|_| arrow.from.document == arrow.to.document) else {
                return false;
            };
            let end = |it: ArrowEnd| {
                let track = own.tracks.get(it.track as usize)?;
                let (process, at) = (track.process, it.at);
                Some(DrawnEnd { process, at })
            };
            let becomes_packets = own.kind == DocumentKind::Chrome && kind == MergedKind::Perfetto;
            let both = end(arrow.from).zip(end(arrow.to));
            let is_own = |(from, to)| own.drawn.binary_search(&DrawnArrow { from, to }).is_ok();
            !becomes_packets && both.is_some_and(is_own)
        };
        let all = self.arrows.iter().filter(|it| !is_drawn(it));
        all.copied().collect()
    }
}

impl Pointed {
    /// All ends of arrows, by where they stand.
    pub(crate) fn all(arrows: &[Arrow]) -> Vec<Self> {
        let arrows = arrows.iter().enumerate();
        let both = arrows.flat_map(|(arrow, it)| {
            [(it.from, true), (it.to, false)].map(|(end, is_cause)| Self {
                end,
                arrow,
                is_cause,
                is_reversed: it.to.at < it.from.at,
            })
        });
        let mut all: Vec<Self> = both.collect();
        all.sort_unstable();
        all
    }
}

/// The content of a file, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Bytes, before they were compressed.
    pub bytes: u64,
    /// Events of documents, those left out that only name things.
    pub events: u64,
    /// Arrows between documents.
    pub arrows: u64,
    /// Processes with events.
    pub processes: u64,
    /// The things of the documents that the file does not hold, counted, by a word that takes a plural.
    pub untold: BTreeMap<&'static str, u64>,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedKind {
    /// Chrome's JSON.
    Chrome,
    /// Packets of Perfetto.
    Perfetto,
}
