//! The original file, from a corrected one.

use std::path::Path;

use retime_model::format::{FileError, FormatError, Undo};
use retime_model::{Correction, Monitor, Originals};

use crate::input::Lines;
use crate::output::Output;
use crate::pass::Pass;
use crate::rewrite::{check_fits, timed, write_line};
use crate::undo::{FORMAT, Saved};

/// Writes the file that became `path` by `correction` to the new file `to`; what was
/// saved of it.
pub(crate) fn restore(
    path: &Path,
    correction: &Correction,
    undo: &Undo,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<Saved, FormatError> {
    let refused = |why: String| FileError::not_restorable(path, why);
    let saved: Saved = serde_json::from_str(&undo.0)
        .map_err(|error| refused(format!("these are no undo data of JSON lines: {error}")))?;
    if saved.format != FORMAT {
        let format = saved.format;
        let why = format!("the undo data have format {format}, only {FORMAT} is supported");
        return Err(refused(why).into());
    }
    let changed = "it is not the file that the correction wrote: it was changed since, or the \
                   undo data belong to another file";
    match write(path, correction, &saved, to, monitor) {
        Ok((corrected, _)) if corrected != saved.corrected => Err(refused(changed.into()).into()),
        Ok((_, original)) if original != saved.original => {
            let why = "the result differs from the original; the correction or the undo data \
                       are not those of this file";
            Err(refused(why.into()).into())
        }
        Ok(_) => Ok(saved),
        Err(cancelled @ FormatError::Cancelled(_)) => Err(cancelled),
        // Damage shows in many ways, but there is one thing to say about it.
        Err(error) => match sum(path, monitor) {
            Ok(corrected) if corrected != saved.corrected => Err(refused(changed.into()).into()),
            _ => Err(error),
        },
    }
}

/// Writes the original lines; the check sums of what was read and written.
fn write(
    path: &Path,
    correction: &Correction,
    saved: &Saved,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<(u32, u32), FormatError> {
    let mut pass = Pass::open(path, monitor)?;
    let mut output = Output::create(to, pass.lines.is_gzip())?;
    let mut originals = Originals::new(&saved.stamps);
    let clocks = correction.clocks().by_location();
    while let Some(entry) = pass.next()? {
        let Some((said, stamp)) = timed(entry.said) else {
            output.write(entry.bytes)?;
            continue;
        };
        // A location without a map fails the pass at its end.
        if let Some(&clock) = clocks.get(said.location.as_usize()) {
            let original = originals.of(correction.map(clock), stamp.time);
            write_line(&mut output, entry.bytes, &stamp, original)?;
        }
    }
    check_fits(path, correction, pass.places.len())?;
    Ok((pass.lines.crc(), output.finish()?))
}

/// The check sum of all lines.
fn sum(path: &Path, monitor: &dyn Monitor) -> Result<u32, FormatError> {
    let mut lines = Lines::open(path, monitor)?;
    while lines.next()?.is_some() {}
    Ok(lines.crc())
}
