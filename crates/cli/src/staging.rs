//! Output that appears whole or not at all.
//!
//! Everything is written into a hidden directory beside the target, synced to
//! disk, and renamed to the target in one step. Whatever ends the program
//! before that, the target is as it was: an error or an interrupt removes the
//! hidden directory, and one left by a killed process is removed by the next
//! run for the same target.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use retime::format::{Format, Shape, Trace};

use crate::error::CliError;

const EXISTS: &str = "exists already; give a new path, or --force to replace it";
const FILE_EXISTS: &str = "exists already; give a new file, or --force to replace it";

const PARTIAL: &str = ".partial";
/// What was at the place of the target, until it can go.
const REPLACED: &str = ".replaced";

/// A directory that is being written, for a target.
#[derive(Debug)]
pub(crate) struct Staging {
    target: PathBuf,
    parent: PathBuf,
    directory: PathBuf,
    replace: bool,
    done: bool,
}

impl Staging {
    /// Prepares to write a trace of a format; its target must not be or contain the
    /// `input`, and must not exist, unless that format may replace it by force.
    pub(crate) fn for_trace(
        (target, force): (&Path, bool),
        format: &dyn Format,
        input: &Path,
    ) -> Result<Self, CliError> {
        Self::prepare(target, input, || {
            if !force {
                return Err(CliError::input(target, EXISTS));
            }
            let replaced = format.may_replace(target, input);
            replaced.map_err(|what| CliError::input(target, what))
        })
    }

    /// Prepares to write a new file of events, or with `force` one in the place of an
    /// older one.
    pub(crate) fn for_events(target: &Path, force: bool, input: &Path) -> Result<Self, CliError> {
        Self::prepare(target, input, || may_replace_events(target, force))
    }

    /// Prepares to write `target`, if what is there `may_be_replaced`.
    fn prepare(
        target: &Path,
        input: &Path,
        may_be_replaced: impl FnOnce() -> Result<(), CliError>,
    ) -> Result<Self, CliError> {
        let name = target.file_name().ok_or_else(|| {
            CliError::input(target, "cannot be written: give a new path by its name")
        })?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !parent.is_dir() {
            return Err(CliError::input(
                &parent,
                "no such directory; create it before writing into it",
            ));
        }
        refuse_input(target, &parent, input)?;
        clean_up_after_killed_runs(target, &parent, name);
        let replace = lies_there(target)?;
        if replace {
            may_be_replaced()?;
        }
        let directory = parent.join(staging_name(name, std::process::id()));
        fs::create_dir(&directory).map_err(|error| CliError::io(&directory, error))?;
        Ok(Self {
            target: target.into(),
            parent,
            directory,
            replace,
            done: false,
        })
    }

    /// The directory to write into.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file to write, where the target is one.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join("events")
    }

    /// Where to write a trace of this shape.
    pub(crate) fn place(&self, shape: Shape) -> PathBuf {
        match shape {
            Shape::File => self.file(),
            Shape::Directory => self.directory.clone(),
        }
    }

    /// Where to write the correction of the copy of a trace.
    pub(crate) fn correction(&self, trace: &dyn Trace) -> PathBuf {
        match trace.shape() {
            Shape::File => self.directory.join("correction"),
            Shape::Directory => trace.correction_of(&trace.copy_at(&self.directory)),
        }
    }

    /// Brings what is written so far to the disk while other work goes on, so that
    /// [`commit`](Self::commit) finds little left to wait for. What fails here, it meets
    /// again.
    pub(crate) fn sync_ahead(&self) -> JoinHandle<io::Result<()>> {
        let directory = self.directory.clone();
        thread::spawn(move || sync_tree(&directory))
    }

    /// Puts the copy of a trace in the place of the target; if it is one file, its
    /// correction beside it.
    pub(crate) fn commit(self, trace: &dyn Trace) -> Result<(), CliError> {
        if trace.shape() == Shape::Directory {
            return self.commit_directory();
        }
        let correction = self.correction(trace);
        if lies_there(&correction)? {
            // Without its trace it does no harm, so it goes first.
            let beside = trace.correction_of(&self.target);
            sync_tree(&self.directory).map_err(|error| CliError::io(&self.directory, error))?;
            fs::rename(&correction, &beside).map_err(|error| CliError::io(&beside, error))?;
        }
        self.commit_file()
    }

    /// Syncs what was written and puts it in the place of the target.
    pub(crate) fn commit_directory(mut self) -> Result<(), CliError> {
        sync_tree(&self.directory).map_err(|error| CliError::io(&self.directory, error))?;
        let old = self.directory.with_extension(&REPLACED[1..]);
        let rename =
            |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| CliError::io(to, error));
        if self.replace {
            rename(&self.target, &old)?;
        }
        if let Err(error) = rename(&self.directory, &self.target) {
            if self.replace {
                rename(&old, &self.target)?;
            }
            return Err(error);
        }
        self.done = true;
        let synced = self.sync_parent();
        if self.replace {
            fs::remove_dir_all(&old).map_err(|error| CliError::io(&old, error))?;
        }
        synced
    }

    /// Syncs the file and puts it in the place of the target.
    pub(crate) fn commit_file(self) -> Result<(), CliError> {
        sync_tree(&self.directory).map_err(|error| CliError::io(&self.directory, error))?;
        if !self.replace && lies_there(&self.target)? {
            return Err(CliError::input(&self.target, FILE_EXISTS));
        }
        fs::rename(self.file(), &self.target).map_err(|error| CliError::io(&self.target, error))?;
        self.sync_parent()
    }

    /// Brings the name of the target to the disk, where all else of it is by now.
    fn sync_parent(&self) -> Result<(), CliError> {
        let synced = File::open(&self.parent).and_then(|parent| parent.sync_all());
        synced.map_err(|error| {
            let message = format!(
                "is complete, but may be missing after a power failure, since its directory could \
                 not be brought to the disk ({error})"
            );
            CliError::input(&self.target, message)
        })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.done {
            // Nothing better can be done about a failure here.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

fn staging_name(target: &std::ffi::OsStr, process: u32) -> OsString {
    let mut name = OsString::from(".");
    name.push(target);
    name.push(format!(".retime-{process}{PARTIAL}"));
    name
}

/// The target must not be the input or hold it: replacing it would destroy it.
/// Nor may it lie within a directory that is the input, or among the files of the
/// locations, where it would become a part of the input.
fn refuse_input(target: &Path, parent: &Path, input: &Path) -> Result<(), CliError> {
    let (Some(input), Some(parent)) = (real(input)?, real(parent)?) else {
        return Ok(());
    };
    if real(target)?.is_some_and(|target| input.starts_with(target)) {
        return Err(CliError::input(
            target,
            "is or holds the input, which is never changed; give another directory",
        ));
    }
    let inside = if input.is_dir() {
        parent.starts_with(&input)
    } else {
        parent.starts_with(input.with_extension(""))
    };
    if inside {
        return Err(CliError::input(
            target,
            "lies inside the input, which is never changed; give a directory elsewhere",
        ));
    }
    Ok(())
}

/// With `force` an older file of events may be replaced.
fn may_replace_events(target: &Path, force: bool) -> Result<(), CliError> {
    if !force {
        return Err(CliError::input(target, FILE_EXISTS));
    }
    let mut start = Vec::new();
    let is_file = fs::symlink_metadata(target).is_ok_and(|it| it.is_file());
    let mut read = || File::open(target)?.take(64).read_to_end(&mut start);
    if is_file && read().is_ok() && start.starts_with(b"{\"retime-stream\":") {
        return Ok(());
    }
    let message = "is no file of events; --force replaces only files that retime wrote";
    Err(CliError::input(target, message))
}

/// Removes what killed runs for the same target left behind. What they were
/// about to replace is put back, if they did not come to replace it.
fn clean_up_after_killed_runs(target: &Path, parent: &Path, name: &std::ffi::OsStr) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".retime-");
    let prefix = prefix.to_string_lossy().into_owned();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(&prefix) else {
            continue;
        };
        let (process, replaced) = match rest.strip_suffix(PARTIAL) {
            Some(process) => (process, false),
            None => (rest.strip_suffix(REPLACED).unwrap_or_default(), true),
        };
        if !process
            .parse::<u32>()
            .is_ok_and(|process| !is_alive(process))
        {
            continue;
        }
        // What cannot be cleaned up does not keep this run from its work.
        let _ = match lies_there(target) {
            Ok(false) if replaced => fs::rename(entry.path(), target),
            Err(_) if replaced => Ok(()),
            _ => fs::remove_dir_all(entry.path()),
        };
    }
}

/// Whether a process runs; where that cannot be told it is taken to run.
fn is_alive(process: u32) -> bool {
    let table = Path::new("/proc");
    let is_missing = |path: &Path| path.try_exists().is_ok_and(|exists| !exists);
    is_missing(&table.join("self")) || !is_missing(&table.join(process.to_string()))
}

/// Whether anything lies at a path, be it a link to nowhere. Only "not found" says no.
fn lies_there(path: &Path) -> Result<bool, CliError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(CliError::io(path, error)),
    }
}

/// The path without links; `None` if it leads nowhere.
fn real(path: &Path) -> Result<Option<PathBuf>, CliError> {
    match path.canonicalize() {
        Ok(path) => Ok(Some(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::io(path, error)),
    }
}

fn sync_tree(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            sync_tree(&path)?;
        } else {
            File::open(&path)?.sync_all()?;
        }
    }
    File::open(directory)?.sync_all()
}
