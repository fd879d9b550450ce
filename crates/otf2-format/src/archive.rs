//! An archive that was opened, as retime sees it.

use std::path::Path;
use std::sync::OnceLock;

use retime_model::{Monitor, TraceInfo};

use crate::concluded::Concluded;
use crate::describe::{Description, describe};
use crate::error::TraceError;

/// An archive that was opened, and what is known of it.
pub(crate) struct Archive {
    pub(crate) otf2: retime_otf2::Trace,
    pub(crate) description: Description,
    /// The conclusions of a scan about each location, once there was one.
    pub(crate) concluded: OnceLock<Vec<Concluded>>,
}

impl Archive {
    pub(crate) fn open(path: &Path, monitor: &dyn Monitor) -> Result<Self, TraceError> {
        let otf2 = retime_otf2::Trace::open_watched(path, monitor)?;
        let path = otf2.archive().definitions_path();
        let description = describe(otf2.definitions(), &path)?;
        Ok(Self {
            otf2,
            description,
            concluded: OnceLock::new(),
        })
    }

    /// The locations, processes and communicators of the trace, as its definitions describe them.
    pub(crate) fn info(&self) -> &TraceInfo {
        &self.description.info
    }
}
