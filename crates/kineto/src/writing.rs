//! The profiles of a run written again: as they are, corrected, and as they were.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use retime_gzip::is_gzip;
use retime_model::format::{
    FileError, FormatError, Rewrite, Shape, Trace, Undo, Written, is_correction,
};
use retime_model::{
    Access, Correction, Monitor, SavedName, Timestamp, link_inside, make_link, open_regular,
    plural, printable_path,
};

use crate::error::{KinetoError, first_error};
use crate::placing::shift;
use crate::recognise::{correction_of_all, correction_of_file};
use crate::rewrite::new_times;
use crate::run::Run;
use crate::task::{OtherHands, Task};
use crate::undo::{FORMAT, Saved, SavedFile};
use crate::{restore, timelines};

impl Run {
    /// Where the copy of a file goes.
    fn target(&self, file: &Path, to: &Path) -> PathBuf {
        match self.shape {
            Shape::File => to.to_owned(),
            Shape::Directory => to.join(self.name_of(file)),
        }
    }

    /// Makes the directories of ranks in a copy.
    fn make_directories(&self, to: &Path) -> Result<(), FormatError> {
        for directory in self.directories() {
            let target = to.join(self.name_of(directory));
            let made = fs::create_dir_all(&target);
            made.map_err(|source| KinetoError::io(&target, source))?;
        }
        Ok(())
    }

    /// Gives the directories of ranks in a copy the access of the originals.
    fn resemble_directories(&self, to: &Path) -> Result<(), FormatError> {
        for directory in self.directories() {
            let target = to.join(self.name_of(directory));
            let give = || {
                let access = Access::of(&fs::metadata(directory)?, directory)?;
                access.give(&File::open(&target)?)
            };
            let given = give();
            given.map_err(|source| KinetoError::io(&target, source))?;
        }
        Ok(())
    }

    /// The directories of ranks, if each has one.
    fn directories(&self) -> BTreeSet<&Path> {
        let files = self
            .files
            .paths()
            .iter()
            .chain(self.beside.paths())
            .chain(&self.links);
        let directories = files.filter_map(|it| it.parent());
        let are_inside = directories.filter(|it| self.is_nested && *it != self.path);
        are_inside.collect()
    }

    /// Writes each file anew with `write`, which gets its position and where it goes; gives the
    /// copies the access of the originals, and the time that belongs to what was written.
    fn write_all<T: Send>(
        &self,
        to: &Path,
        write: impl Fn(usize, &Path, &Path) -> Result<Written<T>, FormatError> + Sync,
    ) -> Result<Vec<T>, FormatError> {
        self.make_directories(to)?;
        let files = self.files.paths().par_iter().enumerate();
        let written = files.map(|(number, file)| {
            let target = self.target(file, to);
            let written = write(number, file, &target);
            self.files.resembled(number, &target, written)
        });
        self.unless_changed(first_error(written))
    }

    /// Copies what lies beside the files, as far as it is `wanted`.
    fn copy_beside(
        &self,
        to: &Path,
        wanted: impl Fn(&Path) -> bool,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError> {
        for (number, file) in self.beside.paths().iter().enumerate() {
            if wanted(file) {
                self.beside.copy(number, &self.target(file, to), monitor)?;
            }
        }
        let failed = |path: &Path, source| FormatError::from(KinetoError::io(path, source));
        for link in &self.links {
            let name = Path::new(link.file_name().unwrap_or_default());
            let directory = link.parent().unwrap_or(&self.path);
            let said = link_inside(directory, name).map_err(|source| failed(link, source))?;
            let target = self.target(link, to);
            make_link(&said, &target).map_err(|source| failed(&target, source))?;
        }
        for (path, kind) in &self.left_out {
            let name = printable_path(path);
            monitor.notice(&format!("{name} is not copied: it is {kind}"));
        }
        self.resemble_directories(to)?;
        self.unless_changed(Ok(()))
    }
}

impl Rewrite for Run {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
        self.make_directories(to)?;
        if let Some(hands) = &self.hands {
            let files = self.files.paths().iter();
            let tasks = files.map(|file| Task::Copy(self.target(file, to).into()));
            self.unless_changed(hands.each::<()>(tasks, monitor))?;
            return self.copy_beside(to, |_| true, monitor);
        }
        let files = self.files.paths().par_iter().enumerate();
        let copied =
            files.map(|(number, file)| self.files.copy(number, &self.target(file, to), monitor));
        self.unless_changed(first_error(copied))?;
        self.copy_beside(to, |_| true, monitor)
    }

    fn settled(
        &self,
        correction: &Correction,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<Vec<Timestamp>>>, FormatError> {
        let clocks = correction.clocks();
        if clocks.iter().all(|it| shift(correction.map(it)).is_some()) {
            // What is only shifted keeps its length.
            return Ok(None);
        }
        let read = self.read(monitor)?;
        self.check_fits(read, correction)?;
        self.check_asked(read, events.len())?;
        if let Some(hands) = &self.hands {
            let tasks = (0..read.files.len()).map(|number| {
                let events = Self::of_file(read, number, events);
                let events = events.iter().map(|&it| it.into()).collect();
                Task::MoveEvents(Self::part(read, correction, number), events)
            });
            let settled: Vec<Vec<Vec<Timestamp>>> = hands.each(tasks, monitor)?;
            return Ok(Some(settled.into_iter().flatten().collect()));
        }
        let files = self.files.paths().par_iter().zip(&read.files).enumerate();
        let settled = files.map(|(number, (path, file))| {
            let maps = Self::maps(read, correction, number);
            let moved = new_times(path, file, &maps)?;
            timelines::moved(path, file, moved, Self::of_file(read, number, events))
        });
        let settled: Vec<Vec<Vec<Timestamp>>> = first_error(settled)?;
        Ok(Some(settled.into_iter().flatten().collect()))
    }

    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        let read = self.read(monitor)?;
        self.check_fits(read, correction)?;
        let files = if let Some(hands) = &self.hands {
            self.make_directories(to)?;
            let tasks = self.files.paths().iter().enumerate().map(|(number, file)| {
                let part = Self::part(read, correction, number);
                Task::Write(part, self.target(file, to).into())
            });
            let written: Vec<String> = self.unless_changed(hands.each(tasks, monitor))?;
            let files = written.iter().map(|it| serde_json::from_str(it));
            files
                .collect::<Result<_, _>>()
                .map_err(|_| KinetoError::Garbled)?
        } else {
            self.write_all(to, |number, path, to| {
                let file = read.files.get(number).ok_or_else(|| FileError::Changed {
                    path: path.to_owned(),
                })?;
                let maps = Self::maps(read, correction, number);
                self.rewrite_file(number, file, &maps, to, monitor)
            })?
        };
        self.copy_beside(to, is_no_correction, monitor)?;
        let lengths = files.iter().map(|it: &SavedFile| it.lengths).sum();
        if lengths > 0 {
            let events = plural(lengths, "event");
            let why = "their clocks were set, or ran too fast or too slow, while they lasted";
            monitor.notice(&format!("{events} got another length, too: {why}"));
        }
        let saved = Saved {
            format: FORMAT,
            origin: read.origin,
            files,
        };
        let json = serde_json::to_string(&saved).map_err(FormatError::failed)?;
        Ok(Undo(json))
    }

    fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError> {
        if self.hands.is_some() {
            return self.alone()?.restore(correction, undo, to, monitor);
        }
        let refused = |why: String| FileError::not_restorable(&self.path, why);
        let saved: Saved = serde_json::from_str(&undo.0)
            .map_err(|error| refused(format!("these are no undo data of such files: {error}")))?;
        if saved.format != FORMAT {
            let format = saved.format;
            let why = format!("the undo data have format {format}, only {FORMAT} is supported");
            return Err(refused(why).into());
        }
        if saved.files.len() != self.files.paths().len() {
            let (now, then) = (self.files.paths().len(), saved.files.len());
            let why = format!("there are {now} files, but {then} were corrected");
            return Err(refused(why).into());
        }
        let read = self.read(monitor)?;
        self.check_fits(read, correction)?;
        self.write_all(to, |number, path, to| {
            let name = SavedName::of(self.name_of(path));
            // A single file may have another name by now.
            let is_it = |it: &&SavedFile| it.name == name || self.shape == Shape::File;
            let of_file = saved.files.iter().find(is_it);
            let (Some(file), Some(of_file)) = (read.files.get(number), of_file) else {
                let why = format!(
                    "{} was not among those that were corrected",
                    printable_path(path)
                );
                return Err(refused(why).into());
            };
            let maps = Self::maps(read, correction, number);
            restore::restore(
                self.document,
                path,
                file,
                &maps,
                of_file,
                saved.origin,
                to,
                monitor,
            )?;
            let now = self
                .files
                .modified(number)
                .filter(|_| of_file.is_unchanged());
            Ok(Written {
                modified: of_file.modified.or(now),
                outcome: (),
            })
        })?;
        self.copy_beside(to, is_no_correction, monitor)
    }

    fn open_copy(
        &self,
        copy: &Path,
        monitor: &dyn Monitor,
    ) -> Option<Result<Box<dyn Trace>, FormatError>> {
        let zero = self.zero();
        let pattern = self.pattern.as_ref().filter(|_| self.is_nested);
        let opened = || {
            let mut opened = Self::open(self.document, copy, pattern)?;
            opened.origin = Some(zero.0);
            // The same files in the same order.
            opened.ranks.clone_from(&self.ranks);
            opened.apart = self.read.get().map(|it| it.places.apart.clone());
            if let Some(hands) = &self.hands {
                opened.hands = Some(OtherHands(hands.0.of_copy(copy, monitor)?));
                opened.writers = Some(hands.clone());
            }
            Ok(Box::new(opened) as Box<dyn Trace>)
        };
        Some(opened())
    }

    fn packs_anew(&self) -> bool {
        let is_packed = |path: &PathBuf| open_regular(path).and_then(is_gzip).unwrap_or(false);
        self.files.paths().iter().any(is_packed)
    }

    fn copy_at(&self, to: &Path) -> PathBuf {
        to.to_owned()
    }

    fn correction_of(&self, path: &Path) -> PathBuf {
        match self.shape {
            Shape::Directory => correction_of_all(path),
            Shape::File => correction_of_file(path),
        }
    }
}

/// A correction belongs to the times that it stands beside, and not to others.
fn is_no_correction(path: &Path) -> bool {
    !is_correction(path.file_name().unwrap_or_default())
}
