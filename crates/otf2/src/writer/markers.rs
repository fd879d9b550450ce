//! Markers: remarks on a moment or a stretch of the whole trace.

use std::path::PathBuf;

use super::{
    chunked::{ChunkedFile, Numbering},
    encode::Payload,
    failure::{WriteError, WriteResult},
};
use crate::enums::MarkerSeverity;
use crate::marker_scope::MarkerScope;
use crate::schema::codes::{DEF_MARKER, MARKER};

/// A kind of marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkerRef(pub u32);

/// Collects the markers of an archive. Their times are global times: no clock
/// offset of a location applies to them.
#[derive(Debug, Default)]
pub struct MarkersWriter {
    records: Vec<(u8, Payload)>,
    kinds: u32,
    mistake: Option<WriteError>,
}

impl MarkersWriter {
    /// Defines a kind of marker.
    pub fn define(&mut self, group: &str, category: &str, severity: MarkerSeverity) -> MarkerRef {
        self.check_text(group);
        self.check_text(category);
        let kind = MarkerRef(self.kinds);
        self.kinds += 1;
        let mut payload = Payload::new();
        payload.c32(kind.0).text(group).text(category);
        payload.u8(severity.0);
        self.records.push((DEF_MARKER, payload));
        kind
    }

    /// Sets a marker from `time` on for `duration` ticks.
    pub fn mark(
        &mut self,
        time: u64,
        duration: u64,
        kind: MarkerRef,
        scope: MarkerScope,
        text: &str,
    ) {
        self.check_text(text);
        let (code, id) = scope.code_and_id();
        let mut payload = Payload::new();
        payload.c64(time).c64(duration).c32(kind.0);
        payload.u8(code).c64(id).text(text);
        self.records.push((MARKER, payload));
    }

    fn check_text(&mut self, text: &str) {
        if text.contains('\0') {
            self.mistake
                .get_or_insert(WriteError::NulInText(text.to_owned()));
        }
    }

    /// The first mistake.
    pub(super) fn check(&mut self) -> WriteResult {
        self.mistake.take().map_or(Ok(()), Err)
    }

    /// Writes the file, if there is anything to write. Returns its size.
    pub(super) fn write(&self, path: PathBuf, chunk_size: u64) -> WriteResult<u64> {
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
