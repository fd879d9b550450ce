//! Which files an archive consists of.
//!
//! They are found by looking, rather than by asking the definitions, so that
//! nothing gets lost: event files of locations that are not defined,
//! thumbnails, whatever a tool left beside the events. Who names a directory
//! rather than an anchor file gets everything that lies in it, such as the
//! settings of the measurement. Other directories are left alone.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use retime_model::LocationIndex;

use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::presence::{is_dir, is_file};

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Anchor,
    Definitions,
    Markers,
    LocalDefinitions(LocationIndex),
    Events(LocationIndex),
    Snapshots(LocationIndex),
    /// Nothing that has to do with time.
    Other,
}

/// A file of an archive.
#[derive(Clone, Debug)]
pub(crate) struct ArchiveFile {
    pub(crate) path: PathBuf,
    /// Relative to the directory of the anchor file.
    pub(crate) name: PathBuf,
    pub(crate) role: Role,
}

/// All files of an archive, sorted by name. The locations have the given ids.
pub(crate) fn list(
    archive: &Archive,
    locations: &[u64],
    by_directory: bool,
) -> Result<Vec<ArchiveFile>> {
    let dir = directory(archive);
    let roles = roles(archive, locations);
    let mut paths = Vec::new();
    for path in entries(&dir)? {
        let wanted = by_directory || belongs(archive, &path) || roles.contains_key(&path);
        if wanted && is_file(&path)? {
            paths.push(path);
        }
    }
    if is_dir(archive.locations_dir())? {
        below(&dir.join(archive.name()), &mut paths)?;
    }
    paths.sort();
    let file = |path: PathBuf| ArchiveFile {
        name: path.strip_prefix(&dir).unwrap_or(&path).to_owned(),
        role: roles.get(&path).copied().unwrap_or(Role::Other),
        path,
    };
    Ok(paths.into_iter().map(file).collect())
}

/// The directory of the anchor file.
pub(crate) fn directory(archive: &Archive) -> PathBuf {
    match archive.anchor_path().parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The files of some locations of an archive, given with their ids; sorted by name.
pub(super) fn of_locations(
    archive: &Archive,
    locations: &[(LocationIndex, u64)],
) -> Result<Vec<ArchiveFile>> {
    let dir = directory(archive);
    let mut files = Vec::new();
    for (path, role) in location_roles(archive, locations.iter().copied()) {
        if is_file(&path)? {
            files.push(ArchiveFile {
                name: path.strip_prefix(&dir).unwrap_or(&path).to_owned(),
                role,
                path,
            });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn roles(archive: &Archive, locations: &[u64]) -> HashMap<PathBuf, Role> {
    let indexed = (0..).map(LocationIndex).zip(locations.iter().copied());
    let mut roles: HashMap<PathBuf, Role> = location_roles(archive, indexed).into_iter().collect();
    roles.insert(found(archive, &archive.markers_path()), Role::Markers);
    let definitions = found(archive, &archive.definitions_path());
    roles.insert(definitions, Role::Definitions);
    roles.insert(found(archive, archive.anchor_path()), Role::Anchor);
    roles
}

fn location_roles(
    archive: &Archive,
    locations: impl Iterator<Item = (LocationIndex, u64)>,
) -> Vec<(PathBuf, Role)> {
    let mut roles = Vec::new();
    for (index, id) in locations {
        let local = archive.local_definitions_path(id);
        roles.push((found(archive, &local), Role::LocalDefinitions(index)));
        let events = archive.events_path(id);
        roles.push((found(archive, &events), Role::Events(index)));
        if archive.anchor().snapshots > 0 {
            let snapshots = archive.snapshots_path(id);
            roles.push((found(archive, &snapshots), Role::Snapshots(index)));
        }
    }
    roles
}

/// A path of an archive as a search finds it, which makes a difference for
/// "traces.otf2".
fn found(archive: &Archive, path: &Path) -> PathBuf {
    let parent = archive.anchor_path().parent().unwrap_or(Path::new(""));
    directory(archive).join(path.strip_prefix(parent).unwrap_or(path))
}

/// Whether a file beside the anchor is a thumbnail of its archive.
fn belongs(archive: &Archive, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_prefix(archive.name().as_encoded_bytes())
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(|rest| rest.strip_suffix(b".thumb"))
        .is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

/// All files in a directory and below it. Links to files count as files;
/// links to directories could lead anywhere and are not followed.
fn below(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(dir)? {
        let found = fs::symlink_metadata(&path).map_err(|source| Error::io(&path, source))?;
        if found.is_dir() {
            below(&path, files)?;
        } else if is_file(&path)? {
            files.push(path);
        }
    }
    Ok(())
}

/// What the file system knows of a file or directory of an archive.
pub(crate) fn metadata(path: &Path) -> Result<Metadata> {
    fs::metadata(path).map_err(|source| Error::io(path, source))
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(|source| Error::io(dir, source))
}
