//! Directories that killed runs leave behind: how hidden directories are called, which of them nobody
//! writes any more, and how those go.
//!
//! ```text
//! .NAME.retime-OWNER.partial     what is being written for the target NAME
//! .NAME.retime-OWNER.replaced    what was at its place, until it can go
//! ```
//!
//! A long NAME is cut, and its check sum follows. The [owner](Owner) is a process.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

use super::owner::Owner;
use super::there::lies_there;

/// How much of the name of a target, in bytes, those of hidden directories hold: with all
/// else they fit where the encryption of a file system leaves 143 bytes to a name.
const LONGEST: usize = 100;

/// The ending of a directory that is being written.
const PARTIAL: &str = ".partial";
/// The ending of a directory that was at the place of the target, until it can go.
pub(super) const REPLACED: &str = ".replaced";

/// The beginning of the names of hidden directories for a target, up to the number of the process.
fn hidden_prefix(target: &OsStr) -> OsString {
    let mut name = OsString::from(".");
    let text = target.to_string_lossy();
    if target.len() <= LONGEST && text.len() <= LONGEST {
        name.push(target);
    } else {
        let mut end = LONGEST;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        name.push(text.get(..end).unwrap_or_default());
        let sum = crc32fast::hash(target.as_encoded_bytes());
        name.push(format!("~{sum:08x}"));
    }
    name.push(".retime-");
    name
}

/// The name of the hidden directory in which a process writes for a target.
pub(super) fn hidden_name(target: &OsStr, owner: &Owner) -> OsString {
    let mut name = hidden_prefix(target);
    name.push(format!("{owner}{PARTIAL}"));
    name
}

/// True if a path is that of a hidden directory for a target of this name, or lies in one.
pub(crate) fn is_hidden_of(target: &OsStr, path: &Path) -> bool {
    let prefix = hidden_prefix(target);
    let prefix = prefix.as_encoded_bytes();
    let mut names = path.iter().map(OsStr::as_encoded_bytes);
    names.any(|it| it.starts_with(prefix))
}

/// Removes what a killed run for a target left behind.
pub(crate) fn clean_up_after(target: &Path) {
    let parent = target.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(name) = target.file_name() {
        clean_up_after_killed_runs(target, parent.unwrap_or(Path::new(".")), name);
    }
}

/// Removes what killed runs for the same target left behind. What they were
/// about to replace is put back, if they did not come to replace it.
pub(super) fn clean_up_after_killed_runs(target: &Path, parent: &Path, name: &OsStr) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let prefix = hidden_prefix(name);
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes();
        let rest = rest.strip_prefix(prefix.as_encoded_bytes());
        let Some(rest) = rest.and_then(|it| str::from_utf8(it).ok()) else {
            remove_if_abandoned(&entry.path(), &name.to_string_lossy());
            continue;
        };
        let (owner, replaced) = match rest.strip_suffix(PARTIAL) {
            Some(owner) => (owner, false),
            None => (rest.strip_suffix(REPLACED).unwrap_or_default(), true),
        };
        if !Owner::parse(owner).is_some_and(|it| it.is_missing()) {
            continue;
        }
        // What cannot be cleaned up does not keep this run from its work.
        let _ = match lies_there(target) {
            Ok(false) if replaced => fs::rename(entry.path(), target),
            Err(_) if replaced => Ok(()),
            _ => remove(&entry.path()),
        };
    }
}

/// Removes what a run for another target left behind, if that is certainly over: outputs may
/// have another name each time.
fn remove_if_abandoned(path: &Path, name: &str) {
    let begun = name
        .strip_prefix('.')
        .and_then(|it| it.strip_suffix(PARTIAL));
    let owner = begun.and_then(|it| Owner::parse(it.rsplit_once(".retime-")?.1));
    if owner.is_some_and(|it| it.is_over()) && is_own_directory(path) {
        // What cannot be cleaned up does not keep this run from its work.
        let _ = remove(path);
    }
}

/// True if a directory lies there, no link to one, and belongs to the user who runs this: the
/// processes of others may be hidden.
fn is_own_directory(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let own = rustix::process::geteuid().as_raw();
        fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == own)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

/// Removes a directory, also if its owner may not write into it as it stands.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_to_owner(directory)?;
            fs::remove_dir_all(directory)
        }
        removed => removed,
    }
}

/// Lets the owner change a directory and those in it.
fn open_to_owner(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_to_owner(&entry.path())?;
        }
    }
    Ok(())
}
