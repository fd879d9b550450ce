//! Regular files, and nothing else, opened for reading.
//!
//! To open a FIFO waits for somebody who writes into it, and no signal ends that; a device
//! may change by being opened, and need have no end. So what lies at a path is looked at
//! first, and what another program has put there since is noticed without waiting for it.
//!
//! ```
//! use retime_model::open_regular;
//!
//! let error = open_regular(&std::env::temp_dir()).unwrap_err();
//! assert_eq!(error.to_string(), "is a directory, where a file is expected");
//! assert!(open_regular(&std::env::current_exe()?).is_ok());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::presence::kind_in_words;

/// A path leads to something that is no regular file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRegular {
    /// To a directory.
    #[error("is a directory, where a file is expected")]
    Directory,
    /// To something that gives its content once, or changes by being looked at.
    #[error(
        "is {kind}, and only regular files are read; write what it holds to a file, and give that"
    )]
    Special {
        /// In words, such as "a socket".
        kind: &'static str,
    },
}

impl NotRegular {
    /// The kind of a path that leads to no regular file; `None` if it does.
    pub fn of(kind: FileType) -> Option<Self> {
        if kind.is_file() {
            None
        } else if kind.is_dir() {
            Some(Self::Directory)
        } else {
            let kind = kind_in_words(kind);
            Some(Self::Special { kind })
        }
    }
}

impl From<NotRegular> for io::Error {
    fn from(found: NotRegular) -> Self {
        let kind = match found {
            NotRegular::Directory => ErrorKind::IsADirectory,
            NotRegular::Special { .. } => ErrorKind::InvalidInput,
        };
        Self::new(kind, found)
    }
}

/// Opens what a path leads to for reading, links followed.
///
/// # Errors
///
/// A [`NotRegular`] in an [`io::Error`] if that is no regular file; it is not opened then.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check(fs::metadata(path)?.file_type())?;
    open_checked(path, Links::Followed)
}

/// Opens what lies at a path itself: that is refused if it is a link.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    check(fs::symlink_metadata(path)?.file_type())?;
    open_checked(path, Links::Refused)
}

/// The right of the last part of a path to be a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

fn open_checked(path: &Path, links: Links) -> io::Result<File> {
    let file = open_at_once(path, links)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

fn check(kind: FileType) -> io::Result<()> {
    NotRegular::of(kind).map_or(Ok(()), |found| Err(found.into()))
}

/// Opens without waiting for anybody, so that what has become a FIFO can be refused.
#[cfg(unix)]
fn open_at_once(path: &Path, links: Links) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let open = |flags: OFlags| {
        let flags = flags.bits() as i32;
        File::options().read(true).custom_flags(flags).open(path)
    };
    let mut flags = OFlags::NOCTTY;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    match open(flags | OFlags::NONBLOCK) {
        // Another machine holds a lease on the file, and only who waits makes it give that up.
        Err(error) if error.kind() == ErrorKind::WouldBlock => open(flags),
        opened => opened,
    }
}

#[cfg(not(unix))]
fn open_at_once(path: &Path, _: Links) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    #[test]
    fn nothing_else_is_opened() -> io::Result<()> {
        let dir = std::env::temp_dir().join(format!("retime-regular-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        let refused = |path: &Path| open_regular(path).unwrap_err().to_string();
        let special = |kind: &'static str| NotRegular::Special { kind }.to_string();
        let _socket = UnixListener::bind(dir.join("socket"))?;
        let made = std::process::Command::new("mkfifo")
            .arg(dir.join("fifo"))
            .status()?;
        assert!(made.success());
        assert_eq!(refused(&dir.join("fifo")), special("a FIFO (named pipe)"));
        assert_eq!(refused(&dir.join("socket")), special("a socket"));
        assert_eq!(
            refused(Path::new("/dev/zero")),
            special("a character device")
        );
        assert_eq!(refused(&dir), NotRegular::Directory.to_string());
        // Put there after it was looked at, it does not keep anybody waiting either.
        let late = open_at_once(&dir.join("fifo"), Links::Followed)?;
        assert!(check(late.metadata()?.file_type()).is_err());

        fs::write(dir.join("file"), "content")?;
        std::os::unix::fs::symlink("file", dir.join("link"))?;
        let mut content = String::new();
        open_regular(&dir.join("link"))?.read_to_string(&mut content)?;
        assert_eq!(content, "content");
        let link = open_unlinked(&dir.join("link")).unwrap_err().to_string();
        assert_eq!(link, special("a symbolic link"));
        let raced = open_at_once(&dir.join("link"), Links::Refused);
        assert!(raced.is_err() && open_unlinked(&dir.join("file")).is_ok());
        let missing = open_regular(&dir.join("missing")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        fs::remove_dir_all(&dir)
    }
}
