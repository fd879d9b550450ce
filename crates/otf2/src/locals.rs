//! The local definitions of all locations together.

use retime_model::Monitor;

use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::events::EventReader;
use crate::local::LocalDefinitions;

impl LocalDefinitions {
    /// Reads the local definitions of all locations of an archive and refuses
    /// if one is missing that the archive needs: its location has events, and
    /// another location has mapping tables or clock offsets that change times. It ends
    /// where `monitor` says so.
    pub fn read_all(
        archive: &Archive,
        locations: &[u64],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Self>> {
        let all = locations
            .iter()
            .map(|&location| {
                monitor.check().map_err(|_| Error::Cancelled)?;
                Self::read(archive, location)
            })
            .collect::<Result<Vec<_>>>()?;
        if let Some(example) = all.iter().find(|local| local.matters()) {
            for local in all.iter().filter(|local| !local.exists) {
                monitor.check().map_err(|_| Error::Cancelled)?;
                local.check_not_needed(archive, example)?;
            }
        }
        Ok(all)
    }

    fn check_not_needed(&self, archive: &Archive, example: &Self) -> Result<()> {
        let mut events = EventReader::raw(archive, self.location)?;
        if events.next()?.is_none() {
            return Ok(());
        }
        Err(Error::MissingFile {
            path: archive.local_definitions_path(self.location),
            why: format!(
                "location {} has events, and other locations of this archive (such as {}) have \
                 mapping tables or clock offsets; without the file its ids and times cannot be \
                 related to theirs; restore it from the original archive",
                self.location, example.location
            ),
        })
    }
}
