//! A trace that can be written again: as it is, corrected, and as it was before.
//!
//! ```text
//!  copy       -->  the trace as it is, byte for byte
//!  rewrite    -->  the trace with corrected times, and Undo
//!  restore    -->  with Undo: the trace that was rewritten
//! ```
//!
//! A format that only reads has nothing of this.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{FormatError, Trace};
use crate::correction::Correction;
use crate::monitor::Monitor;
use crate::time::Timestamp;

/// A trace that can be written with other times.
pub trait Rewrite: Trace {
    /// One file, or a directory with several.
    fn shape(&self) -> Shape;

    /// Copies the trace byte for byte: into the existing directory `to`, or if it
    /// is one file, to that new file.
    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError>;

    /// Writes a [`copy`](Self::copy), but with all times sent through the maps of their
    /// clocks. Events stamped before their predecessors wait for those.
    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError>;

    /// The times that chosen events, as in [`Trace::timelines`], will have once
    /// the trace is [rewritten](Self::rewrite), where the format cannot give each event the
    /// time that its map says; `None` if it can.
    fn settled(
        &self,
        correction: &Correction,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<Vec<Timestamp>>>, FormatError> {
        let _ = (correction, events, monitor);
        Ok(None)
    }

    /// Writes the trace that [`rewrite`](Self::rewrite) has turned into this one;
    /// `to` as in [`copy`](Self::copy).
    fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError>;

    /// True if [`restore`](Self::restore) compresses files anew: then their contents are those
    /// of the original, and their bytes are not.
    fn packs_anew(&self) -> bool {
        false
    }

    /// A sentence that says which tools to give the corrected copy that lies at `to` once it is
    /// finished, if these leave a choice.
    fn next_step(&self, to: &Path) -> Option<String> {
        let _ = to;
        None
    }

    /// The path to open the copy by that was written to `to`.
    fn copy_at(&self, to: &Path) -> PathBuf;

    /// Opens what [`rewrite`](Self::rewrite) wrote to `copy` so that its times count from
    /// where those of this trace do; `None` if they always count from the same.
    fn open_copy(
        &self,
        copy: &Path,
        monitor: &dyn Monitor,
    ) -> Option<Result<Box<dyn Trace>, FormatError>> {
        let _ = (copy, monitor);
        None
    }

    /// Where the correction of a trace at `path` is saved: beside it, under a name that ends
    /// in [`CORRECTION`].
    fn correction_of(&self, path: &Path) -> PathBuf;

    /// Where the correction of this trace is saved.
    fn correction_path(&self) -> PathBuf {
        self.correction_of(self.path())
    }

    /// True if the correction that is saved beside the trace belongs to what was named, so
    /// that a copy without it would lose the way back.
    fn includes_correction(&self) -> bool {
        true
    }
}

/// The files that a trace consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One file.
    File,
    /// Several, in a directory.
    Directory,
}

/// All that it takes to restore a rewritten trace: JSON text that the format alone
/// understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo(pub String);

/// The end of the name of a saved correction: nothing that other programs take for a
/// trace, a profile or JSON.
pub const CORRECTION: &str = "retime";

/// The text that follows it in the names of corrections that were saved when these still ended so.
pub const EARLIER: &str = ".json";

/// True if a file is called as saved corrections are.
pub fn is_correction(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let name = name.strip_suffix(EARLIER.as_bytes()).unwrap_or(name);
    let stem = name.strip_suffix(CORRECTION.as_bytes());
    stem.is_some_and(|stem| stem.ends_with(b"."))
}
