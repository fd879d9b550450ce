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

/// Appends what stands in place of some digits.
pub(crate) type Renew<'a> = dyn FnMut(&mut Vec<u8>, &[u8]) -> Result<(), String> + 'a;

/// Writes the content of `path` to the new file `to`; `renew` appends what stands in place
/// of the digits of the next time. Returns the check sums of what was read and written.
pub(crate) fn replaced(
    path: &Path,
    columns: &Columns,
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
    for &(gap, count) in &columns.digits {
        let mut gap = gap as usize;
        let count = usize::from(count);
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
        if let Err(what) = renew(&mut chunks.current, digits) {
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
