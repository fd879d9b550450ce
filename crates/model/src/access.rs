//! Who may read and write a copy: whoever may the original, and nobody else.
//!
//! As `cp -p` does it: the mode of a copy is that of the original, and so are owner and
//! group, if the system lets them be given away. `cp` leaves the mode as it is where the
//! group cannot be given; here the group then may do no more than everyone, since it is
//! another group.

use std::fs::{File, Metadata};
use std::io;

/// The owner, group and mode of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    owner: u32,
    group: u32,
    mode: u32,
}

#[cfg(unix)]
impl Access {
    /// That of what was found at a path.
    pub fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            owner: found.uid(),
            group: found.gid(),
            mode: found.mode() & 0o7777,
        }
    }

    /// The same for a file that leaves this directory: who could not enter that gets no
    /// access to the file.
    #[must_use]
    pub const fn outside(self, directory: Self) -> Self {
        let entered = directory.mode & 0o111;
        Self {
            mode: self.mode & (entered | entered << 1 | entered << 2),
            ..self
        }
    }

    /// The same for a file that holds nothing to execute.
    #[must_use]
    pub const fn of_data(self) -> Self {
        Self {
            mode: self.mode & 0o666,
            ..self
        }
    }

    /// Gives it to a file or directory that was opened.
    pub fn give(self, to: &File) -> io::Result<()> {
        use std::fs::Permissions;
        use std::os::unix::fs::{PermissionsExt, fchown};

        let now = Self::of(&to.metadata()?);
        let group = Some(self.group);
        let is_given = (now.owner, now.group) == (self.owner, self.group)
            || fchown(to, Some(self.owner), group).is_ok()
            || now.group == self.group
            || fchown(to, None, group).is_ok();
        let everyone = (self.mode & 0o007) << 3;
        let mode = if is_given {
            self.mode
        } else {
            self.mode & (!0o070 | everyone)
        };
        // Giving a file away may have taken bits of its mode.
        let now = Self::of(&to.metadata()?).mode;
        if mode == now {
            return Ok(());
        }
        match to.set_permissions(Permissions::from_mode(mode)) {
            // Some file systems keep no modes. That may not open what was closed.
            Err(error) if is_not_kept(&error) && now & 0o666 & !mode == 0 => Ok(()),
            given => given,
        }
    }
}

/// Gives a copy that is the same byte for byte the time of modification of the original.
/// File systems that do not keep it leave it as it is.
pub fn give_time(original: &Metadata, to: &File) -> io::Result<()> {
    match original.modified().and_then(|time| to.set_modified(time)) {
        Err(error) if is_not_kept(&error) => Ok(()),
        given => given,
    }
}

/// Whether the owner of a file is refused, which only a file system does that does not
/// know what is asked of it.
fn is_not_kept(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, Unsupported};
    matches!(error.kind(), PermissionDenied | Unsupported)
}

#[cfg(not(unix))]
impl Access {
    /// Nothing is known of it.
    pub fn of(_: &Metadata) -> Self {
        Self {
            owner: 0,
            group: 0,
            mode: 0,
        }
    }

    /// The same.
    #[must_use]
    pub const fn outside(self, _: Self) -> Self {
        self
    }

    /// The same.
    #[must_use]
    pub const fn of_data(self) -> Self {
        self
    }

    /// Leaves a file as it is.
    pub fn give(self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn who_may_not_enter_may_not_read_outside() {
        let access = |mode| Access {
            owner: 1,
            group: 1,
            mode,
        };
        for (file, directory, outside) in [
            (0o644, 0o755, 0o644),
            (0o644, 0o700, 0o600),
            (0o664, 0o750, 0o660),
            (0o600, 0o777, 0o600),
            (0o644, 0o744, 0o600),
        ] {
            assert_eq!(access(file).outside(access(directory)), access(outside));
        }
    }
}
