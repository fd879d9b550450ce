//! A trace with new times, and nothing else new.
//!
//! The archive is copied file by file. Where a file holds times they are
//! replaced on the way, chunk by chunk, so memory does not grow with the
//! trace:
//!
//! | file | what happens |
//! | --- | --- |
//! | events | times change in place; laid out anew if that is not enough |
//! | snapshots | times change in place |
//! | local definitions | clock offsets go, since they are part of the new times |
//! | markers | times and durations change, in place if they fit |
//! | global definitions | the extent of the trace changes, in place if it fits |
//! | results of other tools | set aside if they [depend on times](experiment) |
//! | everything else | copied as it is |
//!
//! The new time of an event is that of its clock's map at the time that every
//! OTF2 tool would show for it. If nothing changes on any clock, all files are
//! copied as they are, clock offsets included.
//!
//! The anchor file is written last: an archive without one is not complete,
//! and no tool takes it for one.
//!
//! ```
//! use retime_model::Correction;
//! use retime_otf2::{Trace, Result};
//! use std::path::Path;
//!
//! /// Corrects the trace and checks that the original can be restored.
//! fn apply(trace: &Trace, correction: &Correction, dir: &Path) -> Result<()> {
//!     let (new, back) = (dir.join("corrected"), dir.join("restored"));
//!     std::fs::create_dir(&new).unwrap();
//!     std::fs::create_dir(&back).unwrap();
//!     let rewritten = trace.rewrite(correction, &new, &())?;
//!     let corrected = Trace::open(&new)?;
//!     corrected.restore(correction, &rewritten.undo, &back, &())
//! }
//! ```

mod clock_properties;
mod compressed;
mod draft;
pub(crate) mod events;
mod experiment;
pub(crate) mod files;
pub(crate) mod job;
mod layout;
mod markers;
pub(crate) mod output;
mod part;
pub(crate) mod plain;
mod retime;
mod snapshots;
pub(crate) mod source;
pub(crate) mod stamp;
mod untimed;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use rayon::prelude::*;
use retime_model::{
    Correction, LocationIndex, Modified, SavedName, Timestamp, Version, resemble_opened,
};

pub use self::experiment::Experiment;
use self::files::{ArchiveFile, FileRole, Listing, Reach};
use self::job::{Job, Outcome};
use self::markers::Markers;
use self::output::Output;
pub use self::part::PartRewritten;
use self::retime::Extent;
use self::source::Source;
use crate::chunk::ChunkReader;
use crate::error::{Error, Result};
use crate::records::Entry;
use crate::schema::codes::CLOCK_OFFSET;
use crate::trace::Trace;
use crate::undo::{Content, FileUndo, Undo};
use retime_model::{Monitor, plural};

/// The result of [`Trace::rewrite`].
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The data from which [`Trace::restore`] gets the original back.
    pub undo: Undo,
    /// New times of the first and the last event; `None` if there are no
    /// events, or if all files were copied as they are.
    pub range: Option<(Timestamp, Timestamp)>,
    /// Locations whose events were laid out anew, mostly because some of them
    /// shared a time record and have different times now.
    pub laid_out: Vec<LocationIndex>,
}

impl Trace {
    /// Copies the archive byte for byte into an existing directory, together
    /// with what lies beside it if the archive was opened by its directory.
    /// No file is overwritten.
    pub fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<()> {
        Rewrite::new(self, None, to, monitor)?.run().map(|_| ())
    }

    /// Copies the archive as [`copy`](Self::copy) does, but with times sent
    /// through the maps of their clocks.
    pub fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Rewritten> {
        self.check_fits(correction)?;
        let correction = Some(correction).filter(|correction| !correction.is_identity());
        Rewrite::new(self, correction, to, monitor)?.run()
    }

    /// Writes what [`rewrite`](Self::rewrite) does, even if the maps change nothing: for a
    /// trace in which events are stamped before their predecessors, which
    /// wait for those in the copy.
    pub fn rewrite_in_order(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Rewritten> {
        self.check_fits(correction)?;
        Rewrite::new(self, Some(correction), to, monitor)?.run()
    }

    /// The experiment whose directory was given, if there is one.
    pub fn experiment(&self) -> Result<Option<Experiment>> {
        if !self.by_directory() {
            return Ok(None);
        }
        let beside = files::entries(&files::directory(self.archive()))?;
        Ok(Experiment::of(&beside))
    }

    /// Gives the directories in a finished copy the access of those of this trace, and what
    /// users noted in them.
    pub(crate) fn give_directories<'a>(
        &self,
        to: &Path,
        names: impl Iterator<Item = &'a Path>,
    ) -> Result<()> {
        let from = files::directory(self.archive());
        // Who may not write into a directory cannot give anything that is in it.
        for name in directories(names).into_iter().rev() {
            let from = from.join(name);
            let original = files::metadata(&from)?;
            let dir = to.join(name);
            let given = File::open(&dir)
                .and_then(|opened| resemble_opened(&original, &from, &opened, None));
            given.map_err(|source| Error::io(&dir, source))?;
        }
        Ok(())
    }

    /// A correction of another trace could speak of other locations.
    pub(crate) fn check_fits(&self, correction: &Correction) -> Result<()> {
        let clocks = correction.clocks();
        let corrected: usize = clocks.iter().map(|id| clocks.locations(id).len()).sum();
        if corrected == self.locations().len() {
            return Ok(());
        }
        Err(Error::Inconsistent {
            path: self.archive().definitions_path(),
            what: format!(
                "defines {}, but the correction is for {corrected}",
                plural(self.locations().len() as u64, "location")
            ),
        })
    }
}

struct Rewrite<'a> {
    trace: &'a Trace,
    /// `None` to copy everything.
    correction: Option<&'a Correction>,
    to: &'a Path,
    monitor: &'a dyn Monitor,
    listing: Listing,
    /// True if each file is to be on the disk before the next is begun.
    synced: bool,
}

/// One file done.
struct Done {
    undo: FileUndo,
    extent: Option<Extent>,
    laid_out: Option<LocationIndex>,
}

impl<'a> Rewrite<'a> {
    fn new(
        trace: &'a Trace,
        correction: Option<&'a Correction>,
        to: &'a Path,
        monitor: &'a dyn Monitor,
    ) -> Result<Self> {
        let ids: Vec<u64> = trace.location_ids().collect();
        check_there(trace, ids.iter().copied())?;
        let mut listing = files::list(trace.archive(), &ids, Reach::of(trace.by_directory()))?;
        if correction.is_some() {
            listing.set_aside();
        }
        Ok(Self {
            trace,
            correction,
            to,
            monitor,
            listing,
            synced: false,
        })
    }

    fn run(&self) -> Result<Rewritten> {
        self.create_directories()?;
        let done = self.early(|_| true).and_then(|done| self.finish(done));
        self.trace.archive().unless_changed(done)
    }

    fn create_directories(&self) -> Result<()> {
        create_directories(self.to, self.listing.names())
    }

    /// Rewrites the files of the given roles that nothing else has to be known for.
    fn early(&self, roles: impl Fn(FileRole) -> bool + Sync) -> Result<PartRewritten> {
        let late =
            |file: &&ArchiveFile| matches!(file.role, FileRole::Anchor | FileRole::Definitions);
        // Not into a `Result` at once: which of several errors that gives depends on threads.
        let done: Vec<_> = self
            .listing
            .files
            .par_iter()
            .filter(|file| !late(file) && roles(file.role))
            .map(|file| self.file(file, None))
            .collect();
        Ok(PartRewritten::of(done.into_iter().collect::<Result<_>>()?))
    }

    /// The files for which all others have to be done.
    fn finish(&self, mut done: PartRewritten) -> Result<Rewritten> {
        // The extent is known only now, and the anchor comes last of all.
        for role in [FileRole::Definitions, FileRole::Anchor] {
            for file in self.listing.files.iter().filter(|file| file.role == role) {
                let undo = self.file(file, done.extent)?.undo;
                done.files.push(undo);
            }
        }
        let besides = self.listing.give_besides(self.to)?;
        self.listing.tell(self.monitor);
        self.trace
            .give_directories(self.to, self.listing.common_names())?;
        done.laid_out.sort_unstable();
        let times = |extent: Extent| (Timestamp(extent.new.0), Timestamp(extent.new.1));
        Ok(Rewritten {
            range: done.extent.map(times),
            laid_out: done.laid_out,
            undo: Undo::new(done.files, besides),
        })
    }

    fn file(&self, file: &ArchiveFile, extent: Option<Extent>) -> Result<Done> {
        let original = files::metadata(&file.path)?;
        let mut output = Output::create(&self.to.join(&file.in_copy))?;
        let changed = match self.correction {
            Some(correction) => self.change(correction, file.role, &mut output, extent)?,
            None if file.is_linked => self.read_as_trace(file.role, &mut output)?,
            None => None,
        };
        let changed = match changed {
            Some(changed) => changed,
            None => Changed {
                original: plain::copy(file, &mut output, self.monitor)?,
                content: Content::Plain,
                outcome: Outcome::default(),
            },
        };
        if matches!(
            file.role,
            FileRole::Anchor | FileRole::Outdated | FileRole::Other
        ) {
            // The archive does not know these.
            let now = files::metadata(&file.path)?;
            if Version::of(&now) != Version::of(&original) {
                let path = file.path.clone();
                return Err(Error::Changed { path });
            }
        }
        let modified = Modified::of(&original);
        let time = modified.filter(|_| changed.original == output.crc());
        output.resemble(&original, &file.path, time)?;
        if self.synced {
            output.sync()?;
        }
        let laid_out = match file.role {
            FileRole::Events(location) if changed.outcome.laid_out => Some(location),
            _ => None,
        };
        Ok(Done {
            undo: FileUndo {
                path: SavedName::of(&file.name),
                in_copy: (file.in_copy != file.name).then(|| SavedName::of(&file.in_copy)),
                content: changed.content,
                original: changed.original,
                corrected: output.crc(),
                modified,
                edits: changed.outcome.edits,
                stamps: changed.outcome.stamps,
            },
            extent: changed.outcome.extent,
            laid_out,
        })
    }

    /// Copies a file with its changes; `None` if none can be necessary.
    fn change(
        &self,
        correction: &Correction,
        role: FileRole,
        output: &mut Output,
        extent: Option<Extent>,
    ) -> Result<Option<Changed>> {
        let archive = self.trace.archive();
        match role {
            FileRole::Anchor | FileRole::Outdated | FileRole::Other => Ok(None),
            FileRole::Events(location) => {
                let job = job(self.trace, correction, location)?;
                let mut source = self.source(archive.open_events(job.local.location)?);
                let outcome = events::rewrite(job, &mut source, output)?;
                let content = Content::Events(job.local.location);
                Ok(Some(Changed::new(&source, content, outcome)))
            }
            FileRole::Snapshots(location) => {
                let job = job(self.trace, correction, location)?;
                let Some(reader) = archive.open_snapshots(job.local.location)? else {
                    return Ok(None);
                };
                let mut source = self.source(reader);
                let outcome = snapshots::rewrite(job, &mut source, output)?;
                let content = Content::Snapshots(job.local.location);
                Ok(Some(Changed::new(&source, content, outcome)))
            }
            FileRole::LocalDefinitions(location) => {
                let local = self.trace.local(location)?;
                // A single clock offset has no effect, and stays.
                let applied = local.clock_offsets.len() >= 2;
                let reader = archive.open_local_definitions(local.location)?;
                self.untimed(reader, output, |entry| {
                    let goes = applied && entry.record().code == CLOCK_OFFSET;
                    Ok(goes.then(Vec::new))
                })
            }
            FileRole::Definitions => {
                let reader = archive.open_definitions()?;
                self.untimed(Some(reader), output, |entry| match &extent {
                    Some(extent) => clock_properties::rewrite(entry, extent),
                    None => Ok(None),
                })
            }
            FileRole::Markers => {
                let markers = Markers::new(correction, self.trace.definitions());
                self.untimed(archive.open_markers()?, output, |entry| {
                    markers.rewrite(entry)
                })
            }
        }
    }

    /// Copies what was not read yet and lies behind a link, if it is what it should be.
    fn read_as_trace(&self, role: FileRole, output: &mut Output) -> Result<Option<Changed>> {
        let archive = self.trace.archive();
        let reader = match role {
            FileRole::Markers => archive.open_markers()?,
            FileRole::Snapshots(location) => {
                archive.open_snapshots(self.trace.local(location)?.location)?
            }
            _ => return Ok(None),
        };
        self.untimed(reader, output, |_| Ok(None))
    }

    fn untimed(
        &self,
        reader: Option<ChunkReader>,
        output: &mut Output,
        change: impl FnMut(&Entry<'_>) -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Changed>> {
        let Some(reader) = reader else {
            return Ok(None);
        };
        let mut source = self.source(reader);
        let outcome = Outcome {
            edits: untimed::rewrite(&mut source, output, change)?,
            ..Outcome::default()
        };
        Ok(Some(Changed::new(&source, Content::Plain, outcome)))
    }

    fn source(&self, reader: ChunkReader) -> Source<'a> {
        Source::new(reader, self.monitor)
    }
}

/// Fails if files of these locations are missing that must be there, or else there
/// would be no copy of them.
fn check_there(trace: &Trace, ids: impl Iterator<Item = u64>) -> Result<()> {
    for id in ids {
        trace.archive().open_events(id)?;
        trace.archive().open_snapshots(id)?;
    }
    Ok(())
}

/// A file that was copied with changes.
struct Changed {
    /// Check sum of the original.
    original: u32,
    content: Content,
    outcome: Outcome,
}

impl Changed {
    fn new(source: &Source<'_>, content: Content, outcome: Outcome) -> Self {
        Self {
            original: source.crc(),
            content,
            outcome,
        }
    }
}

/// Collects what a pass over a location needs: the map of its times and its local definitions.
pub(crate) fn job<'a>(
    trace: &'a Trace,
    correction: &'a Correction,
    location: LocationIndex,
) -> Result<Job<'a>> {
    Ok(Job::new(correction, location, trace.local(location)?))
}

/// Creates the directories that files with these names need.
pub(crate) fn create_directories<'a>(
    to: &Path,
    names: impl Iterator<Item = &'a Path>,
) -> Result<()> {
    for name in directories(names) {
        let dir = to.join(name);
        match fs::create_dir(&dir) {
            // Another process that writes a part was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => created.map_err(|source| Error::io(&dir, source))?,
        }
    }
    Ok(())
}

/// The directories that files with these names lie in, each before those in it.
fn directories<'a>(names: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let ancestors = names.flat_map(|name| name.ancestors().skip(1));
    ancestors.filter(|it| *it != Path::new("")).collect()
}
