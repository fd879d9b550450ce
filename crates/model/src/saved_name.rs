//! Names of files as they are saved in JSON, whose text is Unicode. A name need not be.
//!
//! ```
//! use std::path::Path;
//! use retime_model::SavedName;
//!
//! let name = SavedName::of(Path::new("traces/0.evt"));
//! assert_eq!(serde_json::to_string(&name)?, r#""traces/0.evt""#);
//! assert_eq!(name.path(), Path::new("traces/0.evt"));
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A relative path, the same on all systems: its parts are joined by `/`. In JSON it is a
/// string, or if it is not Unicode an array of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged, expecting = "a name must be text, or an array of bytes")]
pub enum SavedName {
    /// Unicode, as nearly all names are.
    Text(String),
    /// Whatever else a system allows, byte for byte.
    Bytes(Vec<u8>),
}

impl SavedName {
    /// The name of a relative path.
    pub fn of(path: &Path) -> Self {
        let parts: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
        parts.map_or_else(|| bytes(path), |parts| Self::Text(parts.join("/")))
    }

    /// The path again.
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Text(text) => PathBuf::from(text),
            Self::Bytes(bytes) => path(bytes),
        }
    }

    /// The bytes that it consists of.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

#[cfg(unix)]
fn bytes(path: &Path) -> SavedName {
    use std::os::unix::ffi::OsStrExt;
    let parts: Vec<&[u8]> = path.iter().map(OsStrExt::as_bytes).collect();
    SavedName::Bytes(parts.join(&b'/'))
}

/// Elsewhere what is no Unicode has no bytes that other systems could read.
#[cfg(not(unix))]
fn bytes(path: &Path) -> SavedName {
    let parts: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    SavedName::Text(parts.join("/"))
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn every_name_comes_back() {
        for name in [
            &b"run/0.evt"[..],
            b"run/\xff\xfe.evt",
            "gr\u{fc}n.json".as_bytes(),
            b"gr\xfcn.json",
            b"[1, 2]",
            b"a\nb\"c",
        ] {
            let path = Path::new(OsStr::from_bytes(name));
            let json = serde_json::to_string(&SavedName::of(path)).unwrap();
            let saved: SavedName = serde_json::from_str(&json).unwrap();
            assert_eq!(saved.path(), path);
            assert_eq!(saved.as_bytes(), name);
        }
        for wrong in ["[256]", "{}", "[-1]", "7"] {
            assert!(serde_json::from_str::<SavedName>(wrong).is_err(), "{wrong}");
        }
    }
}
