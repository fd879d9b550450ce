//! Which files an archive consists of.
//!
//! They are found by looking, rather than by asking the definitions, so that
//! nothing gets lost: event files of locations that are not defined,
//! thumbnails, whatever a tool left beside the events. Who names a directory
//! rather than an anchor file gets everything that lies in it, such as the
//! settings of the measurement. Other directories are taken along from
//! [experiments](super::experiment), whose tools keep things in some; elsewhere they are
//! left alone unless they are empty, since anything can lie beside a trace. Directories with
//! a trace of their own are left alone too, and so is what is no file; all are named.
//!
//! What is read as part of the trace may lie behind a link. What is only copied may not:
//! a link is copied as one, or [refused](retime_model::LeadsOut).

use std::collections::HashMap;
use std::fs::{self, FileType, Metadata};
use std::path::{Path, PathBuf};

use retime_model::presence::{self, kind_in_words};
use retime_model::{LocationIndex, Monitor, NotRegular, link_inside, make_link, printable_path};

use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::presence::{is_dir, is_file};
use crate::rewrite::experiment::{self, Experiment};
use crate::undo::packed::Packed;

/// The purpose of a file in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileRole {
    Anchor,
    Definitions,
    Markers,
    LocalDefinitions(LocationIndex),
    Events(LocationIndex),
    Snapshots(LocationIndex),
    /// A result that a tool has computed from the recorded times.
    Outdated,
    /// Nothing that has to do with time.
    Other,
}

/// A file of an archive.
#[derive(Clone, Debug)]
pub(crate) struct ArchiveFile {
    pub(crate) path: PathBuf,
    /// Relative to the directory of the anchor file.
    pub(crate) name: PathBuf,
    /// The name of the file in the copy.
    pub(crate) in_copy: PathBuf,
    pub(crate) role: FileRole,
    /// True if a link leads to it.
    pub(crate) is_linked: bool,
}

/// A directory entry of an archive that is no file: a copy gets the same.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    /// Relative to the directory of the anchor file.
    pub(crate) name: PathBuf,
    /// A name of which the directories are needed that lead to it.
    within: PathBuf,
    what: What,
}

/// The kinds of entries that are no files.
#[derive(Clone, Debug)]
enum What {
    /// A link that says this.
    Link(PathBuf),
    /// A directory with nothing in it.
    Directory,
}

/// All of an archive, each list sorted by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<ArchiveFile>,
    pub(crate) besides: Vec<Beside>,
    /// Entries that are not copied: their names, and their kind in words.
    pub(crate) left_out: Vec<(PathBuf, &'static str)>,
}

impl Listing {
    /// Takes what was computed from the recorded times away from where tools look for it.
    pub(super) fn set_aside(&mut self) {
        let named = |name: &str| {
            let is_there = |it: &Path| it.starts_with(name);
            self.files.iter().any(|it| is_there(&it.name))
                || self.besides.iter().any(|it| is_there(&it.name))
                || self.left_out.iter().any(|it| is_there(&it.0))
        };
        let aside = experiment::unused_directory(named);
        for file in &mut self.files {
            if file.role == FileRole::Outdated {
                file.in_copy = aside.join(&file.name);
            }
        }
    }

    /// The files whose name in a copy is another one.
    pub(super) fn moved(&self) -> impl Iterator<Item = &ArchiveFile> {
        self.files.iter().filter(|it| it.in_copy != it.name)
    }

    /// Names in a copy of which the directories are needed that lead to them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Path> {
        let files = self.files.iter().map(|file| file.in_copy.as_path());
        files.chain(self.besides.iter().map(Beside::within))
    }

    /// Names of which the original has the directories, too.
    pub(crate) fn common_names(&self) -> impl Iterator<Item = &Path> {
        let files = self.files.iter().filter(|it| it.in_copy == it.name);
        let files = files.map(|file| file.name.as_path());
        files.chain(self.besides.iter().map(Beside::within))
    }

    /// Gives a copy what is no file, directories aside; the check sums of all.
    pub(super) fn give_besides(&self, to: &Path) -> Result<Vec<u32>> {
        for beside in &self.besides {
            beside.give(to)?;
        }
        Ok(self.besides.iter().map(Beside::sum).collect())
    }

    /// Says what no copy is made of.
    pub(crate) fn tell(&self, monitor: &dyn Monitor) {
        for file in self.moved() {
            monitor.notice(&experiment::moved(&file.name, &file.in_copy));
        }
        for (name, kind) in &self.left_out {
            let name = printable_path(name);
            monitor.notice(&format!("{name} is not copied: it is {kind}"));
        }
    }
}

impl Beside {
    fn link(name: PathBuf, target: PathBuf) -> Self {
        Self {
            within: name.clone(),
            name,
            what: What::Link(target),
        }
    }

    fn directory(name: PathBuf) -> Self {
        Self {
            within: name.join("anything"),
            name,
            what: What::Directory,
        }
    }

    /// A name of which the directories are needed that lead to it.
    pub(crate) fn within(&self) -> &Path {
        &self.within
    }

    /// Gives it to a copy, in which its directories are.
    pub(crate) fn give(&self, to: &Path) -> Result<()> {
        let What::Link(target) = &self.what else {
            return Ok(());
        };
        let path = to.join(&self.name);
        make_link(target, &path).map_err(|source| Error::io(&path, source))
    }

    /// A check sum over its name and what it is.
    pub(crate) fn sum(&self) -> u32 {
        let mut entry = Packed::default();
        entry.bytes(self.name.as_os_str().as_encoded_bytes());
        if let What::Link(target) = &self.what {
            entry.bytes(target.as_os_str().as_encoded_bytes());
        }
        crc32fast::hash(entry.as_bytes())
    }
}

/// The surroundings of an archive that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The archive alone.
    Archive,
    /// All that lies beside its anchor, and in other directories if it is an experiment.
    Directory,
    /// All that lies beside its anchor or below.
    Everything,
}

impl Reach {
    /// The surroundings that the name speaks of by which a trace was opened.
    pub(crate) fn of(by_directory: bool) -> Self {
        if by_directory {
            Self::Directory
        } else {
            Self::Archive
        }
    }
}

/// All of an archive. The locations have the given ids.
pub(crate) fn list(archive: &Archive, locations: &[u64], reach: Reach) -> Result<Listing> {
    let dir = directory(archive);
    let beside = entries(&dir)?;
    let mut search = Search {
        roles: roles(archive, locations),
        is_experiment: match reach {
            Reach::Archive => false,
            Reach::Directory => Experiment::of(&beside).is_some(),
            Reach::Everything => true,
        },
        is_linked: false,
        found: Listing::default(),
        dir,
    };
    let inside = search.dir.join(archive.name());
    for path in beside {
        if path == inside && is_dir(&path)? {
            continue;
        }
        if search.roles.contains_key(&path) || reach != Reach::Archive || belongs(archive, &path) {
            search.take(path)?;
        }
    }
    if is_dir(archive.locations_dir())? {
        search.is_linked = leads_out(&search.dir, &inside)?;
        if entries(&inside)?.is_empty() && !search.is_linked {
            search.take(inside)?;
        } else {
            search.below(&inside)?;
        }
    }
    Ok(search.sorted())
}

/// Looks through the directories of an archive.
struct Search {
    /// The directory of the anchor file.
    dir: PathBuf,
    roles: HashMap<PathBuf, FileRole>,
    /// True if directories beside that of the locations are part of it.
    is_experiment: bool,
    /// True if what is looked at lies elsewhere, behind a link.
    is_linked: bool,
    found: Listing,
}

impl Search {
    /// Takes up what lies beside the anchor, or below the directory of the locations.
    fn take(&mut self, path: PathBuf) -> Result<()> {
        let kind = kind_of_entry(&path)?;
        if let Some(&role) = self.roles.get(&path) {
            return self.take_file(path, role, kind.is_symlink());
        }
        let name = self.name(&path);
        if kind.is_symlink() {
            let target = link_inside(&self.dir, &name);
            let target = target.map_err(|source| Error::io(&path, source))?;
            self.found.besides.push(Beside::link(name, target));
        } else if kind.is_file() {
            if self.is_linked {
                return Err(behind_a_link(path));
            }
            let outdated = self.is_experiment && experiment::is_outdated(&name);
            let role = if outdated {
                FileRole::Outdated
            } else {
                FileRole::Other
            };
            self.take_file(path, role, false)?;
        } else if kind.is_dir() {
            self.take_directory(&path, name)?;
        } else {
            self.found.left_out.push((name, kind_in_words(kind)));
        }
        Ok(())
    }

    fn take_directory(&mut self, path: &Path, name: PathBuf) -> Result<()> {
        let inside = entries(path)?;
        if inside.is_empty() {
            self.found.besides.push(Beside::directory(name));
        } else if !self.is_experiment {
            self.found.left_out.push((name, "a directory"));
        } else if experiment::has_a_trace(&inside) {
            let kind = "a directory with a trace of its own";
            self.found.left_out.push((name, kind));
        } else {
            self.below(path)?;
        }
        Ok(())
    }

    fn take_file(&mut self, path: PathBuf, role: FileRole, is_linked: bool) -> Result<()> {
        let found = presence::kind(&path).map_err(|source| Error::io(&path, source))?;
        let found = found.ok_or_else(|| Error::dangling(&path))?;
        if let Some(found) = NotRegular::of(found) {
            return Err(Error::io(&path, found.into()));
        }
        let name = self.name(&path);
        self.found.files.push(ArchiveFile {
            in_copy: name.clone(),
            name,
            role,
            is_linked: is_linked || self.is_linked,
            path,
        });
        Ok(())
    }

    /// Takes up all that lies below a directory. Links to directories could lead anywhere
    /// and are not followed.
    fn below(&mut self, dir: &Path) -> Result<()> {
        for path in entries(dir)? {
            let is_empty = || Ok::<_, Error>(entries(&path)?.is_empty());
            if kind_of_entry(&path)?.is_dir() && !is_empty()? {
                self.below(&path)?;
            } else {
                self.take(path)?;
            }
        }
        Ok(())
    }

    fn name(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.dir).unwrap_or(path).to_owned()
    }

    fn sorted(mut self) -> Listing {
        self.found.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.found.besides.sort_by(|a, b| a.name.cmp(&b.name));
        self.found.left_out.sort_unstable();
        self.found
    }
}

/// True if a path leads out of a directory.
fn leads_out(dir: &Path, path: &Path) -> Result<bool> {
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|source| Error::io(path, source))
    };
    Ok(!real(path)?.starts_with(real(dir)?))
}

fn behind_a_link(path: PathBuf) -> Error {
    Error::Unsupported {
        path,
        what: "lies behind a symbolic link that leads out of the archive, and is no file of \
               the trace, so it is not taken along; move it away, or put the directory itself \
               in the place of the link"
            .to_owned(),
    }
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
            let name = path.strip_prefix(&dir).unwrap_or(&path).to_owned();
            files.push(ArchiveFile {
                in_copy: name.clone(),
                name,
                role,
                is_linked: kind_of_entry(&path)?.is_symlink(),
                path,
            });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn roles(archive: &Archive, locations: &[u64]) -> HashMap<PathBuf, FileRole> {
    let indexed = (0..).map(LocationIndex).zip(locations.iter().copied());
    let mut roles: HashMap<PathBuf, FileRole> =
        location_roles(archive, indexed).into_iter().collect();
    roles.insert(found(archive, &archive.markers_path()), FileRole::Markers);
    let definitions = found(archive, &archive.definitions_path());
    roles.insert(definitions, FileRole::Definitions);
    roles.insert(found(archive, archive.anchor_path()), FileRole::Anchor);
    roles
}

fn location_roles(
    archive: &Archive,
    locations: impl Iterator<Item = (LocationIndex, u64)>,
) -> Vec<(PathBuf, FileRole)> {
    let mut roles = Vec::new();
    for (index, id) in locations {
        let local = archive.local_definitions_path(id);
        roles.push((found(archive, &local), FileRole::LocalDefinitions(index)));
        let events = archive.events_path(id);
        roles.push((found(archive, &events), FileRole::Events(index)));
        if archive.anchor().snapshots > 0 {
            let snapshots = archive.snapshots_path(id);
            roles.push((found(archive, &snapshots), FileRole::Snapshots(index)));
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

/// True if a file beside the anchor is a thumbnail of its archive.
fn belongs(archive: &Archive, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_prefix(archive.name().as_encoded_bytes())
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(|rest| rest.strip_suffix(b".thumb"))
        .is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

/// Reads what the file system knows of a file or directory of an archive.
pub(crate) fn metadata(path: &Path) -> Result<Metadata> {
    fs::metadata(path).map_err(|source| Error::io(path, source))
}

fn kind_of_entry(path: &Path) -> Result<FileType> {
    let found = fs::symlink_metadata(path);
    Ok(found.map_err(|source| Error::io(path, source))?.file_type())
}

pub(super) fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(|source| Error::io(dir, source))
}
