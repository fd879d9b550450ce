//! A trace that is ready to be scanned and rewritten.
//!
//! ```
//! use retime_otf2::{Otf2Trace, Result};
//! use std::path::Path;
//!
//! fn messages(path: &Path) -> Result<u64> {
//!     let trace = Otf2Trace::open(path)?;
//!     let mut sends = 0;
//!     for location in trace.locations() {
//!         let scanned = trace.scan(location, &())?;
//!         sends += scanned.counts.of(14) + scanned.counts.of(15);
//!     }
//!     Ok(sends)
//! }
//! ```

use std::collections::HashMap;
use std::path::Path;

use retime_model::{LocationIndex, TraceInfo};

use crate::archive::Archive;
use crate::chunk::ChunkReader;
use crate::definitions::Definitions;
use crate::describe::{Description, describe};
use crate::error::{Error, Result};
use crate::local::LocalDefinitions;
use crate::refs::CommRef;
use crate::scan::{self, Scanned};
use crate::times::{self, Timeline};
use retime_model::Monitor;

/// An archive with all its definitions read.
#[derive(Debug)]
pub struct Otf2Trace {
    archive: Archive,
    definitions: Definitions,
    info: TraceInfo,
    /// Handles of communicators by their ids.
    communicators: HashMap<CommRef, u32>,
    /// In order of `info.locations`.
    locals: Vec<LocalDefinitions>,
    by_directory: bool,
    event_bytes: u64,
}

impl Otf2Trace {
    /// Opens an archive by its anchor file or its directory, and reads its
    /// definitions. All event files must exist.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let archive = Archive::open(path)?;
        let definitions = Definitions::read(&archive)?;
        let Description {
            info,
            communicators,
        } = describe(&definitions, &archive.definitions_path())?;
        let ids: Vec<u64> = info.locations.iter().map(|it| it.id).collect();
        let mut event_bytes = 0;
        for &id in &ids {
            event_bytes += archive.open_events(id)?.file_size();
        }
        let locals = LocalDefinitions::read_all(&archive, &ids)?;
        Ok(Self {
            archive,
            definitions,
            info,
            communicators,
            locals,
            by_directory: path.is_dir(),
            event_bytes,
        })
    }

    /// What the trace is made of.
    pub const fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// The archive.
    pub const fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The size of all event files, which is nearly all that a
    /// [`Monitor`] hears of.
    pub const fn event_bytes(&self) -> u64 {
        self.event_bytes
    }

    /// Whether the user named a directory rather than an anchor file.
    pub const fn by_directory(&self) -> bool {
        self.by_directory
    }

    /// The global definitions.
    pub const fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// All locations.
    pub fn locations(&self) -> impl Iterator<Item = LocationIndex> + use<> {
        (0..self.locals.len() as u32).map(LocationIndex)
    }

    /// The local definitions of a location.
    pub fn local(&self, location: LocationIndex) -> Result<&LocalDefinitions> {
        self.locals
            .get(location.as_usize())
            .ok_or_else(|| Error::Inconsistent {
                path: self.archive.definitions_path(),
                what: format!(
                    "defines {} locations, no #{}",
                    self.locals.len(),
                    location.0
                ),
            })
    }

    /// Reads all events of a location for what they say about causality.
    pub fn scan(&self, location: LocationIndex, monitor: &dyn Monitor) -> Result<Scanned> {
        let local = self.local(location)?;
        let reader = self.open_events(local)?;
        scan::read(
            reader,
            local,
            (&self.info, &self.communicators),
            location,
            monitor,
        )
    }

    /// Reads the times of some events of a location, given by rising number
    /// (from 0), and what there is to verify besides.
    pub fn node_times(
        &self,
        location: LocationIndex,
        events: &[u32],
        monitor: &dyn Monitor,
    ) -> Result<Timeline> {
        let local = self.local(location)?;
        times::read(
            self.open_events(local)?,
            local.clock.cursor(),
            events,
            monitor,
        )
    }

    fn open_events(&self, local: &LocalDefinitions) -> Result<ChunkReader> {
        self.archive.open_events(local.location)
    }
}
