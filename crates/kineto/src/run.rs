//! An opened run, as the trait wants it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;
use retime_gzip::is_gzip;
use retime_model::format::{
    Contents, EventRows, FormatError, OperationFacts, Reach, Scan, Shape, Timeline, Trace, Undo,
    Unused, is_correction,
};
use retime_model::{
    Access, Correction, LocationIndex, Modified, Monitor, SavedName, Timestamp, TraceInfo, Version,
    copy_file, link_inside, make_link, open_regular, printable_path, resemble,
};

use crate::advice::advice;
use crate::columns::BELOW_ZERO;
use crate::error::{KinetoError, first_error};
use crate::found::{Found, in_order, is_named_like_one};
use crate::order::{Order, boundaries};
use crate::outline::{Look, look};
use crate::places::{Places, left_out, one_run, warnings};
use crate::placing::shift;
use crate::profile::FileRead;
use crate::rank_pattern::RankPattern;
use crate::recognise::{correction_of_all, correction_of_file};
use crate::rewrite::{Maps, new_times};
use crate::rows::Table;
use crate::scan::Matched;
use crate::timelines::{self, chosen};
use crate::undo::{FORMAT, Saved, SavedFile};
use crate::{compiled, early, facts, named_ranks, nested, recordings, restore, rewrite};

/// Some files of one run.
pub(crate) struct Run {
    path: PathBuf,
    shape: Shape,
    /// True if each rank has a [directory of its own](nested).
    is_nested: bool,
    files: Vec<PathBuf>,
    /// Files beside them in a directory that was named, copied as they are.
    beside: Vec<PathBuf>,
    /// Symbolic links beside them, copied as links.
    links: Vec<PathBuf>,
    /// Paths beside them that are not copied, each with its kind in words.
    left_out: Vec<(PathBuf, &'static str)>,
    /// Files that are called like traces and are none, each with the reason.
    others: Vec<(PathBuf, String)>,
    /// Other recordings of ranks, each with what it is in words.
    other_recordings: Vec<(PathBuf, String)>,
    /// The metadata of the files, and of those beside them, when the run was opened.
    found: Vec<Metadata>,
    /// From where times count, if that is given.
    origin: Option<u64>,
    /// The pattern that finds ranks in paths, if one is given,
    pattern: Option<RankPattern>,
    /// and the rank of each file by that.
    ranks: Option<Vec<u32>>,
    read: OnceLock<AllRead>,
    /// The calls that were found to belong together last.
    matched: Mutex<Option<Matched>>,
    table: OnceLock<Table>,
}

/// All files, read.
struct AllRead {
    files: Vec<FileRead>,
    places: Places,
    /// How many nanoseconds before 0 the times of all count from.
    origin: u64,
    /// True if ranks are those of the names of files.
    ranks_are_named: bool,
}

impl Run {
    pub(crate) fn open(path: &Path, pattern: Option<&RankPattern>) -> Result<Self, FormatError> {
        let failed = |source| KinetoError::io(path, source);
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            let files = vec![path.to_owned()];
            return Self::of(path, Shape::File, files, Found::default())?.ranked(pattern);
        }
        let (mut found, is_nested) = nested::found(path, pattern).map_err(failed)?;
        let damaged = std::mem::take(&mut found.damaged);
        if let Some(damaged) = KinetoError::of_all(path, damaged) {
            return Err(damaged.into());
        }
        let mut files = std::mem::take(&mut found.traces);
        let others = recordings::take_others(&mut files).map_err(failed)?;
        found.beside.extend(others.iter().map(|it| it.0.clone()));
        found.other_recordings = others;
        if files.is_empty() {
            return Err(KinetoError::NoTrace {
                path: path.to_owned(),
            }
            .into());
        }
        let run = Self::of(path, Shape::Directory, files, found)?;
        Self { is_nested, ..run }.ranked(pattern)
    }

    /// Opens files that were given one by one. A copy of them is a directory, in which they
    /// stand by their names.
    pub(crate) fn open_files(
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
            if !is_named_like_one(path) {
                let what = "is not called *.json or *.json.gz; give the files of a job alone";
                return Err(refused(path, what.to_owned()).into());
            }
            match look(path).map_err(|source| KinetoError::io(path, source))? {
                Look::Trace => {}
                Look::Other(what) => {
                    let what = format!(
                        "is no profile, nor another trace in Chrome's format: {what}; give the \
                         files of a job alone"
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
        let found = Found {
            other_recordings: recordings::take_others(&mut files).map_err(failed)?,
            ..Found::default()
        };
        Self::of(&parent, Shape::Directory, files, found)?.ranked(pattern)
    }

    /// Takes the ranks that a pattern finds in the paths of the files.
    fn ranked(self, pattern: Option<&RankPattern>) -> Result<Self, FormatError> {
        let Some(pattern) = pattern else {
            return Ok(self);
        };
        let rank = |file: &PathBuf| {
            let inside = file.strip_prefix(&self.path).unwrap_or(file);
            let rank = pattern.rank(inside).or_else(|| pattern.rank(file));
            rank.ok_or_else(|| KinetoError::NotOneRun {
                path: file.clone(),
                what: "has a path in which the pattern for ranks finds none; mend the pattern, \
                       or give the files that have ranks"
                    .to_owned(),
            })
        };
        let ranks = self.files.iter().map(rank).collect::<Result<_, _>>()?;
        Ok(Self {
            pattern: Some(pattern.clone()),
            ranks: Some(ranks),
            ..self
        })
    }

    fn of(
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
        let found = files.iter().chain(&beside).map(|file| {
            let found = fs::metadata(file);
            found.map_err(|source| KinetoError::io(file, source))
        });
        Ok(Self {
            path: path.to_owned(),
            shape,
            is_nested: false,
            found: found.collect::<Result<_, _>>()?,
            files,
            beside,
            links,
            left_out,
            others,
            other_recordings,
            origin: None,
            pattern: None,
            ranks: None,
            read: OnceLock::new(),
            matched: Mutex::new(None),
            table: OnceLock::new(),
        })
    }

    /// All files, read once.
    fn read(&self, monitor: &dyn Monitor) -> Result<&AllRead, FormatError> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let files = self.files.par_iter();
        let files = files.map(|path| FileRead::of(path, monitor)).collect();
        let mut files = self.unless_changed(self.all_or_failures(files))?;
        let says_rank = |it: &FileRead| it.header.rank.is_some() || it.is_merged();
        let directory = |it: &PathBuf| it.parent().map(Path::to_owned).unwrap_or_default();
        let named = if self.is_nested {
            named_ranks::by_names(&self.files.iter().map(directory).collect::<Vec<_>>())
        } else {
            named_ranks::by_names(&self.files)
        };
        let communicates = |it: &FileRead| !it.calls.is_empty() || !it.requests.is_empty();
        let named =
            named.filter(|_| files.iter().any(communicates) && !files.iter().any(says_rank));
        let ranks_are_named = named.is_some() && self.ranks.is_none();
        let given = self.ranks.clone().or(named);
        for (file, rank) in files.iter_mut().zip(given.into_iter().flatten()) {
            file.header.rank = Some(rank);
        }
        compiled::take_certain(&mut files);
        one_run(&self.files, &files)?;
        let places = Places::of(&self.files, &files);
        let origin = self.origin.unwrap_or_else(|| {
            let is_below_zero = files.iter().any(|it| it.is_below_zero);
            if is_below_zero { BELOW_ZERO } else { 0 }
        });
        if origin == 0 && files.iter().any(|it| it.is_below_zero) {
            return Err(KinetoError::Inconsistent {
                path: self.path.clone(),
                what: "has times below 0, where that which it is a copy of has none".to_owned(),
            }
            .into());
        }
        for file in &mut files {
            file.count_from(origin);
        }
        Ok(self.read.get_or_init(|| AllRead {
            files,
            places,
            origin,
            ranks_are_named,
        }))
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

    fn last_matched(&self) -> MutexGuard<'_, Option<Matched>> {
        let matched = self.matched.lock();
        matched.unwrap_or_else(PoisonError::into_inner)
    }

    /// The logs of what belongs together, which is what was found last from now on.
    fn take_up(&self, read: &AllRead, matched: Matched) -> Result<Scan, FormatError> {
        let scan = matched.scan(&self.files, &read.files, &read.places)?;
        *self.last_matched() = Some(matched);
        Ok(scan)
    }

    /// The outcome of reading, unless a file is no longer what it was when it was opened: then
    /// what was read at different times may not belong together.
    fn unless_changed<T>(&self, outcome: Result<T, FormatError>) -> Result<T, FormatError> {
        for (path, found) in self.files.iter().chain(&self.beside).zip(&self.found) {
            match fs::metadata(path).map(|now| Version::of(&now) == Version::of(found)) {
                Ok(true) => {}
                Ok(false) => {
                    let path = path.clone();
                    return Err(KinetoError::Changed { path }.into());
                }
                Err(source) => return outcome.and(Err(KinetoError::io(path, source).into())),
            }
        }
        outcome
    }

    /// Where the copy of a file goes.
    fn target(&self, file: &Path, to: &Path) -> PathBuf {
        match self.shape {
            Shape::File => to.to_owned(),
            Shape::Directory => to.join(self.name_of(file)),
        }
    }

    /// The name of a file in the directory, with that of its own directory if it has one.
    fn name_of<'a>(&self, file: &'a Path) -> &'a Path {
        let name = Path::new(file.file_name().unwrap_or_default());
        let inside = file.strip_prefix(&self.path).ok();
        inside.filter(|_| self.is_nested).unwrap_or(name)
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
        let files = self.files.iter().chain(&self.beside).chain(&self.links);
        let directories = files.filter_map(|it| it.parent());
        let are_inside = directories.filter(|it| self.is_nested && *it != self.path);
        are_inside.collect()
    }

    /// Writes each file anew with `write`, which gets its position and where it goes, and
    /// returns the time that belongs to what it wrote; gives the copies the access of the
    /// originals, and that time.
    fn write_all<T: Send>(
        &self,
        to: &Path,
        write: impl Fn(usize, &Path, &Path) -> Result<(T, Option<Modified>), FormatError> + Sync,
    ) -> Result<Vec<T>, FormatError> {
        self.make_directories(to)?;
        let files = self.files.par_iter().zip(&self.found).enumerate();
        let written = files.map(|(position, (file, found))| {
            let target = self.target(file, to);
            let (outcome, time) = write(position, file, &target)?;
            let resembled = resemble(found, file, &target, time);
            resembled.map_err(|source| KinetoError::io(&target, source))?;
            Ok(outcome)
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
        let failed = |path: &Path, source| FormatError::from(KinetoError::io(path, source));
        let found = self.found.iter().skip(self.files.len());
        for (file, found) in self.beside.iter().zip(found).filter(|it| wanted(it.0)) {
            let target = self.target(file, to);
            copy_file(file, &target, monitor, failed)?;
            let given = resemble(found, file, &target, Modified::of(found));
            given.map_err(|source| failed(&target, source))?;
        }
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

    /// When one of the files was modified.
    fn modified(&self, file: usize) -> Option<Modified> {
        self.found.get(file).and_then(Modified::of)
    }

    /// The maps of the tracks of a file.
    fn maps<'a>(read: &AllRead, correction: &'a Correction, file: usize) -> Maps<'a> {
        Maps::new(correction, read.places.location(file, 0))
    }

    /// A correction of another trace could speak of other locations.
    fn check_fits(&self, read: &AllRead, correction: &Correction) -> Result<(), KinetoError> {
        let locations = read.places.info.locations.len();
        let corrected = correction.clocks().by_location().len();
        if corrected == locations {
            return Ok(());
        }
        Err(KinetoError::Inconsistent {
            path: self.path.clone(),
            what: format!("has {locations} tracks, but the correction is for {corrected}"),
        })
    }

    /// The part of something that is given by location that belongs to a file.
    fn of_file<'a, T>(read: &AllRead, file: usize, all: &'a [T]) -> &'a [T] {
        all.get(read.places.of_file(file)).unwrap_or_default()
    }

    fn check_asked(&self, read: &AllRead, asked: usize) -> Result<(), KinetoError> {
        let found = read.places.info.locations.len();
        if found == asked {
            return Ok(());
        }
        Err(KinetoError::Inconsistent {
            path: self.path.clone(),
            what: format!("has {found} tracks, but {asked} are asked for"),
        })
    }
}

impl Trace for Run {
    fn format(&self) -> &'static str {
        "Kineto"
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn describe(&self) -> Option<&TraceInfo> {
        // Tracks are met while events are read.
        None
    }

    fn bytes(&self) -> u64 {
        self.found.iter().map(Metadata::len).sum()
    }

    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError> {
        let read = self.read(monitor)?;
        let matched = Matched::of(&read.files, &read.files, &read.places);
        self.take_up(read, matched)
    }

    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        let read = self.read(monitor)?;
        self.check_asked(read, events.len())?;
        let files = self.files.par_iter().zip(&read.files).enumerate();
        let timelines = files.map(|(number, (path, file))| {
            timelines::of_file(path, file, Self::of_file(read, number, events))
        });
        let timelines: Vec<Vec<Timeline>> = first_error(timelines)?;
        Ok(timelines.into_iter().flatten().collect())
    }

    fn shape(&self) -> Shape {
        self.shape
    }

    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
        let failed = |path: &Path, source| FormatError::from(KinetoError::io(path, source));
        self.write_all(to, |number, file, to| {
            copy_file(file, to, monitor, failed).map(|()| ((), self.modified(number)))
        })?;
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
        let files = self.files.par_iter().zip(&read.files).enumerate();
        let settled = files.map(|(number, (path, file))| {
            let maps = Self::maps(read, correction, number);
            let times = new_times(path, file, &maps)?;
            let order = Order::of(&file.columns, file.tracks.len());
            let wanted = Self::of_file(read, number, events);
            let tracks = wanted.iter().enumerate().map(|(track, wanted)| {
                let moved = boundaries(&file.columns, order.of_track(track)).map(|it| {
                    let time = times.get(it.entry as usize).copied().unwrap_or_default();
                    time + (it.time - file.columns.begin(it.entry))
                });
                chosen(moved, wanted).map_err(|missing| KinetoError::Inconsistent {
                    path: path.clone(),
                    what: format!("event {missing} (from 0) of a track is asked for"),
                })
            });
            Ok::<_, FormatError>(tracks.collect::<Result<Vec<_>, KinetoError>>()?)
        });
        let settled: Vec<Vec<Vec<Timestamp>>> = first_error(settled)?;
        Ok(Some(settled.into_iter().flatten().collect()))
    }

    fn rematch(
        &self,
        correction: &Correction,
        monitor: &dyn Monitor,
    ) -> Result<Option<Scan>, FormatError> {
        let read = self.read(monitor)?;
        self.check_fits(read, correction)?;
        let files = self.files.par_iter().zip(&read.files).enumerate();
        let moved = files.map(|(number, (path, file))| {
            let times = new_times(path, file, &Self::maps(read, correction, number))?;
            Ok::<_, FormatError>(file.at(times))
        });
        let moved = first_error(moved)?;
        let matched = Matched::of(&moved, &read.files, &read.places);
        if self.last_matched().as_ref() == Some(&matched) {
            return Ok(None);
        }
        self.take_up(read, matched).map(Some)
    }

    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        let read = self.read(monitor)?;
        self.check_fits(read, correction)?;
        let files = self.write_all(to, |number, path, to| {
            let file = read.files.get(number).ok_or_else(|| KinetoError::Changed {
                path: path.to_owned(),
            })?;
            let maps = Self::maps(read, correction, number);
            let name = SavedName::of(self.name_of(path));
            let mut saved = rewrite::rewrite((path, name), file, &maps, to, monitor)?;
            saved.modified = self.modified(number);
            let time = saved.modified.filter(|_| saved.is_unchanged());
            Ok((saved, time))
        })?;
        self.copy_beside(to, is_no_correction, monitor)?;
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
        let refused = |why: String| KinetoError::NotRestorable {
            path: self.path.clone(),
            why,
        };
        let saved: Saved = serde_json::from_str(&undo.0)
            .map_err(|error| refused(format!("these are no undo data of such files: {error}")))?;
        if saved.format != FORMAT {
            let format = saved.format;
            let why = format!("the undo data have format {format}, only {FORMAT} is supported");
            return Err(refused(why).into());
        }
        if saved.files.len() != self.files.len() {
            let (now, then) = (self.files.len(), saved.files.len());
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
            restore::restore(path, file, &maps, (of_file, saved.origin), to, monitor)?;
            let now = self.modified(number).filter(|_| of_file.is_unchanged());
            Ok(((), of_file.modified.or(now)))
        })?;
        self.copy_beside(to, is_no_correction, monitor)
    }

    fn open_copy(
        &self,
        copy: &Path,
        _: &dyn Monitor,
    ) -> Option<Result<Box<dyn Trace>, FormatError>> {
        let zero = self.zero();
        let counted = |it: Self| Self {
            origin: Some(zero.0),
            // The same files in the same order.
            ranks: self.ranks.clone(),
            ..it
        };
        let pattern = self.pattern.as_ref().filter(|_| self.is_nested);
        let opened = Self::open(copy, pattern).map(|it| Box::new(counted(it)) as Box<dyn Trace>);
        Some(opened)
    }

    fn packs_anew(&self) -> bool {
        let is_packed = |path: &PathBuf| open_regular(path).and_then(is_gzip).unwrap_or(false);
        self.files.iter().any(is_packed)
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

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        let read = self.read(&())?;
        let table = if let Some(table) = self.table.get() {
            table
        } else {
            let table = self.unless_changed(Table::read(&self.files))?;
            self.table.get_or_init(|| table)
        };
        let (file, track) = read.places.track(location);
        let of_file = read
            .files
            .get(file)
            .ok_or_else(|| KinetoError::Inconsistent {
                path: self.path.clone(),
                what: format!("has no track number {}", location.0),
            })?;
        Ok(Box::new(table.rows(file, of_file, track as usize)))
    }

    fn operations(&self, location: LocationIndex, events: &[u32]) -> Vec<OperationFacts> {
        let Some(read) = self.read.get() else {
            return Vec::new();
        };
        let (file, track) = read.places.track(location);
        let file = read.files.get(file);
        file.map_or_else(Vec::new, |file| facts::of_track(file, track, events))
    }

    fn zero(&self) -> Timestamp {
        let given = self.origin.unwrap_or_default();
        Timestamp(self.read.get().map_or(given, |it| it.origin))
    }

    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        Some(self.table.get()?.region(id)?.into())
    }

    fn unused(&self, _contents: &[Contents]) -> Vec<Unused> {
        let Some(read) = self.read.get() else {
            return Vec::new();
        };
        let unmatched = self
            .last_matched()
            .as_ref()
            .map(|it| it.unmatched(&read.files, &read.places));
        let unused = unmatched
            .into_iter()
            .flatten()
            .map(|(kind, records)| Unused {
                kind,
                reach: Reach::Trace,
                records,
            });
        unused.collect()
    }

    fn warnings(&self, _contents: &[Contents]) -> Vec<String> {
        let mut all: Vec<String> = left_out(&self.others).into_iter().collect();
        all.extend(recordings::warning(&self.other_recordings));
        if let Some(read) = self.read.get() {
            all.extend(warnings(&read.files));
            let named = read.ranks_are_named.then_some(named_ranks::WARNING);
            all.extend(named.map(str::to_owned));
            let matched = self.last_matched();
            if let Some(matched) = matched.as_ref().filter(|it| it.is_empty()) {
                let kinds = matched.unmatched(&read.files, &read.places);
                all.extend(advice(kinds.iter().map(|it| it.0)));
            }
            let early = read.files.iter().map(|it| it.early);
            all.extend(early::warning(self.files.iter().zip(early)));
        }
        all
    }
}

/// A correction belongs to the times that it stands beside, and not to others.
fn is_no_correction(path: &Path) -> bool {
    !is_correction(path.file_name().unwrap_or_default())
}
