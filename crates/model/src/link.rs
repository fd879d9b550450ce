//! Symbolic links beside a trace: a copy has the same ones, and never what they lead to.
//!
//! Who made a trace may have laid a link to any file in it, also to one that only the user
//! who copies the trace may read. So a link is copied as one, if in the copy it leads to
//! what it leads to in the original: if it is relative, and stays inside of the directory
//! that is copied. What a file of events is read from is another matter; many keep those on
//! another disk.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::printable::printable_path;

/// A link that a copy cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is a symbolic link that leads out of what is copied, to {}; what lies there is not taken \
     along: put the file itself here, or take the link away",
    printable_path(target)
)]
pub struct LeadsOut {
    /// The path that the link holds.
    pub target: PathBuf,
}

/// The path that the link at `root/name` holds, if it leads to something inside of `root`, or to
/// nothing.
///
/// # Errors
///
/// A [`LeadsOut`] in an [`io::Error`], or what the system says.
pub fn link_inside(root: &Path, name: &Path) -> io::Result<PathBuf> {
    let path = root.join(name);
    let target = fs::read_link(&path)?;
    if stays_inside(name, &target) {
        match path.canonicalize() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(found) if !found.starts_with(root.canonicalize()?) => {}
            // It leads to something that may be there, or not yet.
            _ => return Ok(target),
        }
    }
    let out = LeadsOut { target };
    Err(io::Error::new(io::ErrorKind::InvalidInput, out))
}

/// True if what a link with a relative `name` says leaves the directory at no step.
pub fn stays_inside(name: &Path, target: &Path) -> bool {
    let mut depth = name.components().count().saturating_sub(1);
    target.components().all(|part| match part {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => match depth.checked_sub(1) {
            Some(less) => {
                depth = less;
                true
            }
            None => false,
        },
        Component::RootDir | Component::Prefix(_) => false,
    })
}

/// Makes a link.
pub fn make_link(target: &Path, at: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, at);
    #[cfg(not(unix))]
    {
        let _ = (target, at);
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_leads_out() {
        for (name, target, inside) in [
            ("a", "b", true),
            ("a", "./b/../c", true),
            ("d/a", "../b", true),
            ("d/e/a", "../../b/..", true),
            ("a", "/etc/shadow", false),
            ("a", "..", false),
            ("a", "b/../../b", false),
            ("d/a", "../../trace/b", false),
        ] {
            assert_eq!(
                stays_inside(Path::new(name), Path::new(target)),
                inside,
                "{name}"
            );
        }
    }
}
