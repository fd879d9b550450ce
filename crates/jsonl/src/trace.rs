//! An opened file: read, and written again.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use retime_gzip::is_gzip;
use retime_model::format::{
    CORRECTION, Contents, EventRows, FormatError, OpenedFiles, Rewrite, Scan, Shape, Timeline,
    Trace, Undo, Written,
};
use retime_model::{Correction, LocationIndex, Monitor, open_regular};

use crate::error::JsonlError;
use crate::pass::Pass;
use crate::rows::Table;
use crate::{restore, rewrite, scan, timelines};

/// A file of JSON lines.
pub(crate) struct EventFile {
    path: PathBuf,
    file: OpenedFiles,
    table: OnceLock<Table>,
    warnings: OnceLock<Vec<String>>,
}

impl EventFile {
    /// Opens a file and reads its first line.
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        let file = OpenedFiles::open(vec![path.to_owned()])?;
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
            file,
            table: OnceLock::new(),
            warnings: OnceLock::new(),
        })
    }
}

impl Trace for EventFile {
    fn format(&self) -> &'static str {
        "JSON lines"
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError> {
        let read = scan::read(&self.path, monitor);
        let (scan, warnings) = self.file.unless_changed(read)?;
        self.warnings.get_or_init(|| warnings);
        Ok(scan)
    }

    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        timelines::read(&self.path, events, monitor)
    }

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        let table = if let Some(table) = self.table.get() {
            table
        } else {
            let table = self.file.unless_changed(Table::read(&self.path))?;
            self.table.get_or_init(|| table)
        };
        Ok(Box::new(table.rows(location.as_usize())))
    }

    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        let name = self.table.get()?.region(id)?;
        Some(name.into())
    }

    fn rewriting(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }

    fn warnings(&self, _: &[Contents]) -> Vec<String> {
        self.warnings.get().cloned().unwrap_or_default()
    }
}

impl Rewrite for EventFile {
    fn shape(&self) -> Shape {
        Shape::File
    }

    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
        self.file.unless_changed(self.file.copy(0, to, monitor))
    }

    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        let saved = rewrite::rewrite(&self.path, correction, to, monitor);
        let written = saved.and_then(|mut saved| {
            saved.modified = self.file.modified(0);
            Ok(Written {
                modified: saved.modified.filter(|_| saved.is_unchanged()),
                outcome: saved.undo()?,
            })
        });
        let written = self.file.unless_changed(written);
        self.file.resembled(0, to, written)
    }

    fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError> {
        let saved = restore::restore(&self.path, correction, undo, to, monitor);
        let written = saved.map(|saved| {
            let now = self.file.modified(0).filter(|_| saved.is_unchanged());
            Written {
                modified: saved.modified.or(now),
                outcome: (),
            }
        });
        let written = self.file.unless_changed(written);
        self.file.resembled(0, to, written)
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
}
