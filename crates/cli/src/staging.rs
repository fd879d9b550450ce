//! Output that appears whole or not at all.
//!
//! Everything is written into a hidden directory beside the target, synced to
//! disk, and renamed to the target in one step. Whatever ends the program
//! before that, the target is as it was: an error or an interrupt removes the
//! hidden directory, and one left by a killed process is removed by the next
//! run for the same target, or for another one beside it if that process is certainly over.
//!
//! Nobody else can enter the hidden directory, so that a copy of a private trace
//! is private from its first byte. Its last step before the rename gives it the
//! access of the directory that it is a copy of.

mod claim;
mod leftovers;
mod owner;
mod rename;
mod sync;
mod there;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use retime::format::{Format, Rewrite, Shape};
use retime::{Access, UserAttributes, open_regular, presence, printable_path};

use crate::error::CliError;
use claim::Claim;
use leftovers::{REPLACED, clean_up_after_killed_runs, hidden_name, remove};
use owner::Owner;
use sync::sync_tree;
use there::lies_there;

pub(crate) use leftovers::{clean_up_after, is_hidden_of};

const EXISTS: &str = "exists already; give a new path, or --force to replace it";
const FILE_EXISTS: &str = "exists already; give a new file, or --force to replace it";

/// Where to write, and whether what is there may be replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) path: &'a Path,
    pub(crate) force: bool,
}

/// The files that are read: the first of a trace, and others of the same training job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a> {
    pub(crate) trace: &'a Path,
    pub(crate) others: &'a [PathBuf],
}

impl<'a> Inputs<'a> {
    /// One trace alone.
    pub(crate) const fn alone(trace: &'a Path) -> Self {
        Self { trace, others: &[] }
    }
}

/// A directory that is being written, for a target.
#[derive(Debug)]
pub(crate) struct Staging {
    target: PathBuf,
    parent: PathBuf,
    directory: PathBuf,
    /// The access to the directory which a directory is a copy of.
    access: Option<(Access, UserAttributes)>,
    replace: bool,
    done: bool,
    /// Given up when the directory is gone, so declared last.
    _claim: Claim,
}

impl Staging {
    /// Prepares to write a trace of a format; its target must not be or contain the
    /// `input`, and must not exist, unless that format may replace it by force.
    pub(crate) fn for_trace(
        target: Target<'_>,
        format: &dyn Format,
        inputs: Inputs<'_>,
    ) -> Result<Self, CliError> {
        Self::prepare(target.path, Some(inputs), || {
            may_replace_trace(target, format, inputs.trace)
        })
    }

    /// Prepares to write a trace that is made from nothing.
    pub(crate) fn for_new_trace(target: Target<'_>, format: &dyn Format) -> Result<Self, CliError> {
        let nothing = Path::new("");
        Self::prepare(target.path, None, || {
            may_replace_trace(target, format, nothing)
        })
    }

    /// Prepares to write a new file of events, or with `force` one in the place of an
    /// older one.
    pub(crate) fn for_events(target: Target<'_>, inputs: Inputs<'_>) -> Result<Self, CliError> {
        Self::prepare(target.path, Some(inputs), || {
            let ours = |start: &[u8]| start.starts_with(b"{\"retime-stream\":");
            may_replace_file(target, "file of events", ours)
        })
    }

    /// Prepares to write a new file for viewers, or with `force` one in the place of an
    /// older one.
    pub(crate) fn for_export(target: Target<'_>, inputs: Inputs<'_>) -> Result<Self, CliError> {
        Self::prepare(target.path, Some(inputs), || {
            may_replace_file(target, "exported trace", retime_export::is_export)
        })
    }

    /// Prepares to write a new file of merged traces, or with `force` one in the place of an
    /// older one.
    pub(crate) fn for_merged(target: Target<'_>, inputs: Inputs<'_>) -> Result<Self, CliError> {
        Self::prepare(target.path, Some(inputs), || {
            may_replace_file(target, "merged trace", retime_merge::is_merged)
        })
    }

    /// Prepares to write a report, in the place of an older one that was found to be one.
    pub(crate) fn for_report(target: &Path) -> Result<Self, CliError> {
        Self::prepare(target, None, || Ok(()))
    }

    /// Prepares to write `target`, if what is there `may_be_replaced`.
    fn prepare(
        target: &Path,
        inputs: Option<Inputs<'_>>,
        may_be_replaced: impl FnOnce() -> Result<(), CliError>,
    ) -> Result<Self, CliError> {
        if target.as_os_str() == "-" {
            return Err(CliError::input(
                target,
                "is standard output, where no trace can be read again and checked; give a new \
                 path, or ./- for one of that name",
            ));
        }
        let name = target.file_name().ok_or_else(|| {
            CliError::input(target, "cannot be written: give a new path by its name")
        })?;
        // Without a slash at its end, which would make a directory of a file.
        let target = &*target.with_file_name(name);
        let parent = parent_of(target)?;
        if let Some(Inputs { trace, others }) = inputs {
            refuse_input(target, &parent, trace)?;
            for input in others {
                refuse_input(target, &parent, input)?;
            }
        }
        let directory = parent.join(hidden_name(name, &Owner::this()));
        // What bears the number of this process may be its own otherwise.
        let claim = Claim::on(&directory)
            .ok_or_else(|| CliError::input(target, "is being written by this process already"))?;
        clean_up_after_killed_runs(target, &parent, name);
        let replace = lies_there(target)?;
        if replace {
            may_be_replaced()?;
        }
        let access = inputs
            .map(|it| access_of_directory(it.trace))
            .transpose()?
            .flatten();
        let made = match inputs {
            Some(_) => make_private(&directory),
            None => fs::create_dir(&directory),
        };
        made.map_err(|error| CliError::io(&directory, error))?;
        Ok(Self {
            target: target.into(),
            parent,
            directory,
            access,
            replace,
            done: false,
            _claim: claim,
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
    pub(crate) fn correction(&self, trace: &dyn Rewrite) -> PathBuf {
        match trace.shape() {
            Shape::File => self.directory.join("correction"),
            Shape::Directory => trace.correction_of(&trace.copy_at(&self.directory)),
        }
    }

    /// Refuses a target beside which the correction of the copy of a trace cannot lie, before
    /// any work: its name is longer than that of the target.
    pub(crate) fn refuse_long_name(&self, trace: &dyn Rewrite) -> Result<(), CliError> {
        if trace.shape() == Shape::Directory {
            return Ok(());
        }
        let beside = trace.correction_of(&self.target);
        match presence::kind_of_entry(&beside) {
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Err(CliError::input(
                &beside,
                "the saved correction, without which nothing can be undone, cannot have so long \
                 a name; give the output a shorter one",
            )),
            _ => Ok(()),
        }
    }

    /// Brings what is written so far to the disk while other work goes on, so that
    /// [`commit`](Self::commit) finds little left to wait for. What fails here, it meets
    /// again.
    pub(crate) fn sync_ahead(&self) -> io::Result<JoinHandle<Result<(), CliError>>> {
        let directory = self.directory.clone();
        thread::Builder::new().spawn(move || sync_tree(&directory))
    }

    /// The outcome of writing; an error in words if the place for it is gone.
    pub(crate) fn written<T>(
        &self,
        outcome: Result<T, impl Into<CliError>>,
    ) -> Result<T, CliError> {
        outcome.map_err(|error| match presence::kind_of_entry(&self.directory) {
            Ok(None) => CliError::input(
                &self.directory,
                "was removed by another program while the result was being written into it, so \
                 nothing was written; run this again",
            ),
            _ => error.into(),
        })
    }

    /// Puts the copy of a trace in the place of the target; if it is one file, its
    /// correction beside it.
    pub(crate) fn commit(mut self, trace: &dyn Rewrite) -> Result<(), CliError> {
        if trace.shape() == Shape::Directory {
            return self.commit_directory();
        }
        let correction = self.correction(trace);
        if !lies_there(&correction)? {
            return self.commit_file();
        }
        self.written(sync_tree(&self.directory))?;
        // Without its trace it does no harm, so it goes first. If there was another one, that
        // can come back.
        let beside = trace.correction_of(&self.target);
        let failed = |error| CliError::io(&beside, error);
        let exchanged = if lies_there(&beside)? {
            rename::exchange(&correction, &beside).map_err(failed)
        } else {
            Ok(false)
        };
        let exchanged = self.written(exchanged)?;
        if !exchanged {
            self.written(fs::rename(&correction, &beside).map_err(failed))?;
        }
        let put = self.put_file();
        if put.is_err() {
            // Nothing better can be done about a failure here.
            let _ = if exchanged {
                fs::rename(&correction, &beside)
            } else {
                fs::remove_file(&beside)
            };
        }
        put.and_then(|()| self.sync_parent())
            .and_then(|()| self.clear())
    }

    /// Syncs what was written and puts it in the place of the target.
    pub(crate) fn commit_directory(mut self) -> Result<(), CliError> {
        self.written(self.give_access().and_then(|()| sync_tree(&self.directory)))?;
        let old = if self.replace {
            Some(self.exchange()?)
        } else {
            self.written(self.move_in(&self.directory))?;
            None
        };
        self.done = true;
        let synced = self.sync_parent();
        if let Some(old) = old {
            remove(&old).map_err(|error| {
                self.complete_but(format!(
                    "what it replaced could not be removed ({error}); remove {}",
                    printable_path(&old)
                ))
            })?;
        }
        synced
    }

    /// Syncs the file and puts it in the place of the target.
    pub(crate) fn commit_file(mut self) -> Result<(), CliError> {
        self.written(sync_tree(&self.directory))?;
        self.put_file()?;
        self.sync_parent()?;
        self.clear()
    }

    /// Puts the file in the place of the target, and leaves it to the system when that
    /// reaches the disk: for what can easily be had again.
    pub(crate) fn commit_file_unsynced(mut self) -> Result<(), CliError> {
        self.put_file()?;
        self.clear()
    }

    /// Puts the file in the place of the target.
    fn put_file(&self) -> Result<(), CliError> {
        let file = self.file();
        if self.replace {
            let renamed = fs::rename(&file, &self.target);
            return self.written(renamed.map_err(|error| CliError::io(&self.target, error)));
        }
        self.written(self.move_in(&file))
    }

    /// Puts what was written where nothing was when it was begun.
    fn move_in(&self, written: &Path) -> Result<(), CliError> {
        rename::without_replacing(written, &self.target).map_err(|error| {
            if lies_there(&self.target).unwrap_or(false) {
                CliError::input(
                    &self.target,
                    "was made by another program in the meantime and is left as it is, so \
                     nothing was written; give a new path, or --force to replace it",
                )
            } else {
                CliError::io(&self.target, error)
            }
        })
    }

    /// Puts what was written where something else was; where that is now.
    fn exchange(&self) -> Result<PathBuf, CliError> {
        let failed = |error| CliError::io(&self.target, error);
        match rename::exchange(&self.directory, &self.target) {
            Ok(true) => return Ok(self.directory.clone()),
            Ok(false) => {}
            Err(error) => return self.written(Err(self.no_longer_there(error))),
        }
        // Not in one step, then; the next run puts it back if this one is killed between.
        let old = self.directory.with_extension(&REPLACED[1..]);
        fs::rename(&self.target, &old).map_err(|error| self.no_longer_there(error))?;
        if let Err(error) = fs::rename(&self.directory, &self.target) {
            fs::rename(&old, &self.target).map_err(failed)?;
            return self.written(Err(failed(error)));
        }
        Ok(old)
    }

    /// Removes the directory that the target was written in.
    fn clear(&mut self) -> Result<(), CliError> {
        self.done = true;
        remove(&self.directory).map_err(|error| {
            self.complete_but(format!(
                "the directory that it was written in could not be removed ({error}); remove {}",
                printable_path(&self.directory)
            ))
        })
    }

    fn no_longer_there(&self, error: io::Error) -> CliError {
        if error.kind() == io::ErrorKind::NotFound {
            return CliError::input(
                &self.target,
                "was to be replaced, but was taken away by another program in the meantime, so \
                 nothing was written; run this again",
            );
        }
        CliError::io(&self.target, error)
    }

    /// Opens the directory to whom the one may enter that it is a copy of, and gives it what
    /// users noted in that.
    fn give_access(&self) -> Result<(), CliError> {
        let Some((access, noted)) = &self.access else {
            return Ok(());
        };
        let given = File::open(&self.directory).and_then(|directory| {
            noted.give(&directory)?;
            access.give(&directory)
        });
        given.map_err(|error| CliError::io(&self.directory, error))
    }

    /// Brings the name of the target to the disk, where all else of it is by now.
    fn sync_parent(&self) -> Result<(), CliError> {
        let synced = File::open(&self.parent).and_then(|parent| parent.sync_all());
        synced.map_err(|error| {
            self.complete_but(format!(
                "it may be missing after a power failure, since its directory could not be \
                 brought to the disk ({error})"
            ))
        })
    }

    fn complete_but(&self, message: String) -> CliError {
        CliError::Complete {
            path: self.target.clone(),
            message,
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        match remove(&self.directory) {
            Ok(()) => {}
            // What was to be removed is not there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // The error that led here is the one to return.
            Err(error) => tell_of_what_stays(&self.directory, &error),
        }
    }
}

fn tell_of_what_stays(directory: &Path, error: &io::Error) {
    let path = printable_path(directory);
    // If even this cannot be written, the exit code still tells of what failed first.
    let _ = writeln!(
        anstream::stderr(),
        "retime: {path}: could not be removed ({error}); remove it"
    );
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
    let inside = if is_directory(&input)? {
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

/// A directory that nobody else can enter.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// The access of the directory that a trace lies in, or is, and what users noted in it.
fn access_of_directory(input: &Path) -> Result<Option<(Access, UserAttributes)>, CliError> {
    let directory = match input.parent() {
        _ if is_directory(input)? => input,
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let found = fs::metadata(directory).and_then(|found| {
        let access = Access::of(&found, directory)?;
        Ok((access, UserAttributes::of(directory)?))
    });
    match found {
        Ok(found) => Ok(Some(found)),
        // That there is no such trace is said where it is opened.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::io(directory, error)),
    }
}

fn may_replace_trace(
    target: Target<'_>,
    format: &dyn Format,
    input: &Path,
) -> Result<(), CliError> {
    let Target { path, force } = target;
    if !force {
        return Err(CliError::input(path, EXISTS));
    }
    let replaced = format.may_replace(path, input);
    replaced.map_err(|what| CliError::input(path, what))
}

/// Bytes by which a file is recognised, also if it is compressed.
const START: u64 = 4096;

/// With `force` an older file may be replaced that is one of `ours` by how it begins.
fn may_replace_file(
    target: Target<'_>,
    what: &str,
    ours: impl Fn(&[u8]) -> bool,
) -> Result<(), CliError> {
    let Target {
        path: target,
        force,
    } = target;
    if !force {
        return Err(CliError::input(target, FILE_EXISTS));
    }
    let mut start = Vec::new();
    let failed = |error| CliError::io(target, error);
    let found = presence::kind_of_entry(target).map_err(failed)?;
    if found.is_some_and(|it| it.is_file()) {
        let file = open_regular(target).map_err(failed)?;
        file.take(START).read_to_end(&mut start).map_err(failed)?;
        if ours(&start) {
            return Ok(());
        }
    }
    let message = format!("is no {what}; --force replaces only files that retime wrote");
    Err(CliError::input(target, message))
}

/// Makes a directory where nothing is.
pub(crate) fn make_directory(target: &Path) -> Result<(), CliError> {
    parent_of(target)?;
    fs::create_dir(target).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => CliError::input(target, "exists already; give a new path"),
        _ => CliError::io(target, error),
    })
}

/// The directory into which something is to be written.
fn parent_of(target: &Path) -> Result<PathBuf, CliError> {
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    if !is_directory(&parent)? {
        let wrong = match presence::kind(&parent) {
            Ok(Some(kind)) => format!(
                "is {}, no directory, so nothing can be written into it",
                presence::kind_in_words(kind)
            ),
            _ => "no such directory; create it before writing into it".to_owned(),
        };
        return Err(CliError::input(&parent, wrong));
    }
    Ok(parent)
}

fn is_directory(path: &Path) -> Result<bool, CliError> {
    presence::is_directory(path).map_err(|error| CliError::io(path, error))
}

/// The path without links; `None` if it leads nowhere.
pub(crate) fn real(path: &Path) -> Result<Option<PathBuf>, CliError> {
    match path.canonicalize() {
        Ok(path) => Ok(Some(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::io(path, error)),
    }
}
