//! Knowledge that a location has for itself: mapping tables and clock offsets.
//!
//! `NAME/<id>.def` is optional. A location without it has global ids and
//! global times in its events. But a file that got lost looks just the same,
//! and reading on would mix up communicators and clocks without a word. So
//! [`LocalDefinitions::read_all`] has a rule:
//!
//! > A local definition file is missing, rather than absent, when its
//! > location has events and some other location of the archive has mapping
//! > tables, or clock offsets that change times.
//!
//! Measurement systems unify ids either for all locations that recorded
//! something or for none. Locations without events need nothing. A file that
//! exists but is empty or cut short is always an error.
//!
//! ```
//! use retime_otf2::{Archive, LocalDefinitions, Result};
//!
//! fn corrected_locations(archive: &Archive, locations: &[u64]) -> Result<usize> {
//!     let all = LocalDefinitions::read_all(archive, locations, &())?;
//!     Ok(all.iter().filter(|local| !local.clock.is_identity()).count())
//! }
//! ```

use crate::archive::Archive;
use crate::clock::ClockCorrection;
use crate::enums::MappingType;
use crate::error::{Reason, Result, WireError};
use crate::mapping::{MappingTable, Mappings};
use crate::records::{Entry, RecordReader};
use crate::schema::Class;
use crate::schema::codes::{CLOCK_OFFSET, MAPPING_TABLE};
use crate::value::Value;

/// The local definitions of a location.
#[derive(Clone, Debug, Default)]
pub struct LocalDefinitions {
    /// The location.
    pub location: u64,
    /// True if the file exists.
    pub exists: bool,
    /// From local to global ids.
    pub mappings: Mappings,
    /// From raw to global times.
    pub clock: ClockCorrection,
    /// Pairs of raw time and offset, as in the file.
    pub clock_offsets: Vec<(u64, i64)>,
    /// Mapping tables of an unknown class, or of one that had a table before.
    pub ignored_tables: u64,
    /// Records with unknown codes.
    pub unknown: u64,
}

impl LocalDefinitions {
    /// Reads the local definitions of one location. A missing file means that
    /// there are none.
    pub fn read(archive: &Archive, location: u64) -> Result<Self> {
        let mut local = Self {
            location,
            ..Self::default()
        };
        let Some(reader) = archive.open_local_definitions(location)? else {
            return Ok(local);
        };
        local.exists = true;
        let mut records = RecordReader::new(reader)?;
        while let Some(entry) = records.next()? {
            match entry.record().code {
                MAPPING_TABLE => local.add_table(&entry)?,
                CLOCK_OFFSET => local.add_offset(&entry)?,
                _ => {}
            }
        }
        local.unknown = records.unknown();
        local.clock = ClockCorrection::new(&local.clock_offsets).unwrap_or_default();
        Ok(local)
    }

    /// True if events of the location differ from their raw form.
    pub fn matters(&self) -> bool {
        !self.mappings.is_empty() || !self.clock.is_identity()
    }

    fn add_table(&mut self, entry: &Entry<'_>) -> Result<()> {
        let class = Class::of_mapping(MappingType(entry.unsigned("mappingType")? as u8));
        let map = entry.fields().get("idMap").map_err(|e| entry.error(e))?;
        let added = match (class, map) {
            (Some(class), Some(Value::IdMap(map))) => {
                self.mappings.add(class, MappingTable::new(&map))
            }
            _ => false,
        };
        self.ignored_tables += u64::from(!added);
        Ok(())
    }

    fn add_offset(&mut self, entry: &Entry<'_>) -> Result<()> {
        let time = entry.unsigned("time")?;
        let offset = entry.fields().get("offset").map_err(|e| entry.error(e))?;
        let offset = offset.and_then(Value::signed).unwrap_or(0);
        if self.clock_offsets.last().is_some_and(|last| last.0 >= time) {
            let at = entry.record().start as usize;
            return Err(entry.error(WireError::new(at, Reason::ClockOrder)));
        }
        self.clock_offsets.push((time, offset));
        Ok(())
    }
}
