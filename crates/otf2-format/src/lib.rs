//! OTF2 archives as a trace format of retime.
//!
//! [`retime_otf2`] knows the archives, [`retime_model::format`] says what a format
//! has to do; this crate joins the two.
//!
//! ```
//! use std::path::Path;
//! use retime_model::format::{Format, Recognition};
//! use retime_otf2_format::Otf2;
//!
//! assert_eq!(Otf2.recognise(Path::new("run/traces.otf2"))?, Recognition::Certain);
//! assert_eq!(Otf2.recognise(Path::new("run/events.jsonl"))?, Recognition::No);
//! # Ok::<(), std::io::Error>(())
//! ```

mod archive;
mod concluded;
mod describe;
mod error;
mod in_parts;
mod operations;
mod rows;
mod scan;
mod unused;
mod warnings;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use retime_model::format::{
    CORRECTION, Contents, EventRows, Format, FormatError, InParts, OperationFacts, Recognition,
    Rewrite, Scan, Shape, Timeline, Trace, Undo, Unused, join,
};
use retime_model::{
    Correction, LocationIndex, Monitor, Timestamp, TraceInfo, presence, printable_path,
};
use retime_otf2::{Anchor, Paradigm, RegionRef, Whereabouts};

use self::archive::Archive;
use self::error::{TraceError, failed};
use self::scan::Accelerators;

/// The format of Score-P, EZTrace and others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Otf2;

impl Format for Otf2 {
    fn name(&self) -> &'static str {
        "otf2"
    }

    fn describe(&self) -> &'static str {
        "an OTF2 archive: its anchor file, or the directory with it"
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        if is_anchor(path) {
            return Ok(Recognition::Certain);
        }
        // An anchor may have any name. A pipe or a device would be changed by looking at it.
        Ok(match presence::kind(path)? {
            Some(found) if found.is_dir() => match Whereabouts::from(path)? {
                Whereabouts::Here => Recognition::Certain,
                // Opening it says where the archive is.
                Whereabouts::Near(_) => Recognition::Possible,
                Whereabouts::Elsewhere => Recognition::No,
            },
            Some(found) if found.is_file() && Anchor::is_at(path)? => Recognition::Certain,
            Some(found) if found.is_file() && is_of_an_archive(path) => Recognition::Possible,
            _ => Recognition::No,
        })
    }

    fn open_watched(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Box<dyn Trace>, FormatError> {
        Ok(Box::new(Archive::open(path, monitor)?))
    }

    fn open_in_parts(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Option<Result<Box<dyn InParts>, FormatError>> {
        let opened = Archive::open(path, monitor);
        Some(
            opened
                .map(|it| Box::new(it) as Box<dyn InParts>)
                .map_err(Into::into),
        )
    }

    fn can_rewrite(&self) -> bool {
        true
    }

    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String> {
        let untold = |error: io::Error| format!("cannot be looked at: {error}");
        let found = presence::kind_of_entry(target).map_err(untold)?;
        if !found.is_some_and(|it| it.is_dir()) {
            return Err(
                "is no directory; --force replaces only directories that retime wrote".into(),
            );
        }
        let entries = fs::read_dir(target).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.map_err(untold)?;
        let entries: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        if holds_one_archive(&entries, input).map_err(untold)? {
            return Ok(());
        }
        Err(
            "holds other things than one OTF2 archive, which --force would delete; remove it \
             yourself or give another directory"
                .into(),
        )
    }
}

/// True if a directory holds nothing but an archive, and copies of what lies
/// beside `input`.
fn holds_one_archive(entries: &[PathBuf], input: &Path) -> io::Result<bool> {
    let anchors = entries.iter().filter(|path| is_anchor(path));
    let stems: Vec<OsString> = anchors
        .filter_map(|anchor| anchor.file_stem().map(OsString::from))
        .collect();
    let belongs = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        let rest = stems.first().and_then(|stem| {
            let name = name.as_encoded_bytes();
            name.strip_prefix(stem.as_encoded_bytes())
        });
        match rest {
            Some(b"") => Ok(true),
            // Beside an anchor file nothing was taken along.
            _ if presence::is_directory(input)? && is_beside(path, &input.join(name))? => Ok(true),
            _ if !is_file_itself(path)? => Ok(false),
            Some([b'.', ..]) => Ok(true),
            _ => presence::is_file(&input.join(name)),
        }
    };
    for entry in entries {
        if stems.len() != 1 || !belongs(entry)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_file_itself(path: &Path) -> io::Result<bool> {
    Ok(presence::kind_of_entry(path)?.is_some_and(|it| it.is_file()))
}

/// True if a link or an empty directory is a copy of one at another path.
fn is_beside(path: &Path, original: &Path) -> io::Result<bool> {
    let (Some(kind), Some(was)) = (
        presence::kind_of_entry(path)?,
        presence::kind_of_entry(original)?,
    ) else {
        return Ok(false);
    };
    if kind.is_symlink() && was.is_symlink() {
        return Ok(fs::read_link(path)? == fs::read_link(original)?);
    }
    Ok(kind.is_dir() && was.is_dir() && fs::read_dir(path)?.next().is_none())
}

fn is_anchor(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("otf2"))
}

/// True if a file is called as those are that an anchor file stands for.
fn is_of_an_archive(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|it| ["def", "evt", "snap"].iter().any(|own| it == *own))
}

impl Trace for Archive {
    fn format(&self) -> &'static str {
        "OTF2"
    }

    fn path(&self) -> &Path {
        self.otf2.archive().anchor_path()
    }

    fn describe(&self) -> Option<&TraceInfo> {
        Some(&self.description.info)
    }

    fn bytes(&self) -> u64 {
        self.otf2.event_bytes()
    }

    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError> {
        let all: Vec<LocationIndex> = self.otf2.locations().collect();
        let accelerators = Accelerators::find(&self.otf2, self.info(), &all, monitor)?;
        let mut found = self.scan_some(&all, &accelerators, false, monitor)?;
        if found.wants_more {
            monitor.announce(self.bytes());
            found = self.scan_some(&all, &accelerators, true, monitor)?;
        }
        let concluded = found.locations.iter().map(|it| it.concluded.clone());
        self.take_up(&concluded.collect::<Vec<_>>());
        let (logs, contents) = join(found.locations)?
            .into_iter()
            .map(|it| (it.log, it.contents))
            .unzip();
        Ok(Scan {
            info: self.info().clone(),
            logs,
            contents,
        })
    }

    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        let events = (0..).map(LocationIndex).zip(events.iter().copied());
        self.timelines_of(&events.collect::<Vec<_>>(), monitor)
    }

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        Ok(Box::new(rows::Rows::open(self, location)?))
    }

    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        let definitions = self.otf2.definitions();
        let region = definitions.regions.get(RegionRef(id))?;
        Some(definitions.text(region.name))
    }

    fn region_paradigm(&self, id: u32) -> Option<&'static str> {
        let region = self.otf2.definitions().regions.get(RegionRef(id))?;
        let says_something = ![Paradigm::UNKNOWN, Paradigm::NONE].contains(&region.paradigm);
        region.paradigm.name().filter(|_| says_something)
    }

    fn kind_paradigm(&self, kind: &str) -> Option<&'static str> {
        rows::paradigm(kind).and_then(Paradigm::name)
    }

    fn operations(&self, location: LocationIndex, events: &[u32]) -> Vec<OperationFacts> {
        operations::of(self, location, events)
    }

    fn rows_tell_operations(&self) -> bool {
        true
    }

    fn rewriting(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }

    fn time_of_day(&self, stamp: Timestamp) -> Option<SystemTime> {
        self.otf2.definitions().clock?.time_of_day(stamp.0)
    }

    fn has_applied_offsets(&self) -> bool {
        let mut locations = self.otf2.locations();
        // By a single one nothing is interpolated.
        locations.any(|it| {
            let local = self.otf2.local(it);
            local.is_ok_and(|local| local.clock_offsets.len() > 1)
        })
    }

    fn unused(&self, contents: &[Contents]) -> Vec<Unused> {
        unused::of(self, contents)
    }

    fn warnings(&self, contents: &[Contents]) -> Vec<String> {
        warnings::of(self, contents)
    }
}

impl Rewrite for Archive {
    fn shape(&self) -> Shape {
        Shape::Directory
    }

    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
        self.otf2.copy(to, monitor).map_err(failed)
    }

    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        let rewritten = self.otf2.rewrite_in_order(correction, to, monitor);
        let undo = rewritten.map_err(failed)?.undo;
        let json = serde_json::to_string(&undo).map_err(FormatError::failed)?;
        Ok(Undo(json))
    }

    fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError> {
        let undo = serde_json::from_str(&undo.0).map_err(|source| {
            failed(TraceError::BadUndo {
                path: self.correction_path(),
                source,
            })
        })?;
        let restored = self.otf2.restore(correction, &undo, to, monitor);
        restored.map_err(failed)
    }

    fn next_step(&self, to: &Path) -> Option<String> {
        let experiment = self.otf2.experiment().ok().flatten()?;
        let anchor = printable_path(self.copy_at(to));
        let open = format!("Open it in Vampir (vampir {anchor})");
        Some(if experiment.is_analysed {
            let directory = printable_path(to);
            format!(
                "{open}, or analyse it anew with Scalasca (scout.mpi {anchor}, with as many \
                 processes as ran; then scalasca -examine {directory})."
            )
        } else {
            format!("{open}, or search it for wait states with Scalasca (scout.mpi {anchor}).")
        })
    }

    fn copy_at(&self, to: &Path) -> PathBuf {
        to.join(self.path().file_name().unwrap_or_default())
    }

    fn correction_of(&self, path: &Path) -> PathBuf {
        path.with_extension(CORRECTION)
    }

    fn includes_correction(&self) -> bool {
        // Who names the anchor file leaves out what lies beside it.
        self.otf2.by_directory()
    }
}
