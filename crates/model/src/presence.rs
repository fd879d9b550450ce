//! The kind of what lies at a path, if anything does.
//!
//! Only "not found" means that nothing is there. Whatever else keeps the operating system
//! from an answer (a failing disk, a loop of links, no permission) is an error: a file that
//! was taken for missing would be missing in the copy.
//!
//! ```
//! use std::path::Path;
//! use retime_model::presence;
//!
//! assert!(presence::is_directory(Path::new("."))?);
//! assert!(!presence::is_file(Path::new("no such file"))?);
//! // Below a path that is no directory nothing can be looked for.
//! let here = std::env::current_exe()?;
//! assert!(presence::is_file(&here.join("below")).is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::{self, FileType, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The kind of what a path leads to, links followed; `None` if that does not exist.
pub fn kind(path: &Path) -> io::Result<Option<FileType>> {
    Ok(found(fs::metadata(path))?.map(|it| it.file_type()))
}

/// The kind of what lies at a path itself, be it a link to nowhere; `None` if nothing does.
pub fn kind_of_entry(path: &Path) -> io::Result<Option<FileType>> {
    Ok(found(fs::symlink_metadata(path))?.map(|it| it.file_type()))
}

/// True if a path leads to a file.
pub fn is_file(path: &Path) -> io::Result<bool> {
    Ok(kind(path)?.is_some_and(|it| it.is_file()))
}

/// True if a path leads to a directory.
pub fn is_directory(path: &Path) -> io::Result<bool> {
    Ok(kind(path)?.is_some_and(|it| it.is_dir()))
}

/// Something of this kind, in words.
pub fn kind_in_words(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a FIFO (named pipe)";
        } else if kind.is_socket() {
            return "a socket";
        } else if kind.is_char_device() {
            return "a character device";
        } else if kind.is_block_device() {
            return "a block device";
        }
    }
    if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else {
        "a file"
    }
}

fn found(looked_up: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    match looked_up {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
