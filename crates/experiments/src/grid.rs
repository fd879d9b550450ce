//! Figures of our own, in columns.

use crate::simulated::Failure;

/// A table that no paper has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// What was done, in one line.
    pub title: String,
    /// What the columns are.
    pub heading: Vec<String>,
    /// As many cells as the heading in each row; the first is what the row is.
    pub rows: Vec<Vec<String>>,
    /// What has to be known to judge them, a paragraph each.
    pub notes: Vec<String>,
}

/// Is told what comes next, and says whether it is still wanted.
pub type Watch<'a> = &'a dyn Fn(&str) -> bool;

/// A measurement by its name on the command line.
#[derive(Clone, Copy)]
pub struct Measured {
    /// One word.
    pub name: &'static str,
    /// What it shows.
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
