//! The duties of a kind of file that holds profiles: Chrome's JSON here, Perfetto's packets in
//! a crate of their own. All the rest is the same for both.
//!
//! ```text
//! Document::read     file --> FileRead            by way of a Gathering
//! Document::rewrite  file, new times --> file     and how stamps were written, for undo
//! Document::restore  file, old times --> file     as it was
//! ```

use std::io;
use std::path::{Path, PathBuf};

use retime_model::Monitor;
use retime_model::format::{DocumentKind, FormatError};
use serde_json::value::RawValue;

use crate::outline::Look;
use crate::profile::{FileRead, NewLength};

/// The time of a stamp, and another that takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The event whose begin or end it is.
    pub event: u32,
    /// In nanoseconds, counted as those of the run are.
    pub is: u64,
    /// The other.
    pub becomes: u64,
}

/// Gives the next stamp of a file; nothing behind the last.
pub type Renew<'a> = dyn FnMut() -> Option<Renewal> + 'a;

/// A file that was written.
#[derive(Debug)]
pub struct Renewed {
    /// Check sum of the content that was read.
    pub read: u32,
    /// Check sum of the content that was written.
    pub written: u32,
    /// The forms in which stamps were written; restoring takes them.
    pub forms: Box<RawValue>,
}

/// Shows the name of an event, and the letter of its kind.
pub type Show<'a> = dyn FnMut(&[u8], u8) -> Result<(), String> + 'a;

/// A kind of file that holds profiles.
pub trait Document: Send + Sync {
    /// The name of the format in reports.
    fn format(&self) -> &'static str;

    /// The kind, for whoever puts documents together.
    fn kind(&self) -> DocumentKind;

    /// The ends of the names that such files have.
    fn ends(&self) -> &'static [&'static str];

    /// A trace of this kind in words, with the names of its files.
    fn in_words(&self) -> &'static str;

    /// One such file in words.
    fn alone_in_words(&self) -> &'static str;

    /// True if the first bytes of a file are those of one.
    fn begins_like_one(&self, path: &Path) -> io::Result<bool>;

    /// Looks at a file that is called like one.
    fn look(&self, path: &Path) -> io::Result<Look>;

    /// Takes the files out of others that are other recordings of a rank or process, each with what
    /// it is in words. The rank of a file is the one that `rank` finds for it, if any, whatever it
    /// says itself.
    fn take_other_recordings(
        &self,
        files: &mut Vec<PathBuf>,
        rank: &dyn Fn(&Path) -> Option<u32>,
    ) -> io::Result<Vec<(PathBuf, String)>> {
        let _ = (files, rank);
        Ok(Vec::new())
    }

    /// Reads a file.
    fn read(&self, path: &Path, monitor: &dyn Monitor) -> Result<FileRead, FormatError>;

    /// Shows all events of a file that was read, in the order of their numbers.
    fn names(&self, path: &Path, show: &mut Show<'_>) -> Result<(), FormatError>;

    /// Writes a file that was read to the new file `to`, with other times, and other lengths of
    /// some events.
    fn rewrite(
        &self,
        path: &Path,
        file: &FileRead,
        renew: &mut Renew<'_>,
        lengths: &[NewLength],
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Renewed, FormatError>;

    /// Does what [`rewrite`](Self::rewrite) does, with stamps written as `forms` says they were.
    fn restore(
        &self,
        path: &Path,
        file: &FileRead,
        renew: &mut Renew<'_>,
        forms: &RawValue,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Renewed, FormatError>;
}

/// True if a file is called as those of a kind are.
pub(crate) fn is_named_like_one(document: &dyn Document, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let text = name.to_string_lossy();
    let ends = |with: &&str| {
        let end = text
            .len()
            .checked_sub(with.len())
            .and_then(|it| text.get(it..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(with))
    };
    document.ends().iter().any(ends) && !retime_model::format::is_correction(name)
}
