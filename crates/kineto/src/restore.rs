//! The original files, from corrected ones.

use std::path::Path;

use retime_model::format::{FileError, FormatError};
use retime_model::{ClockMap, Monitor, Originals};

use crate::document::{Document, Renewal};
use crate::profile::FileRead;
use crate::rewrite::{Maps, stamps};
use crate::undo::SavedFile;

/// Writes the file that became the one at `path` to the new file `to`. When it was corrected
/// its times were counted from `origin`, as maps and stamps are.
#[expect(
    clippy::too_many_arguments,
    reason = "a file, where it goes, and all that undo data say of it"
)]
pub(crate) fn restore(
    document: &dyn Document,
    path: &Path,
    file: &FileRead,
    maps: &Maps<'_>,
    saved: &SavedFile,
    origin: u64,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<(), FormatError> {
    let refused = |why: &str| FileError::not_restorable(path, why);
    if file.crc != saved.corrected {
        return Err(refused(
            "it is not the file that the correction wrote: it was changed since, or the undo \
             data belong to another file",
        )
        .into());
    }
    let identity = ClockMap::default();
    let mut stamps = stamps(file);
    let mut originals = Originals::new(&saved.stamps);
    let mut renew = || {
        let stamp = stamps.next()?;
        let event = stamp.event();
        let is = if stamp.is_end() {
            file.columns.end(event)
        } else {
            file.columns.begin(event)
        };
        let is = is.wrapping_sub(file.origin).wrapping_add(origin);
        let map = maps.of(file.columns.track(event)).unwrap_or(&identity);
        let becomes = originals.of(map, is);
        Some(Renewal { event, is, becomes })
    };
    let original = document
        .restore(path, file, &mut renew, &saved.forms, to, monitor)?
        .written;
    if original != saved.original {
        return Err(refused(
            "the result differs from the original; the correction or the undo data are not those \
             of this file",
        )
        .into());
    }
    Ok(())
}
