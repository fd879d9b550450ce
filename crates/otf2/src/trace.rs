//! A trace that is ready to be read and rewritten.
//!
//! ```
//! use retime_otf2::{Result, Trace, schema::event_code};
//! use std::path::Path;
//!
//! fn messages(path: &Path) -> Result<u64> {
//!     let trace = Trace::open(path)?;
//!     let mut sends = 0;
//!     for location in trace.locations() {
//!         let counts = trace.glance(location, &(), |_event| Ok(()))?;
//!         sends += counts.of(event_code::MpiSend) + counts.of(event_code::MpiIsend);
//!     }
//!     Ok(sends)
//! }
//! ```

use std::path::Path;

use retime_model::{LocationIndex, Monitor, plural};

use crate::archive::Archive;
use crate::chunk::ChunkReader;
use crate::counts::EventCounts;
use crate::definitions::Definitions;
use crate::error::{Error, Result, WireError};
use crate::events::EventReader;
use crate::glance::{self, Glance};
use crate::local::LocalDefinitions;
use crate::presence::is_dir;
use crate::times::{self, Timeline};

/// An archive with all its definitions read.
///
/// Locations are numbered from 0 in the order of their definitions; that number
/// is a [`LocationIndex`].
#[derive(Debug)]
pub struct Trace {
    archive: Archive,
    definitions: Definitions,
    /// In the order of their definitions.
    locals: Vec<LocalDefinitions>,
    by_directory: bool,
    /// The sizes of the event files of all locations.
    event_bytes: Vec<u64>,
}

impl Trace {
    /// Opens an archive by its anchor file or its directory, and reads its
    /// definitions. All event files must exist.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_watched(path, &())
    }

    /// Opens an archive unless `monitor` says to give up: of thousands of locations each has
    /// files to look at.
    pub fn open_watched(path: impl AsRef<Path>, monitor: &dyn Monitor) -> Result<Self> {
        let path = path.as_ref();
        let archive = Archive::open(path)?;
        let definitions = Definitions::read(&archive)?;
        let ids = definitions.location_ids();
        let sizes = ids.iter();
        let sizes = sizes.map(|&id| {
            monitor.check().map_err(|_| Error::Cancelled)?;
            Ok(archive.open_events(id)?.file_size())
        });
        let event_bytes = sizes.collect::<Result<Vec<u64>>>()?;
        let locals = LocalDefinitions::read_all(&archive, &ids, monitor)?;
        Ok(Self {
            archive,
            definitions,
            locals,
            by_directory: is_dir(path)?,
            event_bytes,
        })
    }

    /// The archive.
    pub const fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The global definitions.
    pub const fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The size of all event files, which is nearly all that a
    /// [`Monitor`] hears of.
    pub fn event_bytes(&self) -> u64 {
        self.event_bytes.iter().sum()
    }

    /// The size of the event file of each location.
    pub fn event_bytes_by_location(&self) -> &[u64] {
        &self.event_bytes
    }

    /// True if the user named a directory rather than an anchor file.
    pub const fn by_directory(&self) -> bool {
        self.by_directory
    }

    /// All locations.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = LocationIndex> + use<> {
        (0..self.locals.len() as u32).map(LocationIndex)
    }

    /// The ids of all locations, in order.
    pub fn location_ids(&self) -> impl ExactSizeIterator<Item = u64> {
        self.locals.iter().map(|local| local.location)
    }

    /// The local definitions of a location.
    pub fn local(&self, location: LocationIndex) -> Result<&LocalDefinitions> {
        self.locals
            .get(location.as_usize())
            .ok_or_else(|| Error::Inconsistent {
                path: self.archive.definitions_path(),
                what: format!(
                    "defines {}, no #{}",
                    plural(self.locals.len() as u64, "location"),
                    location.0
                ),
            })
    }

    /// The events of a location, with global ids and times.
    pub fn events(&self, location: LocationIndex) -> Result<EventReader> {
        EventReader::mapped(&self.archive, self.local(location)?)
    }

    /// Shows all events of a location to `look`, and counts them: the fastest
    /// way to look into few of them.
    pub fn glance(
        &self,
        location: LocationIndex,
        monitor: &dyn Monitor,
        look: impl FnMut(Glance<'_>) -> Result<(), WireError>,
    ) -> Result<EventCounts> {
        let local = self.local(location)?;
        let reader = self.open_events(local)?;
        glance::each(reader, local.clock.cursor(), monitor, look)
    }

    /// Reads the times of some events of a location, given by rising number
    /// (from 0), and what there is to verify besides.
    pub fn times(
        &self,
        location: LocationIndex,
        events: &[u32],
        monitor: &dyn Monitor,
    ) -> Result<Timeline> {
        let local = self.local(location)?;
        let reader = self.open_events(local)?;
        times::read(reader, local.clock.cursor(), events, monitor)
    }

    fn open_events(&self, local: &LocalDefinitions) -> Result<ChunkReader> {
        self.archive.open_events(local.location)
    }
}
