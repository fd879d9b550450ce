//! An archive that several processes rewrite together.
//!
//! Each takes the files of its own locations; what it did, a [`PartRewritten`], goes to
//! one of them, which takes the rest: markers, what belongs to no location, the global
//! definitions with the extent of all parts, and last the anchor file. The result is
//! the same, byte for byte, as that of one process.
//!
//! Only the process that wrote a file can be sure that it reaches the disk, so each file
//! of a part is synced before the next is begun.

use std::collections::HashMap;
use std::path::Path;

use retime_model::{Correction, LocationIndex, Monitor, SavedName};
use serde::{Deserialize, Serialize};

use super::files::{self, FileRole, Listing};
use super::retime::Extent;
use super::{Done, Rewrite, Rewritten, check_there};
use crate::error::Result;
use crate::trace::Trace;
use crate::undo::FileUndo;

/// The result of [`Trace::rewrite_part`]: plain data, for the process that does the rest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartRewritten {
    pub(super) files: Vec<FileUndo>,
    pub(super) extent: Option<Extent>,
    pub(super) laid_out: Vec<LocationIndex>,
}

impl PartRewritten {
    pub(super) fn of(done: Vec<Done>) -> Self {
        let extents = done.iter().filter_map(|it| it.extent);
        Self {
            extent: extents.reduce(Extent::join),
            laid_out: done.iter().filter_map(|it| it.laid_out).collect(),
            files: done.into_iter().map(|it| it.undo).collect(),
        }
    }

    fn join(&mut self, other: Self) {
        self.files.extend(other.files);
        self.laid_out.extend(other.laid_out);
        let extents = self.extent.into_iter().chain(other.extent);
        self.extent = extents.reduce(Extent::join);
    }
}

impl Trace {
    /// Does of [`rewrite_in_order`](Self::rewrite_in_order), or without a correction of
    /// [`copy`](Self::copy), what concerns the files of some locations. They are on the
    /// disk when this returns.
    pub fn rewrite_part(
        &self,
        correction: Option<&Correction>,
        locations: &[LocationIndex],
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<PartRewritten> {
        if let Some(correction) = correction {
            self.check_fits(correction)?;
        }
        let ids = locations.iter();
        let ids = ids.map(|&it| Ok((it, self.local(it)?.location)));
        let ids = ids.collect::<Result<Vec<(LocationIndex, u64)>>>()?;
        check_there(self, ids.iter().map(|&(_, id)| id))?;
        let part = Rewrite {
            trace: self,
            correction,
            to,
            monitor,
            listing: Listing {
                files: files::of_locations(self.archive(), &ids)?,
                ..Listing::default()
            },
            synced: true,
        };
        part.create_directories()?;
        self.archive().unless_changed(part.early(|_| true))
    }

    /// Does what is left when all locations are in one of `parts`.
    pub fn rewrite_rest(
        &self,
        correction: Option<&Correction>,
        parts: Vec<PartRewritten>,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Rewritten> {
        let whole = Rewrite::new(self, correction, to, monitor)?;
        whole.create_directories()?;
        let mut done = whole.early(|role| {
            matches!(
                role,
                FileRole::Markers | FileRole::Outdated | FileRole::Other
            )
        })?;
        for part in parts {
            done.join(part);
        }
        // As one process lists them.
        let names = whole
            .listing
            .files
            .iter()
            .map(|it| SavedName::of(&it.name))
            .zip(0..);
        let places: HashMap<SavedName, usize> = names.collect();
        done.files.sort_by_key(|it| places.get(&it.path).copied());
        self.archive().unless_changed(whole.finish(done))
    }
}
