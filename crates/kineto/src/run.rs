//! An opened run: which files it has, and what is in them.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;
use retime_model::format::{FileError, FormatError, OpenedFiles, Scan, Shape, Written};
use retime_model::{Correction, LocationIndex, Monitor, PartCorrection, SavedName, printable_path};

use crate::apart::Apart;
use crate::columns::BELOW_ZERO;
use crate::document::{Document, is_named_like_one};
use crate::error::KinetoError;
use crate::extract::{Extract, Times};
use crate::found::{Found, in_order};
use crate::matching::Joined;
use crate::named_ranks::RanksOfNames;
use crate::nested;
use crate::outline::Look;
use crate::places::{Places, one_run};
use crate::profile::FileRead;
use crate::rank_pattern::RankPattern;
use crate::rewrite::{self, Maps};
use crate::rows::Table;
use crate::scan::Matched;
use crate::task::{Logs, OtherHands, Settlement, Task};
use crate::undo::SavedFile;
use crate::{compiled, named_ranks};

/// Some files of one run.
pub(crate) struct Run {
    /// The kind of the files.
    pub(crate) document: &'static dyn Document,
    pub(crate) path: PathBuf,
    pub(crate) shape: Shape,
    /// True if each rank has a [directory of its own](nested).
    pub(crate) is_nested: bool,
    pub(crate) files: OpenedFiles,
    /// Files beside them in a directory that was named, copied as they are.
    pub(crate) beside: OpenedFiles,
    /// Symbolic links beside them, copied as links.
    pub(crate) links: Vec<PathBuf>,
    /// Paths beside them that are not copied, each with its kind in words.
    pub(crate) left_out: Vec<(PathBuf, &'static str)>,
    /// Files that are called like traces and are none, each with the reason.
    pub(crate) others: Vec<(PathBuf, String)>,
    /// Other recordings of ranks, each with what it is in words.
    pub(crate) other_recordings: Vec<(PathBuf, String)>,
    /// From where times count, if that is given.
    pub(crate) origin: Option<u64>,
    /// The devices of each file that have clocks of their own, if that is given.
    pub(crate) apart: Option<Vec<Apart>>,
    /// The pattern that finds ranks in paths, if one is given,
    pub(crate) pattern: Option<RankPattern>,
    /// and the rank of each file by that.
    pub(crate) ranks: Option<Vec<u32>>,
    /// The holders of the files, if that is not this process alone.
    pub(crate) hands: Option<OtherHands>,
    /// The holders that wrote the files, if this is a copy of files that others hold.
    pub(crate) writers: Option<OtherHands>,
    /// The run with files held by this process alone, for what others are not asked for.
    alone: OnceLock<Box<Run>>,
    pub(crate) read: OnceLock<AllRead>,
    /// The calls that were found to belong together last.
    matched: Mutex<Option<Matched>>,
    pub(crate) table: OnceLock<Table>,
}

/// All files, read.
pub(crate) struct AllRead {
    pub(crate) files: Vec<FileRead>,
    pub(crate) places: Places,
    /// How many nanoseconds before 0 the times of all count from.
    pub(crate) origin: u64,
    /// Whose ranks are those of the names of files.
    pub(crate) named: RanksOfNames,
}

impl Run {
    pub(crate) fn open(
        document: &'static dyn Document,
        path: &Path,
        pattern: Option<&RankPattern>,
    ) -> Result<Self, FormatError> {
        let failed = |source| KinetoError::io(path, source);
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            let files = vec![path.to_owned()];
            return Self::of(document, path, Shape::File, files, Found::default())?.ranked(pattern);
        }
        let (mut found, is_nested) = nested::found(path, document, pattern).map_err(failed)?;
        let damaged = std::mem::take(&mut found.damaged);
        if let Some(damaged) = KinetoError::of_all(path, damaged) {
            return Err(damaged.into());
        }
        let mut files = std::mem::take(&mut found.traces);
        let rank = |file: &Path| rank_in(pattern?, path, file);
        let others = document.take_other_recordings(&mut files, &rank);
        let others = others.map_err(failed)?;
        found.beside.extend(others.iter().map(|it| it.0.clone()));
        found.other_recordings = others;
        if files.is_empty() {
            return Err(KinetoError::NoTrace {
                path: path.to_owned(),
                what: document.in_words(),
            }
            .into());
        }
        let run = Self::of(document, path, Shape::Directory, files, found)?;
        Self { is_nested, ..run }.ranked(pattern)
    }

    /// Opens files that were given one by one. A copy of them is a directory, in which they
    /// stand by their names.
    pub(crate) fn open_files(
        document: &'static dyn Document,
        files: &[&Path],
        pattern: Option<&RankPattern>,
    ) -> Result<Self, FormatError> {
        let mut files: Vec<PathBuf> = files.iter().map(|&it| it.to_owned()).collect();
        in_order(&mut files);
        let refused = |path: &Path, what: String| KinetoError::NotOneRun {
            path: path.to_owned(),
            what,
        };
        for pair in files.windows(2) {
            if pair[0].file_name() == pair[1].file_name() {
                let what = format!(
                    "has the name of {}, and copies of both would be one file; rename one",
                    printable_path(&pair[0])
                );
                return Err(refused(&pair[1], what).into());
            }
        }
        // Copies are found again by their names and first bytes.
        for path in &files {
            if !is_named_like_one(document, path) {
                let names: Vec<String> =
                    document.ends().iter().map(|it| format!("*{it}")).collect();
                let what = format!(
                    "is not called {}; give the files of a job alone",
                    names.join(" or ")
                );
                return Err(refused(path, what).into());
            }
            match document
                .look(path)
                .map_err(|source| KinetoError::io(path, source))?
            {
                Look::Trace => {}
                Look::Other(what) => {
                    let what = format!(
                        "is no {}: {what}; give the files of a job alone",
                        document.alone_in_words()
                    );
                    return Err(refused(path, what).into());
                }
                Look::Damaged { byte, what } => {
                    let path = path.clone();
                    return Err(KinetoError::Damaged { path, byte, what }.into());
                }
            }
        }
        let parent = files.first().and_then(|it| it.parent());
        let parent = parent.filter(|it| !it.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).to_owned();
        let failed = |source| KinetoError::io(&parent, source);
        let rank = |file: &Path| rank_in(pattern?, &parent, file);
        let others = document.take_other_recordings(&mut files, &rank);
        let found = Found {
            other_recordings: others.map_err(failed)?,
            ..Found::default()
        };
        Self::of(document, &parent, Shape::Directory, files, found)?.ranked(pattern)
    }

    /// Takes the ranks that a pattern finds in the paths of the files.
    fn ranked(self, pattern: Option<&RankPattern>) -> Result<Self, FormatError> {
        let Some(pattern) = pattern else {
            return Ok(self);
        };
        let rank = |file: &PathBuf| {
            rank_in(pattern, &self.path, file).ok_or_else(|| KinetoError::NotOneRun {
                path: file.clone(),
                what: "has a path in which the pattern for ranks finds none; mend the pattern, \
                       or give the files that have ranks"
                    .to_owned(),
            })
        };
        let ranks = self
            .files
            .paths()
            .iter()
            .map(rank)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            pattern: Some(pattern.clone()),
            ranks: Some(ranks),
            ..self
        })
    }

    fn of(
        document: &'static dyn Document,
        path: &Path,
        shape: Shape,
        files: Vec<PathBuf>,
        Found {
            beside,
            others,
            other_recordings,
            links,
            left_out,
            ..
        }: Found,
    ) -> Result<Self, FormatError> {
        Ok(Self {
            document,
            path: path.to_owned(),
            shape,
            is_nested: false,
            files: OpenedFiles::open(files)?,
            beside: OpenedFiles::open(beside)?,
            links,
            left_out,
            others,
            other_recordings,
            origin: None,
            apart: None,
            pattern: None,
            ranks: None,
            hands: None,
            writers: None,
            alone: OnceLock::new(),
            read: OnceLock::new(),
            matched: Mutex::new(None),
            table: OnceLock::new(),
        })
    }

    /// All files, read once.
    pub(crate) fn read(&self, monitor: &dyn Monitor) -> Result<&AllRead, FormatError> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let (mut files, driven) = self.unless_changed(self.read_files(monitor))?;
        let named = self.take_ranks(&mut files);
        let all = compiled::All::of(&files);
        for file in &mut files {
            all.take_certain(file);
        }
        one_run(self.files.paths(), &files)?;
        let apart = match &self.apart {
            Some(given) => given.clone(),
            None => Apart::of_files(&files, |number| match &driven {
                Some(driven) => driven.get(number).cloned().unwrap_or_default(),
                None => files.get(number).map_or_else(Apart::default, Apart::of),
            }),
        };
        let places = Places::of(self.files.paths(), &files, apart);
        let origin = self.origin.unwrap_or_else(|| {
            let is_below_zero = files.iter().any(|it| it.is_below_zero);
            if is_below_zero { BELOW_ZERO } else { 0 }
        });
        if origin == 0 && files.iter().any(|it| it.is_below_zero) {
            let what = "has times below 0, where that which it is a copy of has none";
            return Err(FileError::inconsistent(&self.path, what).into());
        }
        for file in &mut files {
            file.count_from(origin);
        }
        if let Some(hands) = &self.hands {
            settle(hands, &mut files, &places, origin, all, monitor)?;
        }
        if let Some(writers) = &self.writers {
            // Nobody may take it for a copy before the disk has it, which had time meanwhile.
            writers.each::<()>(self.files.paths().iter().map(|_| Task::Sync), monitor)?;
        }
        Ok(self.read.get_or_init(|| AllRead {
            files,
            places,
            origin,
            named,
        }))
    }

    /// Gives files the ranks that paths say, if their headers are not asked or say none. Returns
    /// whose ranks are those of the names of files.
    fn take_ranks(&self, files: &mut [FileRead]) -> RanksOfNames {
        if let Some(given) = &self.ranks {
            for (file, rank) in files.iter_mut().zip(given) {
                file.header.rank = Some(*rank);
            }
            return RanksOfNames::None;
        }
        let paths = self.files.paths().iter();
        let directory = |it: &PathBuf| it.parent().map(Path::to_owned).unwrap_or_default();
        let paths: Vec<PathBuf> = if self.is_nested {
            paths.map(directory).collect()
        } else {
            paths.cloned().collect()
        };
        let communicates = |it: &FileRead| !it.calls.is_empty() || !it.requests.is_empty();
        if files.iter().any(FileRead::is_merged) || !files.iter().any(communicates) {
            return RanksOfNames::None;
        }
        let said: Vec<Option<u32>> = files.iter().map(|it| it.header.rank).collect();
        let Some(ranks) = named_ranks::by_names(&paths, &said) else {
            return RanksOfNames::None;
        };
        let mut named = Vec::new();
        for ((file, rank), path) in files.iter_mut().zip(ranks).zip(self.files.paths()) {
            if file.header.rank.is_none() {
                file.header.rank = Some(rank);
                named.push(self.name_of(path).to_owned());
            }
        }
        if named.len() == files.len() {
            RanksOfNames::All
        } else {
            RanksOfNames::Some(named)
        }
    }

    /// All files; with what others say of their devices, if these have read them.
    fn read_files(
        &self,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<FileRead>, Option<Vec<Apart>>), FormatError> {
        let paths = self.files.paths();
        let Some(hands) = &self.hands else {
            let files = paths.par_iter();
            let files = files.map(|path| self.document.read(path, monitor));
            return Ok((self.all_or_failures(files.collect())?, None));
        };
        let read = hands.try_each(paths.iter().map(|_| Task::Read), monitor)?;
        let elsewhere = |it: Result<Extract, FormatError>| {
            it.map_err(|error| match error {
                FormatError::Failed(_) => KinetoError::Elsewhere(error).into(),
                FormatError::Cancelled(_) => error,
            })
        };
        let read = self.all_or_failures(read.into_iter().map(elsewhere).collect())?;
        let (files, driven) = read.into_iter().map(Extract::into_file).unzip();
        Ok((files, Some(driven)))
    }

    /// All files as they were read, or why of each that cannot be read.
    fn all_or_failures<T>(&self, read: Vec<Result<T, FormatError>>) -> Result<Vec<T>, FormatError> {
        let (mut all, mut failures) = (Vec::new(), Vec::new());
        for outcome in read {
            match outcome {
                Ok(read) => all.push(read),
                Err(FormatError::Failed(error)) => match error.downcast::<KinetoError>() {
                    Ok(error) => failures.push(*error),
                    Err(other) => return Err(FormatError::Failed(other)),
                },
                Err(cancelled) => return Err(cancelled),
            }
        }
        KinetoError::of_all(&self.path, failures).map_or(Ok(all), |error| Err(error.into()))
    }

    pub(crate) fn last_matched(&self) -> MutexGuard<'_, Option<Matched>> {
        let matched = self.matched.lock();
        matched.unwrap_or_else(PoisonError::into_inner)
    }

    /// The logs of what belongs together, which is what was found last from now on.
    pub(crate) fn take_up(
        &self,
        read: &AllRead,
        mut matched: Matched,
        monitor: &dyn Monitor,
    ) -> Result<Scan, FormatError> {
        let logs = if let Some(hands) = &self.hands {
            let files = 0..read.files.len();
            let parts: Vec<Vec<Joined>> = files.map(|it| matched.parts(it).collect()).collect();
            let tasks = parts.iter().map(|it| Task::Logs(it.into()));
            let all: Vec<Logs> = hands.each(tasks, monitor)?;
            matched.are_driven = all.iter().any(|it| it.are_driven);
            all.into_iter().map(|it| it.logs).collect()
        } else {
            matched.logs(self.files.paths(), &read.files, &read.places)?
        };
        let scan = matched.scan(logs, &read.files, &read.places);
        *self.last_matched() = Some(matched);
        Ok(scan)
    }

    /// The run with its files held by this process alone.
    pub(crate) fn alone(&self) -> Result<&Self, FormatError> {
        if let Some(alone) = self.alone.get() {
            return Ok(alone);
        }
        let pattern = self.pattern.as_ref();
        let mut alone = Self::open(self.document, &self.path, pattern)?;
        alone.origin = self.origin;
        alone.apart.clone_from(&self.apart);
        Ok(self.alone.get_or_init(|| Box::new(alone)))
    }

    /// The outcome of reading, unless a file is no longer what it was when it was opened.
    pub(crate) fn unless_changed<T>(
        &self,
        outcome: Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let outcome = self.files.unless_changed(outcome);
        self.beside.unless_changed(outcome)
    }

    /// The name of a file in the directory, with that of its own directory if it has one.
    pub(crate) fn name_of<'a>(&self, file: &'a Path) -> &'a Path {
        let name = Path::new(file.file_name().unwrap_or_default());
        let inside = file.strip_prefix(&self.path).ok();
        inside.filter(|_| self.is_nested).unwrap_or(name)
    }

    /// Copies a file with new times to the new file `to`.
    pub(crate) fn rewrite_file(
        &self,
        number: usize,
        file: &FileRead,
        maps: &Maps<'_>,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Written<SavedFile>, FormatError> {
        let Some(path) = self.files.paths().get(number) else {
            return Err(KinetoError::Garbled.into());
        };
        let name = SavedName::of(self.name_of(path));
        let mut saved = rewrite::rewrite(self.document, path, name, file, maps, to, monitor)?;
        saved.modified = self.files.modified(number);
        Ok(Written {
            modified: saved.modified.filter(|_| saved.is_unchanged()),
            outcome: saved,
        })
    }

    /// The maps of the tracks of a file.
    pub(crate) fn maps<'a>(read: &AllRead, correction: &'a Correction, file: usize) -> Maps<'a> {
        let tracks = read.files.get(file).map_or(&[][..], |it| &it.tracks);
        Maps::new(correction, read.places.location(file, 0), tracks)
    }

    /// The part of a correction that concerns a file.
    pub(crate) fn part(read: &AllRead, correction: &Correction, file: usize) -> PartCorrection {
        let locations = read.places.of_file(file);
        let locations = locations.map(|it| LocationIndex(it as u32));
        PartCorrection::of(correction, &locations.collect::<Vec<_>>())
    }

    /// A correction of another trace could speak of other locations.
    pub(crate) fn check_fits(
        &self,
        read: &AllRead,
        correction: &Correction,
    ) -> Result<(), FileError> {
        let locations = read.places.info.locations.len();
        let corrected = correction.clocks().by_location().len();
        if corrected == locations {
            return Ok(());
        }
        let what = format!("has {locations} tracks, but the correction is for {corrected}");
        Err(FileError::inconsistent(&self.path, what))
    }

    /// The part of something that is given by location that belongs to a file.
    pub(crate) fn of_file<'a, T>(read: &AllRead, file: usize, all: &'a [T]) -> &'a [T] {
        all.get(read.places.of_file(file)).unwrap_or_default()
    }

    pub(crate) fn check_asked(&self, read: &AllRead, asked: usize) -> Result<(), FileError> {
        let found = read.places.info.locations.len();
        if found == asked {
            return Ok(());
        }
        let what = format!("has {found} tracks, but {asked} are asked for");
        Err(FileError::inconsistent(&self.path, what))
    }
}

/// The rank that a pattern finds in the path of a file within a directory, or else in all of it.
fn rank_in(pattern: &RankPattern, directory: &Path, file: &Path) -> Option<u32> {
    let inside = file.strip_prefix(directory).unwrap_or(file);
    pattern.rank(inside).or_else(|| pattern.rank(file))
}

/// Tells others what each file is among all, and takes the times of what is known of it.
fn settle(
    hands: &OtherHands,
    files: &mut [FileRead],
    places: &Places,
    origin: u64,
    all: compiled::All,
    monitor: &dyn Monitor,
) -> Result<(), FormatError> {
    let tasks = (0..).zip(&places.apart).map(|(number, apart)| {
        Task::Settle(Cow::Owned(Settlement {
            number,
            first: places.location(number as usize, 0),
            origin,
            all,
            apart: apart.clone(),
        }))
    });
    let times: Vec<Times> = hands.each(tasks, monitor)?;
    for (file, times) in files.iter_mut().zip(times) {
        if let Some(unseen) = &mut file.unseen {
            unseen.spans = times.spans;
        }
    }
    Ok(())
}
