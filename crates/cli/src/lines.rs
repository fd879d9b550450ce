//! Small files that options name: a record per line, its words between blanks.
//!
//! `#` starts a comment, and a line without words says nothing. What is wrong with
//! a line is said with its number.

use std::path::Path;

use retime::{Delay, LocationIndex, ParseDelayError, TraceInfo};

use crate::error::CliError;

/// A line that says something.
pub(crate) struct Line<'a> {
    path: &'a Path,
    /// From 1.
    number: usize,
    /// Without its comment.
    content: &'a str,
}

/// The lines of a file that say something.
pub(crate) fn lines<'a>(path: &'a Path, text: &'a str) -> impl Iterator<Item = Line<'a>> {
    let numbered = (1..).zip(text.lines());
    let lines = numbered.map(move |(number, line)| Line {
        path,
        number,
        content: line.split('#').next().unwrap_or_default().trim(),
    });
    lines.filter(|line| !line.content.is_empty())
}

impl<'a> Line<'a> {
    /// Its words, if there are as many as `expected` names.
    pub(crate) fn words<const N: usize>(&self, expected: &str) -> Result<[&'a str; N], CliError> {
        self.words_before(expected, 0)
    }

    /// The first words of the line, if there are as many as `expected` names, and at most so
    /// many `more`.
    pub(crate) fn words_before<const N: usize>(
        &self,
        expected: &str,
        more: usize,
    ) -> Result<[&'a str; N], CliError> {
        let mut words: Vec<&str> = self.content.split_whitespace().collect();
        if words.len() <= N + more {
            words.truncate(N);
        }
        words.try_into().map_err(|_| {
            let found = self.content;
            self.wrong(format!("expected \"{expected}\", found \"{found}\""))
        })
    }

    /// The span of time that a word of it says.
    pub(crate) fn span(&self, word: &str) -> Result<Delay, CliError> {
        word.parse()
            .map_err(|error: ParseDelayError| self.wrong(error))
    }

    /// The word at that place, from 0.
    pub(crate) fn word(&self, place: usize) -> Option<&'a str> {
        self.content.split_whitespace().nth(place)
    }

    /// An error that says what is wrong with the line.
    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> CliError {
        CliError::input(self.path, format!("line {}: {what}", self.number))
    }
}

/// The location of that id; `allowed` says what else could have been given.
pub(crate) fn location(id: &str, info: &TraceInfo, allowed: &str) -> Result<LocationIndex, String> {
    let id: u64 = id
        .parse()
        .map_err(|_| format!("\"{id}\" is no location id; give {allowed}"))?;
    let index = info.locations.iter().position(|location| location.id == id);
    let index = index.ok_or_else(|| format!("the trace has no location {id}"))?;
    Ok(LocationIndex(index as u32))
}

/// The location of that id; `None` for `*`, which is any.
pub(crate) fn location_or_any(
    word: &str,
    info: &TraceInfo,
) -> Result<Option<LocationIndex>, String> {
    if word == "*" {
        return Ok(None);
    }
    location(word, info, "a number or *").map(Some)
}
