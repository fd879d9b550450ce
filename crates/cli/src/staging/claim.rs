//! Who writes where in this process: a program may write several outputs at a time, and two
//! of them to one place would mix.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static CLAIMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A place that nobody else of this process writes to, until this is dropped.
#[derive(Debug)]
pub(super) struct Claim(PathBuf);

impl Claim {
    /// On a directory that is to be made; `None` if somebody has it.
    pub(super) fn on(directory: &Path) -> Option<Self> {
        // One place has many paths; where it cannot be told, the one that was given counts.
        let parent = directory.parent().and_then(|it| it.canonicalize().ok());
        let name = directory.file_name();
        let place = parent.zip(name).map(|(parent, name)| parent.join(name));
        let place = place.unwrap_or_else(|| directory.to_owned());
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.insert(place.clone()).then(|| Self(place))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("out");
        let claim = Claim::on(&place).unwrap();
        assert!(Claim::on(&directory.path().join(".").join("out")).is_none());
        assert!(Claim::on(&directory.path().join("other")).is_some());
        drop(claim);
        assert!(Claim::on(&place).is_some());
    }
}
