//! The archive as a whole: its files, and what is known only at the end.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use retime_model::presence;

use super::{
    chunked::{ChunkedFile, LITTLE_ENDIAN, Numbering},
    encode::Payload,
    failure::{WriteError, WriteResult},
    globals::DefinitionsWriter,
    location::LocationWriter,
    markers::MarkersWriter,
    options::WriteOptions,
    summary::LocationSummary,
};

/// Totals of a written archive, over all locations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveSummary {
    /// Number of locations.
    pub locations: u64,
    /// Number of events.
    pub events: u64,
    /// Smallest and largest time, if there are events.
    pub times: Option<(u64, u64)>,
    /// Bytes in all files.
    pub bytes: u64,
}

/// An archive that is being written.
///
/// The anchor file is written last: an archive without one is not complete,
/// and no reader takes it for one.
#[derive(Debug)]
pub struct ArchiveWriter {
    anchor: PathBuf,
    options: WriteOptions,
    definitions: DefinitionsWriter,
    markers: MarkersWriter,
    opened: HashSet<u64>,
}

impl ArchiveWriter {
    /// Begins an archive with the given anchor file, `DIR/NAME.otf2`.
    ///
    /// Creates `DIR` if needed, and `DIR/NAME`. No file of the archive may
    /// exist, nor `DIR/NAME`.
    pub fn create(anchor: impl AsRef<Path>, options: WriteOptions) -> WriteResult<Self> {
        let anchor = anchor.as_ref().to_path_buf();
        if anchor.extension().is_none_or(|it| it != "otf2") {
            return Err(WriteError::AnchorName(anchor));
        }
        options.check()?;
        for extension in ["otf2", "def", "marker"] {
            let path = anchor.with_extension(extension);
            if path.try_exists().map_err(at(&path))? {
                let source = std::io::ErrorKind::AlreadyExists.into();
                return Err(WriteError::Io { path, source });
            }
        }
        if let Some(parent) = anchor.parent()
            && !presence::is_directory(parent).map_err(at(parent))?
        {
            fs::create_dir_all(parent).map_err(at(parent))?;
        }
        let locations = anchor.with_extension("");
        fs::create_dir(&locations).map_err(at(&locations))?;
        Ok(Self {
            anchor,
            options,
            definitions: DefinitionsWriter::default(),
            markers: MarkersWriter::default(),
            opened: HashSet::new(),
        })
    }

    /// The global definitions. More can be added until the archive is
    /// finished.
    pub fn definitions(&mut self) -> &mut DefinitionsWriter {
        &mut self.definitions
    }

    /// The markers. An archive without markers has no marker file.
    pub fn markers(&mut self) -> &mut MarkersWriter {
        &mut self.markers
    }

    /// Opens the event file of a location. The writer is independent of the
    /// archive and may move to another thread.
    pub fn location(&mut self, id: u64) -> WriteResult<LocationWriter> {
        if id == u64::MAX {
            return Err(WriteError::LocationId);
        }
        if !self.opened.insert(id) {
            return Err(WriteError::LocationOpenedTwice(id));
        }
        let directory = self.anchor.with_extension("");
        LocationWriter::create(id, &directory, &self.options)
    }

    /// Completes the archive, given what the locations' writers returned.
    ///
    /// Defined locations that were never opened get an empty event file.
    pub fn finish(
        mut self,
        summaries: impl IntoIterator<Item = LocationSummary>,
    ) -> WriteResult<ArchiveSummary> {
        self.definitions.check()?;
        self.markers.check()?;
        let mut by_id: HashMap<_, _> = summaries.into_iter().map(|it| (it.location, it)).collect();
        self.check_locations(&by_id)?;
        for id in self.definitions.locations().to_vec() {
            if !self.opened.contains(&id) {
                by_id.insert(id, self.location(id)?.finish()?);
            }
        }
        let mut total = add_up(by_id.values());
        total.bytes += self.write_definitions(&by_id, total.times)?;
        total.bytes += self.markers.write(
            self.anchor.with_extension("marker"),
            self.options.definition_chunk,
        )?;
        total.bytes += self.write_anchor(total.locations)?;
        Ok(total)
    }

    fn check_locations(&self, summaries: &HashMap<u64, LocationSummary>) -> WriteResult {
        let defined: HashSet<_> = self.definitions.locations().iter().collect();
        // The smallest, so that the same mistake gives the same message.
        let undefined = summaries.keys().filter(|id| !defined.contains(id)).min();
        if let Some(&id) = undefined {
            return Err(WriteError::LocationUndefined(id));
        }
        let unfinished = self.opened.iter().filter(|id| !summaries.contains_key(id));
        unfinished
            .min()
            .map_or(Ok(()), |&id| Err(WriteError::LocationUnfinished(id)))
    }

    fn write_definitions(
        &self,
        summaries: &HashMap<u64, LocationSummary>,
        times: Option<(u64, u64)>,
    ) -> WriteResult<u64> {
        let (first, last) = self.options.range.or(times).unwrap_or((0, 0));
        let mut clock = Payload::new();
        clock
            .c64(self.options.resolution)
            .c64(first)
            .c64(last.saturating_sub(first))
            .c64(self.options.realtime.unwrap_or(u64::MAX));
        let mut file = ChunkedFile::create(
            self.anchor.with_extension("def"),
            self.options.definition_chunk,
            Numbering::None,
        )?;
        self.definitions.write(&mut file, &clock, summaries)?;
        file.finish()
    }

    fn write_anchor(&self, locations: u64) -> WriteResult<u64> {
        let options = &self.options;
        let mut bytes = Payload::new();
        bytes.raw(&[3, LITTLE_ENDIAN]).text("OTF2");
        // Anchor format, trace format, version of the library it claims to be.
        bytes.raw(&[3, 2]).raw(&[3, 0, 0]);
        bytes.x64(options.event_chunk).x64(options.definition_chunk);
        // Plain files, no compression.
        bytes.raw(&[1, 1]);
        bytes.x64(locations).x64(self.definitions.len() as u64 + 1);
        bytes.text(&options.machine);
        bytes.text(&options.creator);
        bytes.text(&options.description);
        bytes.x32(options.properties.len() as u32);
        for (name, value) in &options.properties {
            bytes.text(name).text(value);
        }
        // No snapshots, no thumbnails, end of file.
        bytes.x64(options.trace_id).x32(0).x32(0).raw(&[2, 1, 0]);
        fs::File::create_new(&self.anchor)
            .and_then(|mut file| file.write_all(bytes.as_bytes()))
            .map_err(at(&self.anchor))?;
        Ok(bytes.len() as u64)
    }
}

fn add_up<'a>(summaries: impl Iterator<Item = &'a LocationSummary>) -> ArchiveSummary {
    let nothing = ArchiveSummary {
        locations: 0,
        events: 0,
        times: None,
        bytes: 0,
    };
    summaries.fold(nothing, |sum, one| ArchiveSummary {
        locations: sum.locations + 1,
        events: sum.events + one.events,
        times: union(sum.times, one.times),
        bytes: sum.bytes + one.bytes,
    })
}

/// The smallest range that contains both.
fn union(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> WriteError {
    let path = path.to_path_buf();
    move |source| WriteError::Io { path, source }
}
