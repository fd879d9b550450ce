//! The original archive, from a corrected one.
//!
//! ```text
//! corrected file --> edits --> stamps --> original file
//!      |                                       |
//!   check sum                              check sum
//! ```
//!
//! Every file that the undo data names is restored, in one pass and chunk by
//! chunk. Edits give it the chunks that it had, with the corrected times still
//! in them; then the times are computed back. Local definitions come first,
//! because raw stamps depend on the clock offsets in them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use retime_model::{Correction, LocationIndex, Modified, SavedName, printable};

use crate::archive::Archive;
use crate::chunk::{ChunkHeader, FileKind};
use crate::error::{Error, Result};
use crate::framing::Walker;
use crate::local::LocalDefinitions;
use crate::rewrite::create_directories;
use crate::rewrite::files::{self, Beside, Reach};
use crate::rewrite::job::Job;
use crate::rewrite::output::Output;
use crate::rewrite::plain;
use crate::rewrite::source::{BLOCK, Summed, crc_of, fill};
use crate::rewrite::stamp::{Trouble, each_time};
use crate::trace::Trace;
use crate::undo::edits::EditReader;
use crate::undo::listed;
use crate::undo::stamps::Originals;
use crate::undo::{Content, FORMAT, FileUndo, Undo};
use retime_model::Monitor;

impl Trace {
    /// Restores the archive that [`rewrite`](Self::rewrite) has turned into
    /// this one, byte for byte, into an existing directory. No file is
    /// overwritten.
    ///
    /// # Errors
    ///
    /// [`Error::NotRestorable`] if a file is not as `rewrite` left it, if `undo`
    /// says nothing of one, or if `correction` and `undo` do not belong to it.
    pub fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        self.check_fits(correction)?;
        let restore = Restore::new(self, correction, undo, to, monitor)?;
        listed::check(undo, self)?;
        restore.run()
    }
}

struct Restore<'a> {
    trace: &'a Trace,
    correction: &'a Correction,
    to: &'a Path,
    monitor: &'a dyn Monitor,
    /// Relative paths of the files, checked to stay inside of the archive.
    files: Vec<(PathBuf, &'a FileUndo)>,
    /// Check sums of what is no file.
    sums: &'a [u32],
    index: HashMap<u64, LocationIndex>,
    restored: Archive,
}

impl<'a> Restore<'a> {
    fn new(
        trace: &'a Trace,
        correction: &'a Correction,
        undo: &'a Undo,
        to: &'a Path,
        monitor: &'a dyn Monitor,
    ) -> Result<Self> {
        if undo.format != FORMAT {
            return Err(Error::NotRestorable {
                path: trace.archive().anchor_path().to_owned(),
                why: format!(
                    "the undo data have format {}, only {FORMAT} is supported",
                    undo.format
                ),
            });
        }
        let anchor = trace.archive().anchor_path();
        let names = undo
            .files
            .iter()
            .map(|file| Ok((name_of(anchor, &file.path)?, file)));
        let ids = trace.location_ids();
        Ok(Self {
            trace,
            correction,
            to,
            monitor,
            files: names.collect::<Result<_>>()?,
            sums: &undo.besides,
            index: ids.zip((0..).map(LocationIndex)).collect(),
            restored: trace.archive().moved_to(to),
        })
    }

    fn run(&self) -> Result<()> {
        self.trace.archive().unless_changed(self.all())
    }

    fn all(&self) -> Result<()> {
        let besides = self.besides()?;
        let names = || self.files.iter().map(|(name, _)| name.as_path());
        let names = || names().chain(besides.iter().map(Beside::within));
        create_directories(self.to, names())?;
        let anchor = self.trace.archive().anchor_path().file_name();
        let is_anchor = |name: &Path| name.file_name() == anchor && name.components().count() == 1;
        let turn = |(name, file): &(PathBuf, &FileUndo)| match file.content {
            Content::Plain if is_anchor(name) => 2,
            Content::Plain => 0,
            _ => 1,
        };
        for now in 0..=2 {
            // Not into a `Result` at once: which of several errors that gives depends on threads.
            let restored: Vec<_> = self
                .files
                .par_iter()
                .filter(|file| turn(file) == now)
                .map(|(name, file)| self.file(name, file))
                .collect();
            restored.into_iter().collect::<Result<()>>()?;
        }
        // Last, so that nothing is written through them.
        for beside in &besides {
            beside.give(self.to)?;
        }
        self.trace.give_directories(self.to, names())
    }

    /// Links and empty directories of the original, which the corrected archive has too.
    fn besides(&self) -> Result<Vec<Beside>> {
        if self.sums.is_empty() {
            return Ok(Vec::new());
        }
        let archive = self.trace.archive();
        let ids: Vec<u64> = self.trace.location_ids().collect();
        let mut besides = files::list(archive, &ids, Reach::Everything)?.besides;
        besides.retain(|it| self.sums.contains(&it.sum()));
        if besides.len() == self.sums.len() {
            return Ok(besides);
        }
        let (now, then) = (besides.len(), self.sums.len());
        Err(Error::NotRestorable {
            path: files::directory(archive),
            why: format!(
                "of the {then} links and empty directories that the correction copied, {now} are \
                 still there as they were"
            ),
        })
    }

    fn file(&self, name: &Path, undo: &FileUndo) -> Result<()> {
        let anchor = self.trace.archive().anchor_path();
        let in_copy = undo.in_copy.as_ref().map(|it| name_of(anchor, it));
        let in_copy = in_copy.transpose()?;
        let path = files::directory(self.trace.archive()).join(in_copy.as_deref().unwrap_or(name));
        let not_restorable = |why: &str| {
            Err(Error::NotRestorable {
                path: path.clone(),
                why: why.to_owned(),
            })
        };
        let changed = "it is not the file that the correction wrote: it was changed since, \
                       or the undo data belong to another archive";
        let corrected = files::metadata(&path)?;
        let mut output = Output::create(&self.to.join(name))?;
        match self.content(&path, undo, &mut output) {
            Ok(crc) if crc != undo.corrected => not_restorable(changed),
            Ok(_) if output.crc() != undo.original => not_restorable(
                "the result differs from the original; the correction or the undo data are \
                 not those of this archive",
            ),
            Ok(crc) => {
                let now = Modified::of(&corrected).filter(|_| crc == output.crc());
                output.resemble(&corrected, &path, undo.modified.or(now))
            }
            Err(error @ (Error::Cancelled | Error::Io { .. })) => Err(error),
            // Damage shows in many ways, but there is one thing to say about it.
            Err(_) if crc_of(&path, self.monitor)? != undo.corrected => not_restorable(changed),
            Err(error) => Err(error),
        }
    }

    /// Writes the original content; the check sum of the corrected file.
    fn content(&self, path: &Path, undo: &FileUndo, output: &mut Output) -> Result<u32> {
        let summed = Summed::open(path, self.monitor)?;
        if matches!(undo.content, Content::Plain) && undo.edits.is_empty() {
            return plain::copy_read(summed, path, output, self.monitor);
        }
        let mut reader = EditReader::new(summed, &undo.edits);
        let (kind, id) = match undo.content {
            Content::Plain => {
                let mut buffer = Vec::new();
                loop {
                    fill(&mut reader, &mut buffer, BLOCK, path, self.monitor)?;
                    if buffer.is_empty() {
                        return Ok(reader.into_inner().crc());
                    }
                    output.write(&buffer)?;
                }
            }
            Content::Events(id) => (FileKind::Events, id),
            Content::Snapshots(id) => (FileKind::Snapshots, id),
        };
        let local = LocalDefinitions::read(&self.restored, id)?;
        let job = self.job(path, id, &local)?;
        let guess = match kind {
            FileKind::Events => job.guess(),
            _ => job.guess_global(),
        };
        let mut originals = Originals::new(guess, &undo.stamps);
        let chunk_size = self.trace.archive().anchor().event_chunk_size as usize;
        let mut buffer = Vec::new();
        let (mut offset, mut ended) = (0, false);
        loop {
            fill(&mut reader, &mut buffer, chunk_size, path, self.monitor)?;
            if buffer.is_empty() {
                return Ok(reader.into_inner().crc());
            }
            if !ended {
                ended = restamp(&mut buffer, kind, offset, &mut originals, path)?;
            }
            output.write(&buffer)?;
            offset += buffer.len() as u64;
        }
    }

    fn job<'j>(&'j self, path: &Path, id: u64, local: &'j LocalDefinitions) -> Result<Job<'j>> {
        let Some(&location) = self.index.get(&id) else {
            return Err(Error::NotRestorable {
                path: path.to_owned(),
                why: format!("location {id} is not defined"),
            });
        };
        Ok(Job::new(self.correction, location, local))
    }
}

/// Puts the original times into a chunk. Whether it ends the file.
fn restamp(
    bytes: &mut [u8],
    kind: FileKind,
    offset: u64,
    originals: &mut Originals<'_>,
    path: &Path,
) -> Result<bool> {
    let header = ChunkHeader::parse(bytes, offset, false);
    let header = header.map_err(|error| Error::corrupt(path, offset, error))?;
    let mut walker = Walker::new(kind, &header);
    each_time(kind, &header, &mut walker, usize::MAX, bytes, |new| {
        Some(originals.of(new))
    })
    .map_err(|trouble: Trouble| {
        trouble.located(path, &header, |error| Error::corrupt(path, offset, error))
    })?;
    Ok(walker.ended_file())
}

/// The path of a file, which must stay below the directory of the anchor.
fn name_of(anchor: &Path, saved: &SavedName) -> Result<PathBuf> {
    let name = saved.path();
    let mut parts = name.components();
    if name.as_os_str().is_empty() || !parts.all(|part| matches!(part, Component::Normal(_))) {
        return Err(Error::NotRestorable {
            path: anchor.to_owned(),
            why: format!(
                "the undo data name a file outside of the archive, \"{}\"; they are not those \
                 that a correction wrote",
                printable(&name.to_string_lossy())
            ),
        });
    }
    Ok(name)
}
