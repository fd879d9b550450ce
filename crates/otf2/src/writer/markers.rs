//! Markers: remarks on a moment or a stretch of the whole trace.

use std::path::PathBuf;

use super::{
    chunked::{ChunkedFile, Numbering},
    encode::Payload,
    failure::{Error, Result},
};

const DEFINITION: u8 = 5;
const MARKER: u8 = 6;

/// How serious what a marker tells is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Severity {
    /// Not serious.
    None = 0,
    /// A little.
    Low = 1,
    /// Rather.
    Medium = 2,
    /// Very.
    High = 3,
}

/// A kind of marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkerRef(pub u32);

/// What a marker is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole trace.
    Global,
    /// A location.
    Location(u64),
    /// A location group.
    LocationGroup(u32),
    /// A node of the system tree.
    SystemTreeNode(u32),
    /// A group.
    Group(u32),
    /// A communicator.
    Comm(u32),
}

/// Collects the markers of an archive. Their times are global times: no clock
/// offset of a location applies to them.
#[derive(Debug, Default)]
pub struct Markers {
    records: Vec<(u8, Payload)>,
    kinds: u32,
    mistake: Option<Error>,
}

impl Markers {
    /// Defines a kind of marker.
    pub fn define(&mut self, group: &str, category: &str, severity: Severity) -> MarkerRef {
        self.check_text(group);
        self.check_text(category);
        let kind = MarkerRef(self.kinds);
        self.kinds += 1;
        let mut payload = Payload::new();
        payload.c32(kind.0).text(group).text(category);
        payload.u8(severity as u8);
        self.records.push((DEFINITION, payload));
        kind
    }

    /// Sets a marker from `time` on for `duration` ticks.
    pub fn mark(&mut self, time: u64, duration: u64, kind: MarkerRef, scope: Scope, text: &str) {
        self.check_text(text);
        let (code, id) = match scope {
            Scope::Global => (0, u64::MAX),
            Scope::Location(id) => (1, id),
            Scope::LocationGroup(id) => (2, u64::from(id)),
            Scope::SystemTreeNode(id) => (3, u64::from(id)),
            Scope::Group(id) => (4, u64::from(id)),
            Scope::Comm(id) => (5, u64::from(id)),
        };
        let mut payload = Payload::new();
        payload.c64(time).c64(duration).c32(kind.0);
        payload.u8(code).c64(id).text(text);
        self.records.push((MARKER, payload));
    }

    fn check_text(&mut self, text: &str) {
        if text.contains('\0') {
            self.mistake
                .get_or_insert(Error::NulInText(text.to_owned()));
        }
    }

    /// The first mistake.
    pub(super) fn check(&mut self) -> Result<()> {
        self.mistake.take().map_or(Ok(()), Err)
    }

    /// Writes the file, if there is anything to write. Returns its size.
    pub(super) fn write(&self, path: PathBuf, chunk_size: u64) -> Result<u64> {
        if self.records.is_empty() {
            return Ok(0);
        }
        let mut file = ChunkedFile::create(path, chunk_size, Numbering::None)?;
        for (code, payload) in &self.records {
            file.record(*code, payload.as_bytes())?;
        }
        file.finish()
    }
}
