//! Who may read and write a copy: whoever may the original, and nobody else.
//!
//! As `cp -p` does it: the mode of a copy is that of the original, and so are owner and
//! group, if the system lets them be given away. `cp` leaves the mode as it is where the
//! group cannot be given; here the group then may do no more than everyone, since it is
//! another group.
//!
//! With an access list (POSIX ACL) the group bits of the mode are no longer the group's:
//! they say what the list allows at most. So a copy has the list as well, and where it
//! cannot, the group may do no more than everyone.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use crate::attributes::AccessList;

/// The owner, group, mode and access list of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    owner: u32,
    group: u32,
    mode: u32,
    list: AccessList,
}

#[cfg(unix)]
impl Access {
    /// The access to what was found at a path.
    pub fn of(found: &Metadata, path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        Ok(Self {
            owner: found.uid(),
            group: found.gid(),
            mode: found.mode() & 0o7777,
            list: AccessList::of(path)?,
        })
    }

    /// Access to a file that leaves this directory: who could not enter that gets no
    /// access to the file. Where there are access lists the group gets what everyone has:
    /// no list says who may do both.
    #[must_use]
    pub fn outside(self, directory: &Self) -> Self {
        let entered = directory.mode & 0o111;
        let mode = self.mode & (entered | entered << 1 | entered << 2);
        let is_plain = self.list == AccessList::None && directory.list == AccessList::None;
        Self {
            mode: if is_plain { mode } else { closed(mode) },
            list: AccessList::None,
            ..self
        }
    }

    /// Access to a file that holds something of two: for whom both are open. Where their
    /// groups differ, or there are access lists, the group gets what everyone has.
    #[must_use]
    pub fn both(self, other: &Self) -> Self {
        let mode = self.mode & other.mode;
        let is_plain = self.list == AccessList::None && other.list == AccessList::None;
        let is_one = is_plain && (self.owner, self.group) == (other.owner, other.group);
        Self {
            mode: if is_one { mode } else { closed(mode) },
            list: AccessList::None,
            ..self
        }
    }

    /// Access to a file that holds nothing to execute.
    #[must_use]
    pub fn of_data(self) -> Self {
        Self {
            mode: self.mode & 0o666,
            ..self
        }
    }

    /// Gives it to a file or directory that was opened.
    pub fn give(&self, to: &File) -> io::Result<()> {
        use std::fs::Permissions;
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

        let now = to.metadata()?;
        let group = Some(self.group);
        // Only the owner of a file may change its list.
        let is_listed = self.list.give(to)?;
        let is_given = (now.uid(), now.gid()) == (self.owner, self.group)
            || fchown(to, Some(self.owner), group).is_ok()
            || now.gid() == self.group
            || fchown(to, None, group).is_ok();
        let mode = if is_given && is_listed {
            self.mode
        } else {
            closed(self.mode)
        };
        // Giving a file away may have taken bits of its mode.
        let now = to.metadata()?.mode() & 0o7777;
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

/// A mode that lets the group do no more than everyone.
#[cfg(unix)]
const fn closed(mode: u32) -> u32 {
    mode & (!0o070 | (mode & 0o007) << 3)
}

/// True if the owner of a file is refused, which only a file system does that does not
/// know what is asked of it.
pub(crate) fn is_not_kept(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, Unsupported};
    matches!(error.kind(), PermissionDenied | Unsupported)
}

#[cfg(not(unix))]
impl Access {
    /// Nothing is known of it.
    pub fn of(_: &Metadata, _: &Path) -> io::Result<Self> {
        Ok(Self {
            owner: 0,
            group: 0,
            mode: 0,
            list: AccessList::None,
        })
    }

    /// Nothing is known of it elsewhere either.
    #[must_use]
    pub fn outside(self, _: &Self) -> Self {
        self
    }

    /// Nothing is known of either.
    #[must_use]
    pub fn both(self, _: &Self) -> Self {
        self
    }

    /// Nothing is known of it whatever it holds.
    #[must_use]
    pub fn of_data(self) -> Self {
        self
    }

    /// Leaves a file as it is.
    pub fn give(&self, _: &File) -> io::Result<()> {
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
            list: AccessList::None,
        };
        for (file, directory, outside) in [
            (0o644, 0o755, 0o644),
            (0o644, 0o700, 0o600),
            (0o664, 0o750, 0o660),
            (0o600, 0o777, 0o600),
            (0o644, 0o744, 0o600),
        ] {
            assert_eq!(access(file).outside(&access(directory)), access(outside));
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod list_tests {
    use super::*;
    use crate::attributes::UserAttributes;
    use rustix::fs::{XattrFlags, setxattr};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// A list in the form of the system: user 4711 may read, and the group may do nothing,
    /// whereas the group bits of the mode say r.
    fn list() -> Vec<u8> {
        let mut list = 2_u32.to_le_bytes().to_vec();
        let anybody = u32::MAX;
        for (tag, permissions, id) in [
            (0x01_u16, 6_u16, anybody),
            (0x02, 4, 4_711),
            (0x04, 0, anybody),
            (0x10, 4, anybody),
            (0x20, 0, anybody),
        ] {
            list.extend(tag.to_le_bytes());
            list.extend(permissions.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        list
    }

    #[test]
    fn a_copy_has_the_attributes_and_the_list_of_the_original() -> io::Result<()> {
        let dir = std::env::temp_dir().join(format!("retime-attributes-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        let [from, to, plain] = ["from", "to", "plain"].map(|name| dir.join(name));
        for path in [&from, &to, &plain] {
            fs::write(path, "content")?;
            fs::set_permissions(path, Permissions::from_mode(0o640))?;
        }
        let set = |path: &Path, name: &str, value: &[u8]| {
            setxattr(path, name, value, XattrFlags::empty()).is_ok()
        };
        let large = vec![7; 1_000];
        if !set(&from, "user.note", &large)
            || !set(&from, "user.empty", b"")
            || !set(&from, "system.posix_acl_access", &list())
        {
            eprintln!(
                "not tested: the file system of {} has no attributes",
                dir.display()
            );
            return fs::remove_dir_all(&dir);
        }
        let open = |path: &Path| File::options().append(true).open(path);
        let access = |path: &Path| Access::of(&fs::metadata(path)?, path);
        UserAttributes::of(&from)?.give(&open(&to)?)?;
        access(&from)?.give(&open(&to)?)?;
        assert_eq!(UserAttributes::of(&to)?, UserAttributes::of(&from)?);
        assert_ne!(UserAttributes::of(&to)?, UserAttributes::default());
        assert_eq!(AccessList::of(&to)?, AccessList::Entries(list().into()));
        assert_eq!(access(&to)?, access(&from)?);

        // A list that the original does not have lets nobody in.
        access(&plain)?.give(&open(&to)?)?;
        assert_eq!(AccessList::of(&to)?, AccessList::None);
        assert_eq!(fs::metadata(&to)?.mode() & 0o777, 0o640);
        // Nor does the group get what the list allowed others, where it goes without one.
        let outside = access(&from)?.outside(&access(&dir)?);
        outside.give(&open(&to)?)?;
        assert_eq!(AccessList::of(&to)?, AccessList::None);
        assert_eq!(fs::metadata(&to)?.mode() & 0o777, 0o600);
        fs::remove_dir_all(&dir)
    }
}
