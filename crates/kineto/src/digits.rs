//! A file again, with other digits where its times stand.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use retime_gzip::Output;
use retime_model::Monitor;
use retime_model::format::{FileError, FormatError};

use crate::chunks::Chunks;
use crate::columns::Columns;
use crate::error::KinetoError;
use crate::window::Window;

/// Digits of a number in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    /// How many bytes lie between the digits before and these,
    pub(crate) gap: u64,
    /// and how many these are.
    pub(crate) count: usize,
    /// The event whose length they are; else they are its time.
    pub(crate) length_of: Option<u32>,
}

/// The digits of the times of all events, in the order of the file, and between them those of the
/// `lengths` of some.
pub(crate) fn all<'a>(
    columns: &'a Columns,
    lengths: &'a [LengthPlace],
) -> impl Iterator<Item = Digits> + 'a {
    let mut lengths = lengths.iter().peekable();
    let mut times = columns.digits.iter().peekable();
    // Where the time before ends, and where the digits before do.
    let (mut timed, mut end) = (0, 0);
    std::iter::from_fn(move || {
        let time = times.peek().map(|it| timed + u64::from(it.0));
        let is_length = |it: &&LengthPlace| time.is_none_or(|time| it.start < time);
        let (start, count, length_of) = if let Some(it) = lengths.next_if(is_length) {
            (it.start, usize::from(it.count), Some(it.event))
        } else {
            let count = times.next()?.1;
            timed = time? + u64::from(count);
            (time?, usize::from(count), None)
        };
        let gap = start.checked_sub(end)?;
        end = start + count as u64;
        Some(Digits {
            gap,
            count,
            length_of,
        })
    })
}

/// Where in the content of a file the digits of a length stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LengthPlace {
    pub(crate) event: u32,
    pub(crate) start: u64,
    pub(crate) count: u8,
}

/// Appends what stands in place of some digits.
pub(crate) type Renew<'a> = dyn FnMut(&mut Vec<u8>, &[u8], Option<u32>) -> Result<(), String> + 'a;

/// Writes the content of `path` to the new file `to`; `renew` appends what stands in place
/// of the next `digits`: of a time, or of the length of an event. Returns the check sums of what was read and written.
pub(crate) fn replaced(
    path: &Path,
    digits: impl Iterator<Item = Digits>,
    to: &Path,
    monitor: &dyn Monitor,
    renew: &mut Renew<'_>,
) -> Result<(u32, u32), FormatError> {
    let failed = |source| KinetoError::io(to, source);
    let mut window = Window::open(path, monitor)?;
    let mut file = File::create_new(to).map_err(failed)?;
    let mut output = Output::new(&mut file, window.effort()).map_err(failed)?;
    let mut chunks = Chunks::new(window.is_gzip());
    let changed = || FileError::Changed {
        path: path.to_owned(),
    };
    for place in digits {
        let (mut gap, count) = (place.gap as usize, place.count);
        while window.bytes().len() < gap + count {
            let part = window.bytes().len().min(gap);
            chunks.take(window.bytes().get(..part).unwrap_or_default());
            window.advance(part);
            gap -= part;
            if window.bytes().len() < gap + count && !window.more()? {
                return Err(changed().into());
            }
        }
        let (before, digits) = window
            .bytes()
            .get(..gap + count)
            .and_then(|it| it.split_at_checked(gap))
            .ok_or_else(changed)?;
        chunks.current.extend_from_slice(before);
        if let Err(what) = renew(&mut chunks.current, digits, place.length_of) {
            return Err(window.syntax(gap, &what));
        }
        window.advance(gap + count);
        chunks.put_if_full(&mut output).map_err(failed)?;
    }
    loop {
        chunks.take(window.bytes());
        window.advance(window.bytes().len());
        chunks.put_if_full(&mut output).map_err(failed)?;
        if !window.more()? {
            break;
        }
    }
    chunks.put(&mut output).map_err(failed)?;
    output.finish().map_err(failed)?;
    file.flush().map_err(failed)?;
    Ok((window.crc(), chunks.crc()))
}
