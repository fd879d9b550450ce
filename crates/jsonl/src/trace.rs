//! An opened file, as the trait wants it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use retime_gzip::is_gzip;
use retime_model::format::{
    CORRECTION, EventRows, FormatError, Scan, Shape, Timeline, Trace, Undo,
};
use retime_model::{
    Correction, LocationIndex, Modified, Monitor, TraceInfo, Version, copy_file, open_regular,
    resemble,
};

use crate::error::JsonlError;
use crate::pass::Pass;
use crate::rows::Table;
use crate::{restore, rewrite, scan, timelines};

/// A file of JSON lines.
pub(crate) struct EventFile {
    path: PathBuf,
    /// The metadata of the file when it was opened.
    found: Metadata,
    table: OnceLock<Table>,
}

impl EventFile {
    /// Opens a file and reads its first line.
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        let found = fs::metadata(path).map_err(|source| failed(path, source))?;
        let mut pass = Pass::open(path, &())?;
        loop {
            let Some(entry) = pass.next()? else {
                let path = path.to_owned();
                return Err(JsonlError::Empty { path }.into());
            };
            if !entry.bytes.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Self {
            path: path.to_owned(),
            found,
            table: OnceLock::new(),
        })
    }
}

impl EventFile {
    /// The outcome of reading it, unless it is no longer what it was when it was opened:
    /// then what was read at different times may not belong together.
    fn unless_changed<T>(&self, outcome: Result<T, FormatError>) -> Result<T, FormatError> {
        let now = fs::metadata(&self.path);
        match now.map(|it| Version::of(&it) == Version::of(&self.found)) {
            Ok(true) => outcome,
            Ok(false) => Err(JsonlError::Changed {
                path: self.path.clone(),
            }
            .into()),
            Err(source) => outcome.and(Err(failed(&self.path, source).into())),
        }
    }

    /// The outcome of writing a copy of it to `to`, which gets its access, and the time that
    /// belongs to what was written.
    fn resembled<T>(
        &self,
        to: &Path,
        outcome: Result<(T, Option<Modified>), FormatError>,
    ) -> Result<T, FormatError> {
        let (outcome, time) = self.unless_changed(outcome)?;
        resemble(&self.found, &self.path, to, time).map_err(|source| failed(to, source))?;
        Ok(outcome)
    }

    fn modified(&self) -> Option<Modified> {
        Modified::of(&self.found)
    }
}

fn failed(path: &Path, source: io::Error) -> JsonlError {
    JsonlError::Io {
        path: path.to_owned(),
        source,
    }
}

impl Trace for EventFile {
    fn format(&self) -> &'static str {
        "JSON lines"
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn describe(&self) -> Option<&TraceInfo> {
        // Lines may name locations that the header does not.
        None
    }

    fn bytes(&self) -> u64 {
        self.found.len()
    }

    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError> {
        self.unless_changed(scan::read(&self.path, monitor))
    }

    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        timelines::read(&self.path, events, monitor)
    }

    fn shape(&self) -> Shape {
        Shape::File
    }

    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
        let failed = |path: &Path, source| FormatError::from(failed(path, source));
        let copied = copy_file(&self.path, to, monitor, failed);
        self.resembled(to, copied.map(|()| ((), self.modified())))
    }

    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        let saved = rewrite::rewrite(&self.path, correction, to, monitor);
        let undo = saved.and_then(|mut saved| {
            saved.modified = self.modified();
            let time = saved.modified.filter(|_| saved.is_unchanged());
            Ok((saved.undo()?, time))
        });
        self.resembled(to, undo)
    }

    fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError> {
        let saved = restore::restore(&self.path, correction, undo, to, monitor);
        let restored = saved.map(|saved| {
            let now = self.modified().filter(|_| saved.is_unchanged());
            ((), saved.modified.or(now))
        });
        self.resembled(to, restored)
    }

    fn packs_anew(&self) -> bool {
        open_regular(&self.path).and_then(is_gzip).unwrap_or(false)
    }

    fn copy_at(&self, to: &Path) -> PathBuf {
        to.to_owned()
    }

    fn correction_of(&self, path: &Path) -> PathBuf {
        let mut name = OsString::from(path);
        name.push(".");
        name.push(CORRECTION);
        name.into()
    }

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        let table = if let Some(table) = self.table.get() {
            table
        } else {
            let table = self.unless_changed(Table::read(&self.path))?;
            self.table.get_or_init(|| table)
        };
        Ok(Box::new(table.rows(location.as_usize())))
    }

    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        let name = self.table.get()?.region(id)?;
        Some(name.into())
    }
}
