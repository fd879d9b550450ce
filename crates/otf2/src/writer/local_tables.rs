//! The tables of one location's clock and ids.
//!
//! A location may use numbers of its own and a clock of its own. Its local
//! definition file holds the tables that translate them.

use std::path::PathBuf;

use crate::enums::MappingType;
use crate::schema::codes::{CLOCK_OFFSET, MAPPING_TABLE};

use super::{
    chunked::{ChunkedFile, Numbering},
    encode::Payload,
    failure::WriteResult,
};

const DENSE: u8 = 0;
const SPARSE: u8 = 1;

/// Collects the local definitions of a location.
#[derive(Debug, Default)]
pub struct LocalDefinitionsWriter {
    records: Vec<(u8, Payload)>,
}

impl LocalDefinitionsWriter {
    /// Translates the local ids 0, 1, 2 … to the given global ones. An empty
    /// list says nothing and is left out: readers cannot handle it.
    pub fn dense_map(&mut self, kind: MappingType, global: &[u64]) {
        if global.is_empty() {
            return;
        }
        let mut payload = Payload::new();
        payload.u8(kind.0).c64(global.len() as u64).u8(DENSE);
        for &id in global {
            payload.c64(id);
        }
        self.records.push((MAPPING_TABLE, payload));
    }

    /// Translates single local ids, given as pairs of local and global id. An
    /// empty list is left out.
    pub fn sparse_map(&mut self, kind: MappingType, pairs: &[(u64, u64)]) {
        if pairs.is_empty() {
            return;
        }
        let mut sorted = pairs.to_vec();
        // Readers search them.
        sorted.sort_unstable();
        let mut payload = Payload::new();
        payload.u8(kind.0).c64(sorted.len() as u64).u8(SPARSE);
        for (local, global) in sorted {
            payload.c64(local).c64(global);
        }
        self.records.push((MAPPING_TABLE, payload));
    }

    /// States that `offset` has to be added to the local time `time` to get
    /// the global one. Readers interpolate between two such statements and
    /// ignore a single one.
    pub fn clock_offset(&mut self, time: u64, offset: i64, standard_deviation: f64) {
        let mut payload = Payload::new();
        payload.x64(time).s64(offset).f64(standard_deviation);
        self.records.push((CLOCK_OFFSET, payload));
    }

    /// Writes the file. Returns its size.
    pub(super) fn write(&self, path: PathBuf, chunk_size: u64) -> WriteResult<u64> {
        let mut file = ChunkedFile::create(path, chunk_size, Numbering::None)?;
        for (code, payload) in &self.records {
            file.record(*code, payload.as_bytes())?;
        }
        file.finish()
    }
}
