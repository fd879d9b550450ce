//! Figures of our own, in columns.

use crate::simulated::Failure;

/// A table that no paper has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The experiment in one line.
    pub title: String,
    /// The headings of the columns.
    pub heading: Vec<String>,
    /// Rows of as many cells as the heading has; the first is what the row is.
    pub rows: Vec<Vec<String>>,
    /// Notes by which to judge the figures, a paragraph each.
    pub notes: Vec<String>,
}

/// Is told what comes next, and says whether it is still wanted.
pub type Watch<'a> = &'a dyn Fn(&str) -> bool;

/// A measurement by its name on the command line.
#[derive(Clone, Copy)]
pub struct Measured {
    /// One word.
    pub name: &'static str,
    /// The subject of the measurement in a few words, for a list of all.
    pub about: &'static str,
    /// Runs it. Fails with [`Failure::Stopped`] once it is no longer wanted.
    pub run: fn(Watch<'_>) -> Result<Grid, Failure>,
}

/// Goes on, or fails.
pub(crate) fn proceed(watch: Watch<'_>, next: &str) -> Result<(), Failure> {
    if watch(next) {
        Ok(())
    } else {
        Err(Failure::Stopped)
    }
}
