//! The original files, from corrected ones.

use std::path::Path;

use retime_model::format::FormatError;
use retime_model::{ClockMap, Monitor, Originals};

use crate::digits;
use crate::error::KinetoError;
use crate::micros;
use crate::profile::FileRead;
use crate::rewrite::Maps;
use crate::undo::{SavedFile, Written};

/// Writes the file that became the one at `path` to the new file `to`. When it was corrected
/// its times were counted from `origin`, as maps and stamps are.
pub(crate) fn restore(
    path: &Path,
    file: &FileRead,
    maps: &Maps<'_>,
    saved: &SavedFile,
    origin: u64,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<(), FormatError> {
    let refused = |why: &str| KinetoError::NotRestorable {
        path: path.to_owned(),
        why: why.to_owned(),
    };
    if file.crc != saved.corrected {
        return Err(refused(
            "it is not the file that the correction wrote: it was changed since, or the undo \
             data belong to another file",
        )
        .into());
    }
    let identity = ClockMap::default();
    let mut entries = file.columns.begins.iter().zip(&file.columns.tracks);
    let mut originals = Originals::new(&saved.stamps);
    let mut forms = saved.forms.iter();
    let wrong = "the undo data do not fit this file";
    let (_, original) = digits::replaced(path, &file.columns, to, monitor, &mut |out, digits| {
        let ((&time, &track), form) = entries.next().zip(forms.next()).ok_or(wrong)?;
        let time = time.wrapping_sub(file.origin).wrapping_add(origin);
        let begin = originals.of(maps.of(track).unwrap_or(&identity), time);
        match form {
            Written::As(text) => out.extend_from_slice(text.as_bytes()),
            Written::Like(form) => {
                let is = micros::parse(digits).ok_or(wrong)?;
                let by = begin.wrapping_sub(time) as i64;
                let was = is.nanoseconds.checked_add(by).ok_or(wrong)?;
                micros::write(out, was, form, digits);
            }
        }
        Ok(())
    })?;
    if original != saved.original {
        return Err(refused(
            "the result differs from the original; the correction or the undo data are not those \
             of this file",
        )
        .into());
    }
    Ok(())
}
