//! An archive on disk: the anchor and the paths of everything beside it.
//!
//! For an anchor `DIR/NAME.otf2`:
//!
//! ```text
//! DIR/NAME.def          global definitions
//! DIR/NAME/<id>.evt     events of a location
//! DIR/NAME/<id>.def     its mapping tables and clock offsets, optional
//! DIR/NAME/<id>.snap    its snapshots, if the anchor counts any
//! DIR/NAME.<k>.thumb    thumbnails, as many as the anchor counts
//! DIR/NAME.marker       markers, optional
//! ```
//!
//! Location ids are sparse 64-bit numbers that come from the global
//! definitions, never from a directory listing.
//!
//! ```
//! use retime_otf2::{Archive, Error};
//!
//! let empty = tempfile::tempdir()?;
//! let error = Archive::open(empty.path()).unwrap_err();
//! assert!(matches!(error, Error::NotAnArchive { .. }));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use retime_model::{Version, presence, printable_path};

use crate::anchor::Anchor;
use crate::chunk::{ChunkReader, FileKind, THUMBNAIL_CHUNK_SIZE};
use crate::error::{Error, Result};

/// An archive whose anchor was read. Other files are opened on demand.
#[derive(Clone, Debug)]
pub struct Archive {
    anchor_path: PathBuf,
    /// The anchor's path without its extension.
    stem: PathBuf,
    anchor: Anchor,
    seen: Arc<Seen>,
}

/// The version of each file when it was opened first.
type Seen = Mutex<HashMap<(FileKind, u64), Version>>;

impl Archive {
    /// Opens an archive by its anchor file, whatever its name, or by a
    /// directory that holds exactly one `*.otf2`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let metadata = fs::metadata(path).map_err(|source| Error::io(path, source))?;
        let anchor_path = if metadata.is_dir() {
            find_anchor(path)?
        } else {
            path.to_owned()
        };
        let anchor = Anchor::read(&anchor_path)?;
        Ok(Self {
            stem: anchor_path.with_extension(""),
            anchor_path,
            anchor,
            seen: Arc::default(),
        })
    }

    /// This archive in another directory. The anchor is not read again.
    pub(crate) fn moved_to(&self, dir: &Path) -> Self {
        let anchor_path = dir.join(self.anchor_path.file_name().unwrap_or_default());
        Self {
            stem: anchor_path.with_extension(""),
            anchor_path,
            anchor: self.anchor.clone(),
            seen: Arc::default(),
        }
    }

    /// The path of the anchor file.
    pub fn anchor_path(&self) -> &Path {
        &self.anchor_path
    }

    /// The content of the anchor file.
    pub const fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// The name that all files share: the anchor's without its extension.
    pub fn name(&self) -> &OsStr {
        self.stem.file_name().unwrap_or_default()
    }

    /// The directory with the files of the locations.
    pub fn locations_dir(&self) -> &Path {
        &self.stem
    }

    /// The path of any file of the archive except thumbnails. `location` is
    /// ignored for files that exist once.
    fn path(&self, kind: FileKind, location: u64) -> PathBuf {
        match kind {
            FileKind::Events => self.stem.join(format!("{location}.evt")),
            FileKind::Snapshots => self.stem.join(format!("{location}.snap")),
            FileKind::LocalDefinitions => self.stem.join(format!("{location}.def")),
            FileKind::GlobalDefinitions => self.beside(".def"),
            FileKind::Markers => self.beside(".marker"),
            FileKind::Thumbnail => self.beside(&format!(".{location}.thumb")),
        }
    }

    /// The global definitions.
    pub fn definitions_path(&self) -> PathBuf {
        self.path(FileKind::GlobalDefinitions, 0)
    }

    /// The events of a location.
    pub fn events_path(&self, location: u64) -> PathBuf {
        self.path(FileKind::Events, location)
    }

    /// The local definitions of a location.
    pub fn local_definitions_path(&self, location: u64) -> PathBuf {
        self.path(FileKind::LocalDefinitions, location)
    }

    /// The snapshots of a location.
    pub fn snapshots_path(&self, location: u64) -> PathBuf {
        self.path(FileKind::Snapshots, location)
    }

    /// The markers.
    pub fn markers_path(&self) -> PathBuf {
        self.path(FileKind::Markers, 0)
    }

    /// Opens the global definitions.
    pub fn open_definitions(&self) -> Result<ChunkReader> {
        self.required(FileKind::GlobalDefinitions, 0, || {
            "every archive has global definitions".to_owned()
        })
    }

    /// Opens the events of a location.
    pub fn open_events(&self, location: u64) -> Result<ChunkReader> {
        self.required(FileKind::Events, location, || {
            format!("the definitions name location {location}")
        })
    }

    /// Opens the snapshots of a location; `None` if the archive has none.
    pub fn open_snapshots(&self, location: u64) -> Result<Option<ChunkReader>> {
        if self.anchor.snapshots == 0 {
            return Ok(None);
        }
        let why = || {
            format!(
                "the anchor counts {} snapshots of every location",
                self.anchor.snapshots
            )
        };
        self.required(FileKind::Snapshots, location, why).map(Some)
    }

    /// Opens the local definitions of a location; `None` if there are none.
    pub fn open_local_definitions(&self, location: u64) -> Result<Option<ChunkReader>> {
        self.optional(FileKind::LocalDefinitions, location)
    }

    /// Opens the markers; `None` if there are none.
    pub fn open_markers(&self) -> Result<Option<ChunkReader>> {
        self.optional(FileKind::Markers, 0)
    }

    /// Opens thumbnail `k`, from 0.
    pub fn open_thumbnail(&self, k: u32) -> Result<ChunkReader> {
        self.required(FileKind::Thumbnail, u64::from(k), || {
            format!("the anchor counts {} thumbnails", self.anchor.thumbnails)
        })
    }

    fn optional(&self, kind: FileKind, location: u64) -> Result<Option<ChunkReader>> {
        match self.reader(kind, location) {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                self.refuse_dangling(kind, location)?;
                Ok(None)
            }
            opened => opened.map(Some),
        }
    }

    /// Fails if the path of a missing file is a link that leads nowhere. Its target was there once,
    /// and the trace would be read as another without it.
    fn refuse_dangling(&self, kind: FileKind, location: u64) -> Result<()> {
        let path = self.path(kind, location);
        let found = presence::kind_of_entry(&path).map_err(|source| Error::io(&path, source))?;
        match found.filter(fs::FileType::is_symlink) {
            None => Ok(()),
            Some(_) => Err(Error::dangling(&path)),
        }
    }

    fn required(
        &self,
        kind: FileKind,
        location: u64,
        why: impl FnOnce() -> String,
    ) -> Result<ChunkReader> {
        self.optional(kind, location)?
            .ok_or_else(|| Error::MissingFile {
                path: self.path(kind, location),
                why: why(),
            })
    }

    fn reader(&self, kind: FileKind, location: u64) -> Result<ChunkReader> {
        let chunk_size = match kind {
            FileKind::Events | FileKind::Snapshots => self.anchor.event_chunk_size,
            FileKind::Thumbnail => THUMBNAIL_CHUNK_SIZE,
            _ => self.anchor.definition_chunk_size,
        };
        let reader = ChunkReader::open(&self.path(kind, location), kind, chunk_size)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let first = seen.entry((kind, location));
        if *first.or_insert(reader.version()) == reader.version() {
            Ok(reader)
        } else {
            Err(Error::Changed {
                path: reader.path().to_owned(),
            })
        }
    }

    /// Passes on the outcome of reading, unless a file is no longer what it was when it was opened
    /// first: then what was read of it may not belong together, and damage that was found may be
    /// none.
    pub fn unless_changed<T, E: From<Error>>(&self, outcome: Result<T, E>) -> Result<T, E> {
        match (self.check_unchanged(), outcome) {
            (Err(changed @ Error::Changed { .. }), _) => Err(changed.into()),
            (Err(error), Ok(_)) => Err(error.into()),
            (_, outcome) => outcome,
        }
    }

    fn check_unchanged(&self) -> Result<()> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (&(kind, location), &version) in &*seen {
            let path = self.path(kind, location);
            let now = fs::metadata(&path).map_err(|source| Error::io(&path, source))?;
            if Version::of(&now) != version {
                changed.push(path);
            }
        }
        match changed.into_iter().min() {
            Some(path) => Err(Error::Changed { path }),
            None => Ok(()),
        }
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = OsString::from(&self.stem);
        name.push(suffix);
        PathBuf::from(name)
    }
}

/// The only anchor file of a directory.
fn find_anchor(dir: &Path) -> Result<PathBuf> {
    let mut anchors = anchors_in(dir)?;
    anchors.sort();
    match anchors.len() {
        0 => Err(Error::NotAnArchive {
            path: dir.to_owned(),
            why: nothing_here(dir),
        }),
        1 => Ok(anchors.remove(0)),
        _ => Err(Error::SeveralArchives {
            path: dir.to_owned(),
            anchors,
        }),
    }
}

fn anchors_in(dir: &Path) -> Result<Vec<PathBuf>> {
    anchor_files(dir).map_err(|source| Error::io(dir, source))
}

fn anchor_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut anchors = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let is_anchor = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("otf2"));
        // What is no file either is refused by its name when it is opened.
        if is_anchor && presence::kind(&path)?.is_some_and(|it| !it.is_dir()) {
            anchors.push(path);
        }
    }
    Ok(anchors)
}

/// Where an archive lies, as seen from a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// In it.
    Here,
    /// A level below it, or beside it: what to give instead.
    Near(PathBuf),
    /// Nowhere that is looked at.
    Elsewhere,
}

impl Whereabouts {
    /// Looks for an archive in a directory and around it.
    pub fn from(dir: &Path) -> io::Result<Self> {
        if !anchor_files(dir)?.is_empty() {
            return Ok(Self::Here);
        }
        Ok(near(dir).map_or(Self::Elsewhere, Self::Near))
    }
}

/// Traces often lie one level deeper than the path that a user has at hand,
/// or one level above it.
fn near(dir: &Path) -> Option<PathBuf> {
    let beside = || Some(dir.with_extension("otf2")).filter(|it| it.is_file());
    below(dir).into_iter().next().or_else(beside)
}

/// The directories with an anchor that lie in another one, by name.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut below: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .filter(|path| anchor_files(path).is_ok_and(|anchors| !anchors.is_empty()))
        .collect();
    below.sort();
    below
}

/// How many archives are named where none is where one was looked for.
const NAMED: usize = 3;

fn nothing_here(dir: &Path) -> String {
    let nothing = "no .otf2 file in this directory";
    match near(dir) {
        Some(first) if first.starts_with(dir) => {
            let named = below(dir).into_iter().take(NAMED);
            let named: Vec<String> = named.map(printable_path).collect();
            format!("{nothing}; try {}", named.join(" or "))
        }
        Some(beside) => format!("{nothing}; its archive is {}", printable_path(&beside)),
        None => nothing.to_owned(),
    }
}
