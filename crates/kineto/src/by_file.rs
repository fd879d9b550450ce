//! A run as whoever has some of its files in hands sees it: each file by itself, and of all others
//! what is [settled](Settlement).

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use retime_model::format::{FileError, FileHolders, FormatError, InFiles, Trace};
use retime_model::{Correction, Monitor, PartCorrection};

use crate::between::between;
use crate::error::KinetoError;
use crate::extract::{Extract, Times, shown};
use crate::matching::Joined;
use crate::profile::{FileRead, Moved};
use crate::rewrite::{Maps, new_times};
use crate::run::Run;
use crate::scan::logs_of;
use crate::spans::Spans;
use crate::task::{Logs, OtherHands, Settlement, Task, encoded};
use crate::timelines;

/// A run of which files are worked on one by one.
pub(crate) struct ByFile {
    run: Run,
    files: Vec<Held>,
}

/// A file, as far as anybody has asked for it.
#[derive(Default)]
struct Held {
    read: Mutex<Option<Shown>>,
    settled: OnceLock<Settled>,
    syncing: Mutex<Option<JoinHandle<Result<(), FormatError>>>>,
}

/// A file that was read, and the events that its extract has.
struct Shown {
    file: FileRead,
    shown: Vec<u32>,
}

/// A file that is known to be what it is among others.
struct Settled {
    file: FileRead,
    shown: Vec<u32>,
    known: Settlement,
}

impl Settled {
    fn maps<'a>(&self, correction: &'a Correction) -> Maps<'a> {
        Maps::new(correction, self.known.first, &self.file.tracks)
    }

    /// The times of the extract, of this file or of the same at other times.
    fn times(&self, file: &FileRead) -> Times {
        Times {
            spans: Spans::of(&file.columns, file.tracks.len()),
            ..Times::of(&file.columns, &self.shown)
        }
    }

    fn moved(&self, path: &Path, correction: PartCorrection) -> Result<Moved, FormatError> {
        let correction = correction.unpack().map_err(FormatError::failed)?;
        new_times(path, &self.file, &self.maps(&correction))
    }

    /// The logs of the tracks, given the parts of events of the extract.
    fn logs(&self, path: &Path, parts: &[Joined]) -> Result<Logs, FormatError> {
        let own = |it: &Joined| {
            let event = self.shown.get(it.event as usize).copied();
            let event = event.ok_or(KinetoError::Garbled)?;
            Ok(Joined { event, ..*it })
        };
        let parts = parts.iter().map(own);
        let parts: Vec<Joined> = parts.collect::<Result<_, KinetoError>>()?;
        let Settlement {
            number,
            first,
            ref apart,
            ..
        } = self.known;
        let taken: HashSet<u32> = parts.iter().map(|it| it.event).collect();
        let driven = between(number as usize, &self.file, apart, |it| taken.contains(&it));
        Ok(Logs {
            logs: logs_of(path, &self.file, parts.into_iter(), &driven, first)?,
            are_driven: !driven.is_empty(),
        })
    }
}

impl ByFile {
    pub(crate) fn of(run: Run) -> Self {
        let files = run.files.paths().iter().map(|_| Held::default());
        Self {
            files: files.collect(),
            run,
        }
    }

    fn held(&self, file: usize) -> Result<(&Held, &Path), FormatError> {
        let held = self.files.get(file).zip(self.run.files.paths().get(file));
        let (held, path) = held.ok_or(KinetoError::Garbled)?;
        Ok((held, path))
    }

    fn read(&self, file: usize, monitor: &dyn Monitor) -> Result<Extract, FormatError> {
        let (held, path) = self.held(file)?;
        let file = self.run.document.read(path, monitor)?;
        let shown = shown(&file);
        let extract = Extract::of(&file, &shown);
        let mut read = held.read.lock().unwrap_or_else(PoisonError::into_inner);
        *read = Some(Shown { file, shown });
        Ok(extract)
    }

    fn settle(&self, file: usize, known: Settlement) -> Result<Times, FormatError> {
        let (held, _) = self.held(file)?;
        let mut read = held.read.lock().unwrap_or_else(PoisonError::into_inner);
        let Shown { mut file, shown } = read.take().ok_or(KinetoError::Garbled)?;
        known.all.take_certain(&mut file);
        file.count_from(known.origin);
        let settled = Settled { file, shown, known };
        let settled = held.settled.get_or_init(|| settled);
        Ok(settled.times(&settled.file))
    }

    fn settled(&self, file: usize) -> Result<(&Settled, &Path), FormatError> {
        let (held, path) = self.held(file)?;
        let settled = held.settled.get().ok_or(KinetoError::Garbled)?;
        Ok((settled, path))
    }

    fn write(
        &self,
        file: usize,
        correction: PartCorrection,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<String, FormatError> {
        let (settled, _) = self.settled(file)?;
        let correction = correction.unpack().map_err(FormatError::failed)?;
        let maps = settled.maps(&correction);
        let written = self
            .run
            .rewrite_file(file, &settled.file, &maps, to, monitor);
        let saved = self.run.files.resembled(file, to, written)?;
        // The disk works while the copy is read again.
        let (held, path) = (self.held(file)?.0, to.to_owned());
        let syncing = thread::Builder::new().spawn(move || sync(&path));
        let syncing = syncing.map_err(|source| KinetoError::io(to, source))?;
        *held.syncing.lock().unwrap_or_else(PoisonError::into_inner) = Some(syncing);
        serde_json::to_string(&saved).map_err(FormatError::failed)
    }

    /// Waits until the disk has what was written of a file.
    fn synced(&self, file: usize) -> Result<(), FormatError> {
        let syncing = &self.held(file)?.0.syncing;
        let syncing = syncing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let synced = syncing.map(JoinHandle::join);
        synced.map_or(Ok(()), |it| {
            it.unwrap_or_else(|_| Err(KinetoError::Garbled.into()))
        })
    }
}

/// Only who wrote a file can be sure that the disk has it.
fn sync(path: &Path) -> Result<(), FormatError> {
    let synced = std::fs::File::open(path).and_then(|it| it.sync_all());
    Ok(synced.map_err(|source| FileError::io(path, source))?)
}

impl InFiles for ByFile {
    fn files(&self) -> Vec<(PathBuf, u64)> {
        self.run.files.sizes()
    }

    fn work(
        &self,
        file: usize,
        task: &[u8],
        monitor: &dyn Monitor,
    ) -> Result<Vec<u8>, FormatError> {
        match postcard::from_bytes(task).map_err(|_| KinetoError::Garbled)? {
            Task::Read => encoded(&self.read(file, monitor)?),
            Task::Settle(known) => encoded(&self.settle(file, known.into_owned())?),
            Task::Logs(parts) => {
                let (settled, path) = self.settled(file)?;
                encoded(&settled.logs(path, &parts)?)
            }
            Task::Timelines(events) => {
                let (settled, path) = self.settled(file)?;
                let events: Vec<&[u32]> = events.iter().map(AsRef::as_ref).collect();
                encoded(&timelines::of_file(path, &settled.file, &events)?)
            }
            Task::Move(correction) => {
                let (settled, path) = self.settled(file)?;
                let moved = settled.file.at(settled.moved(path, correction)?);
                encoded(&settled.times(&moved))
            }
            Task::MoveEvents(correction, events) => {
                let (settled, path) = self.settled(file)?;
                let moved = settled.moved(path, correction)?;
                let events: Vec<&[u32]> = events.iter().map(AsRef::as_ref).collect();
                encoded(&timelines::moved(path, &settled.file, moved, &events)?)
            }
            Task::Copy(to) => {
                let to = Path::new(&to);
                self.run.files.copy(file, to, monitor)?;
                sync(to)?;
                encoded(&())
            }
            Task::Write(correction, to) => {
                encoded(&self.write(file, correction, Path::new(&to), monitor)?)
            }
            Task::Sync => encoded(&self.synced(file)?),
        }
    }

    fn in_hands(self: Box<Self>, hands: Arc<dyn FileHolders>) -> Box<dyn Trace> {
        let mut run = self.run;
        run.hands = Some(OtherHands(hands));
        Box::new(run)
    }

    fn in_own_hands(self: Box<Self>) -> Box<dyn Trace> {
        Box::new(self.run)
    }
}
