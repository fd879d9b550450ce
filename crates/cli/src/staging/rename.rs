//! Renaming that never takes anything away.
//!
//! Linux can refuse in one step what lies there already, and exchange two paths; not all of
//! its file systems can, nor other systems.

use std::fs;
use std::io;
use std::path::Path;

/// Renames, unless something lies at `to`.
pub(super) fn without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Some(done) = flagged(from, to, rustix::fs::RenameFlags::NOREPLACE)? {
        return Ok(done);
    }
    // What comes to lie there between these two lines is replaced.
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// Lets two paths change places; `false` if that cannot be done in one step.
pub(super) fn exchange(from: &Path, to: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    if flagged(from, to, rustix::fs::RenameFlags::EXCHANGE)?.is_some() {
        return Ok(true);
    }
    Ok(false)
}

/// `None` if the file system cannot do it.
#[cfg(target_os = "linux")]
fn flagged(from: &Path, to: &Path, how: rustix::fs::RenameFlags) -> io::Result<Option<()>> {
    use rustix::fs::{CWD, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, how) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(None),
        renamed => Ok(Some(renamed?)),
    }
}
