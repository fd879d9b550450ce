//! Files that are still the ones that were read before.
//!
//! Traces are read more than once: what they are made of, what depends on what, and then
//! to be rewritten. A program that still writes one, or a copy that is not finished, would
//! give results that belong to no trace. A file is taken for unchanged as long as its
//! place on the disk, its size and its time of modification are; what changes it within
//! one tick of the system's clock, some milliseconds, and keeps the size stays unnoticed.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A number that tells one version of a file from another, in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u64);

impl Version {
    /// The version of what was found at a path.
    pub fn of(found: &Metadata) -> Self {
        let mut hasher = DefaultHasher::new();
        found.len().hash(&mut hasher);
        // Systems without such a time are left with the rest.
        found.modified().ok().hash(&mut hasher);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            (found.dev(), found.ino()).hash(&mut hasher);
        }
        Self(hasher.finish())
    }
}
