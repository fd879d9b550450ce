//! Extended attributes of files: what users noted in them, and lists of who may access them.
//!
//! Copies get the attributes in `user.` and the access list of the original. What is in
//! `security.` and `trusted.` is for the system to say of each file, and the default list of
//! a directory is for files that are made in it later.

use std::fs::File;
use std::io;
use std::path::Path;

/// The notes of users in a file or directory: its extended attributes in `user.`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserAttributes {
    /// Names and values.
    values: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The access list (POSIX ACL) of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccessList {
    /// The mode says all.
    None,
    /// The list as the system gives it. The group bits of the mode say no more than what the list
    /// allows at most.
    Entries(Box<[u8]>),
    /// There may be one, but it cannot be read.
    Unknown,
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{AccessList, File, Path, UserAttributes, io};
    use rustix::fs::{XattrFlags, fgetxattr_query, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;

    /// Linux has no larger values, and no longer lists of names.
    const MOST: usize = 1 << 16;

    const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

    impl UserAttributes {
        /// The attributes of what a path leads to; none where a file system has none.
        pub fn of(path: &Path) -> io::Result<Self> {
            let mut names = vec![0; MOST];
            let count = match listxattr(path, names.as_mut_slice()) {
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM | Errno::ACCESS) => 0,
                listed => listed?,
            };
            names.truncate(count);
            let mut values = Vec::new();
            for name in names.split(|&byte| byte == 0) {
                if !name.starts_with(b"user.") {
                    continue;
                }
                match value(path, name) {
                    Ok(Some(value)) => values.push((name.to_vec(), value)),
                    // A directory may let pass who may not read it.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                    other => drop(other?),
                }
            }
            Ok(Self { values })
        }

        /// Gives them to a file or directory that may be written. What its file system cannot
        /// keep is left out.
        pub fn give(&self, to: &File) -> io::Result<()> {
            for (name, value) in &self.values {
                match fsetxattr(to, name.as_slice(), value, XattrFlags::empty()) {
                    Err(error) if is_not_kept(error) => {}
                    given => given?,
                }
            }
            Ok(())
        }
    }

    impl AccessList {
        /// The access list of what a path leads to.
        pub(crate) fn of(path: &Path) -> io::Result<Self> {
            Ok(match value(path, ACCESS_LIST) {
                Ok(None) => Self::None,
                Ok(Some(entries)) => Self::Entries(entries.into()),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Self::Unknown,
                Err(error) => return Err(error),
            })
        }

        /// Gives it to a file or directory in place of any that this has from the directory
        /// it was made in. Whether that may be accessed by nobody else now.
        pub(crate) fn give(&self, to: &File) -> io::Result<bool> {
            let given = match self {
                Self::None if fgetxattr_query(to, ACCESS_LIST).is_err() => Ok(()),
                Self::None | Self::Unknown => fremovexattr(to, ACCESS_LIST),
                Self::Entries(entries) => fsetxattr(to, ACCESS_LIST, entries, XattrFlags::empty()),
            };
            match given {
                // There was none to remove.
                Err(Errno::NODATA) => Ok(*self == Self::None),
                Err(error) if is_not_kept(error) => Ok(false),
                given => {
                    given?;
                    Ok(*self != Self::Unknown)
                }
            }
        }
    }

    /// The value of an attribute of what a path leads to, if there is one.
    fn value(path: &Path, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0; MOST];
        match getxattr(path, name, value.as_mut_slice()) {
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(count) => {
                value.truncate(count);
                Ok(Some(value))
            }
        }
    }

    /// True if a file system cannot keep an attribute: it knows none, or has no place for one
    /// more of them.
    fn is_not_kept(error: Errno) -> bool {
        const NOT_KEPT: [Errno; 9] = [
            Errno::OPNOTSUPP,
            Errno::NOSYS,
            Errno::PERM,
            Errno::ACCESS,
            Errno::INVAL,
            Errno::NOSPC,
            Errno::DQUOT,
            Errno::TOOBIG,
            Errno::RANGE,
        ];
        NOT_KEPT.contains(&error)
    }
}

#[cfg(not(target_os = "linux"))]
impl UserAttributes {
    /// None are known.
    pub fn of(_: &Path) -> io::Result<Self> {
        Ok(Self::default())
    }

    /// Leaves a file as it is.
    pub fn give(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
impl AccessList {
    /// None is known.
    pub(crate) fn of(_: &Path) -> io::Result<Self> {
        Ok(Self::None)
    }

    /// Leaves a file as it is.
    pub(crate) fn give(&self, _: &File) -> io::Result<bool> {
        Ok(true)
    }
}
